/* The shim's crossover: what follows from the times of both ways. */
#include "crossover.h"

#include <limits.h>

#include "unit.h"

#define L WAY_LIBRARY
#define S WAY_SWITCH

/* Rounds of these times, the last one again and again, until it is decided. */
static struct contest contest_of(const double seconds[][WAYS], unsigned n)
{
    struct contest c = {0};
    for (unsigned i = 0; !contest_is_decided(&c); i++)
        contest_note(&c, seconds[i < n ? i : n - 1]);
    return c;
}
#define CONTEST(...)                                                                                         \
    contest_of((const double[][WAYS])__VA_ARGS__, sizeof((double[][WAYS])__VA_ARGS__) / sizeof(double[WAYS]))

TEST(measured)
{
    struct crossover c = {0};

    CU_ASSERT(!crossover_is_measured(&c, 0));
    CU_ASSERT(!crossover_is_settled(&c, 0));
    crossover_note(&c, 2, S);
    CU_ASSERT(crossover_is_measured(&c, 2));
    CU_ASSERT(!crossover_is_settled(&c, 1));
    crossover_give_up(&c, 5);
    CU_ASSERT(!crossover_is_settled(&c, 4));
    CU_ASSERT(crossover_is_settled(&c, 5) && crossover_is_settled(&c, CROSSOVER_SIZES - 1));
    CU_ASSERT(!crossover_is_measured(&c, 5));
}

/* As where the network has changed. */
TEST(what_is_measured_again_counts)
{
    struct crossover c = {0};
    crossover_note(&c, 2, S);
    crossover_note(&c, 2, L);
    CU_ASSERT_EQUAL(crossover_way(&c, 4096), L);
    crossover_note(&c, 2, S);
    CU_ASSERT_EQUAL(crossover_way(&c, 4096), S);
    crossover_give_up(&c, 2); /* there was no time for it again */
    CU_ASSERT_EQUAL(crossover_way(&c, 4096), S);
}

TEST(what_is_known_is_measured_again_after_many_calls)
{
    CU_ASSERT_EQUAL(crossover_due_after(CROSSOVER_FIRST, true), 1000);
    CU_ASSERT_EQUAL(crossover_due_after(999, true), 1000);
    CU_ASSERT_EQUAL(crossover_due_after(1000, true), 10000);
    CU_ASSERT_EQUAL(crossover_due_after(2500, true), 10000); /* posted calls may have passed it by */
    CU_ASSERT_EQUAL(crossover_due_after(UINT_MAX - 1, true), UINT_MAX);
}

/* As by a moment in which the machine stood still; where all calls take so long, it costs a share of them. */
TEST(what_was_given_up_is_measured_again_soon)
{
    CU_ASSERT_EQUAL(crossover_due_after(CROSSOVER_FIRST, false), 16);
    CU_ASSERT_EQUAL(crossover_due_after(16, false), 64);
    CU_ASSERT_EQUAL(crossover_due_after(UINT_MAX / 2, false), UINT_MAX);
}

/* Of what another communicator has, what is not known here. */
TEST(what_others_know_is_added)
{
    struct crossover c = {0}, other = {0};
    crossover_note(&c, 0, S);
    crossover_note(&other, 0, L);
    crossover_note(&other, 1, L);
    crossover_give_up(&other, 6);
    other.kept = 3;
    crossover_add(&c, &other);
    CU_ASSERT_EQUAL(crossover_way(&c, 8), S);
    CU_ASSERT_EQUAL(crossover_way(&c, 1024), L);
    CU_ASSERT(crossover_is_settled(&c, 7));
    CU_ASSERT_EQUAL(c.kept, 2);
    crossover_note(&c, 1, L); /* now it is this run's */
    CU_ASSERT_EQUAL(c.kept, 0);
}

TEST(open_mpi_unless_the_switch_is_clearly_faster)
{
    struct contest faster = CONTEST({{10, 9}}), about_as_fast = CONTEST({{10, 9.9}}),
                   slower = CONTEST({{10, 11}});
    CU_ASSERT_EQUAL(contest_winner(&faster), S);
    CU_ASSERT_EQUAL(contest_winner(&about_as_fast), L);
    CU_ASSERT_EQUAL(contest_winner(&slower), L);
    CU_ASSERT_EQUAL(faster.rounds, 5);
    CU_ASSERT_EQUAL(slower.rounds, 5);
}

