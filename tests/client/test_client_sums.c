/* libswagg over real sockets against the loop switch: sums. Every sum is compared bit by bit with one that
 * the test computes itself, in rank order. */
#include <signal.h>
#include <sys/time.h>

#include "crew.h"
#include "random.h"
#include "reference.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

static const enum swagg_type types[] = {SWAGG_I32, SWAGG_I64, SWAGG_F32, SWAGG_F64};

/* Around the boundaries of packets of 365 elements (4 bytes) and 182 (8 bytes), the first with 20 bytes less.
 */
static int sum_all_kinds(struct crew_member *m)
{
    const unsigned one_of = 4 / unit_cases(4); /* under sanitizers */
    static const size_t counts[] = {0,   1,   2,   3,   179, 180, 181,  359,
                                    360, 361, 365, 724, 725, 726, 1000, 10007};
    const int roots[] = {-1, 0, m->crew->size - 1};
    bool on_arrival = m->crew->options.mode == SWAGG_ON_ARRIVAL;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t r = 0; r < sizeof roots / sizeof *roots; r++) {
                struct tensor tensor = {
                    .type = types[t], .count = counts[c], .seed = seed + c, .round = on_arrival};
                if ((t + c + r + seed) % one_of != 0)
                    continue;
                int rc = crew_sum(m, &tensor, roots[r], (c + r) % 2);
                if (rc < 0)
                    return rc;
            }
    return 0;
}

TEST(every_type_and_size_is_summed)
{
    static const int sizes[] = {1, 2, 4, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (enum swagg_mode mode = SWAGG_ORDERED; mode <= SWAGG_ON_ARRIVAL; mode++)
            for (unsigned checksum = SWAGG_CHECKSUM_NONE; checksum <= SWAGG_CHECKSUM_CRC32C; checksum++) {
                struct crew crew = crew_of(sizes[i], the_switch, "kinds", sum_all_kinds, NULL);
                crew.options.mode = mode;
                crew.options.checksum = checksum;
                crew_succeed(&crew);
            }
}

static int compute_all_pairs(struct crew_member *m)
{
    static const size_t counts[] = {1, 45, 1201};
    bool on_arrival = m->crew->options.mode == SWAGG_ON_ARRIVAL;
    unsigned nth = 0;
    int rc = 0;
    for (unsigned code = 0; (code = reference_next(code)) != 0;)
        for (size_t c = 0; rc == 0 && c < sizeof counts / sizeof *counts; c++) {
            if (!unit_tries(nth++))
                continue;
            struct tensor tensor = {.type = agg_code_type(code),
                                    .op = agg_code_op(code),
                                    .count = counts[c],
                                    .seed = seed + c,
                                    .round = on_arrival};
            rc = crew_sum(m, &tensor, c == 1 ? (int)(code % (unsigned)m->crew->size) : -1, (code + c) % 2);
        }
    return rc;
}

TEST(every_operation_on_every_type_is_computed)
{
    for (int size = 1; size <= 4; size += 3)
        for (enum swagg_mode mode = SWAGG_ORDERED; mode <= SWAGG_ON_ARRIVAL; mode++) {
            struct crew crew = crew_of(size, the_switch, "pairs", compute_all_pairs, NULL);
            crew.options.mode = mode;
            crew_succeed(&crew);
        }
}

/* arg: a struct tensor */
static int sum_one(struct crew_member *m)
{
    return crew_sum(m, m->crew->arg, -1, false);
}

TEST(megabytes_are_summed)
{
    struct tensor tensor = {.type = SWAGG_F32, .count = unit_cases(1500007), .seed = seed};
    struct crew crew = crew_of(4, the_switch, "megabytes", sum_one, &tensor);
    crew_succeed(&crew);
    crew.options.mtu = 0; /* jumbo packets: loopback has an MTU of 65536 */
    tensor.type = SWAGG_I32;
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.elements_per_packet, 2240);
}

TEST(one_chunk_in_flight_is_enough)
{
    struct tensor tensor = {.type = SWAGG_I64, .count = 1001, .seed = seed};
    struct crew crew = crew_of(3, the_switch, "narrow", sum_one, &tensor);
    crew.options.slots = 2;
    crew.options.window = 1;
    crew.options.mtu = 128;
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.slots, 2);
    CU_ASSERT_EQUAL(crew.member[0].stats.elements_per_packet, 22);
}

static int sum_many_small(struct crew_member *m)
{
    uint64_t random = seed;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < unit_cases(1000); i++) {
        struct tensor tensor = {.type = types[i % 4], .count = rng_next(&random) % 50, .seed = random};
        rc = crew_sum(m, &tensor, i % 5 == 0 ? (int)(i % (unsigned)m->crew->size) : -1, i % 3 == 0);
    }
    return rc;
}

