#include "switch_node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "chip_protocol.h"
#include "keeping.h"
#include "memory.h"
#include "paper_protocol.h"
#include "protocol/heard.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "toy_keys.h"
#include "wire/roce.h"

enum { STATIC_NUMBER = AGG_JOBS - 1 /* of the static job */ };

struct switch_job {
    struct agg_job *job;
    struct nic_end *nic; /* by contributor */
    struct keeping keeping;
    uint16_t slots;
    int tenant;    /* whose it is */
    bool unsummed; /* its packets have a checksum of their own in the place of UDP's */
};

static unsigned host_of(const struct ctl_endpoint *e)
{
    return e->ip - 1;
}

/* The registry's actions */

/* Whoever is refused for want of room is told how to mend that. */
static void check_refusal(struct switch_node *s, const uint8_t *payload, size_t bytes)
{
    struct ctl_message m;

    if (ctl_parse(&m, payload, bytes) != CTL_PARSED ||
        (m.head.type != CTL_REFUSED && m.head.type != CTL_ABORTED) ||
        (m.failure.reason != CTL_NO_SLOTS && m.failure.reason != CTL_NO_JOBS))
        return;
    s->refused++;
    if (!tenancy_names_key(m.failure.text))
        s->broken = "is refused without a word on which key would lift the bound";
}

static void send_message(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct switch_node *s = ctx;

    check_refusal(s, payload, bytes);
    if (host_of(to) >= s->star->hosts)
        return; /* to an address of nobody's */
    star_send_down(s->star, host_of(to), to->udp_port, CTL_PORT, payload, bytes, false);
}

static struct switch_job *job_at(const struct switch_node *s, unsigned number)
{
    return s->jobs.job[number];
}

static int tenant_of(void *ctx, const struct ctl_endpoint *from, int key, const char *name,
                     char text[CTL_TEXT_MAX])
{
    const struct switch_node *s = ctx;

    return tenancy_of(&s->cfg.tenancy, host_of(from), key, name, text);
}

static void note_slots(struct switch_node *s, int tenant, int slots)
{
    const struct tenant *t = &s->cfg.tenancy.tenant[tenant];

    s->slots.used += (unsigned)slots;
    s->slots.of_tenant[tenant] += (unsigned)slots;
    if (t->slots != 0 && s->slots.of_tenant[tenant] > t->slots)
        s->broken = "is of a tenant that has more slots than its quota";
}

static int prepare(void *ctx, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX])
{
    struct switch_node *s = ctx;
    struct sml_terms t;
    int n = numbered_jobs_free_number(&s->jobs, STATIC_NUMBER, job);

    sml_terms_parse(&t, terms);
    while (!t.resumed && t.slots > 2 &&
           !tenancy_has_room(&s->cfg.tenancy, &s->slots, job->tenant, t.slots, text))
        t.slots /= 2;
    if (n < 0 || !tenancy_has_room(&s->cfg.tenancy, &s->slots, job->tenant, t.slots, text))
        return n < 0 ? -EMFILE : -ENOSPC;
    sml_terms_build(terms, &t);
    struct switch_job *j = memory_of(sizeof(*j));
    struct agg_footprint f;
    j->job = carry_open_joined(&s->running, job, (uint8_t)n, terms, &toy_library, &f);
    if (j->job == NULL)
        sim_die("the terms of a job are out of range");
    j->nic = nic_ends(job);
    keeping_init(&j->keeping, t.slots, &s->broken);
    j->slots = t.slots;
    j->tenant = job->tenant;
    j->unsummed = f.checked;
    s->jobs.job[n] = j;
    note_slots(s, j->tenant, j->slots);
    busy_reweigh(&s->busy);
    *number = (uint8_t)n;
    sim_trace(s->sim, "switch", "job %s: pool %d of %u slots, first tag %u%s", job->name, n, t.slots,
              t.first_tag, t.resumed ? ", resumed" : "");
    return 0;
}

static void free_job(void *ctx, unsigned number)
{
    struct switch_node *s = ctx;
    struct switch_job *j = numbered_jobs_take_out(&s->jobs, number);

    note_slots(s, j->tenant, -(int)j->slots);
    busy_reweigh(&s->busy);
    keeping_fini(&j->keeping, j->job);
    carry_close(&s->running, j->job);
    free(j->nic);
    free(j);
}

