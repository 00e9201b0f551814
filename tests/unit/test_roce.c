/* SwitchML by RDMA: the switch's pool and its packets, and workers against it over a bad network. */
#include "roce/protocol.h"

#include <string.h>

#include "carry.h"
#include "kernels_chosen.h"
#include "random.h"
#include "roce/pool.h"
#include "roce/terms.h"
#include "roce/worker.h"
#include "unit.h"
#include "wire/bytes.h"

enum {
    WORKERS_MAX = 5,
    PAIRS = 2,
    PACKET = 128,
    PACKETS = 4,
    WORDS = PACKET / 4,
    FIRST_PAIR = 0x100, /* of worker 0; the others' are as many further on */
    KEY = 0x7000,
    PLACE = 0x10000, /* of a worker's memory */
    MESSAGE = PACKETS * PACKET,
};

static struct {
    struct agg_jobs jobs;
    struct agg_job *job;
    struct rce_member member[WORKERS_MAX];
    struct agg_verdict v;
    unsigned sent[WORKERS_MAX]; /* packets to each, since it was asked */
    uint8_t last[WORKERS_MAX][RCE_PACKET_MAX];
    size_t last_bytes[WORKERS_MAX];
    void (*forward)(unsigned rank, const uint8_t *payload, size_t bytes);
} rig;

static struct agg_sender address(unsigned rank)
{
    const uint8_t mac[AGG_MAC_BYTES] = {2, 0, 0, 0, 0, (uint8_t)rank};

    return carry_sender(mac, 0x0a000001 + rank, ROCE_PORT);
}

static void open_job(unsigned workers, unsigned pairs, unsigned packets)
{
    const struct rce_terms terms = {
        .queue_pairs = (uint16_t)pairs, .packet_bytes = PACKET, .packets = (uint16_t)packets};
    struct agg_sender members[WORKERS_MAX];
    struct agg_pool_config cfg = {.workers = (uint16_t)workers,
                                  .kernels = kernels_or_exit(),
                                  .particulars = {rig.member, sizeof(rig.member)}};
    struct agg_footprint f;

    rce_terms_build(&cfg.terms, &terms);
    for (unsigned rank = 0; rank < workers; rank++) {
        members[rank] = address(rank);
        rig.member[rank].key = KEY + rank;
        for (unsigned i = 0; i < pairs; i++)
            rig.member[rank].queue_pair[i] = FIRST_PAIR * (rank + 1) + i;
    }
    rig.job = carry_open(&rig.jobs, &rce_protocol, &cfg, members, &f);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rig.job);
    CU_ASSERT(f.checked && f.slots == pairs * packets && f.payload_bytes == 32 + PACKET + 4);
}

static void close_job(void)
{
    if (rig.job != NULL)
        carry_close(&rig.jobs, rig.job);
    memset(&rig, 0, sizeof(rig));
}

EACH_TEST(NULL, close_job)

static void note_sent(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                      const struct carried *what)
{
    (void)ctx, (void)job, (void)answered;
    CU_ASSERT(roce_icrc_holds(what->payload - CARRY_HEADERS_BYTES, what->payload, what->bytes));
    rig.sent[what->rank]++;
    rig.last_bytes[what->rank] = what->bytes;
    memcpy(rig.last[what->rank], what->payload, what->bytes);
    if (rig.forward != NULL)
        rig.forward(what->rank, what->payload, what->bytes);
}

/* Hands in a payload from rank's address, by whatever UDP port; returns why it got its verdict. */
static unsigned hand_in(unsigned rank, const uint8_t *payload, size_t bytes)
{
    uint8_t whole[CARRY_HEADERS_BYTES + RCE_PACKET_MAX] = {0};
    struct agg_packet p = {
        .payload = whole + CARRY_HEADERS_BYTES, .bytes = bytes, .headers = whole, .from = address(rank)};

    p.from.port = (uint16_t)(49152 + bytes);
    memcpy(p.payload, payload, bytes);
    rce_protocol.locate(&rig.jobs, &p, 1);
    CU_ASSERT_EQUAL(rce_protocol.apply(&p, 1, 0, &rig.v), 1);
    CU_ASSERT(!rig.v.kept && rig.v.released == NULL && rig.v.reason == p.reason);
    carry_out(p.job, &p, &rig.v, note_sent, NULL);
    return p.reason;
}

