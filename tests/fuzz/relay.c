/* Control at a switch that has two others above it: any sequence of messages from a few processes below and
 * from both switches above, any passing of time. An input is a byte for each step and its arguments. */
#include "prepared.h"
#include "process.h"
#include "relay/proxy.h"
#include "switchml/protocol.h"
#include "terms_of.h"

#define MS UINT64_C(1000000)

enum { STEPS_MAX = 300, JOBS = 3, PROCESSES = 6, ROUTES = 4, NUMBERS = 3, UPLINKS = 2, ID = 0x1d };

struct world {
    struct relay_proxy *proxy;
    struct relay_uplink uplink[UPLINKS];
    uint64_t now, incarnations;
    struct process processes[PROCESSES];
    struct prepared prepared;
};

static void effect_send(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct world *w = ctx;
    struct ctl_message m;
    REQUIRE(ctl_parse(&m, payload, bytes) == CTL_PARSED && !ctl_type_from_worker(m.head.type));
    REQUIRE(m.head.boot_id != 0 && !m.head.sealed);
    REQUIRE(to->ip < PROCESSES || to->ip == w->uplink[0].ip); /* somebody who has spoken */
    for (unsigned i = 0; i < PROCESSES; i++)
        if (m.head.type == CTL_READY && w->processes[i].incarnation == m.head.incarnation)
            w->processes[i].epoch = m.head.epoch;
}

static void effect_send_up(void *ctx, unsigned uplink, const uint8_t *payload, size_t bytes)
{
    struct ctl_message m;
    (void)ctx;
    REQUIRE(uplink < UPLINKS);
    REQUIRE(ctl_parse(&m, payload, bytes) == CTL_PARSED && ctl_type_from_worker(m.head.type));
    if (m.head.type == CTL_JOIN)
        REQUIRE(m.join.hops > 0 && m.join.hops < CTL_LEVELS_MAX && m.join.data_port == 0xBEF0 + uplink);
}

static int effect_prepare(void *ctx, const struct relay_job *job, uint8_t *number, char text[CTL_TEXT_MAX])
{
    struct world *w = ctx;
    REQUIRE(job->entry.present == ctl_ranks_count(&job->bundle) && job->entry.present <= job->entry.size);
    REQUIRE(job->contributors >= 1 && job->contributors <= job->entry.present);
    for (unsigned rank = 0; rank < job->entry.size; rank++) {
        const bool here = job->entry.members[rank].state == CTL_MEMBER_JOINED;
        REQUIRE(here == ctl_ranks_has(&job->bundle, rank));
        REQUIRE(here ? job->contributor[rank] < job->contributors : job->contributor[rank] == AGG_NOBODY);
    }
    return prepared_take_number(&w->prepared, &job->entry, number, text);
}

static void effect_release(void *ctx, const struct relay_job *job)
{
    struct world *w = ctx;
    prepared_release(&w->prepared, &job->entry);
}

static int effect_admit(void *ctx, const struct ctl_endpoint *from, int key, const struct ctl_join *join,
                        struct agg_terms *wish, char text[CTL_TEXT_MAX])
{
    (void)ctx, (void)from, (void)wish;
    REQUIRE((key != CTL_NO_KEY) == (from->key != 0));
    snprintf(text, CTL_TEXT_MAX, "not here");
    return join->name[0] == 'c' ? -1 : 0;
}

static uint16_t effect_payload_bytes(void *ctx, unsigned uplink)
{
    const struct world *w = ctx;
    return uplink == 1 && w->now < 2000 * MS ? 0 : 1000;
}

/* Checks */

static void check_members(const struct ctl_entry *job)
{
    unsigned joined = 0;
    for (unsigned rank = 0; rank < job->size; rank++)
        joined += job->members[rank].state == CTL_MEMBER_JOINED;
    REQUIRE(job->present == joined && joined > 0);
}

