/* Who gets how much: quotas and what a refusal says, division by weight. */
#include <string.h>

#include "random.h"
#include "share/divide.h"
#include "share/quota.h"
#include "share/turns.h"
#include "unit.h"

static const struct share_quota quotas[] = {
    {SHARE_SLOTS, 0, 5, "pool.slots", "the switch"}, /* none */
    {SHARE_SLOTS, 2048, 1024, "tenants[0].quota.slots", "tenant lab"},
    {SHARE_BYTES, 64 << 20, 40 << 20, "pool.megabytes", "the switch"},
};

static const struct share_quota *exceeded(uint64_t slots, uint64_t bytes)
{
    const uint64_t asked[SHARE_KINDS] = {[SHARE_SLOTS] = slots, [SHARE_BYTES] = bytes};

    return share_exceeded(quotas, 3, asked);
}

TEST(a_quota_is_exceeded_by_what_does_not_fit_beside_the_rest)
{
    CU_ASSERT_PTR_NULL(exceeded(1024, 24 << 20));
    CU_ASSERT_PTR_EQUAL(exceeded(1025, 24 << 20), &quotas[1]);
    CU_ASSERT_PTR_EQUAL(exceeded(1024, (24 << 20) + 1), &quotas[2]);
}

TEST(a_quota_that_was_lowered_below_what_is_held_has_nothing_free)
{
    const struct share_quota q = {SHARE_SLOTS, 10, 20, "pool.slots", "the switch"};
    const uint64_t none[SHARE_KINDS] = {0}, one[SHARE_KINDS] = {[SHARE_SLOTS] = 1};

    CU_ASSERT_PTR_NULL(share_exceeded(&q, 1, none));
    CU_ASSERT_PTR_EQUAL(share_exceeded(&q, 1, one), &q);
}

/* One host may have 48 MB of 64, and has them and more. Raising pool.megabytes until the pool has room would
 * not do. */
TEST(of_several_quotas_that_lack_room_the_tightest_is_named)
{
    struct share_quota q[] = {{SHARE_BYTES, 64, 64, "pool.megabytes", "the switch"},
                              {SHARE_BYTES, 48, 50, "3/4 of pool.megabytes", "one host"},
                              {SHARE_SLOTS, 1, 1, "tenants[0].quota.slots", "tenant lab"}};
    const uint64_t asked[SHARE_KINDS] = {[SHARE_BYTES] = 1},
                   both[SHARE_KINDS] = {[SHARE_BYTES] = 1, [SHARE_SLOTS] = 1};

    q[1].held = 48;
    q[0].held = 66;
    CU_ASSERT_PTR_EQUAL(share_exceeded(q, 3, asked), &q[0]);
    q[1].held = 64;
    q[0].held = 64;
    CU_ASSERT_PTR_EQUAL(share_exceeded(q, 3, asked), &q[1]);
    CU_ASSERT_PTR_EQUAL(share_exceeded(q, 3, both), &q[1]);
    q[0].held = 40;
    q[1].held = 40;
    CU_ASSERT_PTR_EQUAL(share_exceeded(q, 3, (const uint64_t[SHARE_KINDS]){[SHARE_BYTES] = 30}), &q[1]);
}

TEST(a_refusal_says_asked_free_key_and_holders)
{
    struct share_holder holder[] = {{"small", 24}, {"train-b", 1000}};
    struct share_holder bytes[] = {{"a", 40 << 20}};
    char text[200];

    share_refusal(text, sizeof(text), &quotas[1], 2000, holder, 2);
    CU_ASSERT_STRING_EQUAL(text, "2000 slots were asked for, 1024 of the 2048 of tenant lab are free "
                                 "(tenants[0].quota.slots): train-b holds 1000, small 24");
    share_refusal(text, sizeof(text), &quotas[2], (25 << 20) + 512, bytes, 1);
    CU_ASSERT_STRING_EQUAL(text, "25.0 MB were asked for, 24.0 MB of the 64.0 MB of the switch are free "
                                 "(pool.megabytes): a holds 40.0 MB");
}

TEST(a_refusal_ends_with_dots_where_there_is_no_room)
{
    struct share_holder holder[3];
    char text[200];

    for (unsigned i = 0; i < 3; i++)
        holder[i] = (struct share_holder){"a-name-of-a-job-that-has-as-many-as-47-characters", 8};
    share_refusal(text, sizeof(text), &quotas[1], 2000, holder, 3);
    CU_ASSERT(strlen(text) < sizeof(text));
    CU_ASSERT_STRING_EQUAL(text + strlen(text) - 5, ", ...");
    for (size_t room = 1; room < sizeof(text); room++) {
        memset(text, 'x', sizeof(text));
        share_refusal(text, room, &quotas[1], 2000, holder, 3);
        CU_ASSERT(strlen(text) < room && text[room] == 'x');
    }
}

TEST(nobody_gets_more_than_he_wants_and_what_is_left_goes_on)
{
    struct share_claim c[] = {{1, 100, 0}, {1, 1000, 0}, {2, 1000, 0}, {1, 0, 0}};

    share_divide(400, c, 4);
    CU_ASSERT(c[0].get == 100 && c[1].get == 100 && c[2].get == 200 && c[3].get == 0);
    share_divide(700, c, 4);
    CU_ASSERT(c[0].get == 100 && c[1].get == 200 && c[2].get == 400);
    share_divide(5000, c, 4);
    CU_ASSERT(c[0].get == 100 && c[1].get == 1000 && c[2].get == 1000 && c[3].get == 0);
    share_divide(0, c, 4);
    CU_ASSERT(c[0].get == 0 && c[1].get == 0 && c[2].get == 0);
}

