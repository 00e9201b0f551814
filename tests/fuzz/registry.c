/* The switch's control state: any sequence of messages from a few processes, some of which come by switches
 * below this one, any passing of time, restarts of the switch. An input is a byte for each step and its
 * arguments. A process that is in no job, and does not show that it was before a restart, must not change a
 * job that runs or resumes. */
#include "control/registry.h"
#include "prepared.h"
#include "process.h"
#include "switchml/protocol.h"
#include "terms_of.h"

#define MS UINT64_C(1000000)

enum { STEPS_MAX = 300, JOBS = 3, PROCESSES = 6, NUMBERS = 2 };
enum { BELOW = 100, BELOWS = 2, BELOW_CONTROL = 3000, BELOW_DATA }; /* switches below: IP addresses, ports */

struct world {
    struct ctl_registry *registry;
    uint64_t now, boot_id;
    struct process processes[PROCESSES];
    struct prepared prepared;
    uint64_t events, incarnations, randoms;
};

/* Who comes by a switch is told whom that sends one sum for: ranks that come by it, this one among them. */
static void check_bundle(const struct process *p, const struct ctl_message *ready)
{
    unsigned ranks = ctl_ranks_count(&ready->ready.bundle);
    REQUIRE(ranks <= ready->head.size);
    REQUIRE(p->hops > 0 ? ctl_ranks_has(&ready->ready.bundle, ready->head.rank) : ranks == 0);
}

static void effect_send(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct world *w = ctx;
    struct ctl_message m;
    (void)to;
    REQUIRE(ctl_parse(&m, payload, bytes) == CTL_PARSED);
    const bool recall = m.head.type == CTL_UNKNOWN && m.head.boot_id == ~w->boot_id;
    REQUIRE(!ctl_type_from_worker(m.head.type) && (recall || m.head.boot_id == w->boot_id));
    if (m.head.type == CTL_REFUSED || m.head.type == CTL_ABORTED)
        REQUIRE((m.failure.reason != CTL_OK && m.failure.reason <= CTL_RANK_LEFT) ||
                m.failure.reason == CTL_MOVED_BACK || m.failure.reason == CTL_LEFT_RESUMING);
    if (m.head.type != CTL_READY)
        return;
    struct sml_terms t = terms_in(&m.ready.terms);
    REQUIRE(t.slots >= 2 && (t.slots & (t.slots - 1)) == 0);
    REQUIRE(t.chunk_bytes >= 64 && t.chunk_bytes <= SML_MAX_CHUNK_BYTES);
    for (unsigned i = 0; i < PROCESSES; i++)
        if (w->processes[i].incarnation == m.head.incarnation) {
            w->processes[i].epoch = m.head.epoch;
            w->processes[i].roster = m.ready.roster;
            check_bundle(&w->processes[i], &m);
        }
}

static int effect_prepare(void *ctx, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                          char text[CTL_TEXT_MAX])
{
    struct world *w = ctx;
    uint16_t contributor[CTL_RANKS_MAX], contributors = ctl_tree_contributors(job, contributor, NULL);
    REQUIRE(job->present == job->size && contributors >= 1 && contributors <= job->size);
    for (unsigned rank = 0; rank < job->size; rank++) {
        REQUIRE(contributor[rank] < contributors);
        struct sml_terms wish = terms_in(&job->members[rank].wish), granted = terms_in(terms);
        REQUIRE(job->members[rank].state == CTL_MEMBER_JOINED);
        REQUIRE(granted.resumed || (wish.chunk_bytes >= granted.chunk_bytes && wish.slots >= granted.slots));
    }
    return prepared_prepare(&w->prepared, job, terms, number, text);
}

static void effect_release(void *ctx, const struct ctl_entry *job)
{
    struct world *w = ctx;
    prepared_release(&w->prepared, job);
}

static void effect_event(void *ctx, const struct ctl_entry *job, const struct ctl_event *event)
{
    struct world *w = ctx;
    REQUIRE(job->state != CTL_ENTRY_FREE && event->text[0] &&
            (event->rank < job->size || event->rank == CTL_NO_RANK));
    w->events++;
}

static uint64_t effect_random(void *ctx)
{
    struct world *w = ctx;
    return ++w->randoms;
}

static void check_members(const struct ctl_entry *job)
{
    unsigned joined = 0, recalled = 0;
    for (unsigned rank = 0; rank < job->size; rank++) {
        const struct ctl_member *member = &job->members[rank];
        joined += member->state == CTL_MEMBER_JOINED;
        recalled += member->state == CTL_MEMBER_RECALLED;
        if (ctl_entry_is_forming(job))
            REQUIRE(member->state == CTL_MEMBER_ABSENT || member->state == CTL_MEMBER_JOINED ||
                    (member->state == CTL_MEMBER_RECALLED && job->resumed));
        if (job->state == CTL_ENTRY_RUNNING)
            REQUIRE(member->state == CTL_MEMBER_JOINED || member->state == CTL_MEMBER_LEFT);
        for (unsigned other = 0; other < rank && member->state == CTL_MEMBER_JOINED; other++)
            REQUIRE(job->members[other].state != CTL_MEMBER_JOINED ||
                    job->members[other].endpoint.ip != member->endpoint.ip ||
                    job->members[other].data_port != member->data_port ||
                    (job->members[other].hops > 0 && member->hops > 0));
    }
    REQUIRE(job->present == joined);
    if (ctl_entry_is_forming(job))
        REQUIRE(joined + recalled > 0 && job->size >= joined);
    if (job->state == CTL_ENTRY_RUNNING)
        REQUIRE(joined > 0);
}

