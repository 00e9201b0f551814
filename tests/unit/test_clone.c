/* Sums of frames that pass by: what is found in a frame, slots, and what is said of copies that are missing.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "clone/pool.h"
#include "clone/protocol.h"
#include "clone/reasons.h"
#include "clone/terms.h"
#include "gather/gather.h"
#include "kernels_chosen.h"
#include "protocols.h"
#include "unit.h"
#include "wire/bytes.h"
#include "wire/hostagg.h"

enum {
    WORKERS = 3,
    COLLECTOR = WORKERS,
    SLOTS = 4,
    FLOATS = 32,
    ELEMENTS_AT = 64,
    SEQUENCE_AT = 20,
    KIND_AT = 16,
    FRAME = ELEMENTS_AT + 4 * FLOATS,
    JOB = 5,
    MISSING_MS = 10,
    MS = 1000000,
    SENT_MAX = 16
};

static struct agg_jobs jobs;
static struct agg_job *job;
static struct {
    unsigned n, rank[SENT_MAX];
    struct hag_packet p[SENT_MAX];
    uint8_t payload[SENT_MAX][HAG_HEADER_BYTES + 4 * FLOATS];
} sent;

static struct cln_terms terms_of(bool little)
{
    return (struct cln_terms){.code = agg_code(AGG_F32, AGG_SUM),
                              .collector = true,
                              .slots = SLOTS,
                              .chunk_bytes = 4 * FLOATS,
                              .missing_after_ms = MISSING_MS,
                              .layout = {.host = {0x55, 0x55, 0x55, 0x55, 0x55, 0x55},
                                         .ether_type = 0x5555,
                                         .sequence_at = SEQUENCE_AT,
                                         .little = little,
                                         .elements_at = ELEMENTS_AT,
                                         .match_at = KIND_AT,
                                         .match_bytes = 2,
                                         .match = {0xab, 0xcd}}};
}

static struct agg_sender sender(unsigned member)
{
    const uint8_t mac[AGG_MAC_BYTES] = {2, 0, 0, 0, 0, (uint8_t)member};

    return agg_sender_of_mac(mac);
}

static void open_job(bool little, bool collector)
{
    struct cln_terms t = terms_of(little);
    struct agg_pool_config cfg = {.job = JOB, .workers = WORKERS + collector, .kernels = kernels_or_exit()};
    struct agg_sender members[WORKERS + 1];
    static struct agg_senders *senders;

    t.collector = collector;
    cln_terms_build(&cfg.terms, &t);
    for (unsigned i = 0; i <= WORKERS; i++)
        members[i] = sender(i);
    memset(&jobs, 0, sizeof jobs);
    job = carry_open(&jobs, &cln_protocol, &cfg, members, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    senders = calloc(1, sizeof *senders + 16 * sizeof senders->entry[0]);
    senders->entries = 16;
    for (unsigned i = 0; i <= WORKERS; i++)
        agg_senders_add(senders, agg_sender_key(&members[i]), JOB);
    jobs.senders = senders;
}

static void close_job(void)
{
    if (job == NULL)
        return;
    free(jobs.senders);
    carry_close(&jobs, job);
    job = NULL;
}

EACH_TEST(NULL, close_job)

static void note(void *ctx, const struct agg_job *of, const struct agg_packet *answered,
                 const struct carried *what)
{
    (void)ctx;
    (void)of;
    (void)answered;
    CU_ASSERT_FATAL(sent.n < SENT_MAX && what->bytes <= sizeof sent.payload[0]);
    memcpy(sent.payload[sent.n], what->payload, what->bytes);
    CU_ASSERT(hag_parse(&sent.p[sent.n], sent.payload[sent.n], what->bytes));
    sent.rank[sent.n++] = what->rank;
}

static size_t frame_of(uint8_t frame[FRAME], uint32_t sequence, float value)
{
    memset(frame, 0x55, FRAME);
    frame[KIND_AT] = 0xab;
    frame[KIND_AT + 1] = 0xcd;
    put_be32(frame + SEQUENCE_AT, sequence);
    for (unsigned i = 0; i < FLOATS; i++)
        memcpy(frame + ELEMENTS_AT + 4 * i, &value, sizeof value);
    return FRAME;
}

/* What becomes of the copy of a frame. */
static unsigned pass(unsigned from, uint8_t *frame, size_t bytes, uint64_t now)
{
    struct agg_packet p = {.payload = frame, .bytes = bytes, .from = sender(from)};
    struct agg_verdict v;

    sent.n = 0;
    cln_protocol.locate(&jobs, &p, 1);
    CU_ASSERT_EQUAL(cln_protocol.apply(&p, 1, now, &v), 1);
    CU_ASSERT(!v.kept && v.released == NULL);
    carry_out(job, &p, &v, note, NULL);
    CU_ASSERT_EQUAL(v.reason, p.reason);
    return p.reason;
}