/* Nobody could get more without taking it from one who has no more than his part. */
TEST(divisions_are_fair_whatever_is_claimed)
{
    uint64_t rng = rng_seed(14);

    for (unsigned round = 0; round < 2000; round++) {
        struct share_claim c[9];
        const unsigned n = 1 + (unsigned)(rng_next(&rng) % 9);
        const uint32_t total = (uint32_t)(rng_next(&rng) % 5000);
        uint64_t wanted = 0, given = 0;

        for (unsigned i = 0; i < n; i++)
            wanted += (c[i] = (struct share_claim){1 + (uint32_t)(rng_next(&rng) % 7),
                                                   (uint32_t)(rng_next(&rng) % 1500), 0})
                          .want;
        share_divide(total, c, n);
        for (unsigned i = 0; i < n; i++) {
            given += c[i].get;
            CU_ASSERT(c[i].get <= c[i].want);
            for (unsigned j = 0; c[i].get < c[i].want && j < n; j++) /* per weight, nobody is ahead */
                CU_ASSERT((uint64_t)c[j].get * c[i].weight <= ((uint64_t)c[i].get + 1) * c[j].weight);
        }
        CU_ASSERT(given <= total && (wanted <= total ? given == wanted : given + n > total));
    }
}

enum { FLOWS = 4, LONGEST = 9000 };
static const uint32_t quantum[FLOWS] = {30000, 10000, 10000, 500};
static struct share_turns turns;

/* The next packet of one of the flows that may be served, of a length of its own; *served gets it. */
static void serve_any(uint64_t *rng, uint32_t next[FLOWS], uint64_t served[FLOWS])
{
    const unsigned first = (unsigned)rng_below(rng, FLOWS);

    for (unsigned i = 0; i < FLOWS; i++) {
        const unsigned f = (first + i) % FLOWS;

        if (!share_turns_ask(&turns, f, quantum[f]))
            continue;
        share_turns_serve(&turns, f, next[f]);
        served[f] += next[f];
        next[f] = 64 + (uint32_t)rng_below(rng, LONGEST - 63);
        return;
    }
    share_turns_next(&turns);
}

TEST(flows_that_always_have_something_are_served_by_their_quanta)
{
    uint64_t rng = rng_seed(15), served[FLOWS] = {0};
    uint32_t next[FLOWS] = {100, 100, 100, 100};
    double least[FLOWS] = {0}, most[FLOWS] = {0}; /* quanta by which the flow is ahead of the first */

    share_turns_init(&turns);
    for (unsigned step = 0; step < 400000; step++) {
        serve_any(&rng, next, served);
        for (unsigned f = 1; f < FLOWS; f++) {
            const double ahead = (double)served[f] / quantum[f] - (double)served[0] / quantum[0];

            least[f] = ahead < least[f] ? ahead : least[f];
            most[f] = ahead > most[f] ? ahead : most[f];
        }
    }
    CU_ASSERT(served[0] > 1000 * quantum[0]);
    for (unsigned f = 1; f < FLOWS; f++)
        CU_ASSERT(most[f] - least[f] < 4 + (double)LONGEST / quantum[f] + (double)LONGEST / quantum[0]);
}

/* So many bytes, in packets of 1000; whether all of them could be served. */
static bool is_served(unsigned flow, uint32_t bytes)
{
    while (bytes > 0 && share_turns_ask(&turns, flow, 10000)) {
        share_turns_serve(&turns, flow, 1000);
        bytes -= 1000;
    }
    return bytes == 0;
}

TEST(who_comes_about_as_often_as_the_others_never_waits)
{
    share_turns_init(&turns);
    for (unsigned round = 0; round < 1000; round++)
        for (unsigned flow = 7; flow < 10; flow++)
            CU_ASSERT(is_served(flow, 1000 * (1 + round % 10)));
}

TEST(who_has_had_two_parts_waits_for_those_who_have_had_none)
{
    share_turns_init(&turns);
    CU_ASSERT(share_turns_ask(&turns, 9, 10000));
    CU_ASSERT(is_served(7, 20000));
    CU_ASSERT(!is_served(7, 1000));
    CU_ASSERT(is_served(9, 10000)); /* ends the turn: 7 has had its part of the next one, too */
    CU_ASSERT(is_served(7, 10000));
    CU_ASSERT(!is_served(7, 1000));
    CU_ASSERT(is_served(9, 20000));
    CU_ASSERT(is_served(7, 20000));
}

TEST(who_asks_no_more_holds_nobody_up_for_long)
{
    share_turns_init(&turns);
    share_turns_ask(&turns, SHARE_FLOWS - 1, 10000);
    for (unsigned turn = 0; turn <= SHARE_TURNS_QUIET; turn++) {
        CU_ASSERT(!is_served(7, 21000));
        CU_ASSERT_EQUAL(turns.n, 2);
        share_turns_next(&turns);
    }
    CU_ASSERT_EQUAL(turns.n, 1);
    CU_ASSERT(is_served(7, 1000000));
    CU_ASSERT(share_turns_ask(&turns, SHARE_FLOWS - 1, 10000));
    CU_ASSERT_EQUAL(turns.flow[SHARE_FLOWS - 1].left, 10000); /* it has kept nothing */
}

TEST(debts_are_paid_by_those_who_have_gone)
{
    share_turns_init(&turns);
    CU_ASSERT(share_turns_ask(&turns, 7, 1000));
    CU_ASSERT(share_turns_ask(&turns, 9, 1000));
    share_turns_serve(&turns, 9, 5000);
    for (unsigned turn = 0; turn < 4; turn++) {
        CU_ASSERT_EQUAL(turns.n, 2);
        share_turns_ask(&turns, 7, 1000);
        share_turns_serve(&turns, 7, 1000);
    }
    CU_ASSERT_EQUAL(turns.flow[9].left, 0);
}
