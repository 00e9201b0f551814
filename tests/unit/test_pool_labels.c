/* A pool for published clients, whose packets are numbered from 0 in every tensor, while the slots go on. */
#include "pool_rig.h"

#include "switchml/labels.h"
#include "wire/bytes.h"

enum { THREADS = 2, RANGE = 6, WINDOW = 3, ELEMENTS = 32, WORKERS = 3 };

static void start(void)
{
    rig_start((struct sml_pool_config){.workers = WORKERS,
                                       .format = XFER_FORMAT_INT32,
                                       .slots = THREADS * RANGE,
                                       .chunk_bytes = 4 * ELEMENTS,
                                       .labelled = true,
                                       .threads = THREADS});
}

/* The packet of a thread that sends its at-th since it started, as the published client counts slots. */
static struct sml_packet packet(unsigned thread, uint64_t at, uint8_t tensor, uint32_t tag, int32_t value)
{
    const unsigned i = (unsigned)(at % (2 * WINDOW));

    for (unsigned e = 0; e < ELEMENTS; e++)
        put_be32(rig.body + 4 * e, (uint32_t)(value * (int32_t)(e + 1)));
    return (struct sml_packet){.kind = SML_DATA,
                               .size_code = SML_SIZE_32,
                               .job = tensor,
                               .tag = tag,
                               .slot = (uint16_t)(thread * RANGE + i % WINDOW),
                               .ver = i >= WINDOW,
                               .e0 = (uint8_t)value,
                               .body = rig.body,
                               .body_bytes = 4 * ELEMENTS};
}

static enum sml_reason send(uint16_t rank, struct sml_packet p)
{
    rig.slot = sml_pool_locate(rig.pool, &p, p.slot / RANGE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rig.slot);
    sml_pool_apply(rig.pool, rig.slot, rank, &p, NULL, 0, &rig.v);
    return rig.v.reason;
}

static bool result_is(const struct sml_packet *p, int32_t sum)
{
    struct sml_packet r;

    if (sml_parse(&r, rig.v.payload, rig.v.bytes) != SML_OK || r.kind != SML_DATA || r.job != p->job ||
        r.tag != p->tag || r.slot != p->slot || r.ver != p->ver || r.size_code != p->size_code ||
        r.body_bytes != p->body_bytes)
        return false;
    for (unsigned e = 0; e < ELEMENTS; e++)
        if ((int32_t)get_be32(r.body + 4 * e) != sum * (int32_t)(e + 1))
            return false;
    return true;
}

/* All ranks contribute value * (rank + 1). */
static void complete(unsigned thread, uint64_t at, uint8_t tensor, uint32_t tag, int32_t value)
{
    for (uint16_t r = 0; r < WORKERS; r++) {
        const struct sml_packet p = packet(thread, at, tensor, tag, value * (r + 1));

        CU_ASSERT_EQUAL_FATAL(send(r, p), r < WORKERS - 1 ? SML_HELD : SML_SEND_ALL);
        if (r == WORKERS - 1) {
            CU_ASSERT(result_is(&p, value * WORKERS * (WORKERS + 1) / 2));
            CU_ASSERT_EQUAL((int8_t)rig.v.payload[8], value * WORKERS);
        }
    }
}

/* 600 tensors of 1 to 9 packets: the tensors' count wraps twice. */
TEST(packet_numbers_begin_anew_with_every_tensor)
{
    uint64_t at[THREADS] = {0};

    start();
    for (unsigned tensor = 0; tensor < 600; tensor++)
        for (unsigned t = 0; t < THREADS; t++)
            for (uint32_t tag = 0; tag < 1 + (tensor * 7 + t) % 9; tag++)
                complete(t, at[t]++, (uint8_t)tensor, tag, 1 + (int32_t)(tensor + tag) % 30);
}

/* For longer than the tensors' count tells: as where tensors have one packet and the window is 256. */
TEST(slots_may_rest)
{
    static const unsigned rests[] = {100, 127, 128, 200, 255, 256, 257, 1000, 70000};
    uint64_t at[THREADS] = {0};
    unsigned tensor = 0;

    start();
    for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
        complete(0, at[0]++, (uint8_t)tensor, 0, 2); /* and then this thread has no part */
        for (unsigned end = tensor + rests[i]; tensor < end; tensor++)
            complete(1, at[1]++, (uint8_t)tensor, 0, 3);
    }
}

/* What is stale and what is new, by how many tensors there are between a copy and the newest. */
TEST(how_late_a_copy_may_be)
{
    for (unsigned late = 2; late < 256; late++) {
        start();
        complete(0, 0, 0, 0, 1);
        complete(0, WINDOW, 1, 0, 1);
        for (unsigned tensor = 2; tensor <= late; tensor++)
            complete(1, tensor, (uint8_t)tensor, 0, 1);
        CU_ASSERT_EQUAL(send(0, packet(0, 0, 0, 0, 1)),
                        late < 256 - SML_TENSORS_AHEAD ? SML_DROP_STALE : SML_HELD);
    }
}

/* The job's byte may as well stay: then packets must be numbered through. */
TEST(packets_may_be_numbered_through)
{
    start();
    for (uint32_t tag = 0; tag < 50; tag++)
        complete(0, tag, 9, UINT32_MAX - 20 + tag, 3);
}

/* A client uses a slot's versions in turn; who takes the same one twice has missed a sum. */
TEST(a_chunk_of_the_last_ones_version_is_ahead)
{
    start();
    complete(0, 0, 0, 0, 1);
    CU_ASSERT_EQUAL(send(0, packet(0, 2 * WINDOW, 0, 2 * WINDOW, 1)), SML_DROP_AHEAD);
    complete(0, WINDOW, 0, WINDOW, 1);
}