static void check(const struct world *w)
{
    unsigned pools = 0;
    for (unsigned i = 0; i < JOBS; i++) {
        const struct relay_job *job = relay_job(w->proxy, i);
        if (job->entry.state == CTL_ENTRY_FREE)
            continue;
        REQUIRE(job->entry.size >= 1 && job->entry.size <= CTL_RANKS_MAX && job->entry.epoch != 0);
        REQUIRE(job->uplink < UPLINKS);
        if (job->entry.state == CTL_ENTRY_RUNNING)
            REQUIRE(w->prepared.used[job->entry.number]);
        pools += prepared_for(&w->prepared, &job->entry);
        if (!ctl_entry_is_live(&job->entry))
            continue;
        check_members(&job->entry);
        for (unsigned k = 0; k < i; k++) {
            const struct relay_job *other = relay_job(w->proxy, k);
            REQUIRE(!ctl_entry_is_live(&other->entry) || other->uplink != job->uplink ||
                    other->entry.epoch != job->entry.epoch);
            REQUIRE(other->entry.state != CTL_ENTRY_RUNNING || job->entry.state != CTL_ENTRY_RUNNING ||
                    other->entry.number != job->entry.number);
        }
    }
    REQUIRE(pools == w->prepared.pools);
}

/* Messages */

static void take_join(struct input *in, const struct process *p, struct ctl_join *join, uint8_t odd)
{
    struct sml_terms wish = {.format = XFER_FORMAT_TYPED,
                             .mode = XFER_ORDERED,
                             .chunk_bytes = 900,
                             .slots = 64,
                             .resumed = odd & 8,
                             .first_tag = odd & 8 ? take8(in) : 0};
    *join = (struct ctl_join){.data_port = (uint16_t)(p->endpoint.udp_port + 1), .resume = odd & 8};
    memset(join->name, 'a' + p->name % 3, 1);
    if (odd & 8) {
        join->job = take8(in);
        join->above = (struct ctl_above){.levels = take8(in) % CTL_LEVELS_MAX, .number = {take8(in)}};
    }
    if (odd & 16) {
        join->data_port = take16(in);
        join->hops = take8(in);
        join->host = take8(in);
        join->via = take8(in);
        wish.chunk_bytes = take16(in);
    }
    join->terms = terms_of(wish);
}

static void send_from(struct world *w, struct process *p, struct input *in)
{
    struct ctl_message m;
    uint8_t bytes[CTL_MESSAGE_MAX], odd = take8(in);
    memset(&m, 0, sizeof m);
    m.head = take_head(in, p, odd, false, 1 ^ ID);
    if (m.head.type == CTL_JOIN)
        take_join(in, p, &m.join, odd);
    else if (m.head.type == CTL_ABORT)
        take_failure(in, &m.failure);
    else
        m.heartbeat = (struct ctl_heartbeat){.calls = take8(in)};
    const size_t n = ctl_build(bytes, &m);
    for (unsigned copies = odd & 64 ? 2 : 1; copies > 0; copies--)
        relay_receive(w->proxy, &p->endpoint, odd >> 7, bytes, n, w->now);
}

static void take_ready(struct input *in, struct ctl_ready *ready, uint8_t odd)
{
    const uint8_t ranks = take8(in);
    *ready = (struct ctl_ready){
        .job = take8(in) % 4, .data_port = SML_PORT_FIRST, .data_ports = 2, .lost_after_ms = 1000};
    ready->resumed = odd & 8;
    ready->above.levels = odd & 16 ? take8(in) % CTL_LEVELS_MAX : 0;
    ready->terms = terms_of((struct sml_terms){
        .format = XFER_FORMAT_TYPED, .mode = XFER_ORDERED, .chunk_bytes = 896, .slots = 64});
    if (odd & 16)
        ready->terms.protocol = take8(in);
    for (unsigned rank = 0; rank < 8; rank++)
        if (ranks >> rank & 1)
            ctl_ranks_add(&ready->bundle, rank);
}

/* The switch above answers a process. */
static void send_down_to(struct world *w, const struct process *p, struct input *in)
{
    static const uint8_t types[] = {CTL_READY,   CTL_READY,   CTL_PENDING, CTL_ALIVE,
                                    CTL_REFUSED, CTL_ABORTED, CTL_LEFT,    CTL_UNKNOWN};
    const uint8_t odd = take8(in);
    const struct ctl_endpoint parent = {.ip = w->uplink[odd >> 7].ip, .udp_port = CTL_PORT};
    struct ctl_message m;
    uint8_t bytes[CTL_MESSAGE_MAX];
    memset(&m, 0, sizeof m);
    m.head = (struct ctl_head){.type = types[take8(in) % sizeof types],
                               .version = CTL_VERSION,
                               .boot_id = odd & 1 ? take8(in) : 1,
                               .incarnation = p->incarnation,
                               .epoch = odd & 4 ? take8(in) : 7,
                               .rank = odd & 2 ? take8(in) : p->rank,
                               .size = p->size,
                               .serial = odd & 32 ? take8(in) : p->serial};
    if (m.head.type == CTL_READY)
        take_ready(in, &m.ready, odd);
    else if (m.head.type == CTL_REFUSED || m.head.type == CTL_ABORTED)
        take_failure(in, &m.failure);
    const size_t n = ctl_build(bytes, &m);
    for (unsigned copies = odd & 64 ? 2 : 1; copies > 0; copies--)
        relay_receive_up(w->proxy, odd >> 7, &parent, bytes, n, w->now);
}

