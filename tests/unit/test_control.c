/* The registry and sessions wired together: a network that loses, doubles, delays and reorders, processes
 * that are killed and come back, a switch that restarts, strangers. Whatever happens, once the faults stop
 * all end in an agreed state; and if there are only strangers and restarts, no rank notices. With keys, the
 * strangers may see and forge everything. One seed decides everything: test_control faults SEED (or strangers
 * SEED, forgers SEED) replays one world and prints what happens in it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/guard.h"
#include "control/registry.h"
#include "control/session.h"
#include "random.h"
#include "same.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "switchml/worker.h"
#include "toy_keys.h"
#include "unit.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

enum { MAX_RANKS = 5, MAX_FLYING = 256, NUMBERS = 4, JOBS_MAX = 8, KEPT = 64, LATER_MAX = 16 };

struct datagram {
    uint64_t due;
    int process; /* to or from; the other side is the switch */
    bool to_switch;
    unsigned life; /* of the process: a socket does not outlive it */
    size_t bytes;
    uint8_t payload[CTL_MESSAGE_MAX];
};

struct process {
    bool alive;
    unsigned life;
    struct ctl_endpoint endpoint;
    struct ctl_session session;
    struct ctl_credentials credentials;
    unsigned generation;
};

/* What the switch was asked to prepare, and what it will say. */
struct later {
    uint64_t due, preparation; /* 0: nothing */
    bool holds;                /* a number */
    struct ctl_prepared answer;
};

struct world {
    uint64_t random, now;
    bool trace;
    unsigned ranks, max_jobs, loss, doubled, delay_ms;
    struct datagram flying[MAX_FLYING];
    unsigned in_flight;
    struct process processes[MAX_RANKS];
    struct ctl_registry *registry;
    bool switch_up;
    uint64_t boot_id;
    unsigned pools_open;
    bool slow;
    struct later later[LATER_MAX];
    unsigned asked;
    bool number_used[NUMBERS];
    uint64_t next_tick;
    unsigned strangers;         /* percent of the rounds in which one speaks */
    bool claims;                /* some say that they were there before a restart */
    struct ctl_head claimed;    /* the last of these */
    struct datagram kept[KEPT]; /* what processes sent at some time: copies of it may arrive late */
    unsigned sent;
    bool keyed; /* the processes and the switch share a key, strangers have another */
    struct ctl_tenant_key keys[2];
    struct datagram heard[KEPT]; /* keyed: what the switch sent at some time, for those who listen */
    unsigned answered;
};

static unsigned pick(struct world *w, unsigned n)
{
    return (unsigned)rng_below(&w->random, n);
}

static bool chance(struct world *w, unsigned percent)
{
    return pick(w, 100) < percent;
}

static void fly_once(struct world *w, int process, bool to_switch, const uint8_t *payload, size_t bytes)
{
    if (w->in_flight == MAX_FLYING)
        return;
    struct datagram *d = &w->flying[w->in_flight++];
    *d = (struct datagram){.due = w->now + 1 + pick(w, w->delay_ms + 1) * MS,
                           .process = process,
                           .to_switch = to_switch,
                           .life = w->processes[process].life,
                           .bytes = bytes};
    memcpy(d->payload, payload, bytes);
}

static void fly(struct world *w, int process, bool to_switch, const uint8_t *payload, size_t bytes)
{
    if (w->trace) {
        struct ctl_message m;
        ctl_parse(&m, payload, bytes);
        printf("%9.3f  %d %s %s serial %u epoch %08x\n", (double)w->now / 1e9, process,
               to_switch ? "->" : "<-", ctl_type_name(m.head.type), m.head.serial, m.head.epoch);
    }
    struct datagram *kept = to_switch ? &w->kept[w->sent++ % KEPT] : &w->heard[w->answered++ % KEPT];
    kept->process = process;
    kept->bytes = bytes;
    memcpy(kept->payload, payload, bytes);
    if (!chance(w, w->loss))
        fly_once(w, process, to_switch, payload, bytes);
    if (chance(w, w->doubled))
        fly_once(w, process, to_switch, payload, bytes);
}

/* The switch's effects */

static void effect_send(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct world *w = ctx;
    for (unsigned i = 0; i < w->ranks; i++)
        if (memcmp(&w->processes[i].endpoint, to, sizeof *to) == 0)
            fly(w, (int)i, false, payload, bytes);
}

