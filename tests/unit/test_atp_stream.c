/* ATP's worker with a parameter server, with and without a switch between them. */
#include "atp/congestion.h"
#include "atp/cut.h"
#include "atp_rig.h"
#include "kernels_chosen.h"
#include "random.h"
#include "unit.h"

enum { MOST = 6000 };

static const struct atp_terms usual = {.window = 64,
                                       .chunk_bytes = 256,
                                       .per_rack = 64,
                                       .near = ATP_NOT_NEAR,
                                       .servers = 1,
                                       .life = 0x12345678,
                                       .first_sequence = 0xffffffe0};

static int32_t in[RIG_WORKERS][MOST], out[RIG_WORKERS][MOST];

/* Begins an allreduce or a reduce of so many integers in every rank. */
static void begin(enum xfer_collective collective, uint32_t root, unsigned count)
{
    const struct xfer_call call = {
        .collective = (uint8_t)collective, .type = AGG_I32, .op = AGG_SUM, .root = root};

    for (unsigned r = 0; r < rig.workers; r++) {
        for (unsigned i = 0; i < count; i++) {
            in[r][i] = (int32_t)(1000 * (r + 1) + i);
            out[r][i] = -1;
        }
        rig_begin(r, &call, in[r], out[r], count);
    }
}

static void check_sums(unsigned rank, unsigned count)
{
    const unsigned n = rig.workers;
    unsigned wrong = 0;

    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[rank]), XFER_DONE);
    for (unsigned i = 0; i < count; i++)
        wrong += out[rank][i] != (int32_t)(1000 * n * (n + 1) / 2 + n * i);
    CU_ASSERT_EQUAL(wrong, 0);
}

static void allreduce(unsigned count)
{
    begin(XFER_ALLREDUCE, 0, count);
    rig_run(200);
    for (unsigned r = 0; r < rig.workers; r++)
        check_sums(r, count);
}

TEST(without_switch)
{
    rig_init(3, &usual, 0);
    allreduce(MOST);
    allreduce(0);
    allreduce(1);
    CU_ASSERT_EQUAL(atp_stream_completed(rig.stream[1]), 3);
}

TEST(with_switch)
{
    struct atp_stream_signs signs;

    rig_init(5, &usual, 256);
    allreduce(MOST);
    CU_ASSERT_EQUAL(rig.switch_reasons[ATP_SWITCH_COLLISION], 0);
    CU_ASSERT_EQUAL(rig.reasons[ATP_SEND_ALL], rig.switch_reasons[ATP_SWITCH_SUM]);
    CU_ASSERT_EQUAL(rig.switch_reasons[ATP_SWITCH_HELD], 4 * rig.reasons[ATP_SEND_ALL]);
    CU_ASSERT_EQUAL(atp_table_taken(rig.table_job.pool), 0);
    atp_stream_signs(rig.stream[0], &signs);
    CU_ASSERT_EQUAL(signs.halved, 0);
}

/* Collisions, and losses of every kind of packet. */
static bool loses_some(const struct rig_packet *packet)
{
    static uint64_t rng = 1;

    (void)packet;
    return rng_below(&rng, 20) == 0;
}

TEST(losses_and_collisions)
{
    static const uint32_t aggregators[] = {0, 1, 2, 7, 64};

    for (unsigned round = 0; round < unit_cases(60); round++) {
        struct atp_terms terms = usual;
        terms.mapping = (enum atp_mapping)(round % ATP_MAPPINGS);
        terms.mode = round % 7 == 6 ? XFER_ORDERED : XFER_ON_ARRIVAL;
        rig_init(1 + round % 6, &terms, aggregators[round % 5]);
        rig.loses = round % 4 == 3 ? NULL : loses_some;
        allreduce(MOST);
        allreduce(100);
    }
}

static unsigned lose_sequence;

