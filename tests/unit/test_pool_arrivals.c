/* Who is late: what a pool notes of each rank's contributions. */
#include <string.h>

#include "pool_rig.h"
#include "random.h"

static void start(uint16_t workers, uint16_t shards)
{
    rig_start((struct sml_pool_config){
        .workers = workers, .format = XFER_FORMAT_TYPED, .arrivals = true, .shards = shards});
    rig.now = 0;
}

static struct agg_rank_view view_of(uint16_t rank)
{
    struct agg_rank_view v;

    CU_ASSERT(sml_pool_view_rank(rig.pool, rank, &v));
    return v;
}

static enum sml_reason contribute(uint16_t rank, uint32_t tag, uint64_t at)
{
    rig.now = at;
    return rig_data(rank, tag, 1);
}

TEST(a_rank_is_late_by_the_time_since_the_first_one)
{
    start(3, 1);
    CU_ASSERT_EQUAL(contribute(1, 0, 5000), SML_HELD);
    CU_ASSERT_EQUAL(contribute(0, 0, 5700), SML_HELD);
    CU_ASSERT_EQUAL(contribute(2, 0, 9000), SML_SEND_ALL);
    CU_ASSERT_EQUAL(contribute(0, 1, 20000), SML_HELD);
    CU_ASSERT_EQUAL(contribute(2, 1, 20100), SML_HELD);
    CU_ASSERT_EQUAL(contribute(1, 1, 21500), SML_SEND_ALL);

    const struct agg_rank_view a = view_of(0), b = view_of(1), c = view_of(2);
    CU_ASSERT(a.delay_sum_ns == 700 && a.delay_last_ns == 0 && a.delay_worst_ns == 700);
    CU_ASSERT(b.delay_sum_ns == 1500 && b.delay_last_ns == 1500 && b.delay_worst_ns == 1500);
    CU_ASSERT(c.delay_sum_ns == 4100 && c.delay_last_ns == 100 && c.delay_worst_ns == 4000);
    CU_ASSERT(a.contributions == 2 && b.contributions == 2 && c.contributions == 2);
    CU_ASSERT(a.completed == 0 && b.completed == 1 && c.completed == 1);
    CU_ASSERT(a.bytes == 128 && b.bytes == 128 && c.bytes == 128);
    CU_ASSERT(a.contributed_at == 20000 && b.contributed_at == 21500 && c.contributed_at == 20100);
    CU_ASSERT(a.delays[0] == 2 && b.delays[0] == 1 && b.delays[1] == 1 && c.delays[0] == 1 &&
              c.delays[2] == 1);
}

TEST(the_buckets_are_powers_of_two)
{
    CU_ASSERT(agg_delay_bucket(0) == 0 && agg_delay_bucket(1023) == 0 && agg_delay_bucket(1024) == 1);
    CU_ASSERT_EQUAL(agg_delay_bucket(UINT64_MAX), AGG_DELAY_BUCKETS - 1);
    for (unsigned i = 1; i < AGG_DELAY_BUCKETS; i++) {
        CU_ASSERT_EQUAL(agg_delay_bucket(agg_delay_bucket_from(i)), i);
        CU_ASSERT_EQUAL(agg_delay_bucket(agg_delay_bucket_from(i) - 1), i - 1);
    }
}

/* In a job of one rank every contribution is a chunk's first and last. */
TEST(a_single_rank_is_never_late)
{
    start(1, 1);
    for (uint32_t tag = 0; tag < 9; tag++)
        CU_ASSERT_EQUAL(contribute(0, tag, 1000000 * (tag + 1)), SML_SEND_ALL);
    const struct agg_rank_view v = view_of(0);
    CU_ASSERT(v.contributions == 9 && v.completed == 9 && v.delay_sum_ns == 0 && v.delays[0] == 9);
}

static enum sml_reason probe(uint16_t rank, uint32_t tag)
{
    const struct sml_packet p = rig_packet(SML_PROBE, tag);

