/* What a rank decides about its links: which it gives up, where places go, when it asks for a standby; and
 * how calls are divided by what all ranks have measured. */
#include "links/shares.h"

#include <string.h>

#include "switchml/stream.h"
#include "unit.h"

enum { N = 3 };
static const uint64_t MS = 1000000, TIMEOUT = 50 * 1000000;

static struct links links;
static struct links_seen seen[LINKS_MAX];
static uint64_t now;

static void begin(void)
{
    links_init(&links, N, TIMEOUT);
    now = 1000 * MS;
    for (unsigned i = 0; i < N; i++)
        seen[i] = (struct links_seen){.node = i, .answers = true};
    CU_ASSERT_EQUAL(links_silent(&links, seen, now), LINKS_NONE);
}

EACH_TEST(begin, NULL)

/* Looks for so long, and moves nothing. The first that is given up for its silence. */
static unsigned look_for(uint64_t ns)
{
    for (const uint64_t end = now + ns; now < end; now += 10 * MS) {
        const unsigned node = links_silent(&links, seen, now);
        if (node != LINKS_NONE)
            return node;
    }
    return LINKS_NONE;
}

/* Who is to move does. */
static void move_all(void)
{
    for (unsigned i = 0; i < N; i++)
        if (links_moves(&links, seen, i, false)) {
            seen[i].node = links_node_for(&links, i);
            links_moved(&links, i);
        }
}

static void expect_at(unsigned first, unsigned second, unsigned third)
{
    CU_ASSERT_EQUAL(seen[0].node, first);
    CU_ASSERT_EQUAL(seen[1].node, second);
    CU_ASSERT_EQUAL(seen[2].node, third);
}

TEST(a_silent_one_is_done_without_while_another_answers)
{
    seen[1].answers = false;
    CU_ASSERT_EQUAL(look_for(40 * MS), LINKS_NONE);
    CU_ASSERT_EQUAL(look_for(30 * MS), 1);
    CU_ASSERT_EQUAL(links_give_up(&links, seen, 1, now), LINKS_NONE);
    move_all();
    expect_at(0, 2, 2);
    CU_ASSERT_EQUAL(links_give_up(&links, seen, 2, now), LINKS_NONE);
    move_all();
    expect_at(0, 0, 0);
    CU_ASSERT(!links_can_spare(&links, seen, 0));
}

TEST(an_answer_begins_the_silence_anew)
{
    seen[1].answers = false;
    CU_ASSERT_EQUAL(look_for(40 * MS), LINKS_NONE);
    seen[1].answers = true;
    CU_ASSERT_EQUAL(look_for(10 * MS), LINKS_NONE);
    seen[1].answers = false;
    CU_ASSERT_EQUAL(look_for(40 * MS), LINKS_NONE);
}

TEST(none_is_given_up_while_all_are_silent)
{
    for (unsigned i = 0; i < N; i++)
        seen[i].answers = false;
    CU_ASSERT_EQUAL(look_for(5000 * MS), LINKS_NONE);
    seen[0].answers = true;
    CU_ASSERT_EQUAL(look_for(40 * MS), LINKS_NONE);
}

/* It may have stood still in between: a second counts at most. */
TEST(a_long_pause_is_no_long_silence)
{
    links_init(&links, N, 3000 * MS);
    links_silent(&links, seen, now);
    seen[2].answers = false;
    CU_ASSERT_EQUAL(links_silent(&links, seen, now += 100000 * MS), LINKS_NONE);
    CU_ASSERT_EQUAL(links_silent(&links, seen, now += 100000 * MS), LINKS_NONE);
    CU_ASSERT_EQUAL(links_silent(&links, seen, now += 100000 * MS), 2);
}

/* One that goes on for another has to answer for both places. */
TEST(it_answers_for_all_its_places)
{
    links_give_up(&links, seen, 1, now);
    move_all();
    seen[1].answers = false;
    CU_ASSERT_EQUAL(look_for(70 * MS), 2);
}

