/* `swagg-sim replay`: what training would take, with a switch that sums and with the best ring.
 * docs/replay.md. */
#pragma once

#include "schedule.h"

struct table_config {
    struct schedule_how how;
    const char *const *profiles; /* [n] files */
    unsigned n, workers, slots, delay_us;
    double gbps;
    const char *json; /* a file for the table; NULL: none */
};

/* Prints it, a line a profile. Returns an exit status. */
int replay_table(const struct table_config *cfg);
