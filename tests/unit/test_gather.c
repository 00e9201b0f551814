/* Slots that gather whole contributions: sums in the workers' order, and what others see of them. */
#include <stdlib.h>
#include <string.h>

#include "gather/gather.h"
#include "kernels_chosen.h"
#include "unit.h"

enum { WORKERS = 3, MEMBERS = WORKERS + 1, SLOTS = 4, FLOATS = 100, BYTES = 4 * FLOATS };

/* As a protocol has them. */
struct pool {
    struct gather gather;
    uint64_t more;
};

struct slot {
    struct gather_slot gathered;
    uint8_t more;
};

static struct gather_config config(void)
{
    return (struct gather_config){.workers = WORKERS,
                                  .members = MEMBERS,
                                  .slots = SLOTS,
                                  .chunk_bytes = BYTES,
                                  .code = agg_code(AGG_F32, AGG_SUM),
                                  .pool_struct_bytes = sizeof(struct pool),
                                  .slot_struct_bytes = sizeof(struct slot),
                                  .kernels = kernels_or_exit()};
}

static struct gather *g;

static void end(void)
{
    free(g);
}

static void make_for(unsigned op)
{
    struct gather_config cfg = config();

    free(g);
    cfg.code = agg_code(AGG_F32, op);
    g = aligned_alloc(64, gather_footprint(&cfg));
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    memset(g, 0xee, gather_footprint(&cfg));
    gather_init(g, &cfg);
}

static void begin(void)
{
    g = NULL;
    make_for(AGG_SUM);
}

EACH_TEST(begin, end)

TEST(what_is_out_of_range_has_no_pool)
{
    const struct gather_config good = config();
    struct gather_config bad[] = {good, good, good, good, good, good, good};

    bad[0].workers = 0;
    bad[1].workers = MEMBERS + 1;
    bad[2].members = AGG_MAX_WORKERS + 1;
    bad[3].slots = 6;
    bad[4].slots = 2 * GATHER_MAX_SLOTS;
    bad[5].chunk_bytes = BYTES + 2; /* no whole elements */
    bad[6].code = agg_code(AGG_F32, AGG_BAND);
    CU_ASSERT(gather_footprint(&good) > 0 && gather_footprint(&good) % 64 == 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_EQUAL(gather_footprint(&bad[i]), 0);
}

/* In another order of additions these floats have another sum. */
static void make_contributions(float of[WORKERS][FLOATS])
{
    for (unsigned i = 0; i < FLOATS; i++) {
        of[0][i] = 1e8f;
        of[1][i] = -1e8f;
        of[2][i] = 3.25f;
    }
}

TEST(sums_are_in_the_workers_order_whatever_the_order_of_arrival)
{
    static const unsigned orders[][WORKERS] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};
    float of[WORKERS][FLOATS];

    make_contributions(of);
    for (uint32_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct gather_slot *slot = gather_slot(g, 1);

        gather_expect(g, slot, 1 + SLOTS * i);
        for (unsigned k = 0; k < WORKERS; k++) {
            float passing[FLOATS];

            memcpy(passing, of[orders[i][k]], BYTES);
            CU_ASSERT(!gather_has(g, slot, orders[i][k]));
            CU_ASSERT_EQUAL(gather_add(g, slot, orders[i][k], (const uint8_t *)passing, BYTES),
                            k == WORKERS - 1);
            CU_ASSERT_EQUAL(gather_has(g, slot, orders[i][k]), k < WORKERS - 1);
            memset(passing, 0xff, BYTES); /* nothing refers to the packet */
        }
        CU_ASSERT_EQUAL(slot->sum_bytes, BYTES);
        CU_ASSERT_EQUAL(slot->expected, 1 + SLOTS * (i + 1));
        CU_ASSERT_EQUAL((uintptr_t)gather_sum(g, slot) % 64, 0);
        for (unsigned f = 0; f < FLOATS; f++)
            CU_ASSERT_EQUAL(((const float *)(const void *)gather_sum(g, slot))[f], 3.25f);
    }
}

TEST(averages_are_divided_by_the_workers)
{
    static const float of[WORKERS] = {1, 2, 6};
    struct gather_slot *slot;
    float mean;

    make_for(AGG_AVG);
    slot = gather_slot(g, 0);
    for (unsigned worker = 0; worker < WORKERS; worker++)
        gather_add(g, slot, worker, (const uint8_t *)&of[worker], sizeof of[worker]);
    memcpy(&mean, gather_sum(g, slot), sizeof mean);
    CU_ASSERT_EQUAL(mean, 3);
}

