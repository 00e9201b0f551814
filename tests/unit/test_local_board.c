/* Ranks that sum in shared memory, step by step in any order: the sums are those of the reference, and who
 * dies, leaves or calls something else does so in words. */
#include "local/board.h"

#include "local_rig.h"
#include "reference.h"
#include "unit.h"

enum { BLOCK = 4096, BYTES_MAX = 5 * BLOCK };

static const struct placement {
    unsigned ranks, host[RIG_RANKS];
} placements[] = {
    {1, {0}},
    {2, {0, 0}},
    {4, {0, 0, 0, 0}},
    {5, {0, 0, 0, 0, 0}},
    {4, {0, 0, 1, 1}},
    {6, {0, 1, 2, 2, 1, 0}},
    {7, {0, 0, 0, 1, 1, 2, 0}},
    {3, {0, 1, 0}},
};
enum { PLACEMENTS = sizeof placements / sizeof *placements };

static uint8_t in[RIG_RANKS][BYTES_MAX], out[RIG_RANKS][BYTES_MAX], wanted[BYTES_MAX];

/* Cuts a tensor into segments, as each rank likes; returns how many. */
static size_t cut(struct rig *rig, unsigned rank, uint64_t *rng, uint64_t count, size_t element,
                  bool in_place)
{
    const size_t n = 1 + rng_below(rng, RIG_SEGMENTS);
    uint64_t at = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t part = i + 1 < n ? rng_below(rng, count - at + 1) : count - at;
        uint8_t *result = out[rank] + at * element;
        if (in_place)
            memcpy(result, in[rank] + at * element, part * element);
        rig->segments[rank][i] = (struct xfer_segment){
            .in = in_place ? result : in[rank] + at * element, .out = result, .count = part};
        at += part;
    }
    return n;
}

/* Averages of halves are rounded on each host, and then once more. */
static bool is_rounded_twice(const struct rig *rig, unsigned code)
{
    return agg_is_wide(&agg_kernels_scalar.operations[code]) && rig->plan.hosts > 1;
}

static bool is_result(const struct rig *rig, unsigned code, const uint8_t *result, uint64_t count)
{
    const size_t element = agg_code_bytes(code);
    const void *all[RIG_RANKS];
    bool well = true;

    for (unsigned rank = 0; rank < rig->plan.ranks; rank++)
        all[rank] = in[rank];
    if (!is_rounded_twice(rig, code) || agg_code_op(code) != AGG_AVG) {
        reference_reduce(code, wanted, all, rig->plan.ranks, count);
        return reference_equal(code, result, wanted, count);
    }
    for (uint64_t i = 0; i < count && well; i++) {
        for (unsigned rank = 0; rank < rig->plan.ranks; rank++)
            all[rank] = in[rank] + i * element;
        well = reference_allows(code, result + i * element, all, rig->plan.ranks);
    }
    return well;
}

static void check_call(struct rig *rig, unsigned code, uint64_t count, bool reduce, uint64_t *rng)
{
    const size_t element = agg_code_bytes(code);
    struct xfer_call call = {.collective = reduce ? XFER_REDUCE : XFER_ALLREDUCE,
                             .type = (uint8_t)agg_code_type(code),
                             .op = (uint8_t)agg_code_op(code),
                             .count = count};
    const bool in_place = rng_below(rng, 2);

    if (reduce)
        call.root = (uint32_t)rng_below(rng, rig->plan.ranks);
    for (unsigned rank = 0; rank < rig->plan.ranks; rank++) {
        memset(out[rank], 0x55, sizeof out[rank]);
        reference_fill(code, rng, true, in[rank], count);
        rig_begin(rig, rank, &call, cut(rig, rank, rng, count, element, in_place));
    }
    rig_run(rig, rng);
    for (unsigned rank = 0; rank < rig->plan.ranks; rank++) {
        CU_ASSERT_EQUAL_FATAL(rig->at[rank], LOCAL_DONE);
        if (xfer_gives(call.collective, call.root, rank) && !is_result(rig, code, out[rank], count)) {
            printf("\n    %s of %s, %u ranks on %u hosts, %u elements\n", agg_op_name(call.op),
                   agg_type_name(call.type), rig->plan.ranks, rig->plan.hosts, (unsigned)count);
            CU_FAIL_FATAL("a wrong sum");
        }
        CU_ASSERT(out[rank][count * element] == 0x55 || count * element == BYTES_MAX);
    }
}