/* The first packet of one sequence number in one direction. */
static bool loses_one(const struct rig_packet *p)
{
    struct atp_packet parsed;

    return rig.lost == 0 && p->to_server && p->rank == 1 &&
           atp_parse(&parsed, p->payload, p->bytes) == ATP_OK && parsed.sequence == lose_sequence;
}

/* Three acknowledgements of later chunks have the oldest sent again at once: no timer is needed. */
TEST(three_out_of_order)
{
    struct xfer_stats stats;

    lose_sequence = usual.first_sequence + 5;
    rig_init(3, &usual, 256);
    atp_stream_deal(rig.stream[1], 2); /* of the same port */
    rig.loses = loses_one;
    begin(XFER_ALLREDUCE, 0, MOST);
    while (rig_send()) /* time stands still */
        rig_deliver();
    for (unsigned r = 0; r < 3; r++)
        check_sums(r, MOST);
    CU_ASSERT_EQUAL(rig.lost, 1);
    CU_ASSERT_EQUAL(rig.switch_reasons[ATP_SWITCH_ASKED], 1);
    atp_stream_stats(rig.stream[1], &stats);
    CU_ASSERT_EQUAL(stats.probes, 0);
}

/* Streams of the same terms that have so many chunks under way. */
static void fix_window(uint16_t chunks)
{
    for (unsigned r = 0; r < rig.workers; r++) {
        const struct atp_stream_config cfg = {.rank = (uint16_t)r,
                                              .workers = (uint16_t)rig.workers,
                                              .job = 3,
                                              .terms = rig.terms,
                                              .fixed_window = chunks,
                                              .kernels = kernels_or_exit()};
        free(rig.stream[r]);
        rig.stream[r] = atp_stream_init(room_of(atp_stream_footprint(&cfg)), &cfg);
    }
}

/* Whichever chunk it is, of whatever port, also if few are under way. */
TEST(no_timer_with_many_ports)
{
    for (uint8_t ports = 1; ports <= 16; ports++)
        for (unsigned window = ATP_MIN_WINDOW; window <= 64; window *= 2) {
            struct atp_terms terms = usual;
            struct xfer_stats stats;

            terms.window = (uint16_t)window;
            lose_sequence = terms.first_sequence + ports;
            rig_init(3, &terms, 256);
            fix_window(ATP_WINDOW_LOSSY);
            for (unsigned r = 0; r < 3; r++)
                atp_stream_deal(rig.stream[r], ports);
            rig.loses = loses_one;
            begin(XFER_ALLREDUCE, 0, MOST);
            while (rig_send()) /* time stands still */
                rig_deliver();
            CU_ASSERT_EQUAL(rig.lost, 1);
            for (unsigned r = 0; r < 3; r++)
                check_sums(r, MOST);
            atp_stream_stats(rig.stream[1], &stats);
            CU_ASSERT_EQUAL(stats.probes, 0);
        }
}

enum { LATE_MAX = 64 };
static struct rig_packet late[LATE_MAX];
static unsigned lates;

/* Results of a server's second port, whose thread waits for its CPU. */
static bool is_late(const struct rig_packet *p)
{
    struct atp_packet parsed;

    if (p->to_server || atp_parse(&parsed, p->payload, p->bytes) != ATP_OK || parsed.sequence % 2 == 0 ||
        lates == LATE_MAX)
        return false;
    late[lates++] = *p;
    return true;
}

static uint64_t retransmitted_beside_late_results(uint8_t ports)
{
    struct xfer_stats stats;

    lates = 0;
    rig_init(1, &usual, 0);
    atp_stream_deal(rig.stream[0], ports);
    rig.loses = is_late;
    begin(XFER_ALLREDUCE, 0, MOST);
    while (lates < 8 && rig_send()) /* time stands still */
        rig_deliver();
    atp_stream_stats(rig.stream[0], &stats);
    rig.loses = NULL;
    for (unsigned i = 0; i < lates; i++)
        atp_stream_receive(rig.stream[0], late[i].payload, late[i].bytes, rig.now);
    while (rig_send())
        rig_deliver();
    check_sums(0, MOST);
    return stats.retransmitted;
}