static int take_number(struct world *w, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                       char text[CTL_TEXT_MAX])
{
    struct sml_terms t;
    CU_ASSERT_EQUAL(job->present, job->size);
    for (unsigned i = 0; i < NUMBERS; i++) {
        if (w->number_used[i])
            continue;
        w->number_used[i] = true;
        w->pools_open++;
        *number = (uint8_t)i;
        CU_ASSERT(sml_terms_parse(&t, terms));
        if (!job->resumed && t.slots > 64)
            t.slots = 64;
        sml_terms_build(terms, &t);
        return 0;
    }
    snprintf(text, CTL_TEXT_MAX, "all %u job numbers are taken", NUMBERS);
    return -EMFILE;
}

/* Half of the adapters take their time: then the answer comes in any order, or there is none, for the switch
 * or the job is gone by then. */
static int effect_prepare(void *ctx, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                          char text[CTL_TEXT_MAX])
{
    struct world *w = ctx;
    if (!w->slow)
        return take_number(w, job, terms, number, text);
    struct later *l = &w->later[w->asked++ % LATER_MAX];
    *l = (struct later){.due = w->now + pick(w, 3000) * MS, .preparation = job->preparation};
    l->answer.terms = *terms;
    l->answer.result =
        chance(w, 10) ? -ENOSPC : take_number(w, job, &l->answer.terms, &l->answer.number, l->answer.text);
    l->holds = l->answer.result == 0;
    return CTL_LATER;
}

static void give_back(struct world *w, struct later *l)
{
    if (l->holds) {
        w->number_used[l->answer.number] = false;
        w->pools_open--;
    }
    *l = (struct later){0};
}

static void answer_late(struct world *w)
{
    for (unsigned i = 0; i < LATER_MAX; i++) {
        struct later *at = &w->later[i];
        if (at->preparation == 0 || at->due > w->now)
            continue;
        const struct later l = *at;
        *at = (struct later){0};
        ctl_registry_prepared(w->registry, l.preparation, &l.answer, w->now);
    }
}

static void effect_release(void *ctx, const struct ctl_entry *job)
{
    struct world *w = ctx;
    for (unsigned i = 0; job->state == CTL_ENTRY_PREPARING && i < LATER_MAX; i++)
        if (w->later[i].preparation == job->preparation) {
            struct later l = w->later[i];
            give_back(w, &w->later[i]);
            if (chance(w, 50)) { /* it comes all the same */
                l.holds = false;
                w->later[i] = l;
            }
            return;
        }
    CU_ASSERT_EQUAL(job->state, CTL_ENTRY_RUNNING);
    CU_ASSERT(w->number_used[job->number]);
    w->number_used[job->number] = false;
    w->pools_open--;
}

static void effect_event(void *ctx, const struct ctl_entry *job, const struct ctl_event *event)
{
    struct world *w = ctx;
    if (w->trace)
        printf("%9.3f  job '%s' %08x (%s): %s\n", (double)w->now / 1e9, job->name, job->epoch,
               ctl_entry_state_name(job->state), event->text);
}

static uint64_t effect_random(void *ctx)
{
    struct world *w = ctx;
    return (uint64_t)pick(w, UINT32_MAX) << 32 | pick(w, UINT32_MAX);
}

static void start_switch(struct world *w)
{
    static const struct agg_protocol *const protocols[] = {&sml_protocol};
    struct ctl_registry_config cfg = {
        .protocols = protocols,
        .protocols_known = 1,
        .max_jobs = (uint16_t)w->max_jobs,
        .boot_id = ++w->boot_id,
        .lost_after_ns = 2 * SECOND,
        .library = w->keyed ? &toy_library : NULL,
        .key = w->keys,
        .keys = w->keyed ? 2 : 0,
        .actions = {.ctx = w,
                    .send = effect_send,
                    .prepare = effect_prepare,
                    .release = effect_release,
                    .random = effect_random,
                    .event = effect_event},
    };
    if (w->trace)
        printf("%9.3f  switch starts, boot id %" PRIu64 "\n", (double)w->now / 1e9, cfg.boot_id);
    w->registry = ctl_registry_init(malloc(ctl_registry_footprint(&cfg)), &cfg);
    w->switch_up = true;
    w->next_tick = w->now;
    w->pools_open = 0;
    memset(w->number_used, 0, sizeof w->number_used);
    memset(w->later, 0, sizeof w->later);
}