TEST(every_operation_on_every_type_is_as_the_reference_has_it)
{
    uint64_t rng = rng_seed(1);
    unsigned nth = 0;

    for (unsigned p = 0; p < PLACEMENTS; p++) {
        struct rig rig;
        rig_open(&rig, placements[p].host, placements[p].ranks, BLOCK);
        for (unsigned code = reference_next(0); code != 0; code = reference_next(code)) {
            if (!unit_tries(nth++))
                continue;
            const uint64_t most = (BYTES_MAX - 16) / agg_code_bytes(code);
            const uint64_t counts[] = {0, 1, 7, BLOCK / agg_code_bytes(code), rng_below(&rng, most), most};
            for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
                check_call(&rig, code, counts[i], i % 2, &rng);
        }
        rig_close(&rig);
    }
}

/* Where a rank's block of a call that is the first is. */
static const uint8_t *area_of(const struct rig *rig, unsigned local, size_t block)
{
    const struct local_member *m = &rig->member[0];

    return (const uint8_t *)m->board + local_board_head(m->locals) + 2 * local * block;
}

/* Nobody else reads it. */
TEST(what_a_rank_adds_of_its_own_is_not_copied)
{
    enum { RANKS = 4, GRAIN = 1024 * sizeof(float), SHARED = RANKS * GRAIN };
    const unsigned host[RANKS] = {0};
    uint64_t rng = rng_seed(7);
    struct rig rig;

    rig_open(&rig, host, RANKS, SHARED);
    check_call(&rig, agg_code(AGG_F32, AGG_SUM), SHARED / sizeof(float), false, &rng);
    for (unsigned local = 0; local < RANKS; local++)
        for (size_t at = 0; at < SHARED; at += GRAIN) {
            const uint8_t *const area = area_of(&rig, local, SHARED) + at;
            const uint8_t none[GRAIN] = {0};
            CU_ASSERT(memcmp(area, at / GRAIN == local ? none : in[local] + at, GRAIN) == 0);
        }
    rig_close(&rig);
}

TEST(block_numbers_wrap)
{
    uint64_t rng = rng_seed(2);

    for (unsigned p = 0; p < PLACEMENTS; p++) {
        struct rig rig;
        rig_open(&rig, placements[p].host, placements[p].ranks, BLOCK);
        for (unsigned rank = 0; rank < rig.plan.ranks; rank++) {
            struct local_member *m = &rig.member[rank];
            m->block = UINT32_MAX - 5;
            atomic_store(&m->board->seats[m->me].in.value, m->block);
            atomic_store(&m->board->seats[m->me].summed.value, m->block);
        }
        for (unsigned i = 0; i < 8; i++)
            check_call(&rig, agg_code(AGG_I32, AGG_SUM), rng_below(&rng, BYTES_MAX / 4 - 4), false, &rng);
        rig_close(&rig);
    }
}

/* The bits that come of the order: host after host, on each host rank after rank. */
TEST(floats_are_added_in_the_order_of_hosts_and_their_ranks)
{
    enum { COUNT = 3000 };
    const struct placement *p = &placements[5];
    const unsigned code = agg_code(AGG_F32, AGG_SUM);
    float of_host[RIG_RANKS][COUNT], all[COUNT];
    uint64_t rng = rng_seed(3);
    struct rig rig;

    rig_open(&rig, p->host, p->ranks, BLOCK);
    check_call(&rig, code, COUNT, false, &rng);
    for (unsigned rank = 0; rank < p->ranks; rank++) {
        const struct xfer_call call = {
            .collective = XFER_ALLREDUCE, .type = AGG_F32, .op = AGG_SUM, .count = COUNT};
        for (unsigned i = 0; i < COUNT; i++)
            ((float *)in[rank])[i] = (float)(int32_t)rng_next(&rng) * 1e-3f;
        rig_begin(&rig, rank, &call, cut(&rig, rank, &rng, COUNT, 4, false));
    }
    rig_run(&rig, &rng);
    for (unsigned host = 0; host < rig.plan.hosts; host++) {
        const void *ranks[RIG_RANKS];
        for (unsigned i = 0; i < rig.plan.locals[host]; i++)
            ranks[i] = in[local_plan_rank(&rig.plan, host, i)];
        reference_reduce(code, of_host[host], ranks, rig.plan.locals[host], COUNT);
    }
    const void *hosts[] = {of_host[0], of_host[1], of_host[2]};
    reference_reduce(code, all, hosts, 3, COUNT);
    for (unsigned rank = 0; rank < p->ranks; rank++)
        CU_ASSERT_EQUAL(memcmp(out[rank], all, sizeof all), 0);
    rig_close(&rig);
}