/* Results that come by the server's other port say nothing of those that are late. */
TEST(ports_do_not_overtake_one_another)
{
    CU_ASSERT_EQUAL(retransmitted_beside_late_results(2), 0);
    CU_ASSERT(retransmitted_beside_late_results(1) > 0);
}

static unsigned contributions[RIG_WORKERS]; /* to the chunk that a packet of was lost */

static bool loses_one_and_counts(const struct rig_packet *p)
{
    struct atp_packet parsed;

    if (p->to_server && atp_parse(&parsed, p->payload, p->bytes) == ATP_OK &&
        parsed.sequence == lose_sequence)
        contributions[p->rank] += parsed.kind == ATP_GRADIENT;
    return loses_one(p);
}

/* One packet is lost of many ranks' chunk: one rank sends its elements again, and makes its window smaller.
 */
TEST(a_loss_is_one_ranks)
{
    enum { WORKERS = 64, LOSER = 1 };
    struct atp_stream_signs signs;

    memset(contributions, 0, sizeof contributions);
    lose_sequence = usual.first_sequence + 5;
    rig_init(WORKERS, &usual, 256);
    rig.loses = loses_one_and_counts;
    begin(XFER_ALLREDUCE, 0, MOST);
    while (rig_send())
        rig_deliver();
    for (unsigned r = 0; r < WORKERS; r++) {
        check_sums(r, MOST);
        CU_ASSERT_EQUAL(contributions[r], r == LOSER ? 2 : 1);
        atp_stream_signs(rig.stream[r], &signs);
        CU_ASSERT(r != LOSER || signs.halved == 1);
        CU_ASSERT(signs.halved <= 1);
    }
}

static unsigned halvings(void)
{
    struct atp_stream_signs signs;
    unsigned n = 0;

    for (unsigned r = 0; r < rig.workers; r++) {
        atp_stream_signs(rig.stream[r], &signs);
        n += signs.halved;
    }
    return n;
}

static bool loses_result(const struct rig_packet *p)
{
    struct atp_packet parsed;

    return rig.lost == 0 && !p->to_server && p->rank == 1 &&
           atp_parse(&parsed, p->payload, p->bytes) == ATP_OK && parsed.sequence == lose_sequence;
}

/* A result is lost on its way to one rank: that one asks, and halves. */
TEST(a_lost_result)
{
    lose_sequence = usual.first_sequence + 5;
    rig_init(3, &usual, 256);
    rig.loses = loses_result;
    begin(XFER_ALLREDUCE, 0, MOST);
    while (rig_send())
        rig_deliver();
    for (unsigned r = 0; r < 3; r++)
        check_sums(r, MOST);
    CU_ASSERT_EQUAL(rig.reasons[ATP_SEND_ONE], 1);
    CU_ASSERT_EQUAL(halvings(), 1);
}

/* The last chunk's first contribution has met another's aggregator and is at the server, the others wait in
 * the switch. The first one's rank was told so: it asks soon, not when it would ask for what seems lost. */
TEST(a_chunk_in_two_places)
{
    uint8_t payload[RIG_PAYLOAD];
    struct atp_packet header;
    struct xfer_send send;

    rig_init(3, &usual, 256);
    begin(XFER_ALLREDUCE, 0, 1);
    CU_ASSERT(atp_stream_poll(rig.stream[0], rig.now, &send));
    const size_t bytes = xfer_send_copy(&send, payload);
    CU_ASSERT_EQUAL(atp_parse(&header, payload, bytes), ATP_OK);
    header.flags |= ATP_DIRECT | ATP_RESEND | ATP_COLLISION; /* as if it had met another's */
    atp_build_header(payload, &header);
    rig_put(true, 0, payload, bytes);
    while (rig_send())
        rig_deliver();
    rig_deliver();
    rig_run(10);
    for (unsigned r = 0; r < 3; r++)
        check_sums(r, 1);
    CU_ASSERT(rig.now < 2000000);
    CU_ASSERT_EQUAL(rig.switch_reasons[ATP_SWITCH_ASKED], 1);
}

