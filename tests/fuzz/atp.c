/* ATP: any sequence of packets of two jobs at a switch and a server. What a rank contributes to a chunk is
 * always the same, as the protocol demands, and what it hands back after a restart of the server is the sum,
 * so every sum that is sent must be the right one. Strangers send any bytes at all: to the server, which
 * sends nobody else anything for it; and through the switch, in another network or, as long as they do not
 * name the jobs' life, in theirs. No packet makes the server send more than one to each rank. Jobs with a
 * CRC32C lose what is damaged, and nothing else. Members may lie about the first job, in any field: then its
 * sums are anybody's guess, but not the other job's. An input is the configuration, then for each packet a
 * byte and its arguments. */
#include "wire/atp.h"
#include "atp/protocol.h"
#include "atp/table.h"
#include "atp/terms.h"
#include "atp/topology.h"
#include "carry.h"
#include "fuzz.h"
#include "kernels_chosen.h"
#include "random/splitmix.h"
#include "wire/bytes.h"

enum { STEPS_MAX = 400, WORKERS_MAX = 7, CHUNK = 64, WORDS = 11, WINDOW = 16, JOBS = 2, FIRST = 0xfffffff8u };

struct world {
    struct atp_terms terms;
    struct atp_topology topology;
    struct agg_jobs at_server, at_switch;
    struct agg_job *job[JOBS], *table;
    uint64_t now;
    unsigned sent; /* by the server, for the last packet */
    bool lied_to;  /* job 0 */
};

static uint32_t word(unsigned job, unsigned rank, uint32_t sequence, size_t i)
{
    return (uint32_t)splitmix_hash((uint64_t)job << 60 ^ (uint64_t)sequence << 16 ^ rank << 8 ^ i);
}

static uint32_t sum_of_all(const struct world *w, unsigned job, uint32_t sequence, size_t i)
{
    uint32_t sum = 0;

    for (unsigned rank = 0; rank < w->topology.workers; rank++)
        sum += word(job, rank, sequence, i);
    return sum;
}

static struct agg_sender sender(unsigned rank)
{
    const uint8_t mac[AGG_MAC_BYTES] = {2, 0, 0, 0, 0, (uint8_t)rank};

    return carry_sender(mac, 0x0a000001 + rank, 4000);
}

static void check_parameter(const struct world *w, const struct atp_packet *p, const uint8_t *body,
                            size_t bytes)
{
    if (bytes == 0)
        return;
    REQUIRE(bytes == 4 * WORDS);
    for (size_t i = 0; i < WORDS; i++)
        REQUIRE(get_be32(body + 4 * i) == sum_of_all(w, p->job, p->sequence, i));
}

/* Any packet of it is well formed, whatever members say; of a job without liars it is right, too. */
static void check_sent(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                       const struct carried *what)
{
    struct world *w = ctx;
    struct atp_packet p;

    (void)answered;
    w->sent++;
    REQUIRE(what->to == CARRY_TO_RANK && what->rank < w->topology.workers);
    REQUIRE(atp_parse(&p, what->payload, what->bytes) == ATP_OK);
    REQUIRE(p.seal == w->terms.checksum && atp_seal_holds(&p, what->payload, what->bytes, NULL, NULL));
    REQUIRE(p.job == job->number && p.kind != ATP_GRADIENT && p.kind != ATP_ASK);
    REQUIRE(atp_body_bytes(&p, what->bytes) <= CHUNK);
    if (w->lied_to && p.job == 0)
        return;
    REQUIRE(p.kind != ATP_MISMATCH);
    if (p.kind == ATP_PARAMETER)
        check_parameter(w, &p, what->payload + ATP_HEADER_BYTES, atp_body_bytes(&p, what->bytes));
}

static void serve(struct world *w, struct agg_packet *p)
{
    struct agg_verdict v;

    atp_protocol.locate(&w->at_server, p, 1);
    REQUIRE(atp_protocol.apply(p, 1, w->now, &v) == 1);
    REQUIRE(v.reason == p->reason && v.reason < atp_protocol.reasons);
    w->sent = 0;
    if (p->job != NULL)
        carry_out(p->job, p, &v, check_sent, w);
    REQUIRE(w->sent <= w->topology.workers);
}

