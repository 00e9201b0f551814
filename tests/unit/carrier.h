/* A switch that carries the packets of any protocol: one job, whose rank r sends from 10.0.0.r:1000 + r. It
 * uses struct agg_protocol only, and records what would be sent where. */
#ifndef SWAGG_TESTS_CARRIER_H
#define SWAGG_TESTS_CARRIER_H

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "kernels_chosen.h"
#include "unit.h"

enum { CARRIER_JOB = 7, CARRIER_WORKERS = 4, CARRIER_SENT = 64, CARRIER_MAX = 2048 };

struct carrier_sent {
    enum carry_to to;
    unsigned rank;
    size_t bytes;
    uint8_t payload[CARRIER_MAX];
};

struct carrier {
    const struct agg_protocol *protocol;
    struct agg_jobs jobs;
    struct agg_job *job;
    uint64_t counted[AGG_MAX_REASONS];
    unsigned sent_n, kept;
    struct carrier_sent sent[CARRIER_SENT];
};

static inline struct agg_sender carrier_rank(unsigned rank)
{
    const uint8_t mac[AGG_MAC_BYTES] = {2, 0, 0, 0, 0, (uint8_t)rank};

    return carry_sender(mac, htonl(0x0a000000 + rank), (uint16_t)(1000 + rank));
}

static inline void carrier_open(struct carrier *c, const struct agg_protocol *protocol, uint16_t workers,
                                const struct agg_terms *terms)
{
    const struct agg_pool_config cfg = {
        .job = CARRIER_JOB, .workers = workers, .terms = *terms, .kernels = kernels_or_exit()};
    struct agg_sender members[CARRIER_WORKERS];

    *c = (struct carrier){.protocol = protocol};
    for (unsigned rank = 0; rank < CARRIER_WORKERS; rank++)
        members[rank] = carrier_rank(rank);
    c->job = carry_open(&c->jobs, protocol, &cfg, members, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c->job);
}

static inline void carrier_close(struct carrier *c)
{
    c->protocol->drain(c->job->pool, free);
    carry_close(&c->jobs, c->job);
}

static inline void carrier_note(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                                const struct carried *what)
{
    struct carrier *c = ctx;
    struct carrier_sent *s = &c->sent[c->sent_n++];

    (void)job;
    (void)answered;
    CU_ASSERT_FATAL(c->sent_n < CARRIER_SENT && what->bytes <= CARRIER_MAX);
    *s = (struct carrier_sent){.to = what->to, .rank = what->rank, .bytes = what->bytes};
    memcpy(s->payload, what->payload, what->bytes);
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
        carry_out(p[done - 1].job, &p[done - 1], &v, carrier_note, c);
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

    while (c->protocol->tick != NULL && c->protocol->tick(c->job, 0, 1, now, &v)) {
        c->counted[v.reason]++;
        carry_out(c->job, NULL, &v, carrier_note, c);
    }
}

#endif