TEST(a_short_chunk)
{
    float of[WORKERS][FLOATS];
    struct gather_slot *slot = gather_slot(g, 0);

    make_contributions(of);
    for (unsigned worker = 0; worker < WORKERS; worker++)
        gather_add(g, slot, worker, (const uint8_t *)of[worker], 8);
    CU_ASSERT_EQUAL(slot->sum_bytes, 8);
}

TEST(slots_and_their_protocols_fields_are_apart)
{
    float of[WORKERS][FLOATS];

    make_contributions(of);
    ((struct pool *)g)->more = UINT64_MAX;
    for (uint32_t chunk = 0; chunk < SLOTS; chunk++) {
        struct slot *slot = (struct slot *)gather_slot(g, chunk);

        CU_ASSERT_PTR_EQUAL(gather_slot(g, chunk + 8 * SLOTS), slot);
        CU_ASSERT(slot->more == 0 && slot->gathered.expected == 0 && slot->gathered.contributed == 0);
        slot->more = 0xaa;
        gather_expect(g, &slot->gathered, chunk);
        gather_add(g, &slot->gathered, 1, (const uint8_t *)of[1], BYTES);
        memset(gather_sum(g, &slot->gathered) - GATHER_HEAD_ROOM, 0x77, GATHER_HEAD_ROOM);
    }
    for (uint32_t chunk = 0; chunk < SLOTS; chunk++) {
        struct slot *slot = (struct slot *)gather_slot(g, chunk);

        CU_ASSERT(slot->more == 0xaa && slot->gathered.expected == chunk && slot->gathered.contributed == 1);
        CU_ASSERT(gather_has(g, &slot->gathered, 1) && !gather_has(g, &slot->gathered, 0));
    }
    CU_ASSERT_EQUAL(((struct pool *)g)->more, UINT64_MAX);
}

TEST(who_has_contributed_and_who_never_does)
{
    float of[WORKERS][FLOATS];
    struct agg_slot_view view;
    uint8_t map[1] = {0xff};

    make_contributions(of);
    gather_expect(g, gather_slot(g, 6), 6);
    gather_add(g, gather_slot(g, 6), 2, (const uint8_t *)of[2], BYTES);
    CU_ASSERT_EQUAL(gather_write_map(g, gather_slot(g, 6), map), 1);
    CU_ASSERT_EQUAL(map[0], 1 << 2);
    CU_ASSERT(gather_view(g, 2, &view) && view.chunk == 6 && view.contributed == 1);
    CU_ASSERT_EQUAL(view.ranks[0], 1 << 2 | 1 << WORKERS);
    CU_ASSERT(!gather_view(g, SLOTS, &view));
    gather_expect(g, gather_slot(g, 6), 10); /* what came before is forgotten */
    CU_ASSERT(gather_view(g, 2, &view) && view.chunk == 10 && view.contributed == 0);
    CU_ASSERT_EQUAL(view.ranks[0], 1 << WORKERS);
}

TEST(the_last_sum_is_shown_but_not_while_another_is_made)
{
    float of[WORKERS][FLOATS];
    struct agg_sum_view view;
    struct gather_slot *slot = gather_slot(g, 3);

    make_contributions(of);
    CU_ASSERT(!gather_view_sum(g, 3, &view));
    CU_ASSERT(!gather_view_sum(g, SLOTS, &view));
    gather_expect(g, slot, 3);
    for (unsigned worker = 0; worker < WORKERS; worker++)
        gather_add(g, slot, worker, (const uint8_t *)of[worker], BYTES);
    CU_ASSERT(gather_view_sum(g, 3, &view) && view.chunk == 3 && view.code == agg_code(AGG_F32, AGG_SUM));
    CU_ASSERT_EQUAL(view.bytes, AGG_SUM_VIEW_BYTES); /* of a longer one the first */
    CU_ASSERT_EQUAL(memcmp(view.elements, gather_sum(g, slot), AGG_SUM_VIEW_BYTES), 0);
    slot->sums++; /* as it is meanwhile */
    CU_ASSERT(!gather_view_sum(g, 3, &view));
}

TEST(it_was_heard_once)
{
    CU_ASSERT(!gather_heard(g));
    gather_note_heard(g);
    gather_note_heard(g);
    CU_ASSERT(gather_heard(g) && !gather_heard(g));
}