/* Packet `place` of a message of equal words; by hand, beside the worker. */
static size_t packet(uint8_t *payload, unsigned rank, unsigned place, unsigned version, uint32_t number,
                     uint32_t word)
{
    static const uint8_t none[CARRY_HEADERS_BYTES];
    static const uint8_t opcodes[PACKETS] = {ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE, ROCE_WRITE_MIDDLE,
                                             ROCE_WRITE_LAST_IMMEDIATE};
    const struct roce_packet p = {.opcode = opcodes[place],
                                  .queue_pair = RCE_QUEUE_PAIR | rank << 16 | 1,
                                  .number = number,
                                  .address = PLACE * (rank + 1),
                                  .key = 2 * PACKETS + version,
                                  .length = MESSAGE,
                                  .immediate = {0x34, 0x12, (uint8_t)rank, (uint8_t)-rank}};
    const size_t head = roce_build_headers(payload, &p);

    for (unsigned i = 0; i < WORDS; i++)
        put_be32(payload + head + 4 * i, word);
    roce_seal(none, payload, head + PACKET + ROCE_ICRC_BYTES);
    return head + PACKET + ROCE_ICRC_BYTES;
}

static unsigned put(unsigned rank, unsigned place, unsigned version, uint32_t number, uint32_t word)
{
    uint8_t payload[RCE_PACKET_MAX];

    return hand_in(rank, payload, packet(payload, rank, place, version, number, word));
}

static unsigned sent_to(unsigned rank)
{
    const unsigned n = rig.sent[rank];

    rig.sent[rank] = 0;
    return n;
}

static struct roce_packet last(unsigned rank)
{
    struct roce_packet p = {0};

    CU_ASSERT_EQUAL_FATAL(roce_parse(&p, rig.last[rank], rig.last_bytes[rank]), ROCE_OK);
    return p;
}

TEST(a_sum_is_written_to_where_each_worker_wants_it)
{
    open_job(2, PAIRS, PACKETS);
    for (unsigned place = 0; place < PACKETS; place++)
        CU_ASSERT_EQUAL(put(1, place, 0, 70 + place, 30 + place), RCE_HELD);
    for (unsigned place = 0; place < PACKETS; place++) {
        CU_ASSERT_EQUAL(put(0, place, 0, (0xfffffe + place) % ROCE_NUMBERS, 4), RCE_SEND_ALL);
        for (unsigned rank = 0; rank < 2; rank++) {
            const struct roce_packet p = last(rank);

            CU_ASSERT_EQUAL(sent_to(rank), 1);
            CU_ASSERT_EQUAL(p.opcode, place == 0             ? ROCE_WRITE_FIRST
                                      : place == PACKETS - 1 ? ROCE_WRITE_LAST_IMMEDIATE
                                                             : ROCE_WRITE_MIDDLE);
            CU_ASSERT_EQUAL(p.queue_pair, FIRST_PAIR * (rank + 1) + 1);
            CU_ASSERT_EQUAL(p.number, place);
            CU_ASSERT_EQUAL(p.body_bytes, PACKET);
            CU_ASSERT_EQUAL(get_be32(p.body + PACKET - 4), 34 + place);
            if (place == 0)
                CU_ASSERT(p.key == KEY + rank && p.address == PLACE * (rank + 1) && p.length == MESSAGE);
        }
    }
    CU_ASSERT(last(0).immediate[0] == 0x34 && last(0).immediate[1] == 0x12);
    CU_ASSERT(last(0).immediate[2] == 1 && last(0).immediate[3] == 0); /* the greatest exponents */
}

