/* A switch that carries the packets of any protocol: one job, whose rank r sends from 10.0.0.r:1000 + r. It
 * knows nothing but struct agg_protocol, and writes down what would be sent where. */
#ifndef SWAGG_TESTS_CARRIER_H
#define SWAGG_TESTS_CARRIER_H

#include "protocol/protocol.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { CARRIER_JOB = 7, CARRIER_WORKERS = 4, CARRIER_SENT = 64, CARRIER_BURST = 16, CARRIER_MAX = 2048 };

enum carrier_to { TO_RANK, TO_PARENT, ONWARD };

struct carrier_sent {
    enum carrier_to to;
    unsigned rank;
    size_t bytes;
    uint8_t payload[CARRIER_MAX];
};

struct carrier {
    const struct agg_protocol *protocol;
    struct agg_jobs jobs;
    struct agg_job job;
    struct agg_footprint footprint;
    uint64_t counted[AGG_MAX_REASONS];
    unsigned sent_n, kept;
    struct carrier_sent sent[CARRIER_SENT];
};

static inline struct agg_sender carrier_rank(unsigned rank)
{
    return (struct agg_sender){.ip = htonl(0x0a000000 + rank),
                               .port = htons((uint16_t)(1000 + rank)),
                               .mac = {2, 0, 0, 0, 0, (uint8_t)rank}};
}

static inline void carrier_open(struct carrier *c, const struct agg_protocol *protocol, uint16_t workers,
                                const struct agg_terms *terms)
{
    const struct agg_pool_config cfg = {
        .job = CARRIER_JOB, .workers = workers, .terms = *terms, .kernels = agg_kernels_best()};

    *c = (struct carrier){.protocol = protocol};
    CU_ASSERT_FATAL(protocol->footprint(&cfg, &c->footprint));
    c->job = (struct agg_job){.protocol = protocol, .number = CARRIER_JOB, .size = workers};
    c->job.pool = protocol->init(aligned_alloc(64, (c->footprint.bytes + 63) / 64 * 64), &cfg);
    c->job.seats = agg_seats_for(workers);
    c->job.seat = calloc(c->job.seats, sizeof(struct agg_seat));
    for (uint16_t rank = 0; rank < workers; rank++) {
        const struct agg_sender at = carrier_rank(rank);
        agg_job_seat(&c->job, &at, rank);
    }
    agg_jobs_set(&c->jobs, CARRIER_JOB, &c->job);
}

static inline void carrier_close(struct carrier *c)
{
    agg_jobs_set(&c->jobs, CARRIER_JOB, NULL);
    c->protocol->drain(c->job.pool, free);
    free(c->job.pool);
    free(c->job.seat);
}

static inline void carrier_send(struct carrier *c, enum carrier_to to, unsigned rank, const uint8_t *payload,
                                size_t bytes)
{
    CU_ASSERT_FATAL(c->sent_n < CARRIER_SENT && bytes <= CARRIER_MAX);
    struct carrier_sent *s = &c->sent[c->sent_n++];
    *s = (struct carrier_sent){.to = to, .rank = rank, .bytes = bytes};
    memcpy(s->payload, payload, bytes);
}

/* p: the packet; NULL: what time has brought about. */
static inline void carrier_act(struct carrier *c, const struct agg_packet *p, const struct agg_verdict *v)
{
    switch (v->action) {
    case AGG_REPLY:
        carrier_send(c, TO_RANK, p->rank, v->payload, v->bytes);
        break;
    case AGG_TO_ALL:
        for (unsigned r = 0; r < c->job.size; r++)
            carrier_send(c, TO_RANK, r, agg_wants(v, r) ? v->payload : v->brief,
                         agg_wants(v, r) ? v->bytes : v->brief_bytes);
        break;
    case AGG_TO_PARENT:
        carrier_send(c, TO_PARENT, 0, v->payload, v->bytes);
        break;
    case AGG_PASS_ON:
        carrier_send(c, ONWARD, 0, v->payload, v->bytes);
        break;
    case AGG_PASS_AND_KEEP:
        carrier_send(c, ONWARD, 0, p->payload, p->bytes);
        break;
    default:
        break;
    }
}

/* A burst, each packet in memory of its own that the pool may keep. */
static inline void carrier_receive(struct carrier *c, struct agg_packet p[], unsigned n, uint64_t now)
{
    for (unsigned i = 0; i < n; i++) {
        void *memory = malloc(p[i].bytes);
        p[i].payload = p[i].buffer = memcpy(memory, p[i].payload, p[i].bytes);
    }
    c->protocol->locate(&c->jobs, p, n);
    for (unsigned done = 0; done < n;) {
        struct agg_verdict v;
        const unsigned worked_off = c->protocol->apply(p + done, n - done, now, &v);
        CU_ASSERT_FATAL(worked_off >= 1 && worked_off <= n - done);
        for (unsigned i = done; i < done + worked_off; i++)
            c->counted[p[i].reason]++;
        done += worked_off;
        CU_ASSERT_EQUAL(v.reason, p[done - 1].reason);
        CU_ASSERT_EQUAL(v.action, c->protocol->reason[v.reason].action);
        carrier_act(c, &p[done - 1], &v);
        free(v.released);
        c->kept += v.kept;
        c->kept -= v.released != NULL;
        for (unsigned i = done - worked_off; i < done - v.kept; i++)
            free(p[i].buffer);
    }
}

static inline void carrier_tick(struct carrier *c, uint64_t now)
{
    struct agg_verdict v;

    while (c->protocol->tick != NULL && c->protocol->tick(&c->job, 0, 1, now, &v)) {
        c->counted[v.reason]++;
        carrier_act(c, NULL, &v);
    }
}

#endif