    return rig_apply(rank, &p);
}

/* Neither what comes again nor what does not count changes a delay. */
TEST(repetitions_and_probes_are_counted_apart)
{
    start(2, 1);
    CU_ASSERT_EQUAL(contribute(0, 0, 1000), SML_HELD);
    CU_ASSERT_EQUAL(contribute(0, 0, 2000), SML_DROP_DUPLICATE);
    CU_ASSERT_EQUAL(probe(0, 0), SML_SEND_ANSWER);
    CU_ASSERT_EQUAL(contribute(1, 0, 4000), SML_SEND_ALL);
    CU_ASSERT_EQUAL(contribute(1, 0, 9000), SML_SEND_ONE);
    CU_ASSERT_EQUAL(contribute(0, 4, 9000), SML_HELD);
    CU_ASSERT_EQUAL(contribute(1, 4, 9000), SML_SEND_ALL);
    CU_ASSERT_EQUAL(contribute(1, 0, 9900), SML_DROP_STALE);
    CU_ASSERT_EQUAL(probe(1, 4), SML_SEND_ONE);
    CU_ASSERT_EQUAL(contribute(1, 12, 9999), SML_DROP_AHEAD);
    CU_ASSERT_EQUAL(contribute(0, 8, 9999), SML_HELD);
    struct sml_packet other = rig_packet(SML_DATA, 8);
    rig_elements(&other, 0, 1, 4); /* shorter */
    CU_ASSERT_EQUAL(rig_apply(1, &other), SML_SEND_MISMATCH);

    const struct agg_rank_view a = view_of(0), b = view_of(1);
    CU_ASSERT(a.repeated == 1 && a.probes == 1 && a.contributions == 3);
    CU_ASSERT(b.repeated == 2 && b.probes == 1 && b.contributions == 2);
    CU_ASSERT(b.delay_sum_ns == 3000 && b.contributed_at == 9000);
    CU_ASSERT(a.lost_up == 0 && a.lost_down == 0); /* it asked for what nobody had */
    CU_ASSERT(b.lost_up == 0 && b.lost_down == 1); /* by its question */
}

/* Who asks for the sum of a chunk without being in it has sent what did not come; who is sent a sum again did
 * not get it. */
TEST(losses_are_told_apart_by_their_direction)
{
    start(2, 2);
    CU_ASSERT_EQUAL(contribute(0, 0, 1000), SML_HELD);
    CU_ASSERT_EQUAL(probe(1, 0), SML_SEND_ANSWER); /* NACK */
    CU_ASSERT_EQUAL(probe(0, 1), SML_SEND_ANSWER); /* of a chunk of which nothing has come */
    CU_ASSERT_EQUAL(contribute(1, 0, 2000), SML_SEND_ALL);
    CU_ASSERT_EQUAL(probe(0, 0), SML_SEND_ONE); /* it was here before the sum left */
    rig.now = 2001;
    CU_ASSERT_EQUAL(probe(1, 0), SML_SEND_ONE);
    CU_ASSERT_EQUAL(contribute(1, 4, 3000), SML_HELD);
    CU_ASSERT_EQUAL(probe(1, 4), SML_SEND_ANSWER); /* WAIT */
    const struct agg_rank_view a = view_of(0), b = view_of(1);
    CU_ASSERT(a.lost_up == 1 && a.lost_down == 0);
    CU_ASSERT(b.lost_up == 1 && b.lost_down == 1);
}

/* A worker that knows no questions sends again instead. */
TEST(who_cannot_ask_sends_again)
{
    start(2, 1);
    CU_ASSERT_EQUAL(contribute(0, 0, 1000), SML_HELD);
    CU_ASSERT_EQUAL(contribute(1, 0, 2000), SML_SEND_ALL);
    struct sml_packet p = rig_packet(SML_DATA, 0);
    rig_elements(&p, 0, 1, 8);
    rig.now = 3000;
    CU_ASSERT_EQUAL(rig_apply(1, &p), SML_SEND_ONE);
    CU_ASSERT_EQUAL(view_of(1).lost_down, 0);
    p.size_code = SML_SIZE_32;
    CU_ASSERT_EQUAL(rig_apply(1, &p), SML_SEND_ONE);
    CU_ASSERT(view_of(1).lost_down == 1 && view_of(1).repeated == 2);
}

