/* A job of ATP in one process, by the tables of its protocol: its streams, a switch or none, a parameter
 * server. Packets arrive at once, in the order in which they are sent, unless the test takes some away. */
#pragma once

#include <string.h>

#include "atp/protocol.h"
#include "atp/reasons.h"
#include "atp/stream.h"
#include "atp/table.h"
#include "atp/worker.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "toy_keys.h"
#include "unit.h"

enum { RIG_WORKERS = 80, RIG_PAYLOAD = 2048, RIG_QUEUE = 4096, RIG_CALLS = 4 };

struct rig_packet {
    bool to_server;
    unsigned rank; /* whose, or to whom */
    bool by_group; /* one of the copies of a packet to the job's group */
    size_t bytes;
    uint8_t payload[RIG_PAYLOAD];
};

/* Beside the rest, so that it need not be cleared for each job. */
static struct rig_packet rig_queue[RIG_QUEUE];

static struct rig {
    unsigned workers;
    struct atp_terms terms;
    struct atp_stream *stream[RIG_WORKERS];
    struct xfer_segment segment[RIG_WORKERS]; /* of each one's newest call */
    struct agg_jobs at_server, at_switch;
    struct agg_job job, table_job; /* table_job.pool NULL: there is no switch */
    uint64_t now;
    uint64_t reasons[ATP_REASONS], switch_reasons[ATP_SWITCH_REASONS];
    unsigned first, queued; /* in rig_queue */
    /* Whether this packet is lost; NULL: none is. */
    bool (*loses)(const struct rig_packet *packet);
    unsigned lost;
    void (*meddles)(struct rig_packet *packet); /* with one on a cable; NULL: nobody does */
    unsigned to_group;                          /* packets that were sent there */
} rig;

static inline struct agg_sender rig_sender(unsigned rank)
{
    return (struct agg_sender){.ip = 0x0a000001u + rank, .port = 7, .mac = {2, 0, 0, 0, 0, (uint8_t)rank}};
}

static const struct keys_secret rig_shared = {.library = &toy_library, .secret = {7}};

static inline void rig_open_server(void)
{
    struct agg_pool_config cfg = {
        .job = 3, .workers = (uint16_t)rig.workers, .shared = &rig_shared, .kernels = kernels_or_exit()};
    struct agg_footprint f;

    atp_terms_build(&cfg.terms, &rig.terms);
    if (!atp_protocol.footprint(&cfg, &f))
        abort();
    rig.job = (struct agg_job){.protocol = &atp_protocol,
                               .pool = atp_protocol.init(room_of(f.bytes), &cfg),
                               .number = 3,
                               .size = (uint16_t)rig.workers,
                               .seats = agg_seats_for(rig.workers)};
    rig.job.seat = memory_of(rig.job.seats * sizeof *rig.job.seat);
    for (unsigned r = 0; r < rig.workers; r++) {
        const struct agg_sender at = rig_sender(r);
        agg_job_seat(&rig.job, &at, r, 0);
    }
    agg_jobs_set(&rig.at_server, 3, &rig.job);
}

static inline void rig_open_switch(uint32_t aggregators)
{
    const struct atp_switch_terms terms = {
        .aggregators = aggregators, .chunk_bytes = rig.terms.chunk_bytes, .max_age_ns = 1000000000};
    struct agg_pool_config cfg = {.kernels = kernels_or_exit()};
    struct agg_footprint f;

    atp_switch_terms_build(&cfg.terms, &terms);
    if (!atp_switch_protocol.footprint(&cfg, &f))
        abort();
    rig.table_job = (struct agg_job){.protocol = &atp_switch_protocol,
                                     .pool = atp_switch_protocol.init(room_of(f.bytes), &cfg)};
    agg_jobs_set(&rig.at_switch, 0, &rig.table_job);
}