TEST(the_last_is_kept_unless_a_standby_is_there)
{
    links_give_up(&links, seen, 1, now);
    links_give_up(&links, seen, 2, now);
    move_all();
    CU_ASSERT(!links_can_spare(&links, seen, 0));
    seen[2].standby = 77;
    CU_ASSERT(links_can_spare(&links, seen, 0));
    CU_ASSERT_EQUAL(links_give_up(&links, seen, 0, now), 2);
    move_all();
    expect_at(2, 2, 2);
}

/* Who told of the loss has heard it last, has taken it, and is waited for nowhere else. */
TEST(a_standby_that_is_silent_is_taken_by_who_is_told_of_a_loss)
{
    links_give_up(&links, seen, 1, now);
    links_give_up(&links, seen, 2, now);
    move_all();
    seen[1].standby_joined = seen[2].standby_joined = true;
    seen[0].answers = false;
    CU_ASSERT_EQUAL(look_for(5000 * MS), LINKS_NONE);
    CU_ASSERT(!links_can_spare(&links, seen, 0));
    CU_ASSERT(links_outlive_loss(&links, seen, 0, CTL_RANK_LOST));
    CU_ASSERT(!links_outlive_loss(&links, seen, 0, CTL_MISMATCH));
    seen[2].standby = 77; /* one that is heard goes before */
    CU_ASSERT_EQUAL(links_give_up(&links, seen, 0, now), 2);
    seen[2].standby = 0;
    seen[2].standby_joined = false;
    CU_ASSERT_EQUAL(links_give_up(&links, seen, 2, now), 1);
    move_all();
    expect_at(1, 1, 1);
}

TEST(a_standby_is_tried_ever_more_rarely)
{
    links_give_up(&links, seen, 1, now);
    move_all();
    seen[1].joining = true;
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now + TIMEOUT), LINKS_NOTHING);
    seen[1].joining = false;
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now + TIMEOUT - 1), LINKS_NOTHING);
    for (unsigned times = 1; times <= 128; times = times < 64 ? 2 * times : 128) {
        now += TIMEOUT * (times < 64 ? times : 64);
        CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now - 1), LINKS_NOTHING);
        CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now), LINKS_OPEN);
        links_opened(&links, 1, times % 2, now);
        if (times % 2) {
            seen[1].standby_failed = true;
            CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now), LINKS_CLOSE);
            seen[1].standby_failed = false;
        }
        if (times == 128)
            break;
    }
}

static void open_standby(unsigned node, uint32_t name)
{
    links_give_up(&links, seen, node, now);
    move_all();
    now += TIMEOUT;
    CU_ASSERT_EQUAL(links_look_after(&links, seen, node, now), LINKS_OPEN);
    links_opened(&links, node, true, now);
    seen[node].standby = name;
}

TEST(it_is_taken_back_when_all_have_this_standby)
{
    open_standby(1, 77);
    CU_ASSERT_EQUAL(links_take_back(&links, seen, (const uint32_t[N]){0}), 0);
    CU_ASSERT_EQUAL(links_take_back(&links, seen, (const uint32_t[N]){0, 76}), 0);
    CU_ASSERT_EQUAL(links_take_back(&links, seen, (const uint32_t[N]){77, 77}), 2);
    move_all();
    expect_at(0, 1, 2);
    seen[1].joining = true;
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now), LINKS_NOTHING);
    seen[1].joining = false;
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now), LINKS_LEAVE);
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now), LINKS_NOTHING);
}

TEST(a_standby_that_fails_first_takes_the_link_with_it)
{
    open_standby(1, 77);
    links_take_back(&links, seen, (const uint32_t[N]){0, 77});
    move_all();
    seen[1].joining = seen[1].standby_failed = true;
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now), LINKS_GIVE_UP);
    CU_ASSERT(links_can_spare(&links, seen, 1));
}