static void kill_switch(struct world *w)
{
    free(w->registry);
    w->registry = NULL;
    w->switch_up = false;
}

static void start_process(struct world *w, int i)
{
    struct process *p = &w->processes[i];
    p->alive = true;
    p->life++;
    p->generation = 0;
    bool same_port = chance(w, 30);
    if (!same_port || p->endpoint.udp_port == 0)
        p->endpoint.udp_port = (uint16_t)(1000 + 10 * p->life);
    p->endpoint.ip = (uint32_t)(i + 1);
    p->credentials =
        (struct ctl_credentials){.library = &toy_library,
                                 .key = w->keys[0].key,
                                 .address = {.ip = p->endpoint.ip, .udp_port = p->endpoint.udp_port}};
    struct ctl_session_config cfg = {
        .rank = (uint16_t)i,
        .size = (uint16_t)w->ranks,
        .incarnation = ((uint64_t)w->random << 8 | (unsigned)i) | UINT64_C(1) << 63,
        .join =
            {
                .data_port = (uint16_t)(p->endpoint.udp_port + 1),
            },
        .worker = &sml_worker,
        .credentials = w->keyed ? &p->credentials : NULL,
        .join_deadline_ns = 20 * SECOND,
    };
    const struct sml_terms wish = {.format = XFER_FORMAT_TYPED,
                                   .chunk_bytes = (uint16_t)(1024 + 4 * i),
                                   .slots = (uint16_t)(32 << (i % 3))};
    sml_terms_build(&cfg.join.terms, &wish);
    strcpy(cfg.join.name, "train");
    ctl_session_init(&p->session, &cfg, w->now);
    if (w->trace)
        printf("%9.3f  %d starts\n", (double)w->now / 1e9, i);
}

static void kill_process(struct world *w, int i)
{
    if (w->trace && w->processes[i].alive)
        printf("%9.3f  %d is killed\n", (double)w->now / 1e9, i);
    w->processes[i].alive = false;
    w->processes[i].life++;
}

/* What the switch shows this address. */
static uint64_t boot_id_for(const struct world *w, const struct ctl_endpoint *at)
{
    const struct ctl_guard guard = {.library = w->keyed ? &toy_library : NULL};
    return ctl_guard_boot_id(&guard, w->boot_id, at);
}

/* Ranks that are READY in one epoch have the same terms, always. */
static void check_terms(const struct world *w)
{
    for (unsigned i = 0; i < w->ranks; i++)
        for (unsigned k = i + 1; k < w->ranks; k++) {
            const struct ctl_session *a = &w->processes[i].session, *b = &w->processes[k].session;
            if (a->state != CTL_SESSION_READY || b->state != CTL_SESSION_READY || a->epoch != b->epoch)
                continue;
            CU_ASSERT(w->keyed || a->boot_id == b->boot_id);
            CU_ASSERT(same_granted(&a->ready, &b->ready));
            CU_ASSERT_EQUAL(memcmp(a->secret, b->secret, sizeof a->secret), 0);
        }
}

static void deliver(struct world *w)
{
    for (unsigned n = 0; n < w->in_flight;) {
        if (w->flying[n].due > w->now) {
            n++;
            continue;
        }
        struct datagram d = w->flying[n];
        w->flying[n] = w->flying[--w->in_flight];
        struct process *p = &w->processes[d.process];
        if (d.to_switch && w->switch_up) {
            /* From the endpoint that it had: a later life may have another. */
            ctl_registry_receive(w->registry, &p->endpoint, d.payload, d.bytes, w->now);
        } else if (!d.to_switch && p->alive && p->life == d.life) {
            ctl_session_receive(&p->session, d.payload, d.bytes, w->now);
            check_terms(w);
        }
    }
}

static void poll_processes(struct world *w)
{
    for (unsigned i = 0; i < w->ranks; i++) {
        struct process *p = &w->processes[i];
        uint8_t out[CTL_MESSAGE_MAX];
        size_t bytes;
        while (p->alive && (bytes = ctl_session_poll(&p->session, w->now, out)) > 0)
            fly(w, (int)i, true, out, bytes);
        if (p->alive && p->session.generation != p->generation) {
            CU_ASSERT_EQUAL(p->session.generation, p->generation + 1);
            p->generation = p->session.generation;
        }
    }
}

/* Says that it was there before the restart, or waited then, in a job of several ranks; and once it sits
 * somewhere, leaves or aborts. From its one address, which leaves places to others. */
