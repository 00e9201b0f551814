/* Sums in the path of MPI over TCP: ranks that know of nothing, and what is between them; bytes go in pieces
 * of any length. */
#include "mpitcp/flow.h"

#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "memory.h"
#include "mpi_ranks.h"
#include "random.h"
#include "unit.h"

enum { SENDERS = 3, WAIT = 1000 };

static struct {
    uint64_t rng, now;
    struct mtp_group *group;
    struct mtp_flow *flow[SENDERS];
    struct mpi_sender sender[SENDERS];
    struct mpi_root root;
    struct mpi_bytes held[SENDERS][2]; /* that have come, and are not taken yet */
    uint64_t to_root;                  /* bytes */
    uint8_t *expected;
    bool is_wrong;
} rig;

static void draw_floats(uint8_t *tensor, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += 4) {
        const float x = (float)(int64_t)rng_between(&rig.rng, 0, 1 << 20) / 1000 - 300;

        memcpy(tensor + at, &x, 4);
    }
}

static void begin(uint64_t length, unsigned calls, enum mtp_others others)
{
    const struct mtp_config cfg = {.senders = SENDERS,
                                   .tag = OB1_TAG_REDUCE,
                                   .type = AGG_F32,
                                   .op = AGG_SUM,
                                   .others = others,
                                   .wait_ns = WAIT,
                                   .kernels = kernels_or_exit()};
    agg_fold_fn *fold = cfg.kernels->operations[agg_code(AGG_F32, AGG_SUM)].fold;
    uint8_t *own = memory_of(length);

    rig.rng = rng_seed(1);
    rig.group = memory_of(sizeof(*rig.group));
    CU_ASSERT_FATAL(mtp_group_init(rig.group, &cfg));
    draw_floats(own, length);
    rig.root = (struct mpi_root){.senders = SENDERS,
                                 .calls = calls,
                                 .length = length,
                                 .own = own,
                                 .sum = memory_of(length),
                                 .buffer = memory_of(length),
                                 .fold = fold};
    rig.expected = memory_of(length);
    for (unsigned s = SENDERS; s-- > 0;) {
        uint8_t *tensor = memory_of(length);

        draw_floats(tensor, length);
        rig.sender[s] = (struct mpi_sender){
            .rank = (int32_t)s + 1, .tensor = tensor, .length = length, .calls = calls, .chatters = s == 1};
        rig.flow[s] = memory_of(sizeof(*rig.flow[s]));
        mtp_flow_init(rig.flow[s], rig.group, s);
        if (s == SENDERS - 1)
            memcpy(rig.expected, tensor, length);
        else
            fold(rig.expected, tensor, length);
    }
    fold(rig.expected, own, length);
}

static void end(void)
{
    for (unsigned s = 0; s < SENDERS && rig.group != NULL; s++) {
        free((void *)rig.sender[s].tensor);
        free(rig.sender[s].in.at);
        free(rig.sender[s].out.at);
        free(rig.root.of[s].in.at);
        free(rig.root.of[s].out.at);
        free(rig.held[s][0].at);
        free(rig.held[s][1].at);
        free(rig.flow[s]);
    }
    free((void *)rig.root.own);
    free(rig.root.sum);
    free(rig.root.buffer);
    free(rig.expected);
    free(rig.group);
    memset(&rig, 0, sizeof(rig));
}

EACH_TEST(NULL, end)

static struct mpi_bytes *source(unsigned s, enum mtp_side side)
{
    return side == MTP_UP ? &rig.sender[s].out : &rig.root.of[s].out;
}

static struct mpi_bytes *target(unsigned s, enum mtp_side side)
{
    return side == MTP_UP ? &rig.root.of[s].in : &rig.sender[s].in;
}

