/* A switch that carries the packets of any protocol: one job, whose rank r sends from 10.0.0.r:1000 + r. It
 * uses struct agg_protocol only, and records what would be sent where. */
#pragma once

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

static struct {
    const struct agg_protocol *protocol;
    struct agg_jobs jobs;
    struct agg_job *job;
    uint64_t counted[AGG_MAX_REASONS];
    unsigned sent_n, kept;
    struct carrier_sent sent[CARRIER_SENT];
} carrier;

static inline struct agg_sender carrier_rank(unsigned rank)
{
    const uint8_t mac[AGG_MAC_BYTES] = {2, 0, 0, 0, 0, (uint8_t)rank};

    return carry_sender(mac, htonl(0x0a000000 + rank), (uint16_t)(1000 + rank));
}

/* If there is one. */
static inline void carrier_close(void)
{
    if (carrier.job != NULL) {
        carrier.protocol->drain(carrier.job->pool, free);
        carry_close(&carrier.jobs, carrier.job);
    }
    memset(&carrier, 0, sizeof(carrier));
}

EACH_TEST(NULL, carrier_close)

/* Closes the one before. */
static inline void carrier_open(const struct agg_protocol *protocol, uint16_t workers,
                                const struct agg_terms *terms)
{
    const struct agg_pool_config cfg = {
        .job = CARRIER_JOB, .workers = workers, .terms = *terms, .kernels = kernels_or_exit()};
    struct agg_sender members[CARRIER_WORKERS];

    carrier_close();
    carrier.protocol = protocol;
    for (unsigned rank = 0; rank < CARRIER_WORKERS; rank++)
        members[rank] = carrier_rank(rank);
    carrier.job = carry_open(&carrier.jobs, protocol, &cfg, members, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(carrier.job);
}

static inline void carrier_note(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                                const struct carried *what)
{
    struct carrier_sent *s = &carrier.sent[carrier.sent_n++];

    (void)ctx;
    (void)job;
    (void)answered;
    CU_ASSERT_FATAL(carrier.sent_n < CARRIER_SENT && what->bytes <= CARRIER_MAX);
    *s = (struct carrier_sent){.to = what->to, .rank = what->rank, .bytes = what->bytes};
    memcpy(s->payload, what->payload, what->bytes);
}

/* A burst, each packet in memory of its own that the pool may keep. */
static inline void carrier_receive(struct agg_packet p[], unsigned n, uint64_t now)
{
    for (unsigned i = 0; i < n; i++) {
        void *memory = malloc(p[i].bytes);
        p[i].payload = p[i].buffer = memcpy(memory, p[i].payload, p[i].bytes);
    }
    carrier.protocol->locate(&carrier.jobs, p, n);
    for (unsigned done = 0; done < n;) {
        struct agg_verdict v;
        const unsigned worked_off = carrier.protocol->apply(p + done, n - done, now, &v);
        CU_ASSERT_FATAL(worked_off >= 1 && worked_off <= n - done);
        for (unsigned i = done; i < done + worked_off; i++)
            carrier.counted[p[i].reason]++;
        done += worked_off;
        CU_ASSERT_EQUAL(v.reason, p[done - 1].reason);
        CU_ASSERT_EQUAL(v.action, carrier.protocol->reason[v.reason].action);
        carry_out(p[done - 1].job, &p[done - 1], &v, carrier_note, NULL);
        free(v.released);
        carrier.kept += v.kept;
        carrier.kept -= v.released != NULL;
        for (unsigned i = done - worked_off; i < done - v.kept; i++)
            free(p[i].buffer);
    }
}

static inline void carrier_tick(uint64_t now)
{
    struct agg_verdict v;

    while (carrier.protocol->tick != NULL && carrier.protocol->tick(carrier.job, 0, 1, now, &v)) {
        carrier.counted[v.reason]++;
        carry_out(carrier.job, NULL, &v, carrier_note, NULL);
    }
}