static void claim(struct world *w, struct ctl_endpoint *from, struct ctl_message *m)
{
    *from = (struct ctl_endpoint){.ip = 90, .udp_port = 5000};
    if (m->head.type == CTL_JOIN && m->head.size > 1) {
        struct sml_terms wish;
        sml_terms_parse(&wish, &m->join.terms);
        wish.resumed = m->join.resume = chance(w, 50);
        sml_terms_build(&m->join.terms, &wish);
        m->join.waited = !m->join.resume;
        m->join.roster = pick(w, UINT32_MAX);
        w->claimed = m->head;
    } else if (m->head.type != CTL_HEARTBEAT && w->claimed.incarnation != 0) {
        w->claimed.type = m->head.type;
        w->claimed.serial++;
        m->head = w->claimed;
    }
}

/* Somebody who is in no job: joins one of the name, under its terms or others; claims to be in one that it
 * does not know; or a copy of what a member sent, as late as can be, whoever has its endpoint now. */
static size_t stranger_says(struct world *w, struct ctl_endpoint *from, uint8_t out[CTL_MESSAGE_MAX])
{
    static const uint8_t types[] = {CTL_JOIN, CTL_JOIN, CTL_JOIN, CTL_HEARTBEAT, CTL_LEAVE, CTL_ABORT};
    const struct ctl_entry *job = ctl_registry_entry(w->registry, pick(w, w->max_jobs));
    bool same_terms = chance(w, 50);
    if (w->sent > 0 && chance(w, 20)) {
        const struct datagram *d = &w->kept[pick(w, w->sent < KEPT ? w->sent : KEPT)];
        *from = w->processes[d->process].endpoint;
        memcpy(out, d->payload, d->bytes);
        return d->bytes;
    }
    *from = (struct ctl_endpoint){.ip = 90 + pick(w, 3), .udp_port = (uint16_t)(5000 + pick(w, 10))};
    if (chance(w, 20)) /* as one that had this port before */
        *from = w->processes[pick(w, w->ranks)].endpoint;
    struct ctl_message m;
    memset(&m, 0, sizeof m);
    m.head = (struct ctl_head){.type = types[pick(w, sizeof types)],
                               .version = CTL_VERSION,
                               .boot_id = boot_id_for(w, from),
                               .incarnation = (uint64_t)pick(w, UINT32_MAX) + 1,
                               .epoch = job->epoch,
                               .size = (uint16_t)(same_terms ? w->ranks : 1 + pick(w, MAX_RANKS)),
                               .serial = 1};
    m.head.rank = (uint16_t)pick(w, m.head.size);
    if (m.head.type == CTL_JOIN) {
        const struct sml_terms wish = {.format = XFER_FORMAT_TYPED,
                                       .mode = same_terms ? 0 : pick(w, 2),
                                       .chunk_bytes = 1024,
                                       .slots = 64};
        m.join.data_port = from->udp_port;
        sml_terms_build(&m.join.terms, &wish);
        strcpy(m.join.name, chance(w, 80) ? "train" : "squat");
        if (chance(w, 20))
            snprintf(m.join.name, sizeof m.join.name, "squat %u", pick(w, 100));
    }
    if (w->claims && chance(w, 30))
        claim(w, from, &m);
    return ctl_build(out, &m);
}

static void let_stranger_speak(struct world *w)
{
    uint8_t out[CTL_MESSAGE_MAX];
    struct ctl_endpoint from;
    struct ctl_message m;
    size_t bytes = stranger_says(w, &from, out);
    ctl_parse(&m, out, bytes);
    if (w->trace)
        printf("%9.3f  stranger -> %s rank %u of %u\n", (double)w->now / 1e9, ctl_type_name(m.head.type),
               m.head.rank, m.head.size);
    ctl_registry_receive(w->registry, &from, out, bytes, w->now);
}

/* Those who see all frames and can send any, but lack the key. */

static struct datagram *pick_recorded(struct world *w, bool from_switch)
{
    unsigned n = from_switch ? w->answered : w->sent;
    return n == 0 ? NULL : &(from_switch ? w->heard : w->kept)[pick(w, n < KEPT ? n : KEPT)];
}

/* A message in the name of a process or of the switch: without a seal, or sealed with a key of another tenant
 * whom the switch knows. */
