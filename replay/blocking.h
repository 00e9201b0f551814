/* Replays a profile by blocking calls, one after the other: what a thread does that a framework has for them.
 * What mpi-replay and gloo-replay share. */
#pragma once

#include <stddef.h>

struct blocking {
    const char *intro; /* of --help */
    const char *name;  /* in what is printed */
    int rank, ranks;
    /* Sums of all ranks, in place. Returns 0, or, having said what is wrong, anything else. */
    int (*sum)(float values[], size_t n);
};

/* All of a program but its library's beginning and end. Returns an exit status; after EXIT_BAD other ranks
 * may wait for this one. */
int blocking_main(const struct blocking *b, int argc, char *argv[]);