/* A piece of what is under way in one direction goes on; true: something has moved. */
static bool carry(unsigned s, enum mtp_side side)
{
    struct mpi_bytes *from = source(s, side), *held = &rig.held[s][side];
    size_t piece = from->n == 0 ? 0 : rng_magnitude(&rig.rng, 1, from->n + 1), n;
    const uint8_t *bytes;
    bool moved;

    piece = piece < from->n ? piece : from->n;
    mpi_append(held, from->at, piece);
    mpi_drop(from, piece);
    n = mtp_take(rig.flow[s], side, held->at, held->n, rig.now);
    mpi_drop(held, n);
    moved = mtp_give(rig.flow[s]) || n > 0 || piece > 0;
    bytes = mtp_pending(rig.flow[s], side, &n);
    if (n > 0) {
        n = rng_between(&rig.rng, 1, n);
        mpi_append(target(s, side), bytes, n);
        mtp_sent(rig.flow[s], side, n);
        rig.to_root += side == MTP_UP ? n : 0;
    }
    return moved || n > 0;
}

static bool turn(void)
{
    bool moved = false;

    for (unsigned s = 0; s < SENDERS; s++) {
        if (!mpi_sender_turn(&rig.sender[s]))
            rig.is_wrong = true;
        for (unsigned side = 0; side < 2; side++)
            moved |= carry(s, side);
    }
    const unsigned done = rig.root.done;

    if (!mpi_root_turn(&rig.root))
        rig.is_wrong = true;
    if (rig.root.done > done && memcmp(rig.root.sum, rig.expected, rig.root.length) != 0)
        rig.is_wrong = true;
    return moved || rig.root.done > done;
}

/* Until nothing moves, for several turns: a piece may have been too short to be taken. */
static void settle(void)
{
    for (unsigned still = 0; still < 64 && !rig.is_wrong;)
        still = turn() ? 0 : still + 1;
    CU_ASSERT_FALSE(rig.is_wrong);
}

static void expect_sums(unsigned calls)
{
    settle();
    CU_ASSERT_EQUAL(rig.root.done, calls);
    CU_ASSERT_EQUAL(rig.group->counts.sums, calls);
    CU_ASSERT_EQUAL(rig.group->counts.summed_bytes, calls * rig.root.length);
}

TEST(a_linear_reduce_gets_the_same_bits)
{
    begin(100000, 20, MTP_NEUTRAL);
    expect_sums(20);
    CU_ASSERT(rig.to_root > 20 * 3 * rig.root.length);
}

/* Two messages of three come to the root. */
TEST(the_third_message_s_end_alone_is_enough)
{
    begin(100000, 20, MTP_KEPT);
    expect_sums(20);
    CU_ASSERT(rig.to_root > 20 * 2 * rig.root.length && rig.to_root < 20 * 2 * rig.root.length + 20 * 1000);
}

TEST(a_message_may_be_longer_than_the_window)
{
    begin(5 * MTP_WINDOW_BYTES + 12, 2, MTP_KEPT);
    expect_sums(2);
}

TEST(an_element_is_the_shortest_message)
{
    begin(4, 3, MTP_NEUTRAL);
    expect_sums(3);
}

static uint64_t relayed(enum mtp_reason reason)
{
    return rig.group->counts.relayed[reason];
}

/* What does not come to a sum goes its usual way. */
static void expect_relay(enum mtp_reason reason, unsigned connections)
{
    settle();
    CU_ASSERT_EQUAL(rig.group->counts.sums, 0);
    CU_ASSERT_EQUAL(relayed(reason), connections);
    for (unsigned s = 0; s < SENDERS; s++)
        CU_ASSERT_FALSE(rig.flow[s]->dead);
}

TEST(a_root_that_wants_fragments_hears_the_senders_themselves)
{
    begin(1000, 1, MTP_NEUTRAL);
    rig.root.acknowledges = true;
    expect_relay(MTP_OTHER_ANSWER, SENDERS);
}