/* Who does not reach it may wait by the other one for ever. */
TEST(the_last_whose_standby_fails_first_is_given_up_once_there_is_another)
{
    open_standby(1, 77);
    for (unsigned i = 0; i < N; i++)
        if (i != 1)
            links_give_up(&links, seen, i, now);
    CU_ASSERT(!links_is_lost(&links, 1));
    move_all();
    expect_at(1, 1, 1);
    for (unsigned i = 0; i < N; i++)
        seen[i].joining = true;
    seen[1].standby = 0;
    seen[1].standby_failed = true;
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now), LINKS_GIVE_UP);
    CU_ASSERT(!links_can_spare(&links, seen, 1));
    CU_ASSERT_EQUAL(look_for(5000 * MS), LINKS_NONE);
    seen[2].standby = 88;
    CU_ASSERT_EQUAL(look_for(70 * MS), 1);
    CU_ASSERT_EQUAL(links_give_up(&links, seen, 1, now), 2);
    move_all();
    expect_at(2, 2, 2);
    CU_ASSERT_EQUAL(look_for(5000 * MS), LINKS_NONE);
}

TEST(who_is_adrift_joins_nothing_before_he_has_heard)
{
    open_standby(1, 77);
    links_set_adrift(&links, 1);
    CU_ASSERT(!links_moves(&links, seen, 1, true));
    CU_ASSERT(links_moves(&links, seen, 1, false)); /* even to where it was: in another life */
    links_moved(&links, 1);
    CU_ASSERT(!links_moves(&links, seen, 1, false));
}

TEST(who_was_given_up_says_nothing_of_the_others)
{
    links_give_up(&links, seen, 1, now);
    move_all();
    for (unsigned i = 0; i < N; i++)
        seen[i].answers = false;
    CU_ASSERT_EQUAL(look_for(5000 * MS), LINKS_NONE);
    seen[1].standby = 77; /* but it does once all reach it again */
    CU_ASSERT_EQUAL(look_for(70 * MS), 0);
    CU_ASSERT_EQUAL(links_give_up(&links, seen, 0, now),
                    LINKS_NONE); /* by agreement only, while one is left */
}

TEST(a_standby_spares_only_what_is_lost)
{
    links_give_up(&links, seen, 1, now);
    links_give_up(&links, seen, 2, now);
    seen[0].standby = 77;
    CU_ASSERT(!links_can_spare(&links, seen, 0));
    CU_ASSERT_EQUAL(links_take_back(&links, seen, (const uint32_t[N]){77}), 0);
    seen[2].standby = 66;
    CU_ASSERT_EQUAL(links_give_up(&links, seen, 0, now), 2);
}

TEST(what_is_back_begins_anew)
{
    open_standby(1, 77);
    seen[1].standby = 0;
    CU_ASSERT_EQUAL(links_take_back(&links, seen, (const uint32_t[N]){0}), 0);
    seen[1].standby = 77;
    seen[2].answers = seen[1].answers = false; /* it was silent before */
    CU_ASSERT_EQUAL(look_for(70 * MS), 2);
    seen[2].answers = true;
    CU_ASSERT_EQUAL(links_take_back(&links, seen, (const uint32_t[N]){0, 77}), 2);
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now), LINKS_NOTHING); /* the place is not there yet */
    move_all();
    CU_ASSERT_EQUAL(look_for(40 * MS), LINKS_NONE);
    seen[1].joining = seen[1].standby_failed = true;
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now), LINKS_GIVE_UP);
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now), LINKS_NOTHING);
    links_opened(&links, 1, true, now);
    links_give_up(&links, seen, 1, now);
    seen[1].joining = seen[1].standby_failed = false;
    CU_ASSERT_EQUAL(links_look_after(&links, seen, 1, now + 64 * TIMEOUT), LINKS_OPEN);
}

/* Sessions */

TEST(a_session_may_end_no_more_than_the_use_of_a_link)
{
    CU_ASSERT(links_outlive_loss(&links, seen, 0, CTL_RANK_LOST));
    CU_ASSERT(!links_outlive_loss(&links, seen, 0, CTL_MISMATCH));
    links_give_up(&links, seen, 0, now);
    links_give_up(&links, seen, 1, now);
    move_all();
    CU_ASSERT(!links_outlive_loss(&links, seen, 0, CTL_RANK_LOST)); /* which is at the last one */
    CU_ASSERT(links_outlive_loss(&links, seen, 0, CTL_MOVED_BACK));
}