/* Whatever bytes, from either side. */
static void send_raw(struct world *w, const struct process *p, struct input *in)
{
    const uint8_t side = take8(in);
    size_t n;
    uint8_t *raw = take_bytes(in, take16(in) % CTL_MESSAGE_MAX, &n);
    struct ctl_endpoint from = p->endpoint;
    struct ctl_message m;
    if (relay_read(w->proxy, &m, &from, raw, n) == CTL_PARSED)
        relay_knows(w->proxy, &m, &from);
    if (side & 1)
        relay_receive_up(w->proxy, side >> 7, &p->endpoint, raw, n, w->now);
    else
        relay_receive(w->proxy, &p->endpoint, side >> 7, raw, n, w->now);
    free(raw);
}

/* A process ends and another is started: maybe on the same socket, maybe as another rank. */
static void start(struct world *w, struct process *p, struct input *in)
{
    const uint8_t how = take8(in);
    *p = (struct process){.endpoint = p->endpoint, .incarnation = ++w->incarnations, .name = take8(in)};
    p->rank = how & 1 ? take16(in) : take8(in) % 3;
    p->size = how & 1 ? take16(in) : 1 + take8(in) % 3;
    p->endpoint.udp_port = (uint16_t)(1000 + 2 * (take8(in) % 8));
    if (how & 2)
        p->endpoint.ip = w->uplink[0].ip; /* a circle of switches */
}

static void step(struct world *w, struct input *in)
{
    const uint8_t what = take8(in);
    struct process *p = &w->processes[what / 8 % PROCESSES];
    switch (what % 8) {
    case 0:
        start(w, p, in);
        break;
    case 1:
        w->now += take16(in) * MS;
        relay_tick(w->proxy, w->now);
        break;
    case 2:
        if (what < 128)
            send_raw(w, p, in);
        else
            relay_end(w->proxy, 0, what & 8 ? "a" : "b", w->now);
        break;
    case 3:
    case 4:
    case 5:
        send_from(w, p, in);
        break;
    default:
        send_down_to(w, p, in);
        break;
    }
}

static void start_switch(struct world *w)
{
    static const struct agg_protocol *const protocols[] = {&sml_protocol};
    const struct relay_config cfg = {
        .protocols = protocols,
        .protocols_known = 1,
        .uplink = w->uplink,
        .uplinks = UPLINKS,
        .max_jobs = JOBS,
        .max_processes = ROUTES,
        .id = ID,
        .ip = 99,
        .lost_after_ns = 1000 * MS,
        .data_ports = 1,
        .actions = {.ctx = w,
                    .send = effect_send,
                    .send_up = effect_send_up,
                    .prepare = effect_prepare,
                    .release = effect_release,
                    .admit = effect_admit,
                    .payload_bytes = effect_payload_bytes},
    };
    for (unsigned u = 0; u < UPLINKS; u++)
        w->uplink[u] = (struct relay_uplink){.ip = 200 + u, .data_port = (uint16_t)(0xBEF0 + u)};
    w->proxy = relay_init(malloc(relay_footprint(&cfg)), &cfg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world w = {.now = 1000 * MS, .prepared.numbers = NUMBERS};
    start_switch(&w);
    for (unsigned i = 0; i < PROCESSES; i++)
        w.processes[i] = process_of(i);
    for (unsigned n = 0; in.left > 0 && n < STEPS_MAX; n++) {
        step(&w, &in);
        check(&w);
    }
    /* Left alone, all processes are forgotten, and with them their jobs. */
    for (unsigned n = 0; n < 200; n++) {
        w.now += 100 * MS;
        relay_tick(w.proxy, w.now);
        check(&w);
    }
    for (unsigned i = 0; i < JOBS; i++)
        REQUIRE(relay_job(w.proxy, i)->entry.state == CTL_ENTRY_FREE);
    REQUIRE(w.prepared.pools == 0);
    free(w.proxy);
    return 0;
}