static inline void rig_fini(void)
{
    for (unsigned r = 0; r < rig.workers; r++)
        free(rig.stream[r]);
    free(rig.job.pool);
    free(rig.job.seat);
    free(rig.table_job.pool);
    rig = (struct rig){0};
}

EACH_TEST(NULL, rig_fini)

/* Instead of the one before. aggregators 0: there is no switch. */
static inline void rig_init(unsigned workers, const struct atp_terms *terms, uint32_t aggregators)
{
    rig_fini();
    rig = (struct rig){.workers = workers, .terms = *terms, .now = 1};
    rig_open_server();
    if (aggregators > 0)
        rig_open_switch(aggregators);
    for (unsigned r = 0; r < workers; r++) {
        const struct atp_stream_config cfg = {.rank = (uint16_t)r,
                                              .calls = RIG_CALLS,
                                              .workers = (uint16_t)workers,
                                              .job = 3,
                                              .terms = *terms,
                                              .shared = &rig_shared,
                                              .kernels = kernels_or_exit()};
        rig.stream[r] = atp_stream_init(room_of(atp_stream_footprint(&cfg)), &cfg);
    }
}

/* A call of a rank, of tensors in one piece. */
static inline void rig_begin(unsigned rank, const struct xfer_call *call, const void *in, void *out,
                             size_t count)
{
    rig.segment[rank] = (struct xfer_segment){.in = in, .out = out, .count = count};
    CU_ASSERT_EQUAL(atp_stream_begin_segments(rig.stream[rank], call, &rig.segment[rank], 1, rig.now), 0);
}

static inline void rig_put_by(bool to_server, bool by_group, unsigned rank, const void *payload, size_t bytes)
{
    struct rig_packet p = {.to_server = to_server, .rank = rank, .by_group = by_group, .bytes = bytes};

    if (bytes > RIG_PAYLOAD)
        abort();
    memcpy(p.payload, payload, bytes);
    if (rig.meddles != NULL) /* who may put others there */
        rig.meddles(&p);
    if (rig.loses != NULL && rig.loses(&p)) {
        rig.lost++;
        return;
    }
    if (rig.queued == RIG_QUEUE)
        abort();
    rig_queue[(rig.first + rig.queued++) % RIG_QUEUE] = p;
}

static inline void rig_put(bool to_server, unsigned rank, const void *payload, size_t bytes)
{
    rig_put_by(to_server, false, rank, payload, bytes);
}

/* To every rank, but who wants it otherwise. */
static inline void rig_put_all(const struct agg_verdict *v)
{
    bool group = false;

    for (unsigned r = 0; r < rig.workers; r++) {
        if (agg_grouped(v, r))
            group = true;
        else if (agg_wants(v, r))
            rig_put(false, r, v->payload, v->bytes);
        else if (v->brief_bytes > 0)
            rig_put(false, r, v->brief, v->brief_bytes);
    }
    rig.to_group += group;
    for (unsigned r = 0; group && r < rig.workers; r++)
        rig_put_by(false, true, r, v->payload, v->bytes);
}

/* A copy of exactly its length, so that the sanitizers see what is read beyond. */
static inline struct agg_packet rig_arriving(const struct rig_packet *p, uint8_t **copy)
{
    *copy = memory_of(p->bytes);
    memcpy(*copy, p->payload, p->bytes);
    return (struct agg_packet){.payload = *copy, .bytes = p->bytes, .from = rig_sender(p->rank)};
}

static inline void rig_serve(const struct rig_packet *arriving)
{
    uint8_t *copy;
    struct agg_packet p = rig_arriving(arriving, &copy);
    struct agg_verdict v;

    atp_protocol.locate(&rig.at_server, &p, 1);
    atp_protocol.apply(&p, 1, rig.now, &v);
    rig.reasons[v.reason]++;
    if (v.action == AGG_REPLY)
        rig_put(false, p.rank, v.payload, v.bytes);
    if (v.action == AGG_TO_ALL)
        rig_put_all(&v);
    free(copy);
}