/* What came before the gap is summed, what came behind it is not; the message is sent again as a whole. */
TEST(a_lost_packet_voids_the_rest_of_its_message)
{
    open_job(2, PAIRS, PACKETS);
    for (unsigned place = 0; place < PACKETS; place++)
        put(1, place, 0, place, 5);
    CU_ASSERT_EQUAL(put(0, 0, 0, 10, 1), RCE_SEND_ALL);
    CU_ASSERT_EQUAL(put(0, 2, 0, 12, 1), RCE_DROP_OUT_OF_ORDER);
    CU_ASSERT_EQUAL(put(0, 1, 0, 11, 1), RCE_DROP_OUT_OF_ORDER); /* overtaken: too late */
    CU_ASSERT_EQUAL(put(0, 3, 0, 13, 1), RCE_DROP_OUT_OF_ORDER);
    CU_ASSERT_EQUAL(sent_to(0), 1);
    CU_ASSERT_EQUAL(put(0, 0, 0, 14, 1), RCE_SEND_ONE);
    CU_ASSERT(sent_to(0) == 1 && last(0).opcode == ROCE_WRITE_FIRST && last(0).number == 1);
    for (unsigned place = 1; place < PACKETS; place++)
        CU_ASSERT_EQUAL(put(0, place, 0, 14 + place, 1), RCE_SEND_ALL);
    CU_ASSERT(sent_to(0) == 3 && sent_to(1) == 4);
    CU_ASSERT_EQUAL(get_be32(last(1).body), 6);
}

/* Late copies of a worker's packets, whatever they are, neither count nor disturb its message. */
TEST(copies_are_told_by_their_numbers)
{
    open_job(1, PAIRS, PACKETS);
    CU_ASSERT_EQUAL(put(0, 0, 0, 10, 1), RCE_SEND_ALL);
    CU_ASSERT_EQUAL(put(0, 0, 0, 10, 1), RCE_DROP_STALE);
    CU_ASSERT_EQUAL(put(0, 1, 0, 11, 1), RCE_SEND_ALL);
    CU_ASSERT_EQUAL(put(0, 1, 0, 11, 1), RCE_DROP_STALE);
    CU_ASSERT_EQUAL(put(0, 2, 0, 12, 1), RCE_SEND_ALL);
    CU_ASSERT_EQUAL(put(0, 3, 0, 13, 1), RCE_SEND_ALL);
    CU_ASSERT_EQUAL(put(0, 0, 1, 14, 2), RCE_SEND_ALL); /* the next message */
    CU_ASSERT_EQUAL(put(0, 0, 0, 10, 1), RCE_DROP_STALE);
    CU_ASSERT_EQUAL(put(0, 1, 1, 15, 2), RCE_SEND_ALL);
    CU_ASSERT_EQUAL(get_be32(last(0).body), 2);
}

/* Worker 0 sends its message again while worker 1's packets complete it: what would reach worker 0 in another
 * order than its NIC writes it is held back. */
