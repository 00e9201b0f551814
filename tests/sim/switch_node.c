#include "switch_node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "keeping.h"
#include "memory.h"
#include "paper_protocol.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "toy_keys.h"

struct switch_job {
    struct agg_job *job;
    struct keeping keeping;
    uint16_t slots;
    bool unsummed; /* its packets have a checksum of their own in the place of UDP's */
};

/* Hosts' addresses are their numbers. */
static struct ctl_endpoint endpoint_of(unsigned host, uint16_t udp_port)
{
    return (struct ctl_endpoint){.mac = {2, 0, 0, 0, (uint8_t)(host >> 8), (uint8_t)host},
                                 .port = (uint8_t)host,
                                 .ip = host + 1,
                                 .udp_port = udp_port};
}

static unsigned host_of(const struct ctl_endpoint *e)
{
    return e->ip - 1;
}

/* The registry's actions */

static void send_message(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct switch_node *s = ctx;

    star_send_down(s->star, host_of(to), to->udp_port, CTL_PORT, payload, bytes, false);
}

/* The free number that was freed longest ago. */
static int free_number(const struct switch_node *s, const struct ctl_entry *job)
{
    int best = -1;

    for (int i = 0; i < AGG_JOBS; i++)
        if (s->jobs[i] == NULL && !ctl_entry_had_number(job, (uint8_t)i) &&
            (best < 0 || s->freed[i] < s->freed[best]))
            best = i;
    return best;
}

static int prepare(void *ctx, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX])
{
    struct switch_node *s = ctx;
    struct sml_terms t;
    int n = free_number(s, job);

    sml_terms_parse(&t, terms);
    while (!t.resumed && t.slots > 2 && t.slots > s->cfg.slots_max - s->slots_used)
        t.slots /= 2;
    if (n < 0 || t.slots > s->cfg.slots_max - s->slots_used) {
        snprintf(text, CTL_TEXT_MAX, "%u of %u slots are in use", s->slots_used, s->cfg.slots_max);
        return n < 0 ? -EMFILE : -ENOSPC;
    }
    sml_terms_build(terms, &t);
    struct switch_job *j = memory_of(sizeof(*j));
    struct agg_footprint f;
    j->job = carry_open_joined(&s->running, job, (uint8_t)n, terms, &toy_library, &f);
    if (j->job == NULL)
        sim_die("the terms of a job are out of range");
    keeping_init(&j->keeping, t.slots, &s->broken);
    j->slots = t.slots;
    j->unsummed = f.checked;
    s->jobs[n] = j;
    s->slots_used += t.slots;
    *number = (uint8_t)n;
    sim_trace(s->sim, "switch", "job %s: pool %d of %u slots, first tag %u%s", job->name, n, t.slots,
              t.first_tag, t.resumed ? ", resumed" : "");
    return 0;
}

static void free_job(struct switch_node *s, unsigned number)
{
    struct switch_job *j = s->jobs[number];

    s->slots_used -= j->slots;
    s->jobs[number] = NULL;
    s->freed[number] = ++s->frees;
    keeping_fini(&j->keeping, j->job);
    carry_close(&s->running, j->job);
    free(j);
}

static void release(void *ctx, const struct ctl_entry *job)
{
    struct switch_node *s = ctx;

    sim_trace(s->sim, "switch", "job %s: pool %u closed", job->name, job->number);
    free_job(s, job->number);
}

static void event(void *ctx, const struct ctl_entry *job, const char *what)
{
    struct switch_node *s = ctx;

    sim_trace(s->sim, "switch", "job %s, epoch %u: %s", job->name, job->epoch, what);
}

static uint64_t next_random(void *ctx)
{
    struct switch_node *s = ctx;

    return rng_next(&s->rng);
}

/* Life and death */

static void tick(void *ctx, uint64_t boot)
{
    struct switch_node *s = ctx;

    if (boot != s->boots || !switch_is_up(s))
        return;
    ctl_registry_tick(s->registry, s->sim->now);
    sim_at(s->sim, s->sim->now + s->cfg.lost_after_ns / 10, tick, s, boot);
}

void switch_init(struct switch_node *s, struct sim *sim, struct star *star, uint64_t *rng,
                 const struct switch_config *cfg)
{
    *s = (struct switch_node){.cfg = *cfg, .sim = sim, .star = star, .rng = rng_fork(rng)};
    s->protocol = cfg->paper ? paper_protocol() : sml_protocol;
    s->protocols = &s->protocol;
    s->keeps = rng_fork(&s->rng);
}

