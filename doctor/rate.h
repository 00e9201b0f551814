/* A job of one rank, for a moment: whether it may join, and what it sums. */
#pragma once

#include "findings.h"

struct rate_wish {
    const char *switch_ip;      /* as swagg_options has it */
    const char *job, *key_file; /* key_file: NULL: none */
    double seconds, patience;
};
void rate_look(struct findings *f, const struct rate_wish *wish);
