/* The options of command lines that say how a profile becomes a schedule. */
#pragma once

#include "command_line.h"
#include "schedule.h"

enum { SCHEDULE_OPTIONS = 3 };
extern const struct option_row schedule_rows[SCHEDULE_OPTIONS]; /* of struct schedule_how */

/* The model as it is. */
#define SCHEDULE_HOW_DEFAULT                                                                                 \
    {                                                                                                        \
        .scale = 1, .speed = 1                                                                               \
    }

/* A number of more than 0, for fields of double. */
option_reader option_factor;