TEST(a_thousand_calls_in_a_row_are_summed)
{
    struct crew crew = crew_of(3, the_switch, "many", sum_many_small, NULL);
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(crew.member[2].stats.calls, unit_cases(1000));
}

static struct loop_switch_config impaired(double loss, double duplicates, double reordering)
{
    struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = loss},
                                          [IMPAIR_DUPLICATE] = {.probability = duplicates},
                                          [IMPAIR_REORDER] = {.probability = reordering}},
                                 .hold_frames = 5,
                                 .hold_for = 1000000};
    return (struct loop_switch_config){.seed = seed, .in = link, .out = link};
}

static int sum_a_few(struct crew_member *m)
{
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < 8; i++) {
        struct tensor tensor = {.type = types[i % 4], .count = unit_cases(20011), .seed = seed + i};
        rc = crew_sum(m, &tensor, i == 5 ? 1 : -1, i % 2);
    }
    return rc;
}

static void sums_survive(double loss, double duplicates, double reordering)
{
    struct loop_switch_config config = impaired(loss, duplicates, reordering);
    crew_succeed_alone(&config, 4, "impaired", sum_a_few, NULL);
}

TEST(sums_survive_loss)
{
    sums_survive(0.01, 0, 0);
    sums_survive(0.1, 0, 0);
}

TEST(sums_survive_duplicates)
{
    sums_survive(0, 0.1, 0);
}

TEST(sums_survive_reordering)
{
    sums_survive(0, 0, 0.1);
}

TEST(sums_survive_all_of_it)
{
    sums_survive(0.03, 0.03, 0.03);
}

/* The same floats in any mix of losses: the order of the additions is that of the ranks, whatever comes
 * first. */
TEST(ordered_floats_are_reproducible)
{
    struct tensor tensor = {.type = SWAGG_F32, .count = unit_cases(30001), .seed = seed};
    for (unsigned run = 0; run < 3; run++) {
        struct loop_switch_config config = impaired(0.02 * run, 0.01, 0.05 * run);
        crew_succeed_alone(&config, 5, "ordered", sum_one, &tensor);
    }
}

TEST(two_jobs_side_by_side)
{
    struct crew one = crew_of(3, the_switch, "one", sum_a_few, NULL),
                other = crew_of(2, the_switch, "other", sum_a_few, NULL);
    crew_start(&one);
    crew_start(&other);
    crew_join(&one);
    crew_join(&other);
    crew_expect_success(&one);
    crew_expect_success(&other);
}

static void on_alarm(int signal)
{
    (void)signal;
}

TEST(signals_disturb_nothing)
{
    struct loop_switch_config config = impaired(0.01, 0, 0);
    struct loop_switch *ls = loop_switch_start(&config);
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART: system calls end with EINTR */
    struct itimerval often = {.it_interval = {.tv_usec = 500}, .it_value = {.tv_usec = 500}}, never = {0};
    struct crew crew = crew_of(2, ls, "signals", sum_a_few, NULL);
    sigaction(SIGALRM, &action, NULL); /* for good: under valgrind an alarm comes late */
    setitimer(ITIMER_REAL, &often, NULL);
    crew_succeed(&crew);
    setitimer(ITIMER_REAL, &never, NULL);
    loop_switch_stop(ls);
}

TEST(statistics_add_up)
{
    struct tensor tensor = {.type = SWAGG_F32, .count = 360 + 9 * 365, .seed = seed};
    struct crew crew = crew_of(2, the_switch, "statistics", sum_one, &tensor);
    crew_succeed(&crew);
    for (int r = 0; r < 2; r++) {
        const struct swagg_stats *s = &crew.member[r].stats;
        CU_ASSERT_EQUAL(s->calls, 1);
        CU_ASSERT_EQUAL(s->elements, tensor.count);
        CU_ASSERT_EQUAL(s->bytes, 4 * tensor.count);
        CU_ASSERT_EQUAL(s->packets_sent - s->retransmitted - s->probes, 10);
        CU_ASSERT(s->packets_received >= 10);
        CU_ASSERT_EQUAL(s->bad_packets, 0);
        CU_ASSERT_EQUAL(s->slots, 1024);
        CU_ASSERT_EQUAL(s->elements_per_packet, 365);
        /* What was sent, or asked for, twice says nothing of that. */
        CU_ASSERT(s->rtt_us > 0 || s->retransmitted + s->probes > 0);
        CU_ASSERT_EQUAL(s->resumed, 0);
    }
}