static void release(void *ctx, const struct ctl_entry *job)
{
    struct switch_node *s = ctx;

    sim_trace(s->sim, "switch", "job %s: pool %u closed", job->name, job->number);
    free_job(s, job->number);
}

static void event(void *ctx, const struct ctl_entry *job, const struct ctl_event *event)
{
    struct switch_node *s = ctx;

    sim_trace(s->sim, "switch", "job %s, epoch %u: %s", job->name, job->epoch, event->text);
    if (job->resumed && job->roster == SWITCH_NOBODYS_ROSTER)
        s->broken = "is resumed by somebody who was not in it";
}

static uint64_t next_random(void *ctx)
{
    struct switch_node *s = ctx;

    return rng_next(&s->rng);
}

static bool heard(void *ctx, const struct ctl_entry *job, unsigned rank)
{
    const struct switch_node *s = ctx;
    const struct ctl_member *m = &job->members[rank];
    const struct agg_sender at = carry_sender(m->endpoint.mac, m->endpoint.ip, m->data_port);

    return agg_heard_member(job_at(s, job->number)->job, &at);
}

/* As swagg/aggregate's jobs_weight and share_out: a tenant's weight is divided among its jobs. */
static uint32_t weight_of(const struct switch_node *s, int tenant)
{
    const uint32_t weight = tenant < (int)s->cfg.tenancy.tenants ? s->cfg.tenancy.tenant[tenant].weight : 1;
    unsigned sharing = 0;

    for (unsigned i = 0; i < STATIC_NUMBER; i++)
        sharing += job_at(s, i) != NULL && job_at(s, i)->tenant == tenant;
    return weight * (1u << 12) / (sharing > 0 ? sharing : 1);
}

static uint32_t quantum(void *ctx, unsigned flow)
{
    const struct switch_node *s = ctx;
    uint32_t most = 1u << 12; /* a static job's, which is nobody's */
    const uint32_t own = job_at(s, flow) != NULL ? weight_of(s, job_at(s, flow)->tenant) : most;

    for (unsigned i = 0; i < s->cfg.tenancy.tenants; i++) {
        const uint32_t weight = weight_of(s, (int)i);
        most = weight > most ? weight : most;
    }
    return 1 + (uint32_t)((uint64_t)BUSY_TURN_BYTES * own / most);
}

/* Life and death */

static void serve(void *ctx, struct frame *f);
static void handle_message(void *ctx, struct frame *f);

static void list_members(void *ctx, struct ctl_known *to)
{
    const struct switch_node *s = ctx;

    ctl_registry_list_members(s->registry, to);
}

static void tick(void *ctx, uint64_t boot)
{
    struct switch_node *s = ctx;

    if (boot != s->boots || !switch_is_up(s))
        return;
    ctl_registry_tick(s->registry, s->sim->now);
    desk_list_members(&s->desk);
    if (static_job_tick(&s->fixed, s->sim->now))
        sim_trace(s->sim, "switch", "the static job starts over");
    sim_at(s->sim, s->sim->now + s->cfg.lost_after_ns / 10, tick, s, boot);
}

static void tick_jobs(void *ctx, uint64_t boot);

void switch_init(struct switch_node *s, struct sim *sim, struct star *star, uint64_t *rng,
                 const struct switch_config *cfg)
{
    *s = (struct switch_node){.cfg = *cfg, .sim = sim, .star = star, .rng = rng_fork(rng)};
    s->protocol = cfg->chip ? chip_protocol() : cfg->paper ? paper_protocol() : sml_protocol;
    s->protocols = &s->protocol;
    s->keeps = rng_fork(&s->rng);
    s->slots.max = cfg->slots_max;
    for (unsigned i = 0; i < cfg->tenancy.tenants; i++) {
        const struct tenant *t = &s->cfg.tenancy.tenant[i];
        s->tenants[i] = (struct ctl_tenant){.name = t->name, .jobs = t->jobs, .data_keys = t->data_keys};
        if (t->keyed)
            s->keys[s->keyed++] = (struct ctl_tenant_key){.key = t->key, .tenant = (int)i};
    }
    if (cfg->tenancy.leaves_keyed)
        s->keys[s->keyed++] = (struct ctl_tenant_key){.key = cfg->tenancy.leaf_key};
    const struct busy_config busy = {
        .sim = sim, .ns_per_kb = cfg->ns_per_kb, .serve = serve, .quantum = quantum, .ctx = s};
    const struct desk_config desk = {.sim = sim,
                                     .message_ns = cfg->message_ns,
                                     .handle = handle_message,
                                     .list_members = list_members,
                                     .ctx = s};
    busy_init(&s->busy, &busy);
    desk_init(&s->desk, &desk);
}