static void check(const struct world *w)
{
    unsigned pools = 0;
    for (unsigned i = 0; i < JOBS; i++) {
        const struct ctl_entry *job = ctl_registry_entry(w->registry, i);
        if (job->state == CTL_ENTRY_FREE)
            continue;
        REQUIRE(job->size >= 1 && job->size <= CTL_RANKS_MAX && job->epoch != 0);
        check_members(job);
        pools += prepared_for(&w->prepared, job);
        if (job->state == CTL_ENTRY_PREPARING)
            REQUIRE(job->present == job->size);
        for (unsigned k = 0; k < i; k++) {
            const struct ctl_entry *other = ctl_registry_entry(w->registry, k);
            if (other->state == CTL_ENTRY_FREE)
                continue;
            REQUIRE(other->epoch != job->epoch);
            REQUIRE(other->state != CTL_ENTRY_RUNNING || job->state != CTL_ENTRY_RUNNING ||
                    other->number != job->number);
        }
    }
    REQUIRE(pools == w->prepared.pools);
}

static void take_body(struct input *in, const struct process *p, struct ctl_message *m, uint8_t odd)
{
    switch (m->head.type) {
    case CTL_JOIN:
        m->join = (struct ctl_join){.data_port = (uint16_t)(p->endpoint.udp_port + 1),
                                    .resume = odd & 8,
                                    .job = odd & 8 ? take8(in) : 0,
                                    .roster = odd & 8 ? p->roster : 0,
                                    .waited = odd & 32};
        if (p->hops > 0) {
            m->join.hops = p->hops;
            m->join.data_port = BELOW_DATA;
            m->join.host = p->rank + 1u;
            m->join.via = p->hops == 1 ? p->endpoint.ip : BELOW + BELOWS;
        }
        struct sml_terms wish = {.format = XFER_FORMAT_TYPED,
                                 .mode = XFER_ORDERED,
                                 .chunk_bytes = 1460,
                                 .slots = 64,
                                 .resumed = odd & 8,
                                 .first_tag = odd & 8 ? take8(in) : 0};
        uint8_t format = 1; /* typed */
        memset(m->join.name, 'a' + p->name % 2, 1);
        if (odd & 16) {
            m->join.data_port = take16(in);
            format = take8(in);
            wish.mode = take8(in);
            wish.chunk_bytes = take16(in);
            wish.slots = take16(in);
            wish.first_tag = take32(in);
        }
        m->join.terms = terms_of(wish);
        m->join.terms.data[0] = format;
        break;
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        m->heartbeat = (struct ctl_heartbeat){
            .calls = take8(in), .waiting = odd & 8, .stalled_ms = take16(in), .progress = take8(in)};
        m->heartbeat.tells_finished = odd & 64;
        m->heartbeat.finished = m->heartbeat.calls;
        break;
    case CTL_ABORT:
        take_failure(in, &m->failure);
        break;
    }
}

static bool is_closed(const struct ctl_entry *job)
{
    return job->state == CTL_ENTRY_RUNNING || (ctl_entry_is_forming(job) && job->resumed);
}

static bool is_of_a_member(const struct world *w, const struct ctl_message *m)
{
    for (unsigned i = 0; i < JOBS; i++) {
        const struct ctl_entry *job = ctl_registry_entry(w->registry, i);
        if (job->state != CTL_ENTRY_FREE && m->head.rank < job->size &&
            job->members[m->head.rank].state != CTL_MEMBER_ABSENT &&
            job->members[m->head.rank].incarnation == m->head.incarnation)
            return true;
    }
    return false;
}

/* What becomes of each job, told by one who is in none. */
static void receive_from_nobody(struct world *w, const struct process *p, const struct ctl_message *m,
                                const uint8_t *bytes, size_t n)
{
    bool newcomer = m->head.type != CTL_JOIN || (!m->join.resume && !m->join.waited);
    struct {
        bool kept; /* to be as before */
        enum ctl_entry_state state;
        uint32_t epoch;
        uint16_t present;
    } before[JOBS];
    for (unsigned i = 0; i < JOBS; i++) {
        const struct ctl_entry *job = ctl_registry_entry(w->registry, i);
        before[i].kept = is_closed(job) && (newcomer || job->state == CTL_ENTRY_RUNNING);
        before[i].state = job->state;
        before[i].epoch = job->epoch;
        before[i].present = job->present;
    }
    ctl_registry_receive(w->registry, &p->endpoint, bytes, n, w->now);
    for (unsigned i = 0; i < JOBS; i++) {
        const struct ctl_entry *job = ctl_registry_entry(w->registry, i);
        REQUIRE(!before[i].kept || (job->epoch == before[i].epoch && job->state == before[i].state &&
                                    job->present == before[i].present));
    }
}

