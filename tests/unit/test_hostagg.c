/* Host-addressed aggregation: packets, slots, and workers against a switch over a bad network. */
#include <float.h>
#include <string.h>

#include "carrier.h"
#include "hostagg/listener.h"
#include "hostagg/protocol.h"
#include "hostagg/reasons.h"
#include "hostagg/terms.h"
#include "hostagg/worker.h"
#include "kernels_chosen.h"
#include "protocols.h"
#include "random.h"

enum {
    SLOTS = 4,
    CHUNK = 64,
    RUN = 9,
    HOST = 3,
    MEMBERS = 4,
    ASK_AFTER = 50,
    F32_SUM = AGG_SUM << 4 | AGG_F32
};

static struct agg_terms terms_with(enum hag_host host)
{
    const struct hag_terms t = {.host = host, .code = F32_SUM, .slots = SLOTS, .chunk_bytes = CHUNK};
    struct agg_terms terms;

    hag_terms_build(&terms, &t);
    return terms;
}

static void open_job(enum hag_host host)
{
    const struct agg_terms terms = terms_with(host);

    carrier_open(&hag_protocol, MEMBERS, &terms);
}

/* So many floats of one value. */
static size_t gradient(uint8_t *memory, struct hag_packet p, unsigned floats, float value)
{
    p.kind = HAG_GRADIENT;
    p.job = CARRIER_JOB;
    hag_build_header(memory, &p);
    for (unsigned i = 0; i < floats; i++)
        memcpy(memory + HAG_HEADER_BYTES + i * sizeof value, &value, sizeof value);
    return HAG_HEADER_BYTES + floats * sizeof value;
}

/* Hands in a packet from this member, and returns why it got its verdict. */
static unsigned hand_in(unsigned member, uint8_t *memory, size_t bytes)
{
    struct agg_packet p = {.payload = memory, .bytes = bytes, .from = carrier_rank(member)};

    carrier.sent_n = 0;
    carrier_receive(&p, 1, 0);
    return p.reason;
}

static unsigned contribute(unsigned worker, uint16_t run, uint32_t sequence, float value)
{
    const struct hag_packet p = {.worker = (uint16_t)worker, .run = run, .sequence = sequence};
    uint8_t memory[HAG_HEADER_BYTES + CHUNK];

    return hand_in(worker, memory, gradient(memory, p, CHUNK / 4, value));
}

static unsigned ask(unsigned member, uint16_t run, uint32_t sequence)
{
    const struct hag_packet p = {
        .kind = HAG_ASK, .job = CARRIER_JOB, .worker = (uint16_t)member, .run = run, .sequence = sequence};
    uint8_t memory[HAG_HEADER_BYTES];

    hag_build_header(memory, &p);
    return hand_in(member, memory, sizeof memory);
}

static struct hag_packet sent(unsigned i)
{
    struct hag_packet p = {0};

    CU_ASSERT_FATAL(i < carrier.sent_n);
    CU_ASSERT(hag_parse(&p, carrier.sent[i].payload, carrier.sent[i].bytes));
    return p;
}

static float first_float(const struct hag_packet *p)
{
    float value;

    memcpy(&value, p->body, sizeof value);
    return value;
}

static unsigned complete(uint16_t run, uint32_t sequence, float each)
{
    contribute(0, run, sequence, each);
    contribute(1, run, sequence, each);
    return contribute(2, run, sequence, each);
}

/* Packets */

TEST(golden_packet)
{
    static const uint8_t golden[] = {1, 7, 0x01, 0x02, 0x0a, 0x0b, 0x0c, 0x0d, 0x12, 0x34, 0xaa};
    const struct hag_packet p = {
        .kind = HAG_GRADIENT, .job = 7, .worker = 0x0102, .sequence = 0x0a0b0c0d, .run = 0x1234};
    uint8_t header[HAG_HEADER_BYTES];
    struct hag_packet parsed;

    hag_build_header(header, &p);
    CU_ASSERT_EQUAL(memcmp(header, golden, sizeof header), 0);
    CU_ASSERT(hag_parse(&parsed, golden, sizeof golden));
    CU_ASSERT_EQUAL(parsed.sequence, 0x0a0b0c0d);
    CU_ASSERT_EQUAL(parsed.run, 0x1234);
    CU_ASSERT_EQUAL(parsed.worker, 0x0102);
    CU_ASSERT(parsed.body == golden + HAG_HEADER_BYTES && parsed.body_bytes == 1);
    CU_ASSERT(!hag_parse(&parsed, golden, HAG_HEADER_BYTES - 1));
    for (unsigned kind = 0; kind < 256; kind++) {
        header[0] = (uint8_t)kind;
        CU_ASSERT_EQUAL(hag_parse(&parsed, header, sizeof header), kind > 0 && kind < HAG_KINDS);
    }
}