static void begin_same(struct rig *rig, unsigned rank, uint64_t count)
{
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = count};
    rig->segments[rank][0] = (struct xfer_segment){.in = in[rank], .out = out[rank], .count = count};
    rig_begin(rig, rank, &call, 1);
}

/* Nobody gets a sum without it, whenever it dies; and once somebody has said so, everybody knows. */
TEST(who_dies_at_any_step_is_awaited_and_then_known)
{
    enum { COUNT = 3 * BLOCK / 4 };
    uint64_t rng = rng_seed(4);

    for (unsigned step = 0; step < 40; step++) {
        const struct placement *p = &placements[step % PLACEMENTS];
        const unsigned dies = (unsigned)rng_below(&rng, p->ranks);
        struct local_fault fault = {.status = -6, .reason = CTL_RANK_LOST, .text = "it died"};
        unsigned last = dies;
        struct rig rig;
        rig_open(&rig, p->host, p->ranks, BLOCK);
        for (unsigned rank = 0; rank < p->ranks; rank++) {
            for (unsigned i = 0; i < COUNT; i++)
                ((int32_t *)in[rank])[i] = 1;
            begin_same(&rig, rank, step % 2 ? COUNT : 5);
        }
        for (unsigned i = 0; i < step / 2; i++)
            rig_go(&rig, dies);
        rig.dead[dies] = rig.at[dies] != LOCAL_DONE;
        rig_run(&rig, &rng);
        for (unsigned rank = 0; rank < p->ranks; rank++) {
            for (unsigned i = 0; rig.at[rank] == LOCAL_DONE && i < 5; i++)
                CU_ASSERT_EQUAL(((int32_t *)out[rank])[i], (int32_t)p->ranks);
            if (rig.at[rank] == LOCAL_WAIT && p->host[rank] == p->host[dies])
                last = rank;
        }
        if (last != dies) {
            local_raise(&rig.member[last], &fault);
            rig_run(&rig, &rng);
        }
        for (unsigned rank = 0; last != dies && rank < p->ranks; rank++)
            if (rank != dies && p->host[rank] == p->host[dies] && rig.at[rank] != LOCAL_DONE) {
                CU_ASSERT_EQUAL(rig.at[rank], LOCAL_FAULT);
                CU_ASSERT(local_faulted(&rig.member[rank], &fault));
                CU_ASSERT_STRING_EQUAL(fault.text, "it died");
            }
        rig_close(&rig);
    }
}

TEST(the_first_fault_counts_and_its_text_is_bounded)
{
    struct local_fault one = {.status = -6, .text = "one\n"}, other = {.status = -7, .text = "other"}, seen;
    struct rig rig;

    rig_open(&rig, placements[2].host, 4, BLOCK);
    CU_ASSERT(!local_faulted(&rig.member[0], &seen));
    local_raise(&rig.member[2], &one);
    local_raise(&rig.member[1], &other);
    local_raise(&rig.member[2], &other);
    CU_ASSERT(local_faulted(&rig.member[0], &seen));
    CU_ASSERT_STRING_EQUAL(seen.text, "one?");
    CU_ASSERT_EQUAL(seen.status, -6);
    memset(rig.board[0]->seats[2].fault.text, 'x', CTL_TEXT_MAX);
    CU_ASSERT(local_faulted(&rig.member[0], &seen));
    CU_ASSERT_EQUAL(strlen(seen.text), CTL_TEXT_MAX - 1);
    atomic_store(&rig.board[0]->fault.value, 77); /* of nobody */
    CU_ASSERT(local_faulted(&rig.member[0], &seen));
    rig_close(&rig);
}