/* What the published switch adds to the wrong chunk: the version of the copy is the one that is expected. */
TEST(a_copy_that_is_two_phases_late_is_stale)
{
    struct sml_packet p;

    start();
    complete(0, 0, 0, 0, 1);
    complete(0, WINDOW, 0, WINDOW, 1);
    p = packet(0, 0, 0, 0, 1);
    CU_ASSERT_EQUAL(send(0, p), SML_DROP_STALE);
    complete(0, 2 * WINDOW, 1, 0, 5); /* another tensor; no rank is in it twice */
    CU_ASSERT_EQUAL(send(0, p), SML_DROP_STALE);
}

TEST(a_rank_that_lost_the_result_gets_it_again)
{
    struct sml_packet p;

    start();
    complete(1, 0, 4, 0, 2);
    p = packet(1, WINDOW, 4, WINDOW, 8);
    CU_ASSERT_EQUAL(send(2, p), SML_HELD);
    CU_ASSERT_EQUAL(send(2, p), SML_DROP_DUPLICATE);
    p = packet(1, 0, 4, 0, 4);
    CU_ASSERT_EQUAL(send(1, p), SML_SEND_ONE);
    CU_ASSERT(result_is(&p, 12));
}

/* One that is in another run, or counts otherwise. */
TEST(another_chunk_is_never_added)
{
    static const struct {
        uint8_t tensor;
        uint32_t tag;
        unsigned later; /* packets */
        enum sml_reason reason;
    } other[] = {{4, WINDOW + 1, 0, SML_DROP_AHEAD},
                 {5, WINDOW, 0, SML_DROP_AHEAD},
                 {3, WINDOW, 0, SML_DROP_STALE},
                 {4, WINDOW - 1, 0, SML_DROP_STALE},
                 {4, 2 * WINDOW, WINDOW, SML_DROP_AHEAD}};

    start();
    complete(0, 0, 4, 0, 1);
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
        CU_ASSERT_EQUAL(send(0, packet(0, WINDOW, 4, WINDOW, 1)), i == 0 ? SML_HELD : SML_DROP_DUPLICATE);
        CU_ASSERT_EQUAL(send(1, packet(0, WINDOW + other[i].later, other[i].tensor, other[i].tag, 1)),
                        other[i].reason);
    }
}

/* Such a client would take whatever comes for the sum. */
TEST(there_is_no_answer_but_sums)
{
    struct sml_packet p;

    start();
    p = packet(0, 0, 0, 0, 1);
    CU_ASSERT_EQUAL(send(0, p), SML_HELD);
    p.body_bytes = 0;
    CU_ASSERT_EQUAL(send(1, p), SML_DROP_MISMATCH);
    p.size_code = SML_SIZE_AGREED;
    CU_ASSERT_EQUAL(send(1, p), SML_DROP_BAD_LENGTH);
    for (unsigned kind = SML_OPEN; kind <= SML_RESTORE; kind++) {
        p.kind = (uint8_t)kind;
        CU_ASSERT_EQUAL(send(1, p), SML_DROP_BAD_KIND);
    }
}

TEST(a_thread_has_its_own_slots)
{
    start();
    for (uint16_t slot = 0; slot < SML_MAX_SLOTS; slot++)
        for (unsigned t = 0; t < THREADS; t++) {
            const struct sml_packet p = {.slot = slot};

            CU_ASSERT_EQUAL(sml_pool_locate(rig.pool, &p, t) != NULL, slot / RANGE == t);
        }
}

/* With a new pool, chunk numbers begin anew. With the old one a client that has started again would be told
 * the sum of the run before: its first packet looks like the copy of one that was lost. */
TEST(a_client_that_starts_again_needs_a_new_pool)
{
    struct sml_packet p;

    start();
    complete(0, 0, 0, 0, 1);
    p = packet(0, 0, 0, 0, 7);
    CU_ASSERT_EQUAL(send(0, p), SML_SEND_ONE);
    complete(0, WINDOW, 0, WINDOW, 1);
    CU_ASSERT_EQUAL(send(0, p), SML_DROP_STALE);

    sml_pool_init(rig.pool, &rig.cfg);
    complete(0, 0, 0, 0, 7);
}

/* Whether somebody works is told by packets that belong to the work. */
TEST(stale_packets_are_not_heard)
{
    start();
    CU_ASSERT(!sml_pool_heard(rig.pool));
    complete(0, 0, 0, 0, 1);
    complete(0, WINDOW, 0, WINDOW, 1);
    CU_ASSERT(sml_pool_heard(rig.pool));
    CU_ASSERT(!sml_pool_heard(rig.pool));
    send(0, packet(0, 0, 0, 0, 1));
    CU_ASSERT(!sml_pool_heard(rig.pool));
    CU_ASSERT_EQUAL(send(0, packet(0, WINDOW, 0, WINDOW, 1)), SML_SEND_ONE);
    CU_ASSERT(sml_pool_heard(rig.pool));
}

TEST(what_such_a_pool_cannot_be)
{
    const struct sml_pool_config good = {.workers = 2,
                                         .format = XFER_FORMAT_INT32,
                                         .slots = 6,
                                         .chunk_bytes = 128,
                                         .labelled = true,
                                         .threads = 3};
    struct sml_pool_config bad[6];

    CU_ASSERT(sml_pool_footprint(&good) > 0);
    for (size_t i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].slots = 7;
    bad[1].format = XFER_FORMAT_TYPED;
    bad[2].resumed = true;
    bad[3].tag_bits = 20;
    bad[4].labelled = false;
    bad[5].slots = 0;
    for (size_t i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(sml_pool_footprint(&bad[i]), 0);
}