static void receive(struct world *w, const struct process *p, const struct ctl_message *m,
                    const uint8_t *bytes, size_t n)
{
    if (is_of_a_member(w, m))
        ctl_registry_receive(w->registry, &p->endpoint, bytes, n, w->now);
    else
        receive_from_nobody(w, p, m, bytes, n);
}

static void send_from(struct world *w, struct process *p, struct input *in)
{
    struct ctl_message m;
    uint8_t bytes[CTL_MESSAGE_MAX], odd = take8(in);
    memset(&m, 0, sizeof m);
    m.head = take_head(in, p, odd, true, w->boot_id);
    take_body(in, p, &m, odd);
    size_t n = ctl_build(bytes, &m);
    receive(w, p, &m, bytes, n);
    if (odd & 64) /* twice */
        receive(w, p, &m, bytes, n);
}

static void come_by_switch(struct process *p, uint8_t which, uint8_t hops)
{
    p->hops = hops;
    p->endpoint = (struct ctl_endpoint){.ip = BELOW + which % BELOWS, .udp_port = BELOW_CONTROL};
}

/* A process ends and another is started: maybe on the same socket, maybe as another rank. */
static void start(struct world *w, struct process *p, struct input *in)
{
    uint8_t how = take8(in);
    p->incarnation = ++w->incarnations;
    p->serial = p->epoch = 0;
    p->roster = 0;
    p->rank = how & 1 ? take16(in) : take8(in) % 3;
    p->size = how & 1 ? take16(in) : 1 + take8(in) % 3;
    p->name = take8(in);
    p->hops = 0;
    p->endpoint.ip = take8(in) % 3;
    p->endpoint.udp_port = (uint16_t)(1000 + 2 * (take8(in) % 8));
    if (how & 2)
        come_by_switch(p, how >> 2, (uint8_t)(1 + (how >> 3) % CTL_LEVELS_MAX));
}

/* The switch, with another boot id, and nothing that it knew. */
static void start_switch(struct world *w)
{
    static const struct agg_protocol *const protocols[] = {&sml_protocol};
    struct ctl_registry_config cfg = {
        .protocols = protocols,
        .protocols_known = 1,
        .max_jobs = JOBS,
        .boot_id = ++w->boot_id,
        .lost_after_ns = 1000 * MS,
        .forming_max_ns = 20000 * MS,
        .actions = {w, effect_send, effect_prepare, effect_release, effect_random, effect_event},
    };
    free(w->registry);
    w->registry = ctl_registry_init(malloc(ctl_registry_footprint(&cfg)), &cfg);
    w->prepared = (struct prepared){.numbers = NUMBERS, .slow = w->prepared.slow};
}

static void answer_late(struct world *w)
{
    const uint64_t preparation = prepared_late(&w->prepared);
    if (preparation != 0)
        ctl_registry_prepared(w->registry, preparation, &w->prepared.answer, w->now);
}

static void step(struct world *w, struct input *in)
{
    uint8_t what = take8(in);
    struct process *p = &w->processes[what / 8 % PROCESSES];
    uint8_t *raw;
    size_t n;
    switch (what % 8) {
    case 0:
        if (what / 8 >= 4 * PROCESSES)
            start_switch(w);
        else
            start(w, p, in);
        break;
    case 1:
        w->now += take16(in) * MS;
        ctl_registry_tick(w->registry, w->now);
        answer_late(w);
        break;
    case 2:
        raw = take_bytes(in, take16(in) % CTL_MESSAGE_MAX, &n);
        ctl_registry_receive(w->registry, &p->endpoint, raw, n, w->now);
        free(raw);
        break;
    default:
        send_from(w, p, in);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world w = {.now = 1000 * MS, .boot_id = 4710, .randoms = take8(&in)};
    w.prepared.slow = w.randoms & 1;
    start_switch(&w);
    for (unsigned i = 0; i < PROCESSES; i++)
        w.processes[i] = process_of(i);
    for (unsigned i = 0; i < PROCESSES && w.randoms & 2; i++)
        if (i % 3 != 0)
            come_by_switch(&w.processes[i], (uint8_t)i / 3, 1);
    for (unsigned n = 0; in.left > 0 && n < STEPS_MAX; n++) {
        step(&w, &in);
        check(&w);
    }
    /* Left alone, all jobs end and their slots are free. */
    for (unsigned n = 0; n < 200; n++) {
        w.now += 100 * MS;
        ctl_registry_tick(w.registry, w.now);
        check(&w);
    }
    for (unsigned i = 0; i < JOBS; i++)
        REQUIRE(ctl_registry_entry(w.registry, i)->state == CTL_ENTRY_FREE);
    REQUIRE(w.prepared.pools == 0);
    free(w.registry);
    return 0;
}