TEST(who_calls_something_else_is_told_from_the_others)
{
    uint64_t rng = rng_seed(5);

    for (unsigned odd = 0; odd < 4; odd++)
        for (unsigned large = 0; large < 2; large++)
            for (unsigned p = 2; p < 5; p += 2) {
                struct rig rig;
                unsigned told = 0;
                rig_open(&rig, placements[p].host, 4, BLOCK);
                for (unsigned rank = 0; rank < 4; rank++)
                    begin_same(&rig, rank, rank == odd ? 6 : large ? BLOCK : 5);
                rig_run(&rig, &rng);
                for (unsigned rank = 0; rank < 4; rank++)
                    if (rig.at[rank] == LOCAL_MISMATCH) {
                        const bool mine = rank == odd;
                        told++;
                        CU_ASSERT(mine || rig.step[rank].rank == odd);
                        CU_ASSERT(mine || rig.step[rank].call.count == 6);
                    } else {
                        CU_ASSERT_NOT_EQUAL(rig.at[rank], LOCAL_DONE);
                    }
                CU_ASSERT(told > 0);
                rig_close(&rig);
            }
}

/* What is to be summed of two hosts' first shares that are as long; they must tell calls apart that differ.
 */
static bool are_told_apart(uint64_t count, uint64_t other)
{
    uint64_t rng = rng_seed(7);
    struct rig rig;

    rig_open(&rig, placements[4].host, 4, BLOCK);
    for (unsigned rank = 0; rank < 4; rank++)
        begin_same(&rig, rank, rank < 2 ? count : other);
    for (unsigned i = 0; i < 100; i++) {
        const unsigned rank = (unsigned)rng_below(&rng, 4);
        if (rig.at[rank] != LOCAL_RAIL)
            rig.at[rank] = local_go(&rig.member[rank], &rig.step[rank]);
    }
    CU_ASSERT_EQUAL_FATAL(rig.at[0], LOCAL_RAIL);
    CU_ASSERT_EQUAL_FATAL(rig.at[2], LOCAL_RAIL);
    CU_ASSERT_EQUAL(rig.step[0].call.count, rig.step[2].call.count);
    rig_close(&rig);
    return !xfer_call_equal(&rig.step[0].call, &rig.step[2].call);
}

TEST(hosts_that_call_different_things_do_not_take_each_others_shares)
{
    enum { FLOATS = BLOCK / 4 };

    CU_ASSERT(!are_told_apart(4 * FLOATS, 4 * FLOATS));
    CU_ASSERT(are_told_apart(4 * FLOATS, 5 * FLOATS));     /* the second has one more block */
    CU_ASSERT(are_told_apart(2 * FLOATS, 2 * FLOATS + 1)); /* one more element, of another rail or block */
}

TEST(who_has_left_is_missed_only_where_it_is_awaited)
{
    uint64_t rng = rng_seed(6);
    struct rig rig;

    rig_open(&rig, placements[2].host, 4, BLOCK);
    for (unsigned rank = 0; rank < 4; rank++)
        begin_same(&rig, rank, 3);
    for (unsigned i = 0; i < 3; i++)
        rig_go(&rig, 3); /* it has copied in */
    local_sit(&rig.member[3], LOCAL_LEFT);
    rig.dead[3] = true;
    rig_run(&rig, &rng);
    for (unsigned rank = 0; rank < 3; rank++) {
        CU_ASSERT_EQUAL(rig.at[rank], LOCAL_DONE);
        begin_same(&rig, rank, 3);
    }
    rig_run(&rig, &rng);
    for (unsigned rank = 0; rank < 3; rank++) {
        CU_ASSERT_EQUAL(rig.at[rank], LOCAL_GONE);
        CU_ASSERT_EQUAL(rig.step[rank].rank, 3);
        const struct ctl_ranks awaited = local_awaited(&rig.member[rank]);
        CU_ASSERT_EQUAL(ctl_ranks_count(&awaited), 1);
        CU_ASSERT(ctl_ranks_has(&awaited, 3));
    }
    rig_close(&rig);
}

static void pass(struct rig *rig, unsigned rank, uint32_t seq, uint64_t bytes)
{
    const struct xfer_call call = {
        .seq = seq, .collective = XFER_BROADCAST, .type = AGG_U8, .op = AGG_BOR, .root = 1, .count = bytes};
    local_pass(&rig->member[rank], &call);
}