TEST(runs_are_serial_numbers)
{
    CU_ASSERT(hag_is_newer(1, 0) && !hag_is_newer(0, 1) && !hag_is_newer(5, 5));
    CU_ASSERT(hag_is_newer(0, 0xffff) && hag_is_newer(0x7fff, 0) && !hag_is_newer(0x8001, 0));
}

/* Slots */

TEST(workers_get_the_sum_and_the_host_hears_of_it)
{
    open_job(HAG_HOST_HEARS);
    CU_ASSERT_EQUAL(contribute(0, RUN, 0, 1), HAG_HELD);
    CU_ASSERT_EQUAL(contribute(2, RUN, 0, 4), HAG_HELD);
    CU_ASSERT_EQUAL(carrier.sent_n, 0);
    CU_ASSERT_EQUAL(contribute(1, RUN, 0, 2), HAG_SEND_ALL);
    CU_ASSERT_EQUAL(carrier.sent_n, MEMBERS);
    for (unsigned i = 0; i < carrier.sent_n; i++) {
        const struct hag_packet p = sent(i);
        CU_ASSERT_EQUAL(p.kind, i == HOST ? HAG_DONE : HAG_SUM);
        CU_ASSERT_EQUAL(p.sequence, 0);
        CU_ASSERT_EQUAL(p.run, RUN);
        CU_ASSERT_EQUAL(p.body_bytes, i == HOST ? 0 : CHUNK);
        CU_ASSERT(i == HOST || first_float(&p) == 7);
    }
}

TEST(the_host_may_get_sums_or_be_absent)
{
    open_job(HAG_HOST_GETS_SUMS);
    CU_ASSERT_EQUAL(complete(RUN, 0, 2), HAG_SEND_ALL);
    CU_ASSERT_EQUAL(sent(HOST).kind, HAG_SUM);
    CU_ASSERT_EQUAL(ask(HOST, RUN, 0), HAG_SEND_SUM);

    open_job(HAG_HOST_ABSENT);
    CU_ASSERT_EQUAL(complete(RUN, 0, 2), HAG_HELD);
    CU_ASSERT_EQUAL(contribute(3, RUN, 0, 2), HAG_SEND_ALL);
    CU_ASSERT_EQUAL(carrier.sent_n, MEMBERS);
}

TEST(sums_are_made_in_the_order_of_workers)
{
    static const float value[3] = {1e8F, -1e8F, 1};
    static const unsigned orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};

    open_job(HAG_HOST_HEARS);
    for (uint32_t i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 3; j++)
            contribute(orders[i][j], RUN, i, value[orders[i][j]]);
        const struct hag_packet p = sent(0);
        CU_ASSERT_EQUAL(first_float(&p), 1); /* in another order 0 */
    }
}

TEST(lost_sums_come_again)
{
    open_job(HAG_HOST_HEARS);
    complete(RUN, 0, 1);
    CU_ASSERT_EQUAL(contribute(1, RUN, 0, 1), HAG_SEND_SUM);
    CU_ASSERT_EQUAL(carrier.sent_n, 1);
    CU_ASSERT_EQUAL(carrier.sent[0].rank, 1);
    CU_ASSERT_EQUAL(sent(0).kind, HAG_SUM);
    CU_ASSERT_EQUAL(ask(0, RUN, 0), HAG_SEND_SUM);
    CU_ASSERT_EQUAL(ask(HOST, RUN, 0), HAG_SEND_ANSWER);
    CU_ASSERT_EQUAL(sent(0).kind, HAG_DONE);
    /* Two chunks later it is over. */
    complete(RUN, SLOTS, 1);
    CU_ASSERT_EQUAL(contribute(1, RUN, 0, 1), HAG_DROP_STALE);
    CU_ASSERT_EQUAL(ask(HOST, RUN, 0), HAG_SEND_ANSWER);
    CU_ASSERT_EQUAL(sent(0).kind, HAG_DONE);
}