static size_t make_up(struct world *w, int process, bool from_switch, uint8_t out[CTL_MESSAGE_MAX])
{
    static const uint8_t from_workers[] = {CTL_JOIN, CTL_HEARTBEAT, CTL_LEAVE, CTL_ABORT},
                         from_switches[] = {CTL_PENDING, CTL_READY,   CTL_REFUSED, CTL_ALIVE,
                                            CTL_LEFT,    CTL_ABORTED, CTL_UNKNOWN};
    const struct process *p = &w->processes[process];
    const struct ctl_session *s = &p->session;
    struct ctl_message m;
    memset(&m, 0, sizeof m);
    m.head = (struct ctl_head){.type = from_switch ? from_switches[pick(w, sizeof from_switches)]
                                                   : from_workers[pick(w, sizeof from_workers)],
                               .version = CTL_VERSION,
                               .sealed = chance(w, 50),
                               .boot_id = chance(w, 80) ? boot_id_for(w, &p->endpoint) : pick(w, 100) + 1,
                               .incarnation = chance(w, 80) ? s->cfg.incarnation : pick(w, 100) + 1,
                               .epoch = s->epoch,
                               .rank = s->cfg.rank,
                               .size = s->cfg.size,
                               .serial = s->serial + pick(w, 10)};
    if (m.head.type == CTL_JOIN) {
        m.join = s->cfg.join;
        m.join.resume = chance(w, 50);
        m.join.roster = s->ready.roster;
    } else if (m.head.type == CTL_READY) {
        m.ready = s->ready;
    }
    size_t bytes = ctl_build(out, &m);
    if (m.head.sealed)
        bytes =
            ctl_seal_append(out, bytes, &toy_library, &w->keys[1].key, &p->credentials.address, s->challenge);
    return bytes;
}

static void forge(struct world *w)
{
    bool from_switch = chance(w, 50);
    struct datagram *d = pick_recorded(w, from_switch);
    int process = (int)pick(w, w->ranks);
    struct process *p = &w->processes[process];
    struct ctl_endpoint elsewhere = {.ip = 90, .udp_port = 5000};
    uint8_t out[CTL_MESSAGE_MAX];
    size_t bytes;
    if (d && chance(w, 60)) {
        bytes = d->bytes;
        memcpy(out, d->payload, bytes);
        if (chance(w, 50)) /* a copy, or nearly */
            out[pick(w, (unsigned)bytes)] ^= (uint8_t)(1 << pick(w, 8));
        if (chance(w, 10))
            bytes = pick(w, (unsigned)bytes);
    } else {
        bytes = make_up(w, process, from_switch, out);
    }
    if (!from_switch && w->switch_up)
        ctl_registry_receive(w->registry, chance(w, 80) ? &p->endpoint : &elsewhere, out, bytes, w->now);
    else if (from_switch && p->alive)
        ctl_session_receive(&p->session, out, bytes, w->now);
}

static void run(struct world *w, uint64_t ns)
{
    for (uint64_t end = w->now + ns; w->now < end; w->now += 10 * MS) {
        deliver(w);
        poll_processes(w);
        if (w->keyed && chance(w, w->strangers))
            forge(w);
        else if (w->switch_up && w->strangers > 0 && chance(w, w->strangers))
            let_stranger_speak(w);
        if (w->switch_up)
            answer_late(w);
        if (w->switch_up && w->now >= w->next_tick) {
            ctl_registry_tick(w->registry, w->now);
            w->next_tick = w->now + 200 * MS;
        }
    }
}

static void fault(struct world *w)
{
    int i = (int)pick(w, w->ranks);
    struct process *p = &w->processes[i];
    struct ctl_failure why = {.reason = CTL_APPLICATION, .rank = (uint16_t)i, .text = "no more"};
    switch (pick(w, 8)) {
    case 0:
    case 1:
        kill_process(w, i);
        break;
    case 2:
    case 3:
        if (!p->alive)
            start_process(w, i);
        break;
    case 4:
        kill_switch(w);
        run(w, pick(w, 3) * SECOND);
        start_switch(w);
        break;
    case 5:
        if (p->alive)
            ctl_session_leave(&p->session, w->now);
        break;
    case 6:
        if (p->alive && chance(w, 30))
            ctl_session_abort(&p->session, &why, w->now);
        break;
    default:
        break;
    }
}