/* Nothing comes after the last chunk: the timer has it sent again. */
TEST(tail_loss)
{
    lose_sequence = usual.first_sequence;
    rig_init(3, &usual, 256);
    rig.loses = loses_one;
    begin(XFER_ALLREDUCE, 0, 10);
    while (rig_send())
        rig_deliver();
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[0]), XFER_RUNNING);
    CU_ASSERT_EQUAL(atp_stream_timer(rig.stream[0]), 1 + 20000000);
    rig_run(5);
    for (unsigned r = 0; r < 3; r++)
        check_sums(r, 10);
}

/* Once round trips are known it is asked for after some two of them, not after the least time that a
 * retransmission takes. */
TEST(tail_loss_is_soon_noticed)
{
    lose_sequence = usual.first_sequence + 1;
    rig_init(3, &usual, 256);
    rig.loses = loses_one;
    for (unsigned call = 0; call < 2; call++) {
        begin(XFER_ALLREDUCE, 0, 10);
        while (rig_send())
            rig_deliver();
    }
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[0]), XFER_RUNNING);
    rig_run(5);
    for (unsigned r = 0; r < 3; r++)
        check_sums(r, 10);
    CU_ASSERT(rig.now < 2000000);
}

/* The first packets of rank 1 in its second call: so many that no result comes that would show it. */
static bool loses_a_window(const struct rig_packet *p)
{
    struct atp_packet parsed;

    return rig.lost < ATP_WINDOW_START && p->to_server && p->rank == 1 &&
           atp_parse(&parsed, p->payload, p->bytes) == ATP_OK && parsed.sequence != usual.first_sequence;
}

/* Also in the midst of a call, where no later chunk is acknowledged. */
TEST(a_lost_window_is_soon_noticed)
{
    rig_init(3, &usual, 256);
    allreduce(10);
    rig.loses = loses_a_window;
    begin(XFER_ALLREDUCE, 0, MOST);
    while (rig_send())
        rig_deliver();
    CU_ASSERT_EQUAL(rig.lost, ATP_WINDOW_START);
    CU_ASSERT(rig.now < 1000);
    rig_run(1);
    CU_ASSERT(rig.now < 2000000);
    rig_run(200);
    for (unsigned r = 0; r < 3; r++)
        check_sums(r, MOST);
}

/* A rank never has more chunks under way than it may, and never one that is a window ahead of the oldest. */
static bool loses_answers_but_rank_2s(const struct rig_packet *p)
{
    return !p->to_server && p->rank != 2;
}

static void send_of_first_two(void)
{
    uint8_t payload[RIG_PAYLOAD];
    struct xfer_send send;

    for (unsigned r = 0; r < 2; r++)
        while (atp_stream_poll(rig.stream[r], rig.now, &send))
            rig_put(true, r, payload, xfer_send_copy(&send, payload));
    rig_deliver();
}

/* Ranks that have waited for another one have taken what they gave out of the switch, to the server. What the
 * other one sends at last must not wait in the switch for them: all is done without a timer. */
TEST(ranks_out_of_step)
{
    enum { COUNT = 30 * 64 };

    rig_init(3, &usual, 64);
    begin(XFER_ALLREDUCE, 0, COUNT);
    rig.loses = loses_answers_but_rank_2s;
    for (unsigned step = 0; step < 100; step++) {
        send_of_first_two();
        rig.now = atp_stream_timer(rig.stream[step % 2]);
    }
    CU_ASSERT_EQUAL(rig.reasons[ATP_SEND_ALL], 0);
    rig.loses = NULL;
    rig.now--; /* nobody's timer is over */
    while (rig_send())
        rig_deliver();
    for (unsigned r = 0; r < 3; r++)
        check_sums(r, COUNT);
}