TEST(questions_are_answered_with_who_is_there)
{
    open_job(HAG_HOST_HEARS);
    CU_ASSERT_EQUAL(ask(0, RUN, 0), HAG_SEND_ANSWER); /* nothing has come */
    CU_ASSERT_EQUAL(sent(0).body[0], 0);
    contribute(2, RUN, 0, 1);
    CU_ASSERT_EQUAL(contribute(2, RUN, 0, 1), HAG_DROP_DUPLICATE);
    CU_ASSERT_EQUAL(ask(0, RUN, 0), HAG_SEND_ANSWER);
    CU_ASSERT_EQUAL(sent(0).kind, HAG_WAITING);
    CU_ASSERT_EQUAL(sent(0).body_bytes, 1);
    CU_ASSERT_EQUAL(sent(0).body[0], 1 << 2);
    /* A later chunk, or run, than the slot knows: nothing of it is there. */
    CU_ASSERT_EQUAL(ask(0, RUN, SLOTS), HAG_SEND_ANSWER);
    CU_ASSERT_EQUAL(sent(0).body[0], 0);
    CU_ASSERT_EQUAL(ask(0, RUN + 1, 0), HAG_SEND_ANSWER);
    CU_ASSERT_EQUAL(sent(0).body[0], 0);
    CU_ASSERT_EQUAL(contribute(2, RUN, 0, 1), HAG_DROP_DUPLICATE); /* and asking changes nothing */
}

TEST(packets_of_an_old_run_reach_no_sum)
{
    open_job(HAG_HOST_HEARS);
    contribute(0, RUN, 0, 100);
    contribute(1, RUN, 0, 100);
    CU_ASSERT_EQUAL(contribute(0, RUN + 1, 0, 1), HAG_HELD);
    CU_ASSERT_EQUAL(contribute(2, RUN, 0, 100), HAG_DROP_OLD_RUN);
    CU_ASSERT_EQUAL(ask(2, RUN, 0), HAG_DROP_OLD_RUN);
    contribute(1, RUN + 1, 0, 1);
    CU_ASSERT_EQUAL(contribute(2, RUN + 1, 0, 1), HAG_SEND_ALL);
    const struct hag_packet p = sent(0);
    CU_ASSERT_EQUAL(first_float(&p), 3);
    CU_ASSERT_EQUAL(p.run, RUN + 1);
}

TEST(a_switch_that_was_restarted_goes_to_where_the_workers_are)
{
    open_job(HAG_HOST_HEARS);
    CU_ASSERT_EQUAL(contribute(0, RUN, 40, 5), HAG_HELD); /* a late copy */
    CU_ASSERT_EQUAL(complete(RUN, 44, 1), HAG_SEND_ALL);
    const struct hag_packet p = sent(0);
    CU_ASSERT_EQUAL(first_float(&p), 3);
    /* From then on its slot knows better. */
    CU_ASSERT_EQUAL(contribute(0, RUN, 40, 5), HAG_DROP_STALE);
    CU_ASSERT_EQUAL(contribute(0, RUN, 52, 5), HAG_DROP_AHEAD);
    /* A new run may begin anywhere, too. */
    CU_ASSERT_EQUAL(contribute(0, RUN + 1, 40, 5), HAG_HELD);
    CU_ASSERT_EQUAL(complete(RUN + 1, 44, 1), HAG_SEND_ALL);
}

TEST(lengths)
{
    const struct hag_packet p = {.worker = 1, .run = RUN};
    uint8_t memory[HAG_HEADER_BYTES + CHUNK + 4];

    open_job(HAG_HOST_HEARS);
    CU_ASSERT_EQUAL(hand_in(1, memory, gradient(memory, p, CHUNK / 4 + 1, 1)), HAG_DROP_BAD_LENGTH);
    CU_ASSERT_EQUAL(hand_in(1, memory, gradient(memory, p, 0, 1)), HAG_DROP_BAD_LENGTH);
    CU_ASSERT_EQUAL(hand_in(1, memory, gradient(memory, p, 2, 1) - 1), HAG_DROP_BAD_LENGTH);
    contribute(0, RUN, 0, 1);
    CU_ASSERT_EQUAL(hand_in(1, memory, gradient(memory, p, 2, 1)), HAG_SEND_DIFFERS);
    CU_ASSERT_EQUAL(sent(0).kind, HAG_DIFFERS);
    CU_ASSERT_EQUAL(sent(0).body_bytes, HAG_DIFFERS_BYTES);
    CU_ASSERT_EQUAL(sent(0).body[1], 0);
    CU_ASSERT_EQUAL(sent(0).body[3], CHUNK);
    /* The sum is untouched. */
    contribute(1, RUN, 0, 1);
    CU_ASSERT_EQUAL(contribute(2, RUN, 0, 1), HAG_SEND_ALL);
    const struct hag_packet sum = sent(0);
    CU_ASSERT_EQUAL(first_float(&sum), 3);
}

