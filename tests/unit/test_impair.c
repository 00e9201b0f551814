/* Impairments: deterministic for a seed, as frequent as asked for, and a held frame always comes back. */
#include "impair/impair.h"

#include <math.h>
#include <string.h>

#include "unit.h"

enum { FRAMES = 200000, FRAME_BYTES = 1500 };
static const uint64_t seed = 20250; /* any; a failure is replayed as it is */

static struct impair start(const struct impair_config *cfg)
{
    struct impair im;

    impair_init(&im, cfg, seed, 3);
    return im;
}

/* Puts FRAMES through impairments of one kind, and returns the statistics. */
static struct impair_stats run_kind(enum impair_kind kind, double probability)
{
    struct impair_config cfg = {.hold_frames = 1};
    struct impair im;

    cfg.rate[kind].probability = probability;
    im = start(&cfg);
    for (unsigned i = 0; i < FRAMES; i++) {
        if (impair_decide(&im, FRAME_BYTES).hold)
            impair_hold(&im, &im, 0);
        while (impair_release(&im, 0) != NULL)
            ;
    }
    return im.stats;
}

TEST(nothing_asked_for_nothing_done)
{
    const struct impair_config none = {.hold_frames = 3, .hold_for = 100};
    const struct impair_config some = {.rate[IMPAIR_CORRUPT].every = 9};
    struct impair im = start(&none);

    CU_ASSERT(!impair_active(&none));
    CU_ASSERT(impair_active(&some));
    for (unsigned i = 0; i < FRAMES; i++) {
        struct impair_decision d = impair_decide(&im, 64);

        CU_ASSERT(!(d.drop || d.duplicate || d.hold || d.corrupt));
    }
    CU_ASSERT_EQUAL(im.stats.frames, FRAMES);
    CU_ASSERT_PTR_NULL(impair_release(&im, UINT64_MAX));
}

/* Each kind alone, rare to certain: within five standard deviations of what was asked for. */
TEST(each_kind_is_as_frequent_as_asked)
{
    static const double rates[] = {0.0001, 0.001, 0.01, 0.5, 1.0};

    for (unsigned k = 0; k < IMPAIR_KINDS; k++) {
        for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
            const struct impair_stats s = run_kind(k, rates[r]);
            const double sigma = sqrt(FRAMES * rates[r] * (1 - rates[r]));

            CU_ASSERT(fabs((double)s.hit[k] - FRAMES * rates[r]) <= 5 * sigma);
            for (unsigned other = 0; other < IMPAIR_KINDS; other++)
                CU_ASSERT(other == k || s.hit[other] == 0);
        }
    }
}

TEST(a_frame_of_no_bytes_has_none_to_damage)
{
    const struct impair_config cfg = {.rate[IMPAIR_CORRUPT].every = 1, .rate[IMPAIR_DUPLICATE].every = 1};
    struct impair im = start(&cfg);
    const struct impair_decision empty = impair_decide(&im, 0), one = impair_decide(&im, 1);

    CU_ASSERT(empty.duplicate && !empty.corrupt);
    CU_ASSERT(one.duplicate && one.corrupt);
    CU_ASSERT_EQUAL(im.stats.hit[IMPAIR_CORRUPT], 1);
}

TEST(every_nth_frame)
{
    const struct impair_config cfg = {.rate[IMPAIR_DROP].every = 7};
    struct impair im = start(&cfg);

    for (unsigned i = 1; i <= 700; i++)
        CU_ASSERT_EQUAL(impair_decide(&im, 64).drop, i % 7 == 0);
    CU_ASSERT_EQUAL(im.stats.hit[IMPAIR_DROP], 100);
}

TEST(a_dropped_frame_suffers_nothing_else)
{
    const struct impair_config cfg = {
        .rate = {{.probability = 0.5}, {.probability = 1}, {.probability = 0.5}, {.probability = 1}},
        .hold_frames = 1,
    };
    struct impair im = start(&cfg);

    for (unsigned i = 0; i < 1000; i++) {
        struct impair_decision d = impair_decide(&im, 64);

        CU_ASSERT(d.drop ? !d.duplicate && !d.hold && !d.corrupt : d.duplicate && d.corrupt);
    }
    CU_ASSERT_EQUAL(im.stats.hit[IMPAIR_DROP] + im.stats.hit[IMPAIR_CORRUPT], 1000);
}

/* A hash of the decisions for one kind, to compare runs. */
static uint64_t fingerprint(const struct impair_config *cfg, uint64_t with_seed, uint64_t stream)
{
    uint64_t hash = 14695981039346656037u;
    struct impair im;

    impair_init(&im, cfg, with_seed, stream);
    for (unsigned i = 0; i < 10000; i++) {
        struct impair_decision d = impair_decide(&im, FRAME_BYTES);

        hash = (hash ^ (d.corrupt ? d.corrupt_bit + 1 : 0)) * 1099511628211u;
    }
    return hash;
}

TEST(a_seed_decides_everything)
{
    struct impair_config cfg = {.rate[IMPAIR_CORRUPT].probability = 0.1};
    const uint64_t first = fingerprint(&cfg, seed, 1);

    CU_ASSERT_EQUAL(fingerprint(&cfg, seed, 1), first);
    CU_ASSERT_NOT_EQUAL(fingerprint(&cfg, seed + 1, 1), first);
    CU_ASSERT_NOT_EQUAL(fingerprint(&cfg, seed, 2), first);
    cfg.rate[IMPAIR_DUPLICATE].probability = 0.3; /* another kind, another random stream */
    CU_ASSERT_EQUAL(fingerprint(&cfg, seed, 1), first);
}