TEST(an_answer_does_not_wait_for_ever)
{
    begin(1000, 3, MTP_NEUTRAL);
    rig.sender[0].calls = 0;
    settle();
    CU_ASSERT_EQUAL(rig.root.done, 0);
    mtp_tick(rig.group, WAIT - 1);
    settle();
    CU_ASSERT_EQUAL(relayed(MTP_NOT_ALL), 0);
    mtp_tick(rig.group, WAIT);
    settle();
    CU_ASSERT_EQUAL(relayed(MTP_NOT_ALL), 2);
    CU_ASSERT_EQUAL(rig.root.from, 1); /* it has the other two messages */
    rig.sender[0].calls = 3;
    settle();
    mtp_tick(rig.group, rig.now = 2 * WAIT);
    settle();
    CU_ASSERT_EQUAL(rig.root.done, 3);
}

TEST(a_connection_that_ends_leaves_the_others_to_themselves)
{
    begin(1000, 1, MTP_NEUTRAL);
    rig.sender[0].calls = 0;
    settle();
    mtp_end(rig.flow[2]);
    settle();
    CU_ASSERT_EQUAL(relayed(MTP_ENDED), 1);
    CU_ASSERT_FALSE(rig.flow[1]->dead);
}

/* The time that others have for their messages is that of an answer which is still to be kept. */
TEST(an_answer_ends_with_its_connection)
{
    begin(1000, 1, MTP_NEUTRAL);
    rig.sender[0].calls = rig.sender[1].calls = 0;
    settle();
    CU_ASSERT_EQUAL(rig.group->waits_since, 0);
    mtp_end(rig.flow[2]);
    rig.now = WAIT - 1;
    rig.sender[1].calls = 1;
    settle();
    CU_ASSERT(rig.flow[1]->attached);
    mtp_tick(rig.group, WAIT);
    CU_ASSERT_EQUAL(relayed(MTP_NOT_ALL), 0);
}

/* Whose bytes are in the sum is no longer known to the root: nobody may go on. */
TEST(a_connection_that_ends_in_a_sum_ends_all_of_them)
{
    begin(3 * MTP_WINDOW_BYTES, 1, MTP_NEUTRAL);
    while (!rig.group->summing || rig.flow[1]->taken == 0)
        turn();
    mtp_end(rig.flow[0]);
    settle();
    CU_ASSERT_EQUAL(relayed(MTP_CUT), SENDERS);
    for (unsigned s = 0; s < SENDERS; s++)
        CU_ASSERT(rig.flow[s]->dead);
    CU_ASSERT_EQUAL(rig.root.done, 0);
}

/* Neither may its ranks connect anew. */
TEST(a_job_that_was_cut_in_a_sum_does_not_go_on)
{
    uint8_t handshake[] = "\1\0\"\302\0\0\0\0OPAL-TCP-BTL\0\0\0";
    struct mtp_flow *anew = memory_of(sizeof(*anew));

    begin(3 * MTP_WINDOW_BYTES, 1, MTP_NEUTRAL);
    while (!rig.group->summing || rig.flow[1]->taken == 0)
        turn();
    mtp_end(rig.flow[0]);
    mtp_flow_init(anew, rig.group, 0);
    mtp_take(anew, MTP_DOWN, handshake, OB1_HANDSHAKE_BYTES, 0);
    CU_ASSERT(anew->dead);
    handshake[0]++; /* another job */
    mtp_flow_init(anew, rig.group, 0);
    mtp_take(anew, MTP_DOWN, handshake, OB1_HANDSHAKE_BYTES, 0);
    CU_ASSERT_FALSE(anew->dead);
    free(anew);
}

/* An end that only this program has asked for, by a connection that is in no sum. */
TEST(an_end_from_nowhere_ends_its_connection)
{
    uint8_t fin[OB1_FIN_BYTES];

    begin(1000, 0, MTP_NEUTRAL);
    settle();
    ob1_build_fin(fin, &(struct ob1_fin){.length = 1000, .fragment = UINT64_C(0x7377616767000000)});
    mtp_take(rig.flow[0], MTP_UP, fin, sizeof(fin), 0);
    CU_ASSERT(rig.flow[0]->dead && relayed(MTP_BROKEN) == 1);
}