TEST(who_sends_what)
{
    const struct hag_packet other = {.worker = 2, .run = RUN};
    struct hag_packet p = {.kind = HAG_SUM, .job = CARRIER_JOB, .worker = 1, .run = RUN};
    uint8_t memory[HAG_HEADER_BYTES + CHUNK];

    open_job(HAG_HOST_HEARS);
    CU_ASSERT_EQUAL(hand_in(1, memory, gradient(memory, other, 1, 1)), HAG_DROP_BAD_WORKER);
    CU_ASSERT_EQUAL(contribute(HOST, RUN, 0, 1), HAG_DROP_BAD_KIND);
    hag_build_header(memory, &p);
    CU_ASSERT_EQUAL(hand_in(1, memory, HAG_HEADER_BYTES), HAG_DROP_BAD_KIND);
}

TEST(what_is_not_ours_passes_on)
{
    static const char other[] = "a letter to the host";
    uint8_t memory[HAG_HEADER_BYTES + CHUNK];
    struct hag_packet p = {.worker = 1, .run = RUN};
    struct agg_packet in = {.payload = (uint8_t *)other, .bytes = sizeof other, .from = carrier_rank(1)};
    struct agg_verdict v;

    open_job(HAG_HOST_HEARS);
    hag_protocol.locate(&carrier.jobs, &in, 1);
    CU_ASSERT_PTR_NULL(in.slot);
    CU_ASSERT_EQUAL(in.reason, HAG_PASSED_NOT_OURS);
    in = (struct agg_packet){.payload = memory, .bytes = gradient(memory, p, 1, 1), .from = carrier_rank(9)};
    hag_protocol.locate(&carrier.jobs, &in, 1);
    CU_ASSERT_EQUAL(in.reason, HAG_PASSED_FOREIGN_SENDER);
    in.from = carrier_rank(1);
    in.from.mac[5] ^= 0x40;
    hag_protocol.locate(&carrier.jobs, &in, 1);
    CU_ASSERT_EQUAL(in.reason, HAG_PASSED_FOREIGN_MAC);
    in.from = carrier_rank(1);
    memory[1]++; /* another job */
    hag_protocol.locate(&carrier.jobs, &in, 1);
    CU_ASSERT_EQUAL(in.reason, HAG_PASSED_NOT_OURS);
    CU_ASSERT_EQUAL(hag_protocol.apply(&in, 1, 0, &v), 1);
    CU_ASSERT_EQUAL(v.reason, HAG_PASSED_NOT_OURS);
    for (unsigned r = HAG_VERDICTS; r < HAG_REASONS; r++)
        CU_ASSERT_EQUAL(hag_reasons[r].action, AGG_PASS_AND_KEEP);
    CU_ASSERT_EQUAL(v.action, AGG_PASS_AND_KEEP);
}

TEST(terms)
{
    struct agg_pool_config cfg = {.workers = MEMBERS, .terms = terms_with(HAG_HOST_HEARS)};
    struct agg_term list[AGG_LISTED_TERMS];
    struct agg_footprint f;
    char why[AGG_TEXT_MAX];
    struct hag_terms t;

    CU_ASSERT(hag_terms_parse(&t, &cfg.terms));
    CU_ASSERT_EQUAL(t.code, F32_SUM);
    CU_ASSERT_EQUAL(t.slots, SLOTS);
    CU_ASSERT_EQUAL(t.chunk_bytes, CHUNK);
    CU_ASSERT(hag_protocol.footprint(&cfg, &f));
    CU_ASSERT_EQUAL(f.slots, SLOTS);
    CU_ASSERT_EQUAL(f.buffers, 0);
    CU_ASSERT_EQUAL(f.payload_bytes, HAG_HEADER_BYTES + CHUNK);
    CU_ASSERT_EQUAL_FATAL(hag_protocol.list(&cfg.terms, list), 5);
    CU_ASSERT_STRING_EQUAL(list[0].word, "hears");
    CU_ASSERT_STRING_EQUAL(list[1].word, "sum");
    CU_ASSERT_STRING_EQUAL(list[2].word, "float32");
    CU_ASSERT(!hag_protocol.check(&cfg.terms, false, why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "nobody joins"));
    CU_ASSERT(!hag_protocol.lower(&cfg.terms));
    cfg.workers = 1; /* the host alone */
    CU_ASSERT(!hag_protocol.footprint(&cfg, &f));
    cfg.workers = MEMBERS;
    t.slots = 3;
    hag_terms_build(&cfg.terms, &t);
    CU_ASSERT(!hag_protocol.footprint(&cfg, &f));
    CU_ASSERT_PTR_EQUAL(agg_protocol_find(AGG_PROTOCOL_HOSTAGG), &hag_protocol);
}

