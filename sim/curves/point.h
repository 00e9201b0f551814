/* One point of the curves of ATP at 100 Gb/s: jobs whose ranks are all on the same hosts, one switch that
 * adds in no time, or one for each rack, one host with all servers. docs/simulation.md, "ATP". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { POINT_WHY = 200 };

struct point {
    const char *curve; /* that it is of */
    unsigned workers, jobs;
    unsigned fewer; /* workers of every second job; 0: as many as the others have */
    unsigned racks; /* that workers are dealt to, each with a switch, the first one's the servers'; 0: one */
    bool near_unknown;    /* ... which the jobs are not told */
    uint32_t loss_ppm;    /* on every cable, in each direction */
    uint32_t forward_ppm; /* of chunks that the switch passes on */
    uint32_t aggregators;
    uint16_t window; /* of each job, at most */
    uint16_t parts;  /* that aggregators are divided into; 0: shared as packets come */
    bool in_turns;   /* one job at a time */
    bool late;       /* hosts nap now and then */
    bool no_control; /* so many chunks under way, whatever the network says */
};

struct point_result {
    bool failed;
    char why[POINT_WHY];
    double share;      /* of the link: what the results' packets took of its time, of all jobs together */
    double jain;       /* Jain's index of what the jobs got */
    double to_server;  /* packets on the server's link for each chunk */
    double switched;   /* chunks whose whole sum was made in the switch, of all */
    double overflowed; /* packets that found the server's queue full, of those on the way there */
    double window;     /* of rank 0 at the end, the jobs' mean */
    uint64_t events;
};

enum {
    POINT_CHUNK_BYTES = 8920, /* in frames of 9,018 bytes */
    POINT_CARRIED = 64,       /* of these are played; all count on the wire */
};
extern const uint64_t point_bits_per_s, point_delay_ns, point_settle_ns, point_settle_jobs_ns;
extern const uint64_t point_nap_every_ns, point_nap_most_ns;
extern const uint32_t point_queue_bytes, point_mark_bytes;

/* chunks: of all jobs together; those are measured after the windows had time to settle. */
struct point_result point_measure(const struct point *p, uint64_t chunks);