static void begin_at(struct rig *rig, unsigned rank, uint32_t seq)
{
    const struct xfer_call call = {
        .seq = seq, .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = 3};
    rig->segments[rank][0] = (struct xfer_segment){.in = in[rank], .out = out[rank], .count = 3};
    rig_begin(rig, rank, &call, 1);
}

/* Both numbers that are compared wrap. */
static void count_from(struct rig *rig, uint32_t calls, uint32_t asides)
{
    for (unsigned rank = 0; rank < rig->plan.ranks; rank++) {
        rig->member[rank].calls = calls;
        rig->member[rank].asides = asides;
    }
}

TEST(a_call_aside_in_the_place_of_one_of_the_board_is_seen)
{
    static const uint32_t from[] = {UINT32_MAX - 1, UINT32_MAX, 1};
    struct local_step step;

    for (unsigned i = 0; i < 9; i++) {
        const uint32_t calls = from[i / 3], asides = from[i % 3], at = calls + asides;
        struct rig rig;
        rig_open(&rig, placements[4].host, 4, BLOCK);
        count_from(&rig, calls, asides);
        pass(&rig, 0, at, 7);
        pass(&rig, 1, at, 7);
        begin_at(&rig, 0, at + 1);
        CU_ASSERT(!local_strays(&rig.member[0], &step)); /* all call the same */
        pass(&rig, 0, at + 2, 8);
        CU_ASSERT(!local_strays(&rig.member[0], &step)); /* what it has called since is none of the other's */
        pass(&rig, 2, at, 7);
        pass(&rig, 2, at + 1, 9);
        CU_ASSERT(!local_strays(&rig.member[0], &step)); /* of another host */
        pass(&rig, 1, at + 1, 9);
        CU_ASSERT_FATAL(local_strays(&rig.member[0], &step));
        CU_ASSERT_EQUAL(step.rank, 1);
        CU_ASSERT_EQUAL(step.call.collective, XFER_BROADCAST);
        CU_ASSERT_EQUAL(step.call.seq, at + 1);
        CU_ASSERT_EQUAL(step.call.root, 1);
        CU_ASSERT_EQUAL(step.call.count, 9);
        rig_close(&rig);
    }
}

/* Who is ahead has made that one before. */
TEST(who_goes_on_aside_behind_the_same_call_does_not_stray)
{
    struct local_step step;
    struct rig rig;

    rig_open(&rig, placements[1].host, 2, BLOCK);
    begin_at(&rig, 0, 0);
    begin_at(&rig, 1, 0);
    for (uint32_t i = 1; i < 4; i++) {
        pass(&rig, 1, i, i);
        CU_ASSERT(!local_strays(&rig.member[0], &step));
    }
    rig_close(&rig);
}

/* Ranks that have made different calls aside before are told by the places of those that meet. */
TEST(calls_in_different_places_are_not_the_same)
{
    uint64_t rng = rng_seed(8);
    struct rig rig;

    rig_open(&rig, placements[1].host, 2, BLOCK);
    pass(&rig, 1, 0, 7);
    begin_at(&rig, 0, 0);
    begin_at(&rig, 1, 1);
    rig_run(&rig, &rng);
    CU_ASSERT(rig.at[0] == LOCAL_MISMATCH || rig.at[1] == LOCAL_MISMATCH);
    rig_close(&rig);
}

TEST(sleepers_are_woken)
{
    struct rig rig;

    rig_open(&rig, placements[1].host, 2, BLOCK);
    begin_same(&rig, 0, 3);
    begin_same(&rig, 1, 3);
    while (rig_go(&rig, 0))
        ;
    CU_ASSERT_EQUAL_FATAL(rig.at[0], LOCAL_WAIT);
    CU_ASSERT_PTR_EQUAL(rig.step[0].word, &rig.board[0]->seats[1].in);
    CU_ASSERT_EQUAL(atomic_load(&rig.step[0].word->value), rig.step[0].value);
    atomic_fetch_add(&rig.step[0].word->sleepers, 1);
    rig_go(&rig, 1);
    CU_ASSERT_PTR_EQUAL(rig.step[1].wake, rig.step[0].word);
    rig_close(&rig);
}