TEST(telemetry_sees_who_is_waited_for)
{
    struct agg_slot_view view;

    open_job(HAG_HOST_HEARS);
    CU_ASSERT(!hag_protocol.heard(carrier.job->pool));
    contribute(1, RUN, 1, 1);
    CU_ASSERT(hag_protocol.heard(carrier.job->pool));
    CU_ASSERT(!hag_protocol.heard(carrier.job->pool));
    contribute(1, RUN - 1, 1, 1); /* a late copy says nothing */
    CU_ASSERT(!hag_protocol.heard(carrier.job->pool));
    CU_ASSERT(hag_protocol.view(carrier.job->pool, 1, &view));
    CU_ASSERT_EQUAL(view.contributed, 1);
    CU_ASSERT_EQUAL(view.ranks[0], 1 << 1 | 1 << HOST); /* nobody waits for the host */
}

/* The worker's and the host's side */

static struct hag_worker_config worker_config(unsigned worker, uint16_t run)
{
    return (struct hag_worker_config){.job = CARRIER_JOB,
                                      .code = F32_SUM,
                                      .worker = (uint16_t)worker,
                                      .run = run,
                                      .slots = SLOTS,
                                      .chunk_bytes = CHUNK,
                                      .ask_after_ns = ASK_AFTER,
                                      .kernels = kernels_or_exit()};
}

static size_t answer(uint8_t *packet, enum hag_kind kind, uint32_t sequence, uint8_t there)
{
    hag_build_header(
        packet, &(struct hag_packet){.kind = kind, .job = CARRIER_JOB, .run = RUN, .sequence = sequence});
    packet[HAG_HEADER_BYTES] = there;
    return HAG_HEADER_BYTES + (kind == HAG_WAITING);
}

TEST(a_worker_knows_who_is_missing)
{
    const struct hag_worker_config cfg = worker_config(1, RUN);
    static float data[3 * CHUNK / 4];
    uint8_t packet[HAG_HEADER_BYTES + CHUNK];
    struct hag_flight flight[SLOTS];
    struct hag_worker w;

    hag_worker_init(&w, &cfg, flight);
    hag_worker_post(&w, data, data, sizeof data);
    while (hag_worker_send(&w, 0, packet) > 0)
        continue;
    for (unsigned worker = 0; worker < 3; worker++)
        CU_ASSERT(!hag_worker_misses(&w, (uint16_t)worker)); /* the switch has not said so */
    hag_worker_receive(&w, packet, answer(packet, HAG_WAITING, 1, 0), 1);
    CU_ASSERT(!hag_worker_misses(&w, 0)); /* it has said so of a later chunk */
    hag_worker_receive(&w, packet, answer(packet, HAG_WAITING, 0, 1 << 1), 1);
    CU_ASSERT(hag_worker_misses(&w, 0) && !hag_worker_misses(&w, 1) && hag_worker_misses(&w, 2));
    CU_ASSERT(!hag_worker_misses(&w, 8)); /* beyond the answer */
}