static unsigned copy(unsigned worker, uint32_t sequence, float value)
{
    uint8_t frame[FRAME], before[FRAME];
    unsigned reason;

    frame_of(frame, sequence, value);
    memcpy(before, frame, FRAME);
    reason = pass(worker, frame, FRAME, 0);
    CU_ASSERT_EQUAL(memcmp(frame, before, FRAME), 0); /* it may not be touched */
    return reason;
}

static float float_of(const struct hag_packet *p)
{
    float value;

    memcpy(&value, p->body + p->body_bytes - 4, sizeof value);
    return value;
}

TEST(the_collector_gets_the_sum)
{
    open_job(false, true);
    CU_ASSERT_EQUAL(copy(0, 7, 1), CLN_HELD);
    CU_ASSERT_EQUAL(copy(2, 7, 4), CLN_HELD);
    CU_ASSERT_EQUAL(copy(2, 7, 4), CLN_DROP_DUPLICATE);
    CU_ASSERT_EQUAL(sent.n, 0);
    CU_ASSERT_EQUAL(copy(1, 7, 2), CLN_SEND_SUM);
    CU_ASSERT_EQUAL_FATAL(sent.n, 1); /* and nobody else gets anything */
    CU_ASSERT_EQUAL(sent.rank[0], COLLECTOR);
    CU_ASSERT_EQUAL(sent.p[0].kind, HAG_SUM);
    CU_ASSERT_EQUAL(sent.p[0].job, JOB);
    CU_ASSERT_EQUAL(sent.p[0].sequence, 7);
    CU_ASSERT_EQUAL(sent.p[0].body_bytes, 4 * FLOATS);
    CU_ASSERT_EQUAL(float_of(&sent.p[0]), 7);
    CU_ASSERT_EQUAL(copy(1, 7, 2), CLN_DROP_STALE); /* sent again */
}

TEST(sums_can_be_read)
{
    struct agg_sum_view view;
    float value;

    open_job(false, false);
    CU_ASSERT(!cln_protocol.view_sum(job->pool, 2, &view));
    CU_ASSERT(!cln_protocol.view_sum(job->pool, SLOTS, &view));
    copy(0, 6, 1);
    copy(1, 6, 1.5F);
    CU_ASSERT(!cln_protocol.view_sum(job->pool, 2, &view));
    CU_ASSERT_EQUAL(copy(2, 6, 2), CLN_SUMMED);
    CU_ASSERT_EQUAL(sent.n, 0);
    copy(0, 10, 9); /* the sum before stays */
    CU_ASSERT_FATAL(cln_protocol.view_sum(job->pool, 2, &view));
    CU_ASSERT_EQUAL(view.chunk, 6);
    CU_ASSERT_EQUAL(view.bytes, 4 * FLOATS);
    CU_ASSERT_EQUAL(view.code, agg_code(AGG_F32, AGG_SUM));
    memcpy(&value, view.elements + 4 * (FLOATS - 1), sizeof value);
    CU_ASSERT_EQUAL(value, 4.5F);
}

TEST(sums_are_made_in_the_order_of_workers)
{
    open_job(false, true);
    copy(2, 0, 1);
    copy(1, 0, -1e8F);
    CU_ASSERT_EQUAL(copy(0, 0, 1e8F), CLN_SEND_SUM);
    CU_ASSERT_EQUAL(float_of(&sent.p[0]), 1); /* by arrival it would be 0 */
}

TEST(a_chunk_that_lacks_copies_is_reported_once)
{
    struct agg_slot_view view;
    uint8_t frame[FRAME];
    struct agg_verdict v;

    open_job(false, true);
    pass(1, frame, frame_of(frame, 2, 1), 100);
    CU_ASSERT(!cln_protocol.tick(job, 0, 1, 100 + MISSING_MS * MS - 1, &v));
    CU_ASSERT_FATAL(cln_protocol.tick(job, 0, 1, 100 + MISSING_MS * MS, &v));
    CU_ASSERT_EQUAL(v.reason, CLN_SEND_MISSING);
    CU_ASSERT_EQUAL(v.action, AGG_TO_ALL);
    sent.n = 0;
    carry_out(job, NULL, &v, note, NULL);
    CU_ASSERT_EQUAL_FATAL(sent.n, 1);
    CU_ASSERT_EQUAL(sent.rank[0], COLLECTOR);
    CU_ASSERT_EQUAL(sent.p[0].kind, HAG_WAITING);
    CU_ASSERT_EQUAL(sent.p[0].sequence, 2);
    CU_ASSERT_EQUAL(sent.p[0].body[0], 1 << 1);
    CU_ASSERT(!cln_protocol.tick(job, 0, 1, 1000 * MISSING_MS * (uint64_t)MS, &v));
    CU_ASSERT(cln_protocol.view(job->pool, 2, &view));
    CU_ASSERT_EQUAL(view.contributed, 1);
    CU_ASSERT_EQUAL(view.ranks[0], 1 << 1 | 1 << COLLECTOR); /* nobody waits for the collector */
    /* The copies may still come. */
    copy(0, 2, 1);
    CU_ASSERT_EQUAL(copy(2, 2, 1), CLN_SEND_SUM);
    CU_ASSERT(!cln_protocol.tick(job, 0, 1, UINT64_MAX, &v));
}