/* Four of the first five rounds were held up, by which the other way would have won. */
TEST(rounds_that_were_held_up_do_not_count)
{
    struct contest held_up = CONTEST({{10, 8}, {10, 5000}, {10, 700}, {10, 90}, {10, 700}, {10, 8}});
    struct contest lucky = CONTEST({{10, 20}, {800, 20}, {10, 1}, {90, 20}, {90, 20}, {10, 20}});
    CU_ASSERT_EQUAL(contest_winner(&held_up), S);
    CU_ASSERT_EQUAL(contest_seconds(&held_up, S), 8);
    CU_ASSERT_EQUAL(contest_winner(&lucky), L);
}

/* Of short calls a quarter is clear: less may be the places on CPUs that ranks have where ways take turns. */
TEST(short_calls_are_the_switchs_by_a_quarter)
{
    const double by_a_fifth[WAYS] = {10, 8}, by_a_third[WAYS] = {10, 6.7};
    struct contest stays = {.is_short = true}, goes = {.is_short = true};
    for (unsigned i = 0; i < CONTEST_LEAD; i++) {
        contest_note(&stays, by_a_fifth);
        contest_note(&goes, by_a_third);
    }
    CU_ASSERT(contest_is_decided(&stays) && contest_is_decided(&goes));
    CU_ASSERT_EQUAL(contest_winner(&stays), L);
    CU_ASSERT_EQUAL(contest_winner(&goes), S);
}

/* Also where the rounds are the switch's by one, and the medians decide. */
TEST(short_calls_median_must_be_lower_by_a_quarter)
{
    struct contest c = {.is_short = true};
    const double rounds[4][WAYS] = {{12, 8.4}, {9.5, 9.5}, {9.5, 6.7}, {9.5, 9.5}};
    for (unsigned i = 0; i < CONTEST_ROUNDS; i++)
        contest_note(&c, rounds[i % 4]);
    CU_ASSERT_EQUAL(c.lead, 1);
    CU_ASSERT_EQUAL(contest_winner(&c), L); /* the medians are 9.5 and 8.4 */
}

TEST(a_contest_ends)
{
    struct contest even = {0};
    const double switchs[WAYS] = {10, 8}, librarys[WAYS] = {10, 12};
    for (unsigned i = 0; i < CONTEST_ROUNDS; i++) {
        CU_ASSERT(!contest_is_decided(&even));
        contest_note(&even, i % 2 ? librarys : switchs);
    }
    CU_ASSERT(contest_is_decided(&even));
    CU_ASSERT_EQUAL(contest_winner(&even), S); /* by 8 to 7 */
}

/* More rounds, but not by much altogether. */
TEST(what_is_not_clear_at_the_end_stays_with_open_mpi)
{
    struct contest c = {0};
    const double rounds[4][WAYS] = {{10, 9.4}, {9.9, 9.9}, {12, 11.3}, {9.9, 9.9}};
    for (unsigned i = 0; i < CONTEST_ROUNDS; i++)
        contest_note(&c, rounds[i % 4]);
    CU_ASSERT_EQUAL(c.lead, 1);
    CU_ASSERT_EQUAL(contest_winner(&c), L); /* the medians are 10 and 9.9 */
}

/* What is known where the smallest sizes are measured, with these ways as the better ones. */
static struct crossover known_of(const enum way best[], unsigned known, bool time_was_up)
{
    struct crossover c = {0};
    for (unsigned i = 0; i < known; i++)
        crossover_note(&c, i, best[i]);
    if (time_was_up)
        crossover_give_up(&c, known);
    return c;
}

/* The sizes for the switch. */
static const char *words(const enum way best[], unsigned known, bool time_was_up)
{
    static char text[CROSSOVER_TEXT];
    const struct crossover c = known_of(best, known, time_was_up);
    crossover_write(&c, text);
    return text;
}

static const char *text_of(const enum way best[], unsigned known)
{
    return words(best, known, false);
}

static const char *text_when_time_was_up(const enum way best[], unsigned known)
{
    return words(best, known, true);
}

TEST(each_range_goes_its_own_way)
{
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){L, L, S, S, S}, 5), "from 2K on");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){S, S, L, S, S}, 5), "below 2K and from 8K on");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){S, L, L, S, L}, 5), "below 512 bytes and from 8K to 32K");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){S, S, S, S, S}, 5), "always");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){L, L, L, L, L}, 5), "never");
}