static void send_of(unsigned rank)
{
    uint8_t payload[RIG_PAYLOAD];
    struct xfer_send send;

    while (atp_stream_poll(rig.stream[rank], rig.now, &send))
        rig_put(true, rank, payload, xfer_send_copy(&send, payload));
    rig_deliver();
}

/* A chunk that has waited long for another rank makes nobody's timer as long. */
TEST(timers_do_not_learn_from_stalls)
{
    enum { TRIP = 6000, STALL = 1000 * TRIP };

    rig_init(2, &usual, 0);
    for (unsigned call = 0; call < 8; call++) {
        begin(XFER_ALLREDUCE, 0, 10);
        send_of(0);
        rig.now += call < 4 ? TRIP : STALL;
        send_of(1);
        check_sums(0, 10);
    }
    begin(XFER_ALLREDUCE, 0, 10);
    send_of(0);
    CU_ASSERT(atp_stream_timer(rig.stream[0]) - rig.now < STALL / 4);
}

static bool loses_to_rank_1(const struct rig_packet *p)
{
    return rig.lost == 0 && !p->to_server && p->rank == 1;
}

/* A rank has lost the first result, and knows no round trip; the others go on. When the server names it as
 * the one they wait for, it asks for what it lacks itself. */
TEST(who_is_waited_for_asks)
{
    const struct xfer_call call = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM};

    rig_init(2, &usual, 0);
    begin(XFER_ALLREDUCE, 0, 10);
    rig.loses = loses_to_rank_1;
    while (rig_send())
        rig_deliver();
    check_sums(0, 10);
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[1]), XFER_RUNNING);
    rig_begin(0, &call, in[0], out[0], 10);
    send_of(0);
    rig.now = atp_stream_timer(rig.stream[0]);
    CU_ASSERT(rig.now < atp_stream_timer(rig.stream[1]));
    send_of(0);
    send_of(1);
    check_sums(1, 10);
}

TEST(window)
{
    struct xfer_send send;
    unsigned sent = 0;

    rig_init(2, &usual, 0);
    CU_ASSERT_PTR_NULL(atp_stream_oldest_call(rig.stream[0]));
    rig.now = 77;
    begin(XFER_ALLREDUCE, 0, MOST);
    while (atp_stream_poll(rig.stream[0], rig.now, &send))
        sent++;
    CU_ASSERT_EQUAL(sent, 50);
    CU_ASSERT_EQUAL(atp_stream_progress(rig.stream[0]), 77);
    CU_ASSERT_EQUAL(atp_stream_oldest_call(rig.stream[0])->count, MOST);
    CU_ASSERT_EQUAL(atp_stream_left(rig.stream[0]), 1 + (MOST - 59 + 63) / 64);
    CU_ASSERT_EQUAL(atp_stream_packets(rig.stream[0], atp_stream_oldest_call(rig.stream[0])),
                    atp_stream_left(rig.stream[0]));

    rig_init(2,
             &(struct atp_terms){
                 .window = 16, .chunk_bytes = 64, .per_rack = 64, .near = ATP_NOT_NEAR, .servers = 1},
             0);
    begin(XFER_ALLREDUCE, 0, MOST);
    for (sent = 0; atp_stream_poll(rig.stream[0], rig.now, &send);)
        sent++;
    CU_ASSERT_EQUAL(sent, 16);
}

TEST(reduce)
{
    rig_init(4, &usual, 256);
    begin(XFER_REDUCE, 2, 1000);
    rig_run(10);
    check_sums(2, 1000);
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[0]), XFER_DONE);
    CU_ASSERT_EQUAL(out[0][0], -1);
}

/* Two racks, and one of them with the server. */
TEST(racks)
{
    for (unsigned near = 0; near < 3; near++) {
        struct atp_terms terms = usual;
        terms.per_rack = 3;
        terms.near = near == 2 ? ATP_NOT_NEAR : (uint8_t)near;
        rig_init(8, &terms, 256);
        allreduce(3000);
    }
}

