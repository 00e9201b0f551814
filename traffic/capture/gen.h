/* swagg-pcap gen: the options of its command line. */
#ifndef SWAGG_CAPTURE_GEN_H
#define SWAGG_CAPTURE_GEN_H

#include "plan.h"

struct gen {
    struct plan plan;
    const char *out;
    bool split;
};

/* OPTIONS_READ (command_line.h); or the exit code: help was printed, or a mistake reported. */
int gen_parse(struct gen *g, int argc, char *argv[]);

#endif