/* Each shard has notes of its own; whichever the number of shards, the view has them all. */
TEST(a_view_adds_up_the_shards)
{
    uint64_t rng = rng_seed(7);

    for (uint16_t shards = 1; shards <= 64; shards++) {
        uint64_t sum = 0, worst = 0, now = 1;

        rig_start((struct sml_pool_config){
            .workers = 2, .slots = 128, .format = XFER_FORMAT_TYPED, .arrivals = true, .shards = shards});
        for (uint32_t tag = 0; tag < 256; tag++) {
            const uint64_t delay = rng_below(&rng, 1 << 20);

            CU_ASSERT_EQUAL(contribute(0, tag, now), SML_HELD);
            CU_ASSERT_EQUAL(contribute(1, tag, now += delay), SML_SEND_ALL);
            sum += delay;
            worst = delay > worst ? delay : worst;
            now += 10;
        }
        const struct agg_rank_view v = view_of(1);
        CU_ASSERT(v.contributions == 256 && v.completed == 256 && v.bytes == 256 * 64);
        CU_ASSERT(v.delay_sum_ns == sum && v.delay_worst_ns == worst);
        CU_ASSERT_EQUAL(v.contributed_at, now - 10);
        CU_ASSERT_EQUAL(view_of(0).delay_sum_ns, 0);
    }
}

/* A chunk that was handed back after a restart: what had come for it has counted, and nobody is late. */
TEST(a_result_handed_back_makes_nobody_late)
{
    rig_start((struct sml_pool_config){
        .workers = 2, .format = XFER_FORMAT_TYPED, .arrivals = true, .resumed = true});
    CU_ASSERT_EQUAL(contribute(0, 0, 1000), SML_HELD);
    struct sml_packet p = rig_packet(SML_RESTORE, 0);
    rig_elements(&p, 0, 1, 8);
    rig.now = 5000;
    CU_ASSERT_EQUAL(rig_apply(1, &p), SML_RESTORED);
    CU_ASSERT_EQUAL(rig_apply(1, &p), SML_DROP_DUPLICATE);
    const struct agg_rank_view b = view_of(1);
    CU_ASSERT(b.contributions == 0 && b.repeated == 0 && b.delay_worst_ns == 0);
    CU_ASSERT_EQUAL(view_of(0).contributions, 1);
}

TEST(a_pool_that_keeps_none_says_so_and_is_smaller)
{
    struct agg_rank_view v;
    struct sml_pool_config cfg;

    start(64, 4);
    cfg = rig.cfg;
    const size_t with = sml_pool_footprint(&cfg);
    cfg.arrivals = false;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), with - 4 * 64 * 320);
    rig_start(cfg);
    CU_ASSERT_EQUAL(contribute(0, 0, 1000), SML_HELD);
    CU_ASSERT(!sml_pool_view_rank(rig.pool, 0, &v));
    CU_ASSERT_EQUAL(v.contributions, 0);
}

/* What lies behind the last slot belongs to the last rank of the last shard, and nothing behind that. */
TEST(the_last_rank_of_the_largest_job)
{
    start(AGG_MAX_WORKERS, 3);
    for (uint16_t r = 0; r < AGG_MAX_WORKERS; r++)
        contribute(r, 2, 1000 + r);
    const struct agg_rank_view v = view_of(AGG_MAX_WORKERS - 1);
    CU_ASSERT(v.contributions == 1 && v.completed == 1 && v.delay_worst_ns == AGG_MAX_WORKERS - 1);
}