/* What of a packet goes on beyond the switch; false: nothing. */
static inline bool rig_pass(struct rig_packet *passing)
{
    uint8_t *copy;
    struct agg_packet p = rig_arriving(passing, &copy);
    struct agg_verdict v;

    atp_switch_protocol.locate(&rig.at_switch, &p, 1);
    atp_switch_protocol.apply(&p, 1, rig.now, &v);
    rig.switch_reasons[v.reason]++;
    if (v.action == AGG_PASS_ON || v.action == AGG_SEND_AS) {
        memcpy(passing->payload, v.payload, v.bytes);
        passing->bytes = v.bytes;
        if (v.action == AGG_SEND_AS)
            passing->rank = v.as->from.ip - rig_sender(0).ip;
    }
    free(copy);
    return v.action == AGG_PASS_ON || v.action == AGG_SEND_AS || v.action == AGG_PASS_AND_KEEP;
}

/* The oldest packet on its way arrives. */
static inline void rig_deliver_one(void)
{
    struct rig_packet p = rig_queue[rig.first];

    rig.first = (rig.first + 1) % RIG_QUEUE;
    rig.queued--;
    if (rig.table_job.pool != NULL && !rig_pass(&p))
        return;
    if (rig.table_job.pool != NULL && rig.meddles != NULL)
        rig.meddles(&p);
    if (p.by_group)
        atp_protocol.note_group(p.payload, p.bytes);
    if (p.to_server)
        rig_serve(&p);
    else
        atp_stream_receive(rig.stream[p.rank], p.payload, p.bytes, rig.now);
}

static inline void rig_deliver(void)
{
    while (rig.queued > 0)
        rig_deliver_one();
}

/* The server has lost everything. All ranks come back to it, and go on in another life of the job. */
static inline void rig_restart(uint32_t life)
{
    const struct agg_limits limits = {.random = (uint64_t)life << 32, .group = rig.terms.group};
    struct agg_terms wish[RIG_WORKERS], had, granted;
    struct agg_refusal why;

    atp_terms_build(&had, &rig.terms);
    for (unsigned r = 0; r < rig.workers; r++)
        wish[r] = atp_worker.resume(&had, atp_stream_oldest(rig.stream[r]));
    if (!atp_protocol.grant(wish, (uint16_t)rig.workers, &limits, &granted, &why) ||
        !atp_terms_parse(&rig.terms, &granted))
        abort();
    free(rig.job.pool);
    free(rig.job.seat);
    rig_open_server();
    for (unsigned r = 0; r < rig.workers; r++)
        if (atp_stream_resume(rig.stream[r], 3, &rig.terms, &rig_shared, rig.now) != 0)
            abort();
}

/* Lets every stream send what it wants to, one packet each in turn. False: none did. */
static inline bool rig_send(void)
{
    uint8_t payload[RIG_PAYLOAD];
    struct xfer_send send;
    bool any = false;

    for (unsigned r = 0; r < rig.workers; r++)
        if (atp_stream_poll(rig.stream[r], rig.now, &send)) {
            rig_put(true, r, payload, xfer_send_copy(&send, payload));
            any = true;
        }
    return any;
}

/* To the next timer. False: there is none. */
static inline bool rig_wait(void)
{
    uint64_t next = UINT64_MAX;

    for (unsigned r = 0; r < rig.workers; r++) {
        const uint64_t at = atp_stream_timer(rig.stream[r]);
        next = at < next ? at : next;
    }
    if (next == UINT64_MAX)
        return false;
    rig.now = next > rig.now ? next : rig.now + 1;
    return true;
}

/* Until nobody has anything to do, or for so many steps. */
static inline void rig_run(unsigned steps)
{
    while (steps-- > 0) {
        while (rig_send())
            rig_deliver();
        if (!rig_wait())
            return;
    }
}