TEST(sums_leave_in_order_or_not_at_all)
{
    open_job(2, PAIRS, PACKETS);
    for (unsigned place = 0; place < PACKETS; place++)
        put(0, place, 0, place, 1);
    put(1, 0, 0, 0, 2);
    put(1, 1, 0, 1, 2); /* both places are summed; worker 0 has not got them, and asks again */
    sent_to(0);
    CU_ASSERT_EQUAL(put(0, 0, 0, 4, 1), RCE_SEND_ONE);
    CU_ASSERT_EQUAL(put(1, 2, 0, 2, 2), RCE_SEND_ALL); /* between */
    CU_ASSERT_EQUAL(sent_to(0), 1);
    CU_ASSERT_EQUAL(last(0).opcode, ROCE_WRITE_FIRST);
    CU_ASSERT_EQUAL(put(0, 1, 0, 5, 1), RCE_SEND_ONE);
    CU_ASSERT_EQUAL(put(1, 3, 0, 3, 2), RCE_SEND_ALL); /* packet 6 is lost: as many packets, but not those */
    CU_ASSERT_EQUAL(sent_to(0), 1);
    CU_ASSERT_EQUAL(sent_to(1), 4);
    for (unsigned place = 0; place < PACKETS; place++)
        CU_ASSERT_EQUAL(put(0, place, 0, 8 + place, 1), RCE_SEND_ONE);
    CU_ASSERT_EQUAL(sent_to(0), PACKETS);
    CU_ASSERT_EQUAL(last(0).opcode, ROCE_WRITE_LAST_IMMEDIATE);
    CU_ASSERT_EQUAL(last(0).number, 2 + 1 + 1 + PACKETS - 1);
}

TEST(what_does_not_fit_the_job_is_dropped_for_a_reason)
{
    uint8_t payload[RCE_PACKET_MAX];
    size_t bytes;

    open_job(2, PAIRS, PACKETS);
    bytes = packet(payload, 0, 0, 0, 1, 1);
    payload[40] ^= 1;
    CU_ASSERT_EQUAL(hand_in(0, payload, bytes), RCE_DROP_BAD_ICRC);
    CU_ASSERT_EQUAL(hand_in(3, payload, bytes), RCE_REFUSED_FOREIGN_SENDER);
    CU_ASSERT_EQUAL(hand_in(1, payload, bytes), RCE_DROP_BAD_QUEUE_PAIR); /* rank 0's */
    payload[7] = PAIRS;
    CU_ASSERT_EQUAL(hand_in(0, payload, bytes), RCE_DROP_BAD_QUEUE_PAIR);
    payload[0] = 0x0a;
    CU_ASSERT_EQUAL(hand_in(0, payload, bytes), RCE_REFUSED_NO_WRITE);
    payload[0] = ROCE_SEND_ONLY; /* what is whole of a rank's has been taken out before */
    CU_ASSERT_EQUAL(hand_in(0, payload, bytes), RCE_REFUSED_BAD_SEND);
    CU_ASSERT_EQUAL(put(0, 1, 0, 2, 1), RCE_DROP_OUT_OF_ORDER); /* nothing has begun */
    CU_ASSERT_EQUAL(put(0, 0, 2, 3, 1), RCE_DROP_BAD_SLOT);
    CU_ASSERT_EQUAL(put(0, 1, 2, 4, 1), RCE_DROP_OUT_OF_ORDER);
    CU_ASSERT_EQUAL(put(0, 0, 0, 5, 1), RCE_HELD);
    CU_ASSERT_EQUAL(put(0, 3, 0, 6, 1), RCE_DROP_BAD_LENGTH); /* ends too early */
    CU_ASSERT_EQUAL(put(0, 1, 0, 7, 1), RCE_DROP_OUT_OF_ORDER);
    CU_ASSERT_EQUAL(put(0, 0, 0, 8, 1), RCE_DROP_DUPLICATE);
    CU_ASSERT_EQUAL(rig.sent[0] + rig.sent[1], 0);
}

/* A switch that starts over (quiet_ms) takes workers that go on with either version. */
TEST(slots_begin_with_either_version)
{
    struct agg_slot_view view;

    open_job(1, PAIRS, PACKETS);
    CU_ASSERT_EQUAL(put(0, 0, 1, 1, 1), RCE_SEND_ALL);
    CU_ASSERT_EQUAL(put(0, 0, 0, 2, 1), RCE_SEND_ALL);
    CU_ASSERT_EQUAL(put(0, 0, 0, 3, 1), RCE_SEND_ONE);
    CU_ASSERT(rce_protocol.view(rig.job->pool, PACKETS, &view));
    CU_ASSERT(!rce_protocol.view(rig.job->pool, PAIRS * PACKETS, &view));
    CU_ASSERT(rce_protocol.heard(rig.job->pool));
    CU_ASSERT(!rce_protocol.heard(rig.job->pool));
    CU_ASSERT_EQUAL(put(0, 0, 0, 3, 1), RCE_DROP_STALE);
    CU_ASSERT(!rce_protocol.heard(rig.job->pool));
}