void switch_start(struct switch_node *s)
{
    struct ctl_registry_config cfg = {
        .protocols = &s->protocols,
        .protocols_known = 1,
        .max_jobs = s->cfg.max_jobs,
        .boot_id = rng_next(&s->rng) | 1,
        .lost_after_ns = s->cfg.lost_after_ns,
        .actions = {s, send_message, prepare, release, next_random, event},
    };

    switch_kill(s);
    s->boot_id = cfg.boot_id;
    s->boots++;
    s->registry = ctl_registry_init(memory_of(ctl_registry_footprint(&cfg)), &cfg);
    sim_trace(s->sim, "switch", "starts");
    tick(s, s->boots);
}

void switch_kill(struct switch_node *s)
{
    if (!switch_is_up(s))
        return;
    sim_trace(s->sim, "switch", "is killed");
    for (unsigned i = 0; i < AGG_JOBS; i++)
        if (s->jobs[i] != NULL)
            free_job(s, i);
    memset(s->freed, 0, sizeof(s->freed));
    s->frees = 0;
    free(s->registry);
    s->registry = NULL;
    s->boot_id = 0;
}

unsigned switch_jobs(const struct switch_node *s)
{
    unsigned n = 0;

    for (unsigned i = 0; switch_is_up(s) && i < s->cfg.max_jobs; i++)
        n += ctl_registry_entry(s->registry, i)->state != CTL_ENTRY_FREE;
    return n;
}

/* Data packets */

/* What has come, by the port that its answers come from. */
struct arrival {
    struct switch_node *s;
    const struct frame *f;
};

/* A reference to the buffer that it lies in, or a copy. */
static void send_data(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                      const struct carried *what)
{
    const struct arrival *a = ctx;
    const bool unsummed = a->s->jobs[job->number]->unsummed;
    const unsigned host = what->member->ip - 1;
    const uint16_t port = ntohs(what->member->port);

    (void)answered;
    if (what->buffer == NULL || !a->s->cfg.refer) {
        star_send_down(a->s->star, host, port, a->f->switch_port, what->payload, what->bytes, unsummed);
        return;
    }
    a->s->referred++;
    link_send(&a->s->star->down[host],
              frame_around(host, a->f->switch_port, port, buffer_hold(what->buffer), unsummed));
}

static void reject(struct switch_node *s, const struct frame *f, const struct agg_packet *p)
{
    uint8_t answer[AGG_ANSWER_BYTES];
    size_t bytes = s->protocol.refuse(p, s->boot_id, answer);

    if (bytes > 0)
        star_send_down(s->star, f->host, f->host_port, f->switch_port, answer, bytes, false);
}

/* Nobody else has it, and the job has frames left to keep. */
static bool may_keep(struct switch_node *s, const struct frame *f)
{
    return f->buffer->holders == 1 && rng_chance(&s->keeps, s->cfg.keep_ppm);
}

static void count(struct switch_node *s, const struct frame *f, const struct agg_verdict *v)
{
    s->kept += v->kept;
    if (f->damaged) {
        s->damaged++;
        s->deceived += v->action != AGG_DROP;
    } else {
        s->reasons[v->reason]++;
    }
}

static void receive_data(struct switch_node *s, const struct frame *f)
{
    const struct ctl_endpoint from = endpoint_of(f->host, 0);
    struct agg_packet p = {
        .payload = f->buffer->at, .bytes = f->bytes, .from = carry_sender(from.mac, from.ip, f->host_port)};
    struct arrival arrival = {s, f};
    struct agg_verdict v;

    s->protocol.locate(&s->running, &p, 1);
    if (p.slot != NULL && may_keep(s, f))
        p.buffer = f->buffer;
    s->protocol.apply(&p, 1, s->sim->now, &v);
    count(s, f, &v);
    if (s->protocol.reason[v.reason].strange) {
        reject(s, f, &p);
        return;
    }
    sim_trace(s->sim, "switch", "job %u, rank %u: %s", p.job->number, p.rank,
              s->protocol.reason[v.reason].name);
    if (p.slot != NULL)
        keeping_settle(&s->jobs[p.job->number]->keeping, &p, &v);
    carry_out(p.job, &p, &v, send_data, &arrival);
}

void switch_receive(void *ctx, struct frame *f)
{
    struct switch_node *s = ctx;

    if (frame_is_dropped(f)) {
        s->damaged++;
    } else if (switch_is_up(s) && f->switch_port == CTL_PORT) {
        struct ctl_endpoint from = endpoint_of(f->host, f->host_port);
        s->malformed +=
            ctl_registry_receive(s->registry, &from, f->payload, f->bytes, s->sim->now) != CTL_PARSED;
    } else if (switch_is_up(s)) {
        receive_data(s, f);
    }
    frame_free(f);
}