/* Who calls something else hears of it, and so does everybody else; there is no sum. */
TEST(mismatch)
{
    const struct xfer_call max = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_MAX};
    const struct xfer_call sum = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM};

    for (unsigned aggregators = 0; aggregators < 10; aggregators += 9) {
        rig_init(3, &usual, aggregators);
        for (unsigned r = 0; r < 3; r++) {
            rig_begin(r, r == 1 ? &max : &sum, in[r], out[r], 500);
        }
        rig_run(30);
        for (unsigned r = 0; r < 3; r++) {
            const struct xfer_mismatch *m = atp_stream_mismatch(rig.stream[r]);
            CU_ASSERT_EQUAL(atp_stream_status(rig.stream[r]), XFER_MISMATCH);
            CU_ASSERT_EQUAL(m->your_rank, r);
            CU_ASSERT((r == 1) == (m->your_e0 == agg_code(AGG_I32, AGG_MAX)));
            CU_ASSERT((m->peer_rank == 1) == (r != 1));
        }
        CU_ASSERT_EQUAL(rig.reasons[ATP_SEND_ALL], 0);
    }
}

/* A rank that does not come is named. */
TEST(missing)
{
    const struct xfer_call call = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM};
    uint16_t ranks[4];

    rig_init(3, &usual, 64);
    for (unsigned r = 0; r < 3; r += 2) {
        rig_begin(r, &call, in[r], out[r], 500);
    }
    CU_ASSERT_EQUAL(atp_stream_missing(rig.stream[0], ranks, 4), 0);
    rig_run(6);
    CU_ASSERT_EQUAL(atp_stream_missing(rig.stream[0], ranks, 4), 1);
    CU_ASSERT_EQUAL(ranks[0], 1);
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[0]), XFER_RUNNING);
    rig_begin(1, &call, in[1], out[1], 500);
    rig_run(100);
    for (unsigned r = 0; r < 3; r++)
        CU_ASSERT_EQUAL(atp_stream_status(rig.stream[r]), XFER_DONE);
}

/* A server that has restarted knows no job: that ends it. One of another life is not heard. */
TEST(rejected)
{
    uint8_t payload[RIG_PAYLOAD], answer[AGG_ANSWER_BYTES];
    struct xfer_send send;
    struct agg_packet p = {.payload = payload};

    rig_init(2, &usual, 0);
    begin(XFER_ALLREDUCE, 0, 100);
    CU_ASSERT(atp_stream_poll(rig.stream[0], rig.now, &send));
    p.bytes = xfer_send_copy(&send, payload);
    p.from = rig_sender(77);
    atp_protocol.locate(&rig.at_server, &p, 1);
    CU_ASSERT_EQUAL(p.reason, ATP_REFUSED_FOREIGN_SENDER);
    const size_t bytes = atp_protocol.refuse(&p, 5, answer);
    CU_ASSERT_EQUAL(bytes, ATP_HEADER_BYTES + ATP_BOOT_ID_BYTES);
    answer[4] ^= 1;
    CU_ASSERT_EQUAL(atp_stream_receive(rig.stream[0], answer, bytes, rig.now), XFER_RX_BAD);
    answer[4] ^= 1;
    CU_ASSERT_EQUAL(atp_stream_receive(rig.stream[0], answer, bytes, rig.now), XFER_RX_NEWS);
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[0]), XFER_REJECTED);
    CU_ASSERT(!atp_stream_poll(rig.stream[0], rig.now, &send));
    agg_jobs_set(&rig.at_server, 3, NULL);
    atp_protocol.locate(&rig.at_server, &p, 1);
    CU_ASSERT_EQUAL(p.reason, ATP_REFUSED_UNKNOWN_JOB);
}