void switch_start(struct switch_node *s)
{
    struct ctl_registry_config cfg = {
        .protocols = &s->protocols,
        .protocols_known = 1,
        .max_jobs = s->cfg.max_jobs,
        .boot_id = rng_next(&s->rng) | 1,
        .lost_after_ns = s->cfg.lost_after_ns,
        .max_workers = s->cfg.max_workers,
        .tenants_known = s->cfg.tenancy.tenants,
        .tenants = s->tenants,
        .library = &toy_library,
        .key = s->keys,
        .keys = s->keyed,
        .lasting = s->cfg.lasting ? &s->lasting : NULL,
        .hears_nics = true,
        .actions = {s, send_message, prepare, release, next_random, event, tenant_of, .heard = heard},
    };

    switch_kill(s);
    s->boot_id = cfg.boot_id;
    s->boots++;
    s->registry = ctl_registry_init(room_of(ctl_registry_footprint(&cfg)), &cfg);
    sim_trace(s->sim, "switch", "starts");
    if (s->cfg.fixed.workers > 0)
        static_job_open(&s->fixed, &s->running, &s->protocol, &s->cfg.fixed, STATIC_NUMBER, s->sim->now);
    desk_open(&s->desk, s->boot_id);
    tick(s, s->boots);
    if (s->cfg.tick_ns != 0)
        tick_jobs(s, s->boots);
}

