/* swaggctl why: looks twice at a job, and prints what slows it (why.h). */
#pragma once

#include <stdbool.h>

#include "ask.h"

/* called: the job's name. json: one object in place of text. 0, or with why: an exit status. */
int why_run(const struct instance *instance, const char *called, double seconds, bool json,
            char why[INSTANCE_WHY_MAX]);
