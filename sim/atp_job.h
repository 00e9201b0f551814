/* A job of ATP in the simulator: workers with a stream to each of its parameter servers, and the servers, in
 * one life after the other, by the same number. A program of some calls, whose every result is checked. */
#pragma once

#include "atp/stream.h"
#include "atp_net.h"

enum { ATP_JOB_WORKERS = 64, ATP_JOB_SERVERS = 3, ATP_JOB_ELEMENTS = 12000, ATP_JOB_WHY = 200 };

struct atp_job_config {
    uint8_t number;
    uint16_t workers;
    uint8_t servers;
    struct atp_terms terms; /* of server 0; life and first_sequence change with each life */
    unsigned host[ATP_JOB_WORKERS], server_host[ATP_JOB_SERVERS];
    unsigned calls, lives;
    unsigned elements;     /* of a call, at most */
    bool fixed_size;       /* ... exactly so many, of sums of int32 without a pause; the first call: one */
    uint16_t fixed_window; /* 0: congestion control */
    uint64_t pause;        /* between calls of a rank, at most, ns */
    uint64_t start;        /* when the job begins */
    bool takes_turns;      /* begins a call only when it is its turn */
};

struct atp_job_worker {
    struct atp_job *job;
    unsigned rank;
    void *memory[ATP_JOB_SERVERS];
    struct atp_stream *stream[ATP_JOB_SERVERS];
    struct xfer_segment segment[ATP_JOB_SERVERS];
    unsigned call; /* that it makes, or makes next; counted through all lives */
    bool calling, dead;
    /* it has heard that the server has restarted, and waits for the others */
    bool rejoining[ATP_JOB_SERVERS];
    uint64_t timer; /* when it wakes next */
    uint8_t *in, *out;
};

struct atp_job_server {
    struct agg_jobs jobs;
    struct agg_job *job;
    struct atp_terms terms; /* of the job in its present life */
    bool dead;
    uint64_t restarts;                      /* in all lives of the job */
    struct agg_terms wish[ATP_JOB_WORKERS]; /* of ranks that have come back */
    unsigned wishes;
    uint64_t reasons[AGG_MAX_REASONS];
};

struct atp_job {
    struct atp_job_config cfg;
    struct atp_net *net;
    uint64_t rng, seed;
    unsigned life;
    struct atp_job_worker workers[ATP_JOB_WORKERS];
    struct atp_job_server servers[ATP_JOB_SERVERS];
    uint64_t sums;  /* calls that ranks have had the right results of */
    uint64_t bytes; /* of those results */
    uint8_t *right; /* the result of call `known` - 1 */
    unsigned known;
    unsigned turns; /* calls that ranks may have begun, where jobs take turns */
    struct atp_job *next;
    bool failed;
    char why[ATP_JOB_WHY];
};

void atp_job_init(struct atp_job *job, struct atp_net *net, const struct atp_job_config *cfg, uint64_t seed);
void atp_job_fini(struct atp_job *job);

/* A packet has come to a host; false: it is none of the job's. */
bool atp_job_receive(struct atp_job *job, unsigned host, uint8_t *payload, size_t bytes,
                     const struct agg_sender *from);

/* Jobs that take turns: the first of these begins, and each makes a call after the one before it. */
void atp_job_take_turns(struct atp_job jobs[], unsigned n);

/* All calls of all lives are done by all ranks. */
bool atp_job_is_done(const struct atp_job *job);

/* A rank stops for ever, or a server. */
void atp_job_kill(struct atp_job *job, unsigned rank);
void atp_job_kill_server(struct atp_job *job, unsigned server);

/* A server starts over, and knows of no job. Ranks hear so, from it or later by themselves; when all have
 * come back, they go on. */
void atp_job_restart_server(struct atp_job *job, unsigned server);
