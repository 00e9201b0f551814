/* The tables of `swagg-sim tat`: our timer beside the paper's, by link speed and loss. */
#pragma once

#include <stdio.h>

#include "tat.h"

enum { TAT_SPEEDS_MAX = 8, TAT_LOSSES_MAX = 8 };

struct tat_table_config {
    unsigned speeds, losses;
    unsigned gbps[TAT_SPEEDS_MAX];
    uint32_t loss_ppm[TAT_LOSSES_MAX]; /* without loss is always measured, too */
    unsigned runs;                     /* medians of so many, each with a seed of its own */
    struct tat_config base;            /* kind, bits_per_s, loss_ppm and seed are filled in */
    FILE *json;                        /* NULL: none. One flat object */
};

/* Prints the table; false if any sum was wrong. */
bool tat_table(const struct tat_table_config *cfg);
