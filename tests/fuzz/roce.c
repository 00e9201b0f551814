/* RoCE. SwitchML by RDMA: workers against a switch over a network that does what the input says, and what
 * strangers send; all sums that come to an end must be right. And the datagrams that NICs carry for
 * libswagg's ranks, several in a message. An input is the configuration, then for each step a byte and its
 * arguments. */
#include <string.h>

#include "carry.h"
#include "fuzz.h"
#include "kernels_chosen.h"
#include "random/splitmix.h"
#include "roce/protocol.h"
#include "roce/terms.h"
#include "roce/worker.h"
#include "transfer/messages.h"
#include "wire/bytes.h"

enum {
    STEPS_MAX = 1000,
    WORKERS_MAX = 3,
    PAIRS = 2,
    PACKETS_MAX = 16,
    PACKET = 128,
    MESSAGES = 5,
    FLIGHTS = 16,
    MTU = 256, /* at which a NIC cuts what it sends */
    PLACE = 0x10000,
    TENSOR_MAX = MESSAGES * PACKETS_MAX * PACKET,
};

struct flight {
    unsigned rank;
    size_t bytes; /* 0: there is none */
    uint8_t payload[RCE_PACKET_MAX];
};

struct world {
    struct input *in;
    uint16_t workers, packets;
    struct agg_jobs jobs;
    struct agg_job *job;
    uint64_t now;
    unsigned tensor;
    struct rce_worker worker[WORKERS_MAX];
    uint8_t memory[WORKERS_MAX][PAIRS * PACKETS_MAX * PACKET];
    uint8_t from[WORKERS_MAX][TENSOR_MAX], to[WORKERS_MAX][TENSOR_MAX];
    struct flight flight[FLIGHTS];
};

static size_t tensor_bytes(const struct world *w)
{
    return (size_t)MESSAGES * w->packets * PACKET;
}

static struct agg_sender sender(unsigned rank)
{
    const uint8_t mac[AGG_MAC_BYTES] = {2, 0, 0, 0, 0, (uint8_t)rank};

    return carry_sender(mac, 0x0a000001 + rank, ROCE_PORT);
}

static void begin(struct world *w)
{
    w->tensor++;
    for (unsigned rank = 0; rank < w->workers; rank++) {
        for (size_t at = 0; at < tensor_bytes(w); at += 4)
            put_be32(w->from[rank] + at,
                     (uint32_t)splitmix_hash((uint64_t)w->tensor << 32 | rank << 24 | at));
        rce_worker_begin(&w->worker[rank], w->from[rank], w->to[rank], MESSAGES);
    }
}

/* Begins the next tensor if this one has come to an end everywhere, with the right sums. */
static void check_sums(struct world *w)
{
    for (unsigned rank = 0; rank < w->workers; rank++)
        if (!rce_worker_is_done(&w->worker[rank]))
            return;
    for (size_t at = 0; at < tensor_bytes(w); at += 4) {
        uint32_t sum = 0;

        for (unsigned rank = 0; rank < w->workers; rank++)
            sum += get_be32(w->from[rank] + at);
        for (unsigned rank = 0; rank < w->workers; rank++)
            REQUIRE(get_be32(w->to[rank] + at) == sum);
    }
    begin(w);
}

/* A sum on its way to a worker; the input says which are lost. */
static void arrive(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                   const struct carried *what)
{
    struct world *w = ctx;

    (void)job;
    REQUIRE(answered->slot != NULL && what->to == CARRY_TO_RANK && what->rank < w->workers);
    REQUIRE(roce_icrc_holds(what->payload - CARRY_HEADERS_BYTES, what->payload, what->bytes));
    if (take8(w->in) < 0xf0)
        rce_worker_receive(&w->worker[what->rank], what->payload, what->bytes);
    REQUIRE(w->worker[what->rank].stats.bad == 0);
}

static void hand_in(struct world *w, struct agg_sender from, const uint8_t *payload, size_t bytes)
{
    uint8_t *whole = calloc(1, CARRY_HEADERS_BYTES + bytes);
    struct agg_packet p = {
        .payload = whole + CARRY_HEADERS_BYTES, .bytes = bytes, .headers = whole, .from = from};
    struct agg_slot_view view;
    struct agg_verdict v;

    memcpy(p.payload, payload, bytes);
    rce_protocol.locate(&w->jobs, &p, 1);
    REQUIRE(rce_protocol.apply(&p, 1, w->now, &v) == 1);
    REQUIRE(!v.kept && v.released == NULL && v.reason == p.reason && v.reason < rce_protocol.reasons);
    carry_out(p.job, &p, &v, arrive, w);
    REQUIRE(rce_protocol.view(w->job->pool, 0, &view) && view.contributed < w->workers);
    free(whole);
}

static void worker_sends(struct world *w, unsigned rank, struct flight *f)
{
    static const uint8_t none[CARRY_HEADERS_BYTES];

    rce_worker_tick(&w->worker[rank], w->now);
    f->rank = rank;
    f->bytes = rce_worker_send(&w->worker[rank], w->now, f->payload);
    if (f->bytes > 0)
        roce_seal(none, f->payload, f->bytes);
}