/* What a program does with a session that has failed: it closes it. */
static void close_failed(struct world *w)
{
    for (unsigned i = 0; i < w->ranks; i++)
        if (w->processes[i].alive && w->processes[i].session.state == CTL_SESSION_FAILED)
            ctl_session_leave(&w->processes[i].session, w->now);
}

/* All READY in one running job; or nobody is READY and no job runs. A rank that left may be gone while others
 * are READY: nobody waits for it here. */
static void check_agreement(const struct world *w)
{
    unsigned running = 0;
    const struct ctl_entry *job = NULL;
    for (unsigned i = 0; i < w->max_jobs; i++)
        if (ctl_registry_entry(w->registry, i)->state == CTL_ENTRY_RUNNING) {
            job = ctl_registry_entry(w->registry, i);
            running++;
        }
    CU_ASSERT(running <= 1);
    CU_ASSERT_EQUAL(w->pools_open, running);
    for (unsigned i = 0; i < w->ranks; i++) {
        const struct process *p = &w->processes[i];
        if (!p->alive)
            continue;
        switch (p->session.state) {
        case CTL_SESSION_CLOSED:
            break;
        case CTL_SESSION_READY:
            CU_ASSERT_PTR_NOT_NULL(job);
            if (job) {
                CU_ASSERT_EQUAL(p->session.epoch, job->epoch);
                CU_ASSERT_EQUAL(job->members[i].state, CTL_MEMBER_JOINED);
                CU_ASSERT_EQUAL(p->session.ready.job, job->number);
                CU_ASSERT_EQUAL(memcmp(&p->session.ready.terms, &job->terms, sizeof job->terms), 0);
            }
            break;
        default:
            CU_FAIL("a session is stuck");
            if (w->trace)
                printf("process %u is %s\n", i, ctl_session_state_name(p->session.state));
        }
    }
    for (unsigned i = 0; job && i < w->ranks; i++)
        if (job->members[i].state == CTL_MEMBER_JOINED)
            CU_ASSERT(w->processes[i].alive && w->processes[i].session.state == CTL_SESSION_READY);
}

static void live_through(uint64_t seed, bool trace)
{
    struct world w = {
        .random = seed * 2654435761u + 12345, .trace = trace, .now = SECOND, .boot_id = seed * 1000};
    pick(&w, 2);
    w.max_jobs = JOBS_MAX;
    w.ranks = 1 + pick(&w, MAX_RANKS);
    w.loss = pick(&w, 40);
    w.doubled = pick(&w, 30);
    w.delay_ms = pick(&w, 2) ? pick(&w, 400) : pick(&w, 10);
    w.strangers = chance(&w, 50) ? pick(&w, 30) : 0;
    w.slow = seed % 2;
    start_switch(&w);
    for (unsigned i = 0; i < w.ranks; i++)
        start_process(&w, (int)i);
    for (unsigned n = pick(&w, 12); n > 0; n--) {
        run(&w, pick(&w, 3000) * MS);
        fault(&w);
        if (chance(&w, 50))
            close_failed(&w);
    }
    w.loss = w.doubled = w.strangers = 0;
    run(&w, 45 * SECOND);
    close_failed(&w);
    run(&w, 10 * SECOND);
    check_agreement(&w);
    kill_switch(&w);
}

static bool all_are_ready(const struct world *w)
{
    for (unsigned i = 0; i < w->ranks; i++)
        if (w->processes[i].session.state != CTL_SESSION_READY ||
            w->processes[i].session.boot_id != boot_id_for(w, &w->processes[i].endpoint))
            return false;
    return true;
}

/* A job that runs, a switch that restarts, and strangers all the time. */
static void stand_strangers(uint64_t seed, bool trace)
{
    struct world w = {
        .random = seed * 2654435761u + 54321, .trace = trace, .now = SECOND, .boot_id = seed * 1000};
    pick(&w, 2);
    w.ranks = 1 + pick(&w, MAX_RANKS);
    w.max_jobs = 1 + pick(&w, JOBS_MAX);
    w.loss = pick(&w, 2) ? pick(&w, 10) : 0;
    w.doubled = pick(&w, 10);
    w.delay_ms = pick(&w, 50);
    start_switch(&w);
    for (unsigned i = 0; i < w.ranks; i++)
        start_process(&w, (int)i);
    run(&w, 10 * SECOND);
    CU_ASSERT(all_are_ready(&w));
    w.strangers = 1 + pick(&w, 60);
    w.claims = w.max_jobs >= 4; /* fewer are not shared by address */
    for (unsigned n = 1 + pick(&w, 3); n > 0; n--) {
        run(&w, pick(&w, 3000) * MS);
        kill_switch(&w);
        run(&w, pick(&w, 1000) * MS);
        start_switch(&w);
        run(&w, 8 * SECOND);
        CU_ASSERT(all_are_ready(&w));
    }
    w.loss = w.doubled = w.strangers = 0;
    run(&w, 10 * SECOND);
    check_agreement(&w);
    CU_ASSERT(all_are_ready(&w));
    kill_switch(&w);
}