static struct ctl_session session_in(enum ctl_session_state state, uint64_t silent_ms)
{
    return (struct ctl_session){.state = state,
                                .generation = 1,
                                .epoch = 77,
                                .ready.lost_after_ms = 1000,
                                .heard_at = now,
                                .polled_at = now + silent_ms * MS};
}

TEST(who_is_silent_or_answers_nothing_does_not_answer)
{
    const struct ctl_session heard = session_in(CTL_SESSION_READY, 500),
                             silent = session_in(CTL_SESSION_READY, 501),
                             again = session_in(CTL_SESSION_REJOINING, 0);

    CU_ASSERT(links_answers(&heard, false, LINKS_UNANSWERED_MANY - 1));
    CU_ASSERT(!links_answers(&heard, false, LINKS_UNANSWERED_MANY));
    CU_ASSERT(links_answers(&heard, true, LINKS_UNANSWERED_MANY));
    CU_ASSERT(!links_answers(&silent, false, 0));
    CU_ASSERT(!links_answers(&again, true, 0));
}

TEST(a_standby_counts_while_its_switch_is_heard)
{
    static const struct {
        enum ctl_session_state state;
        uint64_t silent_ms;
        uint32_t standby;
        bool joined, failed;
    } cases[] = {{CTL_SESSION_READY, 500, 77, true, false},
                 {CTL_SESSION_READY, 501, 0, true, false},
                 {CTL_SESSION_JOINING, 0, 0, false, false},
                 {CTL_SESSION_REJOINING, 0, 0, false, true},
                 {CTL_SESSION_FAILED, 0, 0, false, true}};

    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ctl_session session = session_in(cases[i].state, cases[i].silent_ms);
        links_see_standby(&seen[1], &session);
        CU_ASSERT_EQUAL(seen[1].standby, cases[i].standby);
        CU_ASSERT_EQUAL(seen[1].standby_joined, cases[i].joined);
        CU_ASSERT_EQUAL(seen[1].standby_failed, cases[i].failed);
    }
}

/* Who did not come back may have died, if no other switch would say so. */
TEST(a_link_rests_where_ranks_have_left)
{
    struct ctl_session session = session_in(CTL_SESSION_FAILED, 5000);

    session.failure.reason = CTL_CANNOT_RESUME;
    CU_ASSERT(!links_session_rests(&session, 1));
    CU_ASSERT(links_session_rests(&session, 2));
    CU_ASSERT(links_answers(&session, false, LINKS_UNANSWERED_MANY));
    session.failure.reason = CTL_LEFT_RESUMING;
    CU_ASSERT(links_session_rests(&session, 1));
    session.failure.reason = CTL_RANK_LOST;
    CU_ASSERT(!links_session_rests(&session, 2));
    CU_ASSERT(!links_answers(&session, false, 0));
}

/* Shares */

enum { RANKS = 2, CHUNK = 1024 };
static struct shares shares[RANKS];

/* Of as many packets at each place, by so many ns. */
static void measure(unsigned rank, const uint64_t ns[N])
{
    for (unsigned i = 0; i < N; i++) {
        shares_note_begin(&shares[rank], i, 100, true, now);
        shares_note_results(&shares[rank], i, now + 5, false);
        shares_note_results(&shares[rank], i, now + 5 + ns[i], true);
    }
}