/* Through so many switches, which share a table, and what goes on from there to the server. */
static void pass(struct world *w, struct agg_packet *p, unsigned switches)
{
    struct agg_verdict v;
    struct agg_packet onward = *p;

    atp_switch_protocol.locate(&w->at_switch, p, 1);
    REQUIRE(atp_switch_protocol.apply(p, 1, w->now, &v) == 1);
    REQUIRE(v.reason < atp_switch_protocol.reasons);
    if (v.action == AGG_DROP || v.action == AGG_HOLD)
        return;
    if (v.action == AGG_SEND_AS)
        onward.from = v.as->from;
    if (v.action != AGG_PASS_AND_KEEP)
        onward.payload = (uint8_t *)(uintptr_t)v.payload, onward.bytes = v.bytes;
    if (switches > 1)
        pass(w, &onward, switches - 1);
    else if (onward.from.network == 0)
        serve(w, &onward);
}

/* A gradient or a question as some rank sends it, or a sum that it hands back, by the switch or not; or a
 * result on its way back. */
static void member_sends(struct world *w, struct input *in, uint8_t what)
{
    const unsigned rank = take8(in) % w->topology.workers, job = what & 1;
    const uint8_t flags = take8(in), chunk = take8(in);
    struct atp_packet p = {.kind = what & 128  ? ATP_RESTORE
                                   : what & 64 ? ATP_ASK
                                   : what & 16 ? ATP_GROUP
                                   : what & 8  ? ATP_PARAMETER
                                               : ATP_GRADIENT,
                           .flags = flags & (ATP_RESEND | ATP_COLLISION | ATP_ECN | ATP_DIRECT),
                           .job = (uint16_t)job,
                           .life = w->terms.life,
                           .sequence = FIRST + chunk % (3 * WINDOW),
                           .root = ATP_ALL,
                           .code = agg_code(AGG_I32, AGG_SUM),
                           .priority = (uint8_t)job,
                           .seal = (uint8_t)w->terms.checksum};
    const size_t words = p.kind == ATP_GROUP || p.kind == ATP_ASK ? 0 : WORDS;
    uint8_t *payload = malloc(ATP_HEADER_BYTES + 4 * words + XFER_TRAILER_MAX);
    size_t bytes = ATP_HEADER_BYTES + 4 * words;

    p.index = (uint16_t)p.sequence;
    if (p.kind == ATP_GRADIENT || p.kind == ATP_ASK)
        atp_topology_fill(&w->topology, (uint16_t)rank, &p);
    atp_build_header(payload, &p);
    for (size_t i = 0; i < words; i++)
        put_be32(payload + ATP_HEADER_BYTES + 4 * i,
                 p.kind == ATP_RESTORE ? sum_of_all(w, job, p.sequence, i) : word(job, rank, p.sequence, i));
    bytes = atp_seal_append(payload, bytes, NULL, NULL);
    if (what & 32 && w->terms.checksum != XFER_CHECKSUM_NONE) /* damaged on the way */
        payload[take8(in) % bytes] ^= (uint8_t)(1u << what % 8);
    struct agg_packet packet = {.payload = payload, .bytes = bytes, .from = sender(rank)};
    if (what & 2)
        pass(w, &packet, what & 4 ? 2 : 1);
    else if (p.kind != ATP_PARAMETER)
        serve(w, &packet);
    free(payload);
}

/* A member of job 0 says anything at all of its packet, to the server or by a switch. */
static void member_lies(struct world *w, struct input *in, bool by_switch)
{
    const struct agg_sender from = sender(take8(in) % w->topology.workers);
    struct atp_packet p = {.life = w->terms.life, .seal = (uint8_t)w->terms.checksum};

    p.kind = (uint8_t)(1 + take8(in) % (ATP_KINDS - 1));
    p.flags = take8(in);
    p.sequence = FIRST + take8(in) % (3 * WINDOW);
    p.index = take8(in);
    p.root = take16(in);
    p.code = take8(in);
    p.exponent = (int8_t)take8(in);
    p.fan_in0 = take8(in);
    p.fan_in1 = take8(in);
    p.rack = take8(in);
    p.child = take8(in);
    p.bitmap0 = take16(in);
    p.bitmap1 = take16(in);
    size_t bytes;
    uint8_t *body = take_bytes(in, take8(in), &bytes);
    uint8_t *payload = malloc(ATP_HEADER_BYTES + bytes + xfer_trailer_bytes(w->terms.checksum));
    struct agg_packet packet = {.payload = payload, .from = from};

    w->lied_to = true;
    atp_build_header(payload, &p);
    memcpy(payload + ATP_HEADER_BYTES, body, bytes);
    packet.bytes = atp_seal_append(payload, ATP_HEADER_BYTES + bytes, NULL, NULL);
    if (by_switch)
        pass(w, &packet, 1);
    else
        serve(w, &packet);
    free(payload);
    free(body);
}