TEST(what_is_not_open_mpi_s_is_passed)
{
    static const uint8_t text[] = "GET / HTTP/1.0\r\nUser-Agent: somebody\r\n\r\n";
    size_t n;

    begin(1000, 0, MTP_NEUTRAL);
    CU_ASSERT_EQUAL(mtp_take(rig.flow[0], MTP_UP, text, sizeof(text), 0), sizeof(text));
    CU_ASSERT_EQUAL(memcmp(mtp_pending(rig.flow[0], MTP_UP, &n), text, sizeof(text)), 0);
    CU_ASSERT_EQUAL(n, sizeof(text));
    CU_ASSERT_EQUAL(relayed(MTP_NO_OPEN_MPI), 1);
}

/* Half a header: nothing more will come that tells what it is. */
TEST(what_is_there_at_the_end_is_passed)
{
    static const uint8_t text[] = "hi";
    size_t n;

    begin(1000, 0, MTP_NEUTRAL);
    CU_ASSERT_EQUAL(mtp_take(rig.flow[0], MTP_UP, text, 2, 0), 0);
    mtp_over(rig.flow[0], MTP_UP);
    CU_ASSERT_EQUAL(mtp_take(rig.flow[0], MTP_UP, text, 2, 0), 2);
    mtp_pending(rig.flow[0], MTP_UP, &n);
    CU_ASSERT_EQUAL(n, 2);
}

/* A sender need not have waited for the root's handshake to announce its message. */
TEST(a_root_s_side_that_is_not_open_mpi_s_ends_a_sum)
{
    static const uint8_t text[] = "HTTP/1.0 400 Bad Request\r\n\r\n";

    begin(3 * MTP_WINDOW_BYTES, 1, MTP_NEUTRAL);
    while (!rig.group->summing || rig.flow[1]->taken == 0)
        turn();
    rig.flow[0]->way[MTP_DOWN].state = MTP_AT_HANDSHAKE;
    mtp_take(rig.flow[0], MTP_DOWN, text, sizeof(text), 0);
    settle();
    for (unsigned s = 0; s < SENDERS; s++)
        CU_ASSERT(rig.flow[s]->dead);
    CU_ASSERT_FALSE(rig.group->summing);
    CU_ASSERT_EQUAL(rig.root.done, 0);
}

TEST(messages_that_differ_are_not_summed)
{
    begin(1000, 1, MTP_NEUTRAL);
    rig.sender[1].length = rig.root.length = 996;
    for (unsigned t = 0; t < 200; t++)
        turn();
    CU_ASSERT_EQUAL(relayed(MTP_DIFFERENT), SENDERS);
    CU_ASSERT_EQUAL(rig.group->counts.sums, 0);
}

/* By the definition: x op neutral is x. */
TEST(neutral_elements_change_nothing)
{
    const struct agg_kernels *k = kernels_or_exit();
    unsigned pairs = 0;

    rig.rng = rng_seed(2);
    for (unsigned type = 0; type < AGG_TYPES; type++)
        for (unsigned op = 0; op < AGG_OPS; op++) {
            uint8_t neutral[MTP_ELEMENT_MAX], x[MTP_ELEMENT_MAX], was[MTP_ELEMENT_MAX], code;
            const size_t bytes = mtp_neutral(type, op, neutral, &code);

            pairs += bytes > 0;
            for (unsigned i = 0; i < 100 && bytes > 0; i++) {
                const uint64_t drawn = i == 0   ? 0
                                       : i == 1 ? UINT64_C(1) << (8 * bytes - 1)
                                                : rng_next(&rig.rng);

                memcpy(x, &drawn, bytes);
                if ((type == AGG_F32 || type == AGG_F64) && (x[bytes - 1] & 0x7f) == 0x7f)
                    x[bytes - 1] ^= 0x40; /* no NaN */
                memcpy(was, x, bytes);
                k->operations[code].fold(x, neutral, bytes);
                CU_ASSERT_EQUAL(memcmp(x, was, bytes), 0);
            }
        }
    CU_ASSERT_EQUAL(pairs, 2 * 4 + 8 * 7 - 2);
}