/* What the switches make of what the ranks say; which standbys are common, and whether shares change. */
static bool agree(enum xfer_format format, const uint32_t standby[RANKS], uint32_t common[LINKS_MAX])
{
    const uint16_t chunk_bytes[N] = {CHUNK, CHUNK, CHUNK};
    struct xfer_call call;
    struct xfer_segment tensor[RANKS];
    bool changes = false;

    for (unsigned r = 0; r < RANKS; r++) {
        seen[1].standby = standby[r];
        shares_ask(&shares[r], seen, chunk_bytes, &call, &tensor[r]);
        CU_ASSERT(shares[r].agreeing && !shares[r].known);
    }
    for (uint64_t i = 0; i < call.count; i++)
        for (unsigned r = 0; r < RANKS; r++)
            if (xfer_has_exponents(format)) {
                ((float *)tensor[r].out)[i] =
                    ((const float *)tensor[0].in)[i] + ((const float *)tensor[1].in)[i];
            } else {
                const uint32_t a = ((const uint32_t *)tensor[0].in)[i],
                               b = ((const uint32_t *)tensor[1].in)[i];
                ((uint32_t *)tensor[r].out)[i] = a < b ? a : b;
            }
    for (unsigned r = 0; r < RANKS; r++) {
        shares_hear(&shares[r], common);
        changes = shares_end(&shares[r]);
    }
    CU_ASSERT(memcmp(shares[0].at, shares[1].at, sizeof shares[0].at) == 0);
    return changes;
}

static void open_shares(enum xfer_format format)
{
    for (unsigned r = 0; r < RANKS; r++)
        shares_init(&shares[r], N, RANKS, format, true);
}

TEST(calls_are_divided_by_the_least_that_any_has_measured)
{
    uint32_t common[LINKS_MAX];

    open_shares(XFER_FORMAT_TYPED);
    measure(0, (const uint64_t[N]){1000000, 1000000, 1000000});
    measure(1, (const uint64_t[N]){1000000, 2000000, 1000000});
    CU_ASSERT(agree(XFER_FORMAT_TYPED, (const uint32_t[RANKS]){0}, common));
    CU_ASSERT_EQUAL(shares[0].at[N], SML_SHARE_WHOLE);
    CU_ASSERT(shares[0].at[1] > SML_SHARE_WHOLE * 39 / 100 && shares[0].at[1] < SML_SHARE_WHOLE * 41 / 100);
    measure(0, (const uint64_t[N]){1000000, 2000000, 1000000});
    measure(1, (const uint64_t[N]){1010000, 2000000, 1000000});
    CU_ASSERT(!agree(XFER_FORMAT_TYPED, (const uint32_t[RANKS]){0}, common));
    measure(0, (const uint64_t[N]){1000000, 1000000, 1000000}); /* and the other has nothing */
    CU_ASSERT(!agree(XFER_FORMAT_TYPED, (const uint32_t[RANKS]){0}, common));
}

TEST(a_standby_is_common_if_all_have_its_name)
{
    static const enum xfer_format formats[] = {XFER_FORMAT_TYPED, XFER_FORMAT_INT32};
    uint32_t common[LINKS_MAX];

    for (unsigned f = 0; f < 2; f++) {
        open_shares(formats[f]);
        agree(formats[f], (const uint32_t[RANKS]){0x80000001, 0x80000001}, common);
        CU_ASSERT_EQUAL(common[1], 0x80000001);
        CU_ASSERT_EQUAL(common[0], 0);
        agree(formats[f], (const uint32_t[RANKS]){0x80000001, 0x80000000}, common);
        CU_ASSERT_EQUAL(common[1], 0);
        agree(formats[f], (const uint32_t[RANKS]){0, 1}, common);
        CU_ASSERT_EQUAL(common[1], 0);
    }
}

TEST(ranks_agree_behind_the_same_calls_and_soon_after_one_is_back)
{
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .count = 1 << 20, .type = AGG_F32, .op = AGG_SUM};
    uint32_t common[LINKS_MAX];
    unsigned calls = 0, before;

    open_shares(XFER_FORMAT_TYPED);
    for (unsigned times = 0; times < 8; times++) {
        before = calls;
        do
            calls++;
        while (!shares_due(&shares[0], &call));
    }
    CU_ASSERT_EQUAL(calls - before, 64);
    shares[1] = shares[0];
    agree(XFER_FORMAT_TYPED, (const uint32_t[RANKS]){9, 9}, common);
    for (calls = 1; !shares_due(&shares[0], &call); calls++)
        ;
    CU_ASSERT_EQUAL(calls, 3);
}