static void stranger_sends(struct world *w, struct input *in)
{
    size_t bytes;
    uint8_t *payload = take_bytes(in, take8(in), &bytes);
    struct agg_packet p = {.payload = payload, .bytes = bytes, .from = sender(WORKERS_MAX + 1)};
    struct atp_packet parsed;

    serve(w, &p);
    REQUIRE(w->sent == 0);
    p.from.network = atp_parse(&parsed, payload, bytes) == ATP_OK && parsed.life == w->terms.life;
    pass(w, &p, 1);
    free(payload);
}

static void time_passes(struct world *w, uint8_t by)
{
    struct agg_verdict v;

    w->now += by;
    while (atp_switch_protocol.tick(w->table, 0, 1, w->now, &v)) {
        struct agg_packet p = {
            .payload = (uint8_t *)(uintptr_t)v.payload, .bytes = v.bytes, .from = v.as->from};
        if (p.from.network == 0)
            serve(w, &p);
    }
}

static void open_world(struct world *w, struct input *in)
{
    struct atp_switch_terms table = {.chunk_bytes = CHUNK, .max_age_ns = 100};
    struct agg_pool_config cfg = {.kernels = kernels_or_exit()};
    struct agg_sender members[WORKERS_MAX];
    uint8_t seal;

    table.aggregators = 1 + take8(in) % 8;
    table.preempt = take8(in) & 1;
    table.parts = take8(in) % 4;
    table.forward_ppm = take8(in) % 4 == 0 ? ATP_ALL_CHUNKS / 2 : 0;
    w->topology.workers = (uint16_t)(1 + take8(in) % WORKERS_MAX);
    w->topology.per_rack = (uint8_t)(1 + take8(in) % 4);
    w->topology.near = take8(in) & 1 ? 0 : ATP_NOT_NEAR;
    w->terms = (struct atp_terms){.window = WINDOW,
                                  .chunk_bytes = CHUNK,
                                  .per_rack = w->topology.per_rack,
                                  .near = w->topology.near,
                                  .mode = take8(in) % 8 == 0 ? XFER_ORDERED : XFER_ON_ARRIVAL,
                                  .servers = 1,
                                  .group = 1,
                                  .life = 7,
                                  .first_sequence = FIRST};
    seal = take8(in);
    w->terms.checksum = seal & 1 ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE;
    w->terms.resumed = seal & 2;
    atp_switch_terms_build(&cfg.terms, &table);
    w->table = carry_open(&w->at_switch, &atp_switch_protocol, &cfg, members, NULL);
    REQUIRE(w->table != NULL);
    cfg.workers = w->topology.workers;
    for (unsigned i = 0; i < cfg.workers; i++)
        members[i] = sender(i);
    atp_terms_build(&cfg.terms, &w->terms);
    for (cfg.job = 0; cfg.job < JOBS; cfg.job++) {
        w->job[cfg.job] = carry_open(&w->at_server, &atp_protocol, &cfg, members, NULL);
        REQUIRE(w->job[cfg.job] != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world w = {.now = 1};

    open_world(&w, &in);
    for (unsigned step = 0; step < STEPS_MAX && in.left > 0; step++) {
        const uint8_t what = take8(&in);
        if (what >= 0xf0)
            stranger_sends(&w, &in);
        else if (what >= 0xe0)
            time_passes(&w, take8(&in));
        else if (what >= 0xd0)
            member_lies(&w, &in, what & 2);
        else
            member_sends(&w, &in, what);
    }
    for (unsigned i = 0; i < JOBS; i++)
        carry_close(&w.at_server, w.job[i]);
    carry_close(&w.at_switch, w.table);
    return 0;
}