TEST(the_host_asks_for_what_it_has_not_heard_of)
{
    const struct hag_listener_config cfg = {.job = CARRIER_JOB,
                                            .member = HOST,
                                            .run = RUN,
                                            .slots = SLOTS,
                                            .chunks = SLOTS + 1,
                                            .ask_after_ns = ASK_AFTER};
    uint8_t packet[HAG_HEADER_BYTES + 1];
    struct hag_packet question;
    uint32_t next[SLOTS];
    struct hag_listener h;

    hag_listener_init(&h, &cfg, next, 0);
    CU_ASSERT(!hag_listener_ask(&h, ASK_AFTER - 1, packet));
    CU_ASSERT(hag_listener_receive(&h, packet, answer(packet, HAG_DONE, 1, 0), 1));
    CU_ASSERT(hag_listener_receive(&h, packet, answer(packet, HAG_SUM, 2, 0), 1));
    CU_ASSERT(!hag_listener_receive(&h, packet, answer(packet, HAG_WAITING, 0, 0), 1));
    CU_ASSERT(
        !hag_listener_receive(&h, packet, answer(packet, HAG_DONE, SLOTS + 1, 0), 1)); /* beyond the run */
    CU_ASSERT_EQUAL(h.done, 0);
    CU_ASSERT(!hag_listener_ask(&h, ASK_AFTER, packet)); /* it has just heard */
    CU_ASSERT_FATAL(hag_listener_ask(&h, ASK_AFTER + 1, packet));
    CU_ASSERT(hag_parse(&question, packet, HAG_HEADER_BYTES));
    CU_ASSERT_EQUAL(question.kind, HAG_ASK);
    CU_ASSERT_EQUAL(question.worker, HOST);
    CU_ASSERT_EQUAL(question.sequence, 0);
    /* The next chunk of a slot is done only once the one before it is. */
    CU_ASSERT(hag_listener_receive(&h, packet, answer(packet, HAG_DONE, SLOTS, 0), 200));
    CU_ASSERT_EQUAL(h.done, 3);
    CU_ASSERT(hag_listener_receive(&h, packet, answer(packet, HAG_DONE, 3, 0), 200));
    CU_ASSERT(hag_listener_receive(&h, packet, answer(packet, HAG_DONE, 0, 0), 200)); /* late */
    CU_ASSERT(hag_listener_is_done(&h));
    CU_ASSERT(!hag_listener_ask(&h, UINT64_MAX, packet));
}

/* Workers, a host and a switch over a network that loses, repeats and reorders, now and then with a packet of
 * the run before. Each worker sums arrays one after the other; all must end with the same exact sums, and the
 * host must hear of every chunk. */

enum {
    SWITCH = MEMBERS,
    NET = 512,
    ARRAYS = 5,
    FLOATS_MAX = 150,
    WORKERS = 3,
    LOSS_PPM = 100000,
    STEPS_MAX = 200000
};

struct parcel {
    uint64_t due;
    unsigned to; /* a member, or SWITCH */
    unsigned from;
    size_t bytes;
    uint8_t payload[HAG_HEADER_BYTES + CHUNK];
};

struct net {
    uint64_t rng, now;
    unsigned n;
    struct parcel parcel[NET];
    struct agg_jobs jobs;
    struct agg_job *job;
    struct hag_worker worker[WORKERS];
    struct hag_listener host;
};

static void post(struct net *net, unsigned from, unsigned to, const uint8_t *payload, size_t bytes)
{
    const unsigned copies = rng_chance(&net->rng, LOSS_PPM) ? 0 : 1 + rng_chance(&net->rng, LOSS_PPM);

    for (unsigned i = 0; i < copies && net->n < NET; i++) {
        struct parcel *p = &net->parcel[net->n++];
        *p = (struct parcel){
            .due = net->now + rng_between(&net->rng, 1, 20), .to = to, .from = from, .bytes = bytes};
        memcpy(p->payload, payload, bytes);
    }
}

static void post_carried(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                         const struct carried *what)
{
    struct net *net = ctx;

    (void)job;
    (void)answered;
    post(net, SWITCH, what->rank, what->payload, what->bytes);
}

static void switch_takes(struct net *net, struct parcel *parcel)
{
    struct agg_packet p = {
        .payload = parcel->payload, .bytes = parcel->bytes, .from = carrier_rank(parcel->from)};
    struct agg_verdict v;

    hag_protocol.locate(&net->jobs, &p, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p.slot);
    CU_ASSERT_EQUAL(hag_protocol.apply(&p, 1, net->now, &v), 1);
    carry_out(p.job, &p, &v, post_carried, net);
}

