/* Plays one scenario of ATP and judges it: jobs of several lives that compete for few aggregators, up to two
 * levels of switches, several servers, a bad network, strangers, restarts and deaths. */
#pragma once

#include "atp_job.h"

enum { ATP_WORLD_JOBS = 16 };

struct atp_world_config {
    struct atp_net_config net;
    unsigned at[ATP_NET_HOSTS];
    unsigned jobs;
    struct atp_job_config job[ATP_WORLD_JOBS];
    unsigned restarts;                              /* of switches */
    bool deaf[ATP_NET_HOSTS];                       /* to the group, where jobs have one */
    uint64_t deafened_at;                           /* ... from when on all hosts are; 0: never */
    unsigned strangers;                             /* packets of theirs, from the last host */
    unsigned forged;                                /* packets like those of keyed jobs, from there, too */
    bool worker_dies, server_dies, server_restarts; /* of job 0 */
    uint64_t limit; /* ns, by which all is done or named; of measurements: when they end */
    bool measures;  /* ends at the limit, and need not be done then; what counts is what happens ... */
    uint64_t measured_from;   /* ... from this time on, */
    uint64_t measured_chunks; /* ... until so many are acknowledged, by all jobs together; 0: to the limit */
    bool in_turns;            /* no job makes a call while another does */
};

/* What has happened; of a measurement: while it lasted. All fields are uint64_t. */
struct atp_world_counts {
    uint64_t ns;
    uint64_t bytes[ATP_WORLD_JOBS];
    uint64_t switch_reasons[AGG_MAX_REASONS], reasons[AGG_MAX_REASONS];
    struct atp_stream_signs signs[ATP_WORLD_JOBS]; /* of rank 0, by server 0 */
    uint64_t to_server, overflowed; /* frames on the cable to the server 0 of job 0; too many */
};

struct atp_world_result {
    bool failed;
    char text[ATP_JOB_WHY];
    uint64_t events, simulated_ns, sums;
    uint64_t frames, lost, marked, to_groups;
    struct atp_world_counts counts;
    uint32_t window[ATP_WORLD_JOBS];
};

struct atp_world_result atp_world_play(const struct atp_world_config *cfg, uint64_t seed);

/* What a seed stands for. */
void atp_world_draw(struct atp_world_config *cfg, uint64_t seed);