TEST(terms_out_of_range_have_no_pool)
{
    static const struct rce_terms bad[] = {{0, 256, 4}, {257, 256, 4}, {4, 64, 4},  {4, 2048, 4},
                                           {4, 384, 4}, {4, 256, 0},   {4, 256, 3}, {4, 256, 128}};
    struct agg_pool_config cfg = {.workers = 2};
    struct agg_footprint f;

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        rce_terms_build(&cfg.terms, &bad[i]);
        CU_ASSERT(!rce_protocol.footprint(&cfg, &f));
    }
    rce_terms_build(&cfg.terms, &(struct rce_terms){256, 1024, 64});
    CU_ASSERT(rce_protocol.footprint(&cfg, &f));
    CU_ASSERT_EQUAL(f.slots, 16384);
}

/* The network between workers and switch: up, packets are lost, copied and overtaken; down, lost and copied.
 */
enum { FLIGHTS_MAX = 4096, MESSAGES_MAX = 40, ROUNDS = 3, TIMEOUT = 2000 };

static struct flight {
    uint64_t due;
    bool up;
    unsigned rank;
    size_t bytes;
    uint8_t payload[RCE_PACKET_MAX];
} flight[FLIGHTS_MAX];

static struct {
    unsigned flights;
    uint64_t now, rng, down_due;
    uint32_t loss;
    struct rce_worker worker[WORKERS_MAX];
    uint8_t memory[WORKERS_MAX][PAIRS * 8 * PACKET];
    uint8_t from[WORKERS_MAX][MESSAGES_MAX * 8 * PACKET], to[WORKERS_MAX][MESSAGES_MAX * 8 * PACKET];
} net;

static void launch(bool up, unsigned rank, const uint8_t *payload, size_t bytes, uint64_t due)
{
    struct flight *f = &flight[net.flights];

    CU_ASSERT_FATAL(net.flights < FLIGHTS_MAX);
    if (rng_chance(&net.rng, net.loss))
        return;
    *f = (struct flight){.due = due, .up = up, .rank = rank, .bytes = bytes};
    memcpy(f->payload, payload, bytes);
    net.flights++;
}

static void send_down(unsigned rank, const uint8_t *payload, size_t bytes)
{
    for (unsigned copies = 1 + rng_chance(&net.rng, net.loss); copies > 0; copies--)
        launch(false, rank, payload, bytes, net.down_due++);
}

static void send_up(unsigned rank)
{
    uint8_t payload[RCE_PACKET_MAX], none[CARRY_HEADERS_BYTES] = {0};
    size_t bytes;

    rce_worker_tick(&net.worker[rank], net.now);
    bytes = rce_worker_send(&net.worker[rank], net.now, payload);
    if (bytes == 0)
        return;
    roce_seal(none, payload, bytes);
    for (unsigned copies = 1 + rng_chance(&net.rng, net.loss); copies > 0; copies--)
        launch(true, rank, payload, bytes,
               net.now + 20 + (rng_chance(&net.rng, net.loss) ? rng_below(&net.rng, 300) : 0));
}

/* What is due by now, the earliest first. */
static bool land_next(void)
{
    unsigned first = 0;
    struct flight f;

    for (unsigned i = 1; i < net.flights; i++)
        if (flight[i].due < flight[first].due)
            first = i;
    if (net.flights == 0 || flight[first].due > net.now)
        return false;
    f = flight[first];
    flight[first] = flight[--net.flights];
    if (f.up) {
        net.down_due = net.down_due < net.now + 20 ? net.now + 20 : net.down_due;
        hand_in(f.rank, f.payload, f.bytes);
    } else {
        rce_worker_receive(&net.worker[f.rank], f.payload, f.bytes);
    }
    return true;
}