/* Packets of the job's earlier life, with the same number and sequence: late ones get into no sum. */
TEST(earlier_life)
{
    uint8_t payload[RIG_PAYLOAD];
    struct xfer_send send;
    struct atp_terms terms = usual;
    size_t bytes;

    terms.life++;
    rig_init(3, &terms, 0);
    begin(XFER_ALLREDUCE, 0, 100);
    CU_ASSERT(atp_stream_poll(rig.stream[1], rig.now, &send));
    memset(in, 0x55, sizeof in);
    bytes = xfer_send_copy(&send, payload);
    rig_init(3, &usual, 256);
    rig_put(true, 1, payload, bytes);
    rig_deliver();
    allreduce(100);
    CU_ASSERT_EQUAL(rig.reasons[ATP_REFUSED_OTHER_LIFE], 0); /* it waits in an aggregator of its own */
    CU_ASSERT_EQUAL(atp_table_taken(rig.table_job.pool), 1);
    CU_ASSERT_EQUAL(rig.reasons[ATP_SEND_MISMATCH], 0);

    rig_init(3, &usual, 0);
    rig_put(true, 1, payload, bytes);
    rig_deliver();
    CU_ASSERT_EQUAL(rig.reasons[ATP_REFUSED_OTHER_LIFE], 1);
    allreduce(100);
}

static float floats[RIG_WORKERS][MOST], float_sums[RIG_WORKERS][MOST];

/* Floats as integers, or as halves, with a scale for each block. */
TEST(scaled)
{
    const struct xfer_call call = {.collective = XFER_ALLREDUCE, .type = AGG_F32, .op = AGG_SUM};
    uint64_t rng = 3;

    for (unsigned format = XFER_FORMAT_INT32; format < XFER_FORMATS; format++)
        for (unsigned aggregators = 0; aggregators < 300; aggregators += 100) {
            struct atp_terms terms = usual;
            unsigned wrong = 0;
            terms.format = (enum xfer_format)format;
            rig_init(3, &terms, aggregators);
            rig.loses = loses_some;
            for (unsigned r = 0; r < 3; r++) {
                for (unsigned i = 0; i < MOST; i++)
                    floats[r][i] = (float)((double)rng_below(&rng, 2000001) / 1e6 - 1);
                rig_begin(r, &call, floats[r], float_sums[r], MOST);
            }
            rig_run(200);
            for (unsigned i = 0; i < MOST; i++) {
                const float sum = floats[0][i] + floats[1][i] + floats[2][i], error = float_sums[2][i] - sum;
                wrong += !(error < 0.004f && error > -0.004f);
            }
            CU_ASSERT_EQUAL(wrong, 0);
            CU_ASSERT_EQUAL(memcmp(float_sums[0], float_sums[1], sizeof float_sums[0]), 0);
        }
}

/* All elements of a call, each in one packet of one server. */
TEST(cut)
{
    uint64_t rng = 5;

    for (unsigned round = 0; round < unit_cases(500); round++) {
        struct atp_terms terms = usual;
        const struct xfer_call call = {
            .collective = XFER_ALLREDUCE, .type = AGG_F64, .op = AGG_SUM, .count = rng_below(&rng, 2000)};
        uint64_t covered = 0, openings = 0;
        terms.chunk_bytes = (uint16_t)(64 + 4 * rng_below(&rng, 300));
        terms.servers = (uint8_t)(1 + rng_below(&rng, 7));
        for (terms.server = 0; terms.server < terms.servers; terms.server++) {
            const struct atp_cut cut = atp_cut_of(&terms, &call);
            for (uint64_t i = 0; i < cut.packets; i++) {
                uint64_t offset;
                size_t bytes;
                atp_cut_span(&cut, i, false, &offset, &bytes);
                CU_ASSERT(bytes + (i == 0 ? XFER_CALL_BYTES : 0) <= terms.chunk_bytes);
                CU_ASSERT(call.count == 0 || bytes > 0);
                covered += bytes;
                openings += offset == 0;
            }
        }
        CU_ASSERT_EQUAL(covered, 8 * call.count);
        CU_ASSERT(openings == 1 || call.count == 0);
    }
}