TEST(a_later_chunk_takes_the_place_of_one_that_lacks_copies)
{
    open_job(false, true);
    copy(0, 1, 1);
    copy(2, 1, 1);
    CU_ASSERT_EQUAL(copy(0, 1 + SLOTS, 5), CLN_SEND_GIVEN_UP);
    CU_ASSERT_EQUAL_FATAL(sent.n, 1);
    CU_ASSERT_EQUAL(sent.p[0].kind, HAG_WAITING);
    CU_ASSERT_EQUAL(sent.p[0].sequence, 1);
    CU_ASSERT_EQUAL(sent.p[0].body[0], 1 << 0 | 1 << 2);
    CU_ASSERT_EQUAL(copy(1, 1, 1), CLN_DROP_STALE);
    copy(1, 1 + SLOTS, 5);
    CU_ASSERT_EQUAL(copy(2, 1 + SLOTS, 5), CLN_SEND_SUM);
    CU_ASSERT_EQUAL(float_of(&sent.p[0]), 15);
    /* Nothing was collected of the chunk that would be next, so nothing is given up. Numbers wrap around. */
    CU_ASSERT_EQUAL(copy(0, 0x7ffffff1, 1), CLN_HELD);
    CU_ASSERT_EQUAL(copy(1, 0xf0000001, 1), CLN_SEND_GIVEN_UP);
    CU_ASSERT_EQUAL(copy(2, 1, 1), CLN_SEND_GIVEN_UP);
}

TEST(without_a_collector_the_same_is_counted)
{
    uint8_t frame[FRAME];
    struct agg_verdict v;

    open_job(false, false);
    pass(0, frame, frame_of(frame, 0, 1), 0);
    CU_ASSERT(cln_protocol.tick(job, 0, 1, MISSING_MS * MS, &v));
    CU_ASSERT_EQUAL(v.reason, CLN_MISSING);
    CU_ASSERT_EQUAL(v.action, AGG_HOLD);
    CU_ASSERT_EQUAL(copy(0, SLOTS, 1), CLN_GIVEN_UP);
}

TEST(what_is_found_in_a_frame)
{
    uint8_t frame[FRAME];

    open_job(true, true); /* little endian: the number 0x01000000 as sent */
    frame_of(frame, 0x01000000, 1);
    CU_ASSERT_EQUAL(pass(0, frame, FRAME, 0), CLN_HELD);
    frame_of(frame, 0x01000000, 1);
    CU_ASSERT_EQUAL(pass(1, frame, FRAME, 0), CLN_HELD);
    frame_of(frame, 0x01000000, 1);
    CU_ASSERT_EQUAL(pass(2, frame, FRAME, 0), CLN_SEND_SUM);
    CU_ASSERT_EQUAL(sent.p[0].sequence, 1);
    CU_ASSERT_EQUAL(pass(0, frame, FRAME - 1, 0), CLN_IGNORED_TOO_SHORT);
    CU_ASSERT_EQUAL(pass(0, frame, KIND_AT + 1, 0), CLN_IGNORED_NO_MATCH);
    CU_ASSERT_EQUAL(pass(0, frame, 0, 0), CLN_IGNORED_SENDER);
    for (size_t at = 0; at < 14; at++) { /* a worker's, but to another station or of another type */
        frame[at]++;
        CU_ASSERT_EQUAL(pass(0, frame, FRAME, 0), at >= 6 && at < 12 ? CLN_DROP_STALE : CLN_IGNORED_SENDER);
        frame[at]--;
    }
    frame[KIND_AT + 1]++;
    CU_ASSERT_EQUAL(pass(0, frame, FRAME, 0), CLN_IGNORED_NO_MATCH);
    frame[KIND_AT + 1]--;
    CU_ASSERT_EQUAL(pass(COLLECTOR + 1, frame, FRAME, 0), CLN_IGNORED_SENDER);
    CU_ASSERT_EQUAL(pass(COLLECTOR, frame, FRAME, 0), CLN_IGNORED_SENDER);
}

