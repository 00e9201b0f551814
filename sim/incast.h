/* Incast: all of a job's ranks behind the one link of a server that sums (docs/server.md). Each result goes
 * to every rank, so the ranks' windows together decide how long the queue in front of that link grows. The
 * pool and the streams are the real ones; their computing takes no time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { INCAST_CALLS_MAX = 32 };

struct incast_config {
    unsigned workers, calls;
    bool compressed; /* indices of 4 bits go up, sums of 8 come down; else int32 both ways */
    uint64_t bytes;  /* of the sum, of each call */
    uint64_t bits_per_s;
    uint32_t queue_bytes; /* in front of each link */
    uint32_t loss_ppm;    /* besides, on every link and direction */
    uint64_t seed;
};

struct incast_result {
    double ideal;                     /* seconds that the server's link takes for a call's packets alone */
    double seconds[INCAST_CALLS_MAX]; /* from the first rank's beginning of a call to the last one's end */
    uint64_t packets, dropped;        /* that the server sent; of them, before its link */
    uint64_t probes;
    bool exact; /* the sums are right */
};

struct incast_result incast_run(const struct incast_config *cfg);

/* Prints how long calls take with few and many ranks, floats and compressed, beside what the link needs; of
 * so many runs each. False: a sum was wrong, or calls took more than five times as long on average. */
bool incast_table(unsigned runs);
