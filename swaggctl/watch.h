/* A view again and again, with rates in place of counters. */
#pragma once

#include "ask.h"
#include "print.h"

struct watch {
    struct instance instance;
    const json_t *request; /* for a view */
    struct print_style style;
    bool json;           /* a line of JSON each time, with counters and rates */
    double every;        /* seconds */
    unsigned long times; /* 0: until it is interrupted */
};

/* Prints, from the second answer on: rates are of the time between two. While the switch does not answer, as
 * when it is restarted, says so once and tries again, also if it says no then. Returns when it has been shown
 * so many times, or the switch says no. Returns 0, or with why: 1 if it says no; 2 if its first answer lacks
 * what is to be shown of it. */
int watch_run(const struct watch *w, char why[INSTANCE_WHY_MAX]);

void sleep_for(double seconds);
