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

static void test_a_quota_is_exceeded_by_what_does_not_fit_beside_the_rest(void)
{
    CU_ASSERT_PTR_NULL(exceeded(1024, 24 << 20));
    CU_ASSERT_PTR_EQUAL(exceeded(1025, 24 << 20), &quotas[1]);
    CU_ASSERT_PTR_EQUAL(exceeded(1024, (24 << 20) + 1), &quotas[2]);
}

static void test_a_quota_that_was_lowered_below_what_is_held_has_nothing_free(void)
{
    const struct share_quota q = {SHARE_SLOTS, 10, 20, "pool.slots", "the switch"};
    const uint64_t none[SHARE_KINDS] = {0}, one[SHARE_KINDS] = {[SHARE_SLOTS] = 1};

    CU_ASSERT_PTR_NULL(share_exceeded(&q, 1, none));
    CU_ASSERT_PTR_EQUAL(share_exceeded(&q, 1, one), &q);
}

static void test_a_refusal_says_asked_free_key_and_holders(void)
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

static void test_a_refusal_ends_with_dots_where_there_is_no_room(void)
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

static void test_nobody_gets_more_than_he_wants_and_what_is_left_goes_on(void)
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
static void test_divisions_are_fair_whatever_is_claimed(void)
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

/* Flows that always have packets waiting, of different lengths. */
static void test_flows_that_always_wait_are_served_by_their_quanta(void)
{
    static const uint32_t quantum[] = {30000, 10000, 10000, 500}, longest[] = {1500, 1500, 9000, 9000};
    static struct share_turns t;
    uint64_t rng = rng_seed(15), served[4] = {0};
    uint32_t next[4] = {100, 100, 100, 100};

    share_turns_init(&t);
    for (unsigned f = 0; f < 4; f++)
        share_turns_wait(&t, f);
    for (unsigned step = 0; step < 200000; step++) {
        const unsigned f = share_turns_first(&t);
        const uint32_t left = share_turns_left(&t, quantum[f]), bytes = next[f] <= left ? next[f] : 0;

        if (bytes > 0) {
            served[f] += bytes;
            next[f] = 64 + (uint32_t)rng_below(&rng, longest[f]);
        }
        share_turns_served(&t, bytes, next[f]);
    }
    for (unsigned f = 0; f < 4; f++) {
        const double part = (double)served[f] / quantum[f] / ((double)served[0] / quantum[0]);

        CU_ASSERT(part > 0.98 && part < 1.02);
    }
}

static void test_who_stops_waiting_keeps_nothing(void)
{
    static struct share_turns t;

    share_turns_init(&t);
    CU_ASSERT_EQUAL(share_turns_first(&t), SHARE_NOBODY);
    share_turns_wait(&t, 7);
    share_turns_wait(&t, 7); /* already */
    share_turns_wait(&t, 1000);
    CU_ASSERT_EQUAL(share_turns_first(&t), 7);
    CU_ASSERT_EQUAL(share_turns_left(&t, 500), 500);
    CU_ASSERT_EQUAL(share_turns_left(&t, 500), 500); /* once a turn */
    share_turns_served(&t, 200, 300);
    CU_ASSERT_EQUAL(share_turns_left(&t, 500), 300); /* the turn goes on */
    share_turns_served(&t, 0, 301);
    CU_ASSERT_EQUAL(share_turns_first(&t), 1000);
    share_turns_left(&t, 500);
    share_turns_served(&t, 100, 0);
    CU_ASSERT_EQUAL(share_turns_first(&t), 7);
    CU_ASSERT_EQUAL(share_turns_left(&t, 500), 800); /* what it could not use */
    share_turns_served(&t, 301, 0);
    CU_ASSERT_EQUAL(share_turns_first(&t), SHARE_NOBODY);
    share_turns_wait(&t, 7);
    CU_ASSERT_EQUAL(share_turns_left(&t, 500), 500);
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_a_quota_is_exceeded_by_what_does_not_fit_beside_the_rest),
        UNIT_TEST(test_a_quota_that_was_lowered_below_what_is_held_has_nothing_free),
        UNIT_TEST(test_a_refusal_says_asked_free_key_and_holders),
        UNIT_TEST(test_a_refusal_ends_with_dots_where_there_is_no_room),
        UNIT_TEST(test_nobody_gets_more_than_he_wants_and_what_is_left_goes_on),
        UNIT_TEST(test_divisions_are_fair_whatever_is_claimed),
        UNIT_TEST(test_flows_that_always_wait_are_served_by_their_quanta),
        UNIT_TEST(test_who_stops_waiting_keeps_nothing),
        CU_TEST_INFO_NULL,
    };

    return unit_main("share", tests);
}