TEST(shards_look_after_their_own_slots)
{
    const struct cln_terms t = terms_of(false);
    const struct cln_pool_config cfg = {.workers = 2,
                                        .slots = SLOTS,
                                        .shards = 3,
                                        .chunk_bytes = t.chunk_bytes,
                                        .code = t.code,
                                        .missing_after_ns = 1,
                                        .layout = t.layout,
                                        .kernels = kernels_or_exit()};
    const uint8_t elements[4 * FLOATS] = {0};
    void *memory = aligned_alloc(64, cln_pool_footprint(&cfg));
    struct cln_pool *pool = cln_pool_init(memory, &cfg);
    struct agg_verdict v;

    for (uint32_t c = 0; c < SLOTS; c++)
        cln_pool_apply(pool, cln_pool_locate(pool, c), 0, &(struct cln_copy){c, elements}, 0, &v);
    CU_ASSERT(gather_heard(pool) && !gather_heard(pool));
    for (unsigned shard = 0; shard < 3; shard++)
        for (unsigned slot = shard; slot < SLOTS; slot += 3) {
            CU_ASSERT(cln_pool_awaits_time(pool, shard));
            CU_ASSERT_FATAL(cln_pool_tick(pool, shard, 1, &v));
            CU_ASSERT_EQUAL(get_be32(v.payload + 4), slot);
        }
    for (unsigned shard = 0; shard < 3; shard++) {
        CU_ASSERT(!cln_pool_tick(pool, shard, 1, &v) && !cln_pool_tick(pool, shard, 1, &v));
        CU_ASSERT(!cln_pool_awaits_time(pool, shard));
    }
    free(memory);
}

/* Only while a chunk lacks copies that have not been reported yet: an idle lcore sleeps otherwise. */
TEST(time_matters_while_copies_are_missing)
{
    open_job(false, true);
    CU_ASSERT(!cln_protocol.ticks(job->pool, 0));
    for (uint16_t w = 0; w < WORKERS; w++) {
        CU_ASSERT_EQUAL(cln_protocol.ticks(job->pool, 0), w > 0);
        copy(w, 0, 100);
    }
    CU_ASSERT(!cln_protocol.ticks(job->pool, 0));
    copy(0, 1, 100);         /* lacks some, */
    copy(0, 1 + SLOTS, 100); /* is given up for this one, which lacks some, too, */
    CU_ASSERT(cln_protocol.ticks(job->pool, 0));
    for (uint16_t w = 1; w < WORKERS; w++)
        copy(w, 1 + SLOTS, 100); /* and then is whole */
    CU_ASSERT(!cln_protocol.ticks(job->pool, 0));
}

TEST(terms)
{
    const struct cln_terms t = terms_of(true);
    struct agg_pool_config cfg = {.workers = WORKERS + 1};
    struct agg_term list[AGG_LISTED_TERMS];
    struct agg_footprint f;
    struct cln_terms parsed;
    char why[AGG_TEXT_MAX];

    cln_terms_build(&cfg.terms, &t);
    CU_ASSERT_FATAL(cln_terms_parse(&parsed, &cfg.terms));
    static_assert(sizeof t.layout == 6 + 4 * sizeof(uint16_t) + 2 + CLN_MATCH_MAX, "no byte is padding");
    CU_ASSERT_EQUAL(memcmp(&parsed.layout, &t.layout, sizeof t.layout), 0);
    CU_ASSERT(parsed.code == t.code && parsed.collector && parsed.slots == SLOTS);
    CU_ASSERT(parsed.chunk_bytes == t.chunk_bytes && parsed.missing_after_ms == MISSING_MS);
    CU_ASSERT(cln_protocol.footprint(&cfg, &f));
    CU_ASSERT(f.slots == SLOTS && f.buffers == 0);
    CU_ASSERT_EQUAL(cln_protocol.list(&cfg.terms, list), 7);
    CU_ASSERT(!cln_protocol.check(&cfg.terms, false, why));
    cfg.workers = 1; /* the collector alone */
    CU_ASSERT(!cln_protocol.footprint(&cfg, &f));
    cfg.terms.bytes--;
    CU_ASSERT(!cln_terms_parse(&parsed, &cfg.terms));
    CU_ASSERT_PTR_EQUAL(agg_protocol_find(AGG_PROTOCOL_CLONE), &cln_protocol);
}