static bool all_done(unsigned workers)
{
    unsigned done = 0;

    for (unsigned rank = 0; rank < workers; rank++)
        done += rce_worker_is_done(&net.worker[rank]);
    return done == workers;
}

static void begin_round(unsigned workers, uint32_t messages, size_t message_bytes)
{
    for (unsigned rank = 0; rank < workers; rank++) {
        for (size_t i = 0; i < messages * message_bytes; i++)
            net.from[rank][i] = (uint8_t)rng_next(&net.rng);
        memset(net.to[rank], 0, sizeof(net.to[rank]));
        rce_worker_begin(&net.worker[rank], net.from[rank], net.to[rank], messages);
    }
}

static unsigned wrong_sums(unsigned workers, size_t bytes)
{
    unsigned wrong = 0;

    for (size_t at = 0; at < bytes; at += 4) {
        uint32_t sum = 0;

        for (unsigned rank = 0; rank < workers; rank++)
            sum += get_be32(net.from[rank] + at);
        for (unsigned rank = 0; rank < workers; rank++)
            wrong += get_be32(net.to[rank] + at) != sum;
    }
    return wrong;
}

static void set_up(unsigned workers, unsigned packets)
{
    open_job(workers, PAIRS, packets);
    rig.forward = send_down;
    for (unsigned rank = 0; rank < workers; rank++) {
        const struct rce_worker_config cfg = {.rank = (uint16_t)rank,
                                              .queue_pairs = PAIRS,
                                              .packet_bytes = PACKET,
                                              .packets = (uint16_t)packets,
                                              .first_queue_pair = FIRST_PAIR * (rank + 1),
                                              .key = KEY + rank,
                                              .address = PLACE,
                                              .memory = net.memory[rank],
                                              .timeout_ns = TIMEOUT};

        rce_worker_init(&net.worker[rank], &cfg);
    }
}

/* Sums tensors; returns how often a worker's time was over. */
static uint64_t play(unsigned workers, unsigned packets)
{
    const uint32_t messages = (uint32_t)rng_between(&net.rng, 1, MESSAGES_MAX);
    uint64_t timeouts = 0, until;

    set_up(workers, packets);
    for (unsigned round = 0; round < ROUNDS; round++) {
        begin_round(workers, messages, packets * PACKET);
        for (until = net.now + 4000000; !all_done(workers) && net.now < until; net.now++) {
            send_up((unsigned)rng_below(&net.rng, workers));
            while (land_next()) {
            }
        }
        CU_ASSERT_FATAL(all_done(workers));
        CU_ASSERT_EQUAL(wrong_sums(workers, (size_t)messages * packets * PACKET), 0);
    }
    for (unsigned rank = 0; rank < workers; rank++) {
        timeouts += net.worker[rank].stats.timeouts;
        CU_ASSERT_EQUAL(net.worker[rank].stats.bad, 0);
    }
    return timeouts;
}

TEST(sums_are_right_over_any_network)
{
    const uint64_t seed = rng_seed(37);
    uint64_t timeouts = 0;

    for (unsigned game = 0; game < 40; game++) {
        memset(&net, 0, sizeof(net));
        net.rng = seed + game;
        net.loss = game % 4 == 0 ? 0 : (uint32_t)rng_below(&net.rng, 60000);
        const uint64_t t = play(1 + game % WORKERS_MAX, 1u << rng_below(&net.rng, 4));

        timeouts += t;
        if (net.loss == 0)
            CU_ASSERT_EQUAL(t, 0);
        close_job();
    }
    CU_ASSERT(timeouts > 100);
}