static unsigned jobs_of_the_key(const struct world *w)
{
    unsigned n = 0;
    for (unsigned i = 0; i < w->max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(w->registry, i);
        n += job->state != CTL_ENTRY_FREE && job->keyed && job->tenant == w->keys[0].tenant;
    }
    return n;
}

/* Nothing that they ever sent makes a job again. */
static void replay_all(struct world *w)
{
    for (unsigned i = 0; i < 4 * KEPT; i++) {
        const struct datagram *d = &w->kept[i % (w->sent < KEPT ? w->sent : KEPT)];
        ctl_registry_receive(w->registry, &w->processes[d->process].endpoint, d->payload, d->bytes, w->now);
        CU_ASSERT_EQUAL(jobs_of_the_key(w), 0);
    }
}

static void begin_with_keys(struct world *w)
{
    pick(w, 2);
    w->keyed = true;
    w->keys[0] = (struct ctl_tenant_key){.key = toy_key(1), .tenant = 1};
    w->keys[1] = (struct ctl_tenant_key){.key = toy_key(2), .tenant = 2};
    w->ranks = 1 + pick(w, MAX_RANKS);
    w->max_jobs = 4 + pick(w, JOBS_MAX - 4);
    w->loss = pick(w, 2) ? pick(w, 10) : 0;
    w->doubled = pick(w, 10);
    w->delay_ms = pick(w, 50);
    w->strangers = 1 + pick(w, 60);
    start_switch(w);
    for (unsigned i = 0; i < w->ranks; i++)
        start_process(w, (int)i);
}

/* Ranks with a key form a job, which runs, while its switch restarts, and somebody without the key says what
 * he likes, with all that they and the switch have said: no rank notices. */
static void stand_forgers(uint64_t seed, bool trace)
{
    struct world w = {
        .random = seed * 2654435761u + 999, .trace = trace, .now = SECOND, .boot_id = seed * 1000};
    begin_with_keys(&w);
    run(&w, 12 * SECOND);
    CU_ASSERT(all_are_ready(&w));
    for (unsigned n = pick(&w, 3); n > 0; n--) {
        kill_switch(&w);
        run(&w, pick(&w, 1000) * MS);
        start_switch(&w);
        run(&w, 8 * SECOND);
        CU_ASSERT(all_are_ready(&w));
    }
    for (unsigned i = 0; i < w.ranks; i++)
        ctl_session_leave(&w.processes[i].session, w.now);
    run(&w, 10 * SECOND);
    for (unsigned i = 0; i < w.ranks; i++)
        CU_ASSERT_EQUAL(w.processes[i].session.state, CTL_SESSION_CLOSED);
    replay_all(&w);
    kill_switch(&w);
}

static const char *only; /* one life of these, of one seed; NULL: all */
static uint64_t replayed;

static void try_seeds(void life(uint64_t seed, bool trace), const char *name, unsigned seeds)
{
    if (only != NULL) {
        if (strcmp(only, name) == 0)
            life(replayed, true);
        return;
    }
    for (uint64_t seed = 1; seed <= unit_cases(seeds); seed++) {
        unsigned before = CU_get_number_of_failures();
        life(seed, false);
        if (CU_get_number_of_failures() != before) {
            printf("\n    failed with seed %" PRIu64 ": test_control %s %" PRIu64 " shows it\n", seed, name,
                   seed);
            return;
        }
    }
}

TEST(agreement)
{
    try_seeds(live_through, "faults", 2000);
}

TEST(strangers)
{
    try_seeds(stand_strangers, "strangers", 500);
}

TEST(forgers)
{
    try_seeds(stand_forgers, "forgers", 300);
}

/* With arguments: one seed of one of them, and what happens. */
int main(int argc, char **argv)
{
    if (argc == 3) {
        only = argv[1];
        replayed = strtoull(argv[2], NULL, 0);
    }
    return unit_main();
}