void switch_kill(struct switch_node *s)
{
    if (!switch_is_up(s))
        return;
    sim_trace(s->sim, "switch", "is killed");
    numbered_jobs_clear(&s->jobs, free_job, s);
    static_job_close(&s->fixed, &s->running);
    busy_drop(&s->busy);
    desk_close(&s->desk);
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

/* What has come, by the port that its answers come from; f: NULL, nothing but time has passed. */
struct arrival {
    struct switch_node *s;
    const struct frame *f;
};

/* A reference to the buffer that it lies in, or a copy. */
static void send_data(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                      const struct carried *what)
{
    const struct arrival *a = ctx;
    const struct switch_job *j = job_at(a->s, job->number);
    struct nic_end *nic = j != NULL ? &j->nic[what->rank] : NULL;
    const bool unsummed = j != NULL && j->unsummed;
    const unsigned host = what->member->ip - 1;
    const uint16_t port = (uint16_t)(ntohs(what->member->port) + (answered != NULL ? answered->thread : 0));
    const uint16_t ours = a->f != NULL ? a->f->switch_port : SML_PORT_FIRST;

    if (nic != NULL && nic->queue_pair != 0) {
        nic_send_down(a->s->star, host, nic, what->payload, what->bytes);
        return;
    }
    if (what->buffer == NULL || !a->s->cfg.refer) {
        star_send_down(a->s->star, host, port, ours, what->payload, what->bytes, unsummed);
        return;
    }
    a->s->referred++;
    link_send(&a->s->star->down[host], frame_around(host, ours, port, buffer_hold(what->buffer), unsummed));
}

static void tick_job(struct switch_node *s, const struct agg_job *job)
{
    struct arrival arrival = {s, NULL};
    struct agg_verdict v;

    while (s->protocol.tick(job, 0, 1, s->sim->now, &v)) {
        s->reasons[v.reason]++;
        sim_trace(s->sim, "switch", "job %u: %s", job->number, s->protocol.reason[v.reason].name);
        carry_out(job, NULL, &v, send_data, &arrival);
    }
}

static void tick_jobs(void *ctx, uint64_t boot)
{
    struct switch_node *s = ctx;

    if (boot != s->boots || !switch_is_up(s))
        return;
    for (unsigned n = 0; n < STATIC_NUMBER; n++)
        if (job_at(s, n) != NULL && s->protocol.ticks(job_at(s, n)->job->pool, 0))
            tick_job(s, job_at(s, n)->job);
    sim_at(s->sim, s->sim->now + s->cfg.tick_ns, tick_jobs, s, boot);
}

/* Nobody else has it, and the job has frames left to keep. */
static bool may_keep(struct switch_node *s, const struct frame *f)
{
    return f->buffer->holders == 1 && rng_chance(&s->keeps, s->cfg.keep_ppm);
}

static void count(struct switch_node *s, const struct frame *f, const struct agg_verdict *v)
{
    s->kept += v->kept;
    if (f->damaged || f->untrue) {
        s->damaged += f->damaged;
        s->deceived += v->action != AGG_DROP;
    } else if (!f->forged) {
        s->reasons[v->reason]++;
    }
}

static struct agg_packet packet_of(struct switch_node *s, const struct frame *f)
{
    const struct ctl_endpoint from = star_endpoint(f->host, 0);
    struct agg_packet p = {
        .payload = f->buffer->at, .bytes = f->bytes, .from = carry_sender(from.mac, from.ip, f->host_port)};

    s->protocol.locate(&s->running, &p, 1);
    return p;
}

/* Its turn has come; or nobody waits. */
static void serve(void *ctx, struct frame *f)
{
    struct switch_node *s = ctx;
    struct arrival arrival = {s, f};
    struct agg_packet p = packet_of(s, f);
    struct agg_verdict v;

    if (p.slot != NULL && p.job->number != STATIC_NUMBER && may_keep(s, f))
        p.buffer = f->buffer;
    s->protocol.apply(&p, 1, s->sim->now, &v);
    count(s, f, &v);
    agg_heard_packet(&p, v.action);
    if (s->protocol.reason[v.reason].strange) {
        switch_refuse(s->star, &s->protocol, f, &p, s->boot_id);
    } else {
        sim_trace(s->sim, "switch", "job %u, rank %u: %s", p.job->number, p.rank,
                  s->protocol.reason[v.reason].name);
        if (p.slot != NULL && job_at(s, p.job->number) != NULL)
            keeping_settle(&job_at(s, p.job->number)->keeping, &p, &v);
        carry_out(p.job, &p, &v, send_data, &arrival);
    }
    frame_free(f);
}

/* Members' packets wait for their turns, if the switch is busy; others' do not. */
static void receive_data(struct switch_node *s, struct frame *f)
{
    const struct agg_packet p = packet_of(s, f);

    if (p.slot != NULL)
        busy_put(&s->busy, p.job->number, f);
    else
        serve(s, f);
}

/* All hosts share a port of the switch. */
static void receive_message(struct switch_node *s, struct frame *f)
{
    struct ctl_endpoint from = star_endpoint(f->host, f->host_port);

    from.port = 0;
    desk_put(&s->desk, f, &from);
}

static void handle_message(void *ctx, struct frame *f)
{
    struct switch_node *s = ctx;
    const struct ctl_endpoint from = star_endpoint(f->host, f->host_port);
    const enum ctl_parse_error e =
        ctl_registry_receive(s->registry, &from, f->payload, f->bytes, s->sim->now);

    s->malformed += e != CTL_PARSED && !f->forged;
    frame_free(f);
}

/* What a NIC has sent is a datagram from here on. */
static bool is_whole(struct switch_node *s, struct frame *f)
{
    const bool whole = nic_hear(&s->heard, f);

    if (!whole && !f->damaged)
        s->broken = "takes a NIC's packet for a bad one";
    return whole;
}

void switch_receive(void *ctx, struct frame *f)
{
    struct switch_node *s = ctx;

    if (switch_is_up(s) && !frame_is_dropped(f) && (f->switch_port != ROCE_PORT || is_whole(s, f))) {
        if (f->switch_port == CTL_PORT)
            receive_message(s, f);
        else
            receive_data(s, f);
        return;
    }
    s->damaged += frame_is_dropped(f);
    frame_free(f);
}