/* Start at 50, one more with each acknowledgement; half at a mark, once for all that is under way; then one
 * more with each window. */
TEST(congestion)
{
    struct atp_congestion c;

    atp_congestion_init(&c, 1000);
    CU_ASSERT_EQUAL(c.window, 50);
    for (uint64_t p = 0; p < 30; p++)
        atp_congestion_acknowledged(&c, p, p + 50, false, false, true);
    CU_ASSERT_EQUAL(c.window, 80);
    atp_congestion_acknowledged(&c, 30, 110, true, false, true);
    CU_ASSERT_EQUAL(c.window, 40);
    for (uint64_t p = 31; p < 110; p++)
        atp_congestion_acknowledged(&c, p, 110, true, false, false);
    CU_ASSERT_EQUAL(c.window, 40);
    for (uint64_t p = 110; p < 150; p++)
        atp_congestion_acknowledged(&c, p, p + 40, false, false, true);
    CU_ASSERT_EQUAL(c.window, 41);
    atp_congestion_acknowledged(&c, 150, 191, false, false, false); /* what is not used does not grow */
    CU_ASSERT_EQUAL(c.credit, 0);
    for (unsigned i = 0; i < 20; i++)
        atp_congestion_acknowledged(&c, 200 + 100 * i, 300 + 100 * i, true, false, true);
    CU_ASSERT_EQUAL(c.window, 1);
    atp_congestion_init(&c, 16);
    CU_ASSERT_EQUAL(c.window, 16);
}

/* A loss that was a collision at the switch gives the window back. */
TEST(congestion_regrets)
{
    struct atp_congestion c;

    atp_congestion_init(&c, 1000);
    atp_congestion_lost(&c, 5, 50);
    CU_ASSERT_EQUAL(c.window, 25);
    atp_congestion_lost(&c, 6, 50);
    CU_ASSERT_EQUAL(c.window, 25);
    atp_congestion_acknowledged(&c, 5, 50, false, true, false);
    CU_ASSERT(c.window == 50 && c.threshold == 1000);
    atp_congestion_lost(&c, 60, 100);
    atp_congestion_acknowledged(&c, 60, 100, false, false, false);
    CU_ASSERT(c.window == 25 && c.threshold == 25);
}

/* Once packets wait in a queue it grows by one with each window. */
TEST(congestion_queues)
{
    struct atp_congestion c;

    atp_congestion_init(&c, 1000);
    atp_congestion_acknowledged(&c, 0, 50, false, false, true);
    CU_ASSERT_EQUAL(c.window, 51);
    atp_congestion_waits(&c);
    for (uint64_t p = 1; p < 51; p++)
        atp_congestion_acknowledged(&c, p, p + 51, false, false, true);
    CU_ASSERT_EQUAL(c.window, 51);
    atp_congestion_acknowledged(&c, 51, 102, false, false, true);
    CU_ASSERT_EQUAL(c.window, 52);
    atp_congestion_lost(&c, 60, 110);
    atp_congestion_waits(&c);
    CU_ASSERT_EQUAL(c.threshold, 26);
}

/* However many are lost, enough chunks stay under way that three later ones tell of a loss; marks leave
 * fewer, and a loss then takes nothing, and gives nothing. */
TEST(congestion_losses_alone)
{
    struct atp_congestion c;

    atp_congestion_init(&c, 1000);
    for (unsigned i = 0; i < 20; i++)
        atp_congestion_lost(&c, 100 * i, 100 * i + 50);
    CU_ASSERT_EQUAL(c.window, ATP_WINDOW_LOSSY);
    CU_ASSERT(ATP_WINDOW_LOSSY > 3);
    atp_congestion_acknowledged(&c, 3000, 3100, true, false, true);
    CU_ASSERT_EQUAL(c.window, ATP_WINDOW_LOSSY / 2);
    atp_congestion_lost(&c, 3200, 3300);
    CU_ASSERT_EQUAL(c.window, ATP_WINDOW_LOSSY / 2);
}
