/* Host-addressed aggregation: any sequence of packets. What a worker contributes to a chunk of a run is
 * always the same, as the protocol demands, so every sum that is sent must be the right one for its run and
 * number. An input is the configuration, then for each packet a byte and its arguments. */

#include "carry.h"
#include "fuzz.h"
#include "hostagg/protocol.h"
#include "hostagg/terms.h"
#include "kernels_chosen.h"
#include "random/splitmix.h"

enum { STEPS_MAX = 400, WORKERS_MAX = 6, CHUNK = 48, JOB = 3 };

struct world {
    struct hag_terms terms;
    uint16_t members;
    struct agg_jobs jobs;
    struct agg_job *job;
};

static uint16_t workers(const struct world *w)
{
    return (uint16_t)(w->members - (w->terms.host != HAG_HOST_ABSENT));
}

/* Word i of what a worker contributes; the length depends on the number, and now and then on the worker. */
static uint32_t word(unsigned worker, uint16_t run, uint32_t sequence, size_t i)
{
    return (uint32_t)splitmix_hash((uint64_t)run << 40 ^ (uint64_t)sequence << 8 ^ worker << 4 ^ i);
}

static struct agg_sender sender(unsigned member)
{
    const uint8_t mac[AGG_MAC_BYTES] = {2, 0, 0, 0, 0, (uint8_t)member};

    return carry_sender(mac, 0x0a000001 + member, 4000);
}

static void check_sum(const struct world *w, const struct hag_packet *p)
{
    REQUIRE(p->body_bytes > 0 && p->body_bytes <= CHUNK && p->body_bytes % 4 == 0);
    for (size_t i = 0; i < p->body_bytes / 4; i++) {
        uint32_t sum = 0, got;
        for (unsigned worker = 0; worker < workers(w); worker++)
            sum += word(worker, p->run, p->sequence, i);
        memcpy(&got, p->body + 4 * i, sizeof got);
        REQUIRE(got == sum);
    }
}

static void check_sent(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                       const struct carried *what)
{
    const struct world *w = ctx;
    struct hag_packet p;

    (void)job;
    if (what->to == CARRY_ONWARD) {
        REQUIRE(what->payload == answered->payload && answered->slot == NULL);
        return;
    }
    REQUIRE(hag_parse(&p, what->payload, what->bytes));
    REQUIRE(p.job == JOB && what->rank < w->members);
    if (p.kind == HAG_SUM)
        check_sum(w, &p);
    else
        REQUIRE(p.kind != HAG_GRADIENT && p.kind != HAG_ASK);
}

static void apply(struct world *w, struct agg_packet *p)
{
    struct agg_slot_view view;
    struct agg_verdict v;

    hag_protocol.locate(&w->jobs, p, 1);
    REQUIRE(hag_protocol.apply(p, 1, 0, &v) == 1);
    REQUIRE(!v.kept && v.released == NULL && v.reason == p->reason && v.reason < hag_protocol.reasons);
    carry_out(p->job, p, &v, check_sent, w);
    REQUIRE(hag_protocol.view(w->job->pool, 0, &view) && view.contributed < workers(w));
}

/* A packet as members send them, or with some bytes changed. */
static void member_sends(struct world *w, struct input *in, uint8_t what)
{
    const unsigned member = take8(in) % w->members;
    const struct hag_packet p = {.kind = what & 1 ? HAG_ASK : HAG_GRADIENT,
                                 .job = JOB,
                                 .worker = (uint16_t)member,
                                 .sequence = take8(in) + (what & 2 ? UINT32_MAX - 100 : 0),
                                 .run = take8(in) % 4};
    const size_t words = 1 + (p.sequence + (what & 4 ? member : 0)) % (CHUNK / 4);
    const size_t bytes = HAG_HEADER_BYTES + (p.kind == HAG_GRADIENT ? 4 * words : 0);
    uint8_t *payload = malloc(bytes);

    hag_build_header(payload, &p);
    for (size_t i = 0; p.kind == HAG_GRADIENT && i < words; i++) {
        const uint32_t value = word(member, p.run, p.sequence, i);
        memcpy(payload + HAG_HEADER_BYTES + 4 * i, &value, sizeof value);
    }
    if (what & 8) /* only the header: the rest must stay what it is */
        payload[take8(in) % 4] ^= take8(in);
    apply(w, &(struct agg_packet){.payload = payload, .bytes = bytes, .from = sender(member)});
    free(payload);
}

static void stranger_sends(struct world *w, struct input *in)
{
    size_t bytes;
    uint8_t *payload = take_bytes(in, take8(in), &bytes);

    apply(w, &(struct agg_packet){
                 .payload = payload, .bytes = bytes, .from = sender(WORKERS_MAX + take8(in) % 2)});
    free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world w = {.terms = {.host = take8(&in) % HAG_HOSTS,
                                .code = agg_code(AGG_U32, AGG_SUM),
                                .slots = (uint16_t)(1 << take8(&in) % 3),
                                .chunk_bytes = CHUNK}};
    struct agg_pool_config cfg = {.job = JOB, .kernels = kernels_or_exit()};
    struct agg_sender members[WORKERS_MAX];

    w.members = (uint16_t)(2 + take8(&in) % (WORKERS_MAX - 1));
    cfg.workers = w.members;
    hag_terms_build(&cfg.terms, &w.terms);
    for (unsigned i = 0; i < w.members; i++)
        members[i] = sender(i);
    w.job = carry_open(&w.jobs, &hag_protocol, &cfg, members, NULL);
    REQUIRE(w.job != NULL);
    for (unsigned step = 0; step < STEPS_MAX && in.left > 0; step++) {
        const uint8_t what = take8(&in);
        if (what >= 0xf0)
            stranger_sends(&w, &in);
        else
            member_sends(&w, &in, what);
    }
    carry_close(&w.jobs, w.job);
    return 0;
}