static void deliver(struct net *net)
{
    for (unsigned i = 0; i < net->n;) {
        struct parcel p = net->parcel[i];
        if (p.due > net->now) {
            i++;
            continue;
        }
        net->parcel[i] = net->parcel[--net->n];
        if (p.to == SWITCH)
            switch_takes(net, &p);
        else if (p.to == HOST)
            hag_listener_receive(&net->host, p.payload, p.bytes, net->now);
        else
            hag_worker_receive(&net->worker[p.to], p.payload, p.bytes, net->now);
    }
}

static float value_of(unsigned worker, unsigned array, unsigned i)
{
    return (float)(worker * 1000 + array * 37 + i);
}

static void start_array(struct hag_worker *w, float *data, unsigned array, unsigned floats)
{
    for (unsigned i = 0; i < floats; i++)
        data[i] = value_of(w->cfg.worker, array, i);
    hag_worker_post(w, data, data, floats * sizeof *data);
}

static void check_array(const float *data, unsigned array, unsigned floats)
{
    for (unsigned i = 0; i < floats; i++)
        CU_ASSERT_EQUAL(data[i], value_of(0, array, i) + value_of(1, array, i) + value_of(2, array, i));
}

/* Everything that is due now. */
static void send_due(struct net *net)
{
    uint8_t packet[HAG_HEADER_BYTES + CHUNK];
    size_t bytes;

    for (unsigned i = 0; i < WORKERS; i++) {
        while (!hag_worker_is_done(&net->worker[i]) &&
               (bytes = hag_worker_send(&net->worker[i], net->now, packet)) > 0)
            post(net, i, SWITCH, packet, bytes);
        CU_ASSERT(hag_worker_is_done(&net->worker[i]) || hag_worker_wake(&net->worker[i]) > net->now);
    }
    if (hag_listener_ask(&net->host, net->now, packet))
        post(net, HOST, SWITCH, packet, HAG_HEADER_BYTES);
}

static void play(struct net *net, uint16_t run)
{
    static struct hag_flight flight[WORKERS][SLOTS];
    static float data[WORKERS][FLOATS_MAX];
    unsigned array[WORKERS] = {0}, floats[ARRAYS], ended = 0;
    struct hag_listener_config host = {
        .job = CARRIER_JOB, .member = HOST, .run = run, .slots = SLOTS, .ask_after_ns = ASK_AFTER};
    uint32_t next[SLOTS];

    for (unsigned a = 0; a < ARRAYS; a++) {
        floats[a] = (unsigned)rng_between(&net->rng, 1, FLOATS_MAX);
        host.chunks += (floats[a] * 4 + CHUNK - 1) / CHUNK;
    }
    hag_listener_init(&net->host, &host, next, net->now);
    for (unsigned i = 0; i < WORKERS; i++) {
        const struct hag_worker_config cfg = worker_config(i, run);
        hag_worker_init(&net->worker[i], &cfg, flight[i]);
        start_array(&net->worker[i], data[i], 0, floats[0]);
    }
    for (unsigned step = 0; step < STEPS_MAX && (ended < WORKERS || !hag_listener_is_done(&net->host));
         step++) {
        send_due(net);
        deliver(net);
        for (unsigned i = 0; i < WORKERS; i++) {
            if (array[i] == ARRAYS || !hag_worker_is_done(&net->worker[i]))
                continue;
            check_array(data[i], array[i], floats[array[i]]);
            if (++array[i] < ARRAYS)
                start_array(&net->worker[i], data[i], array[i], floats[array[i]]);
            else
                ended++;
        }
        net->now++;
    }
    CU_ASSERT_EQUAL(ended, WORKERS);
    CU_ASSERT(hag_listener_is_done(&net->host));
    for (unsigned i = 0; i < WORKERS; i++)
        CU_ASSERT(!net->worker[i].differs);
}

TEST(all_sums_come_whatever_the_network_does)
{
    const struct agg_pool_config cfg = {.job = CARRIER_JOB,
                                        .workers = MEMBERS,
                                        .terms = terms_with(HAG_HOST_HEARS),
                                        .kernels = kernels_or_exit()};
    struct agg_sender members[MEMBERS];
    static struct net net;

    net.rng = rng_seed(20210531);
    for (unsigned i = 0; i < MEMBERS; i++)
        members[i] = carrier_rank(i);
    net.job = carry_open(&net.jobs, &hag_protocol, &cfg, members, NULL);
    /* What is still on its way when a run ends reaches the next. */
    for (uint16_t run = 0xfff0; run != 0x10; run++)
        play(&net, run);
    carry_close(&net.jobs, net.job);
}
