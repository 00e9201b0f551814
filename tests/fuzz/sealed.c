/* A job with a key, and somebody without it who sees all that its one rank and the switch say, and sends any
 * bytes to both, copies and changed copies among them. Whatever he does, the rank gets in and stays, and its
 * job runs. An input is a byte for each step and its arguments. */
#include "control/registry.h"
#include "control/session.h"
#include "fuzz.h"
#include "switchml/protocol.h"
#include "switchml/worker.h"
#include "terms_of.h"
#include "toy_keys.h"

#define MS UINT64_C(1000000)

enum { STEPS_MAX = 300, RECORDED = 32, LOST_AFTER_MS = 1000 };

struct message {
    size_t bytes;
    uint8_t payload[CTL_MESSAGE_MAX];
};

struct world {
    struct ctl_registry *registry;
    struct ctl_tenant_key key;
    struct ctl_endpoint endpoint;
    struct ctl_credentials credentials;
    struct ctl_session session;
    uint64_t now, randoms;
    bool honest; /* what the switch says now answers the rank itself, and reaches it */
    struct message recorded[RECORDED];
    unsigned records;
};

static void record(struct world *w, const uint8_t *payload, size_t bytes)
{
    struct message *m = &w->recorded[w->records++ % RECORDED];
    m->bytes = bytes;
    memcpy(m->payload, payload, bytes);
}

static void effect_send(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct world *w = ctx;
    record(w, payload, bytes);
    if (w->honest && memcmp(to, &w->endpoint, sizeof *to) == 0)
        ctl_session_receive(&w->session, payload, bytes, w->now);
}

static int effect_prepare(void *ctx, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                          char text[CTL_TEXT_MAX])
{
    (void)ctx;
    (void)terms;
    (void)text;
    *number = job->keyed;
    return 0;
}

static void effect_release(void *ctx, const struct ctl_entry *job)
{
    (void)ctx;
    REQUIRE(!job->keyed);
}

static uint64_t effect_random(void *ctx)
{
    struct world *w = ctx;
    return ++w->randoms;
}

static void start(struct world *w)
{
    static const struct agg_protocol *const protocols[] = {&sml_protocol};
    const struct ctl_registry_config cfg = {.protocols = protocols,
                                            .protocols_known = 1,
                                            .max_jobs = 4,
                                            .boot_id = 7,
                                            .lost_after_ns = LOST_AFTER_MS * MS,
                                            .library = &toy_library,
                                            .key = &w->key,
                                            .keys = 1,
                                            .actions = {.ctx = w,
                                                        .send = effect_send,
                                                        .prepare = effect_prepare,
                                                        .release = effect_release,
                                                        .random = effect_random}};
    const struct ctl_session_config session = {
        .size = 1,
        .incarnation = 77,
        .join = {.name = "sealed",
                 .data_port = 9,
                 .terms = terms_of(
                     (struct sml_terms){.format = XFER_FORMAT_TYPED, .chunk_bytes = 1460, .slots = 256})},
        .worker = &sml_worker,
        .credentials = &w->credentials,
        .join_deadline_ns = 60000 * MS};
    w->now = 1000 * MS;
    w->key = (struct ctl_tenant_key){.key = toy_key(1), .tenant = 1};
    w->endpoint = (struct ctl_endpoint){.ip = 5, .udp_port = 1000};
    w->credentials = (struct ctl_credentials){
        .library = &toy_library, .key = w->key.key, .address = {.ip = 5, .udp_port = 1000}};
    w->registry = ctl_registry_init(malloc(ctl_registry_footprint(&cfg)), &cfg);
    ctl_session_init(&w->session, &session, w->now);
}

/* The rank says what is due, and hears the answer. */
static void let_rank_speak(struct world *w)
{
    uint8_t out[CTL_MESSAGE_MAX];
    size_t bytes;
    while ((bytes = ctl_session_poll(&w->session, w->now, out)) > 0) {
        record(w, out, bytes);
        w->honest = true;
        ctl_registry_receive(w->registry, &w->endpoint, out, bytes, w->now);
        w->honest = false;
    }
}

static void deliver(struct world *w, struct input *in, const uint8_t *payload, size_t bytes)
{
    struct ctl_endpoint from = w->endpoint;
    uint8_t where = take8(in);
    from.udp_port += where / 4 % 2;
    from.mac[0] = where / 8 % 2;
    if (where & 1)
        ctl_session_receive(&w->session, payload, bytes, w->now);
    else
        ctl_registry_receive(w->registry, &from, payload, bytes, w->now);
}

/* A copy of something, with a byte changed or its end cut off, or as it was. */
static void replay(struct world *w, struct input *in)
{
    if (w->records == 0)
        return;
    const unsigned known = w->records < RECORDED ? w->records : RECORDED;
    struct message m = w->recorded[take8(in) % known];
    const uint8_t how = take8(in);
    if (how & 1) {
        uint8_t *at = &m.payload[take16(in) % m.bytes];
        *at ^= take8(in);
    }
    if (how & 2)
        m.bytes -= take8(in) % m.bytes;
    deliver(w, in, m.payload, m.bytes);
}

static void step(struct world *w, struct input *in)
{
    size_t bytes;
    uint8_t *raw;
    switch (take8(in) % 4) {
    case 0: /* less than either side counts as silence */
        w->now += take8(in) % 100 * MS;
        let_rank_speak(w);
        ctl_registry_tick(w->registry, w->now);
        break;
    case 1:
        raw = take_bytes(in, take8(in), &bytes);
        deliver(w, in, raw, bytes);
        free(raw);
        break;
    default:
        replay(w, in);
        break;
    }
}

static unsigned running(const struct world *w)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++)
        n += ctl_registry_entry(w->registry, i)->keyed &&
             ctl_registry_entry(w->registry, i)->state == CTL_ENTRY_RUNNING;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world *w = calloc(1, sizeof *w);
    start(w);
    for (unsigned i = 0; i < STEPS_MAX && in.left > 0; i++)
        step(w, &in);
    w->now += 100 * MS;
    let_rank_speak(w);
    let_rank_speak(w);
    REQUIRE(w->session.state == CTL_SESSION_READY && w->session.generation == 1);
    REQUIRE(running(w) == 1);
    free(w->registry);
    free(w);
    return 0;
}