TEST(the_largest_sizes_go_the_way_of_the_largest_measured_one)
{
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){L, L, L, L, L, L, L, L}, 8), "never");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){L, L, L, L, L, L, L, S}, 8), "from 2M on");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){S, S, S, S, S, S, S, L}, 8), "below 2M");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){L, S, L, S, L, S, L, S}, 8),
                           "from 512 bytes to 2K and from 8K to 32K and from 128K to 512K and from 2M on");
}

/* On a network so slow, the rate of the links counts. */
TEST(the_largest_sizes_are_for_the_switch_where_time_was_up)
{
    CU_ASSERT_STRING_EQUAL(text_when_time_was_up((enum way[]){L, L, L, L, L, L, L}, 7), "from 8M on");
    CU_ASSERT_STRING_EQUAL(text_when_time_was_up((enum way[]){S, S, L, L}, 4), "below 2K and from 8M on");
    CU_ASSERT_STRING_EQUAL(text_when_time_was_up((enum way[]){S, L, S, L, S, L, L}, 7),
                           "below 512 bytes and from 2K to 8K and from 32K to 128K and from 8M on");
}

/* Where time was up, or where a size is measured when it comes. */
TEST(sizes_that_are_not_known_go_the_way_of_the_next_smaller_known_one)
{
    struct crossover c = {0};
    char text[CROSSOVER_TEXT];
    crossover_note(&c, 1, S);
    crossover_note(&c, 5, L);
    crossover_write(&c, text);
    CU_ASSERT_STRING_EQUAL(text, "from 512 bytes to 128K"); /* below as usual: there is none smaller */
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){L, L, L, L, S, L}, 6), "from 32K to 128K");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){L, L, S}, 3), "from 2K on");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){S}, 1), "always");
}

/* Where links are slow there is no time for 1M and more: these once followed calls of some bytes to the
 * library. */
TEST(short_sizes_say_nothing_of_long_ones)
{
    CU_ASSERT_STRING_EQUAL(text_when_time_was_up((enum way[]){L}, 1), "from 8K on");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){S, S, L}, 3), "below 2K and from 8K on");
    CU_ASSERT_STRING_EQUAL(text_of((enum way[]){L, L, L, L}, 4), "never");
}

TEST(where_no_size_is_known_all_go_the_usual_way)
{
    CU_ASSERT_STRING_EQUAL(text_of(NULL, 0), "not measured yet");
    CU_ASSERT_STRING_EQUAL(text_when_time_was_up(NULL, 0), "from 8K on");
}

/* Each has at least as much time as those before it, and none keeps a program waiting for seconds. */
TEST(larger_sizes_have_longer)
{
    for (unsigned i = 1; i < CROSSOVER_SIZES; i++)
        CU_ASSERT(crossover_seconds[i] >= crossover_seconds[i - 1]);
    CU_ASSERT(crossover_seconds[0] <= 0.3);
    CU_ASSERT(crossover_seconds[CROSSOVER_SIZES - 1] <= 2);
}

TEST(a_size_is_in_the_range_of_the_measured_one_next_to_it)
{
    const struct crossover c = known_of((enum way[]){L, S, L, S, L}, 5, true), none = {0};
    const struct {
        size_t bytes;
        bool to_switch;
    } sizes[] = {{0, false},      {511, false},           {512, true},     {2047, true},    {2048, false},
                 {8191, false},   {8192, true},           {32767, true},   {32768, false},  {131071, false},
                 {131072, false}, {(8 << 20) - 1, false}, {8 << 20, true}, {SIZE_MAX, true}};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        CU_ASSERT_EQUAL(crossover_way(&c, sizes[i].bytes), sizes[i].to_switch ? S : L);
    CU_ASSERT_EQUAL(crossover_way(&none, CROSSOVER_USUAL - 1), L);
    CU_ASSERT_EQUAL(crossover_way(&none, CROSSOVER_USUAL), S);
}

TEST(for_each_size_one_is_measured)
{
    CU_ASSERT_EQUAL(crossover_size(0), 0);
    CU_ASSERT_EQUAL(crossover_size(511), 0);
    CU_ASSERT_EQUAL(crossover_size(512), 1);
    CU_ASSERT_EQUAL(crossover_size(2 << 20), 7);
    CU_ASSERT_EQUAL(crossover_size(SIZE_MAX), 7); /* like 4M */
}