/* What a NIC would carry: with a right ICRC, if there is room for one. */
static void uncover(uint8_t *payload, size_t bytes)
{
    static const uint8_t none[ROCE_IP_UDP_BYTES];
    size_t body_bytes, behind;
    uint16_t port;

    if (bytes >= ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
        roce_seal(none, payload, bytes);
    if (!roce_uncover(none, payload, bytes, &port, &body_bytes))
        return;
    REQUIRE(ROCE_BTH_BYTES + body_bytes + ROCE_ICRC_BYTES <= bytes);
    behind = bytes - ROCE_BTH_BYTES - body_bytes - ROCE_ICRC_BYTES;
    if (payload[0] == ROCE_SEND_FIRST || payload[0] == ROCE_SEND_MIDDLE)
        REQUIRE(behind > 0 && behind <= ROCE_FILL_MAX &&
                behind == payload[ROCE_BTH_BYTES + body_bytes + behind - 1]);
    else
        REQUIRE(behind < 4);
}

/* A message of datagrams that a NIC carries, each filled up but the last: each is read as it was sent. */
static void carry_message(struct input *in)
{
    static const uint8_t none[ROCE_IP_UDP_BYTES];
    const unsigned n = 1 + take8(in) % XFER_MESSAGE_MAX;
    uint32_t number = take32(in);

    for (unsigned i = 0; i < n; i++) {
        const enum roce_opcode opcode = roce_send_opcode(i, n);
        const size_t fill = i + 1 < n ? 1 + take8(in) % ROCE_FILL_MAX : 0;
        const size_t bytes = fill > 0 ? MTU - fill : take8(in);
        const size_t whole = ROCE_BTH_BYTES + bytes + fill + roce_tail_bytes(bytes + fill);
        uint8_t *payload = malloc(whole), *body = payload + ROCE_BTH_BYTES, first = take8(in);
        size_t got;
        uint16_t port;

        memset(body, first, bytes);
        if (fill > 0)
            roce_fill(body + bytes, fill);
        roce_cover(none, payload, bytes + fill, opcode, ROCE_CARRIES | 0xc001, number++ % ROCE_NUMBERS);
        REQUIRE(roce_uncover(none, payload, whole, &port, &got) && got == bytes && port == 0xc001);
        for (size_t at = 0; at < got; at++)
            REQUIRE(body[at] == first);
        free(payload);
    }
}

static void step(struct world *w, uint8_t what)
{
    struct flight *f = &w->flight[what % FLIGHTS];
    size_t bytes;
    uint8_t *payload;

    switch (what >> 4 & 7) {
    default: /* the whole way of a packet */
        worker_sends(w, what % w->workers, f);
        hand_in(w, sender(f->rank), f->payload, f->bytes);
        break;
    case 3:
        carry_message(w->in);
        break;
    case 4:
        worker_sends(w, take8(w->in) % w->workers, f);
        break;
    case 5: /* once, or again */
        hand_in(w, sender(f->rank), f->payload, f->bytes);
        break;
    case 6: /* damaged, or by a stranger */
        if (f->bytes > 0 && what & 0x80) {
            f->payload[take8(w->in) % f->bytes] ^= (uint8_t)(1 + take8(w->in) % 255);
            hand_in(w, sender(f->rank), f->payload, f->bytes);
            f->bytes = 0;
        }
        payload = take_bytes(w->in, take8(w->in), &bytes);
        hand_in(w, sender(WORKERS_MAX), payload, bytes);
        uncover(payload, bytes);
        free(payload);
        break;
    case 7:
        w->now += take8(w->in);
        break;
    }
}

static void open_job(struct world *w)
{
    const struct rce_terms terms = {.queue_pairs = PAIRS, .packet_bytes = PACKET, .packets = w->packets};
    struct rce_member member[WORKERS_MAX] = {0};
    struct agg_sender members[WORKERS_MAX];
    struct agg_pool_config cfg = {
        .workers = w->workers, .kernels = kernels_or_exit(), .particulars = {member, sizeof(member)}};

    rce_terms_build(&cfg.terms, &terms);
    for (uint16_t rank = 0; rank < w->workers; rank++) {
        const struct rce_worker_config own = {.rank = rank,
                                              .queue_pairs = PAIRS,
                                              .packet_bytes = PACKET,
                                              .packets = w->packets,
                                              .first_queue_pair = PAIRS * (rank + 1u),
                                              .key = 7u + rank,
                                              .address = PLACE,
                                              .memory = w->memory[rank],
                                              .timeout_ns = 100};

        members[rank] = sender(rank);
        member[rank].key = own.key;
        for (uint32_t i = 0; i < PAIRS; i++)
            member[rank].queue_pair[i] = own.first_queue_pair + i;
        rce_worker_init(&w->worker[rank], &own);
    }
    w->job = carry_open(&w->jobs, &rce_protocol, &cfg, members, NULL);
    REQUIRE(w->job != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;
    struct input in = {data, size};

    memset(&w, 0, sizeof(w));
    w.in = &in;
    w.workers = (uint16_t)(1 + take8(&in) % WORKERS_MAX);
    w.packets = (uint16_t)(1 << take8(&in) % 5);
    open_job(&w);
    begin(&w);
    for (unsigned n = 0; n < STEPS_MAX && in.left > 0; n++) {
        step(&w, take8(&in));
        check_sums(&w);
    }
    carry_close(&w.jobs, w.job);
    return 0;
}