/* Of FRAMES coins thrown twice, half agree. */
static bool like_chance(unsigned same)
{
    return fabs((double)same - FRAMES / 2) < 5 * sqrt(FRAMES) / 2;
}

TEST(ports_and_kinds_are_unrelated)
{
    const struct impair_config cfg = {
        .rate = {[IMPAIR_DUPLICATE] = {.probability = 0.5}, [IMPAIR_REORDER] = {.probability = 0.5}}};
    unsigned same_on_ports = 0, same_for_kinds = 0;
    struct impair a, b;

    impair_init(&a, &cfg, seed, 0);
    impair_init(&b, &cfg, seed, 1);
    for (unsigned i = 0; i < FRAMES; i++) {
        struct impair_decision on_a = impair_decide(&a, 64), on_b = impair_decide(&b, 64);

        same_on_ports += on_a.duplicate == on_b.duplicate;
        same_for_kinds += on_a.duplicate == on_a.hold;
    }
    CU_ASSERT(like_chance(same_on_ports));
    CU_ASSERT(like_chance(same_for_kinds));
}

TEST(any_bit_of_the_frame_may_flip)
{
    const struct impair_config cfg = {.rate[IMPAIR_CORRUPT].probability = 1};
    struct impair im = start(&cfg);
    unsigned hits[64 * 8] = {0};

    for (unsigned i = 0; i < 64 * 8 * 100; i++) {
        struct impair_decision d = impair_decide(&im, 64);

        CU_ASSERT_FATAL(d.corrupt_bit < 64 * 8);
        hits[d.corrupt_bit]++;
    }
    for (unsigned bit = 0; bit < 64 * 8; bit++)
        CU_ASSERT(hits[bit] > 40 && hits[bit] < 160);
}

/* Frame n is the number n in an array. Puts 1..last through, and writes in what order they come out. */
static unsigned order_of(struct impair *im, int numbers[], unsigned last, int out[])
{
    unsigned n = 0;
    int *held;

    for (unsigned i = 1; i <= last; i++) {
        numbers[i] = (int)i;
        if (impair_decide(im, 64).hold)
            impair_hold(im, &numbers[i], i);
        else
            out[n++] = numbers[i];
        while ((held = impair_release(im, i)) != NULL)
            out[n++] = *held;
    }
    while ((held = impair_flush(im)) != NULL)
        out[n++] = *held;
    return n;
}

TEST(a_held_frame_is_overtaken_by_as_many_as_asked)
{
    const struct impair_config cfg = {.rate[IMPAIR_REORDER].every = 4, .hold_frames = 2};
    static const int expected[] = {1, 2, 3, 5, 6, 4, 7, 9, 10, 8};
    struct impair im = start(&cfg);
    int numbers[11], out[11];

    CU_ASSERT_EQUAL(order_of(&im, numbers, 10, out), 10);
    CU_ASSERT_EQUAL(memcmp(out, expected, sizeof(expected)), 0);
}

TEST(a_held_frame_waits_no_longer_than_asked)
{
    const struct impair_config cfg = {.rate[IMPAIR_REORDER].every = 1, .hold_frames = 100, .hold_for = 50};
    struct impair im = start(&cfg);
    int frame;

    CU_ASSERT_EQUAL(impair_due_at(&im), UINT64_MAX);
    CU_ASSERT(impair_decide(&im, 64).hold);
    impair_hold(&im, &frame, 1000);
    CU_ASSERT_EQUAL(impair_due_at(&im), 1050);
    CU_ASSERT_PTR_NULL(impair_release(&im, 1049));
    CU_ASSERT_PTR_EQUAL(impair_release(&im, 1050), &frame);
    CU_ASSERT_PTR_NULL(impair_release(&im, 5000));
    CU_ASSERT_EQUAL(impair_due_at(&im), UINT64_MAX);
}

TEST(without_a_bound_in_time_only_frames_count)
{
    const struct impair_config cfg = {.rate[IMPAIR_REORDER].every = 2, .hold_frames = 1};
    struct impair im = start(&cfg);
    int frame;

    impair_decide(&im, 64);
    CU_ASSERT(impair_decide(&im, 64).hold);
    impair_hold(&im, &frame, 0);
    CU_ASSERT_EQUAL(impair_due_at(&im), UINT64_MAX);
    CU_ASSERT_PTR_NULL(impair_release(&im, UINT64_MAX - 1));
    impair_decide(&im, 64);
    CU_ASSERT_PTR_EQUAL(impair_release(&im, 0), &frame);
}

TEST(no_frame_is_lost_or_doubled_when_no_room_is_left)
{
    enum { LAST = 1000 };
    const struct impair_config cfg = {.rate[IMPAIR_REORDER].probability = 0.9, .hold_frames = 200};
    struct impair im = start(&cfg);
    int numbers[LAST + 1], out[LAST + 1];
    bool seen[LAST + 1] = {false};

    CU_ASSERT_EQUAL(order_of(&im, numbers, LAST, out), LAST);
    for (unsigned i = 0; i < LAST; i++) {
        CU_ASSERT(!seen[out[i]]);
        seen[out[i]] = true;
    }
    CU_ASSERT(im.stats.hold_full > 0);
    CU_ASSERT_EQUAL(im.held, 0);
}