/* Weights add up to 2^32 in days. */
TEST(ranks_agree_as_often_after_many_calls)
{
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .count = 1 << 20, .type = AGG_F32, .op = AGG_SUM};
    unsigned calls = 0;

    open_shares(XFER_FORMAT_TYPED);
    shares[0].next = UINT32_MAX - 2047;
    shares[0].calls = shares[0].next - 64;
    CU_ASSERT(shares_due(&shares[0], &call));
    do
        calls++;
    while (!shares_due(&shares[0], &call));
    CU_ASSERT_EQUAL(calls, 64);
}

/* From the first result of a stretch of enough packets to its last, wherever the results before it are. */
TEST(a_stretch_is_measured_by_itself)
{
    struct shares *s = &shares[0];

    open_shares(XFER_FORMAT_TYPED);
    for (unsigned times = 1; times <= 2; times++) {
        shares_note_begin(s, 0, 31, true, now += 1000 * MS);
        shares_note_results(s, 0, now + 5, false);
        shares_note_results(s, 0, now + 100, true);
        CU_ASSERT_EQUAL(s->rate[0].all_packets, (times - 1) * 32);
        shares_note_begin(s, 0, 20, true, now += 1000 * MS);
        shares_note_begin(s, 0, 12, false, now + 1);
        shares_note_results(s, 0, now - 7, false);
        shares_note_results(s, 0, now + 5, false);
        shares_note_results(s, 0, now + 105, true);
        shares_note_results(s, 0, now + 200, true);
        CU_ASSERT_EQUAL(s->rate[0].all_packets, times * 32);
        CU_ASSERT_EQUAL(s->rate[0].all_ns, times * 100);
    }
}

TEST(what_a_rank_says_of_a_link)
{
    uint32_t common[LINKS_MAX];

    open_shares(XFER_FORMAT_TYPED);
    measure(0, (const uint64_t[N]){1, 100000000, 1000000000});
    measure(1, (const uint64_t[N]){1, 100000000, 1000000000});
    CU_ASSERT(agree(XFER_FORMAT_TYPED, (const uint32_t[RANKS]){0}, common));
    CU_ASSERT(!shares[0].agreeing);
    CU_ASSERT_EQUAL(shares[0].mine[0][SHARES_SPEED], INT32_MAX);
    CU_ASSERT_EQUAL(shares[0].mine[1][SHARES_SPEED], 100 * CHUNK / 1024 * 10); /* KiB/s */
    CU_ASSERT(shares[0].at[N] - shares[0].at[2] >= SML_SHARE_WHOLE / N / 64 - 64);
    CU_ASSERT(!agree(XFER_FORMAT_TYPED, (const uint32_t[RANKS]){0}, common));
    CU_ASSERT_EQUAL(shares[0].mine[1][SHARES_SPEED], 0);
}

TEST(bits_are_summed_but_for_rounding)
{
    uint32_t common[LINKS_MAX];

    open_shares(XFER_FORMAT_INT32);
    agree(XFER_FORMAT_INT32, (const uint32_t[RANKS]){1, 1}, common);
    shares[0].sums[1][0] = RANKS - 0.1F;
    shares[0].sums[1][1] = 0.1F;
    shares_hear(&shares[0], common);
    CU_ASSERT_EQUAL(common[1], 1);
}

TEST(long_calls_count_more)
{
    struct xfer_call call = {.collective = XFER_REDUCE, .count = 65536, .type = AGG_F32, .op = AGG_SUM};

    open_shares(XFER_FORMAT_TYPED);
    CU_ASSERT(!shares_due(&shares[0], &call) && !shares_due(&shares[0], &call));
    CU_ASSERT(shares_due(&shares[0], &call));
    call.count--;
    CU_ASSERT(!shares_due(&shares[1], &call) && !shares_due(&shares[1], &call));
    CU_ASSERT(!shares_due(&shares[1], &call));
}
