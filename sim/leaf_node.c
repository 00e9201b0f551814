#include "leaf_node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "control/guard.h"
#include "memory.h"
#include "relay/protocol.h"
#include "switchml/protocol.h"
#include "toy_keys.h"
#include "wire/roce.h"

struct leaf_job {
    struct agg_job *job;
    uint8_t parent_number;
    uint16_t parent_port;
    struct nic_end *nic; /* by contributor */
    bool unsummed;
};

static void send_down(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct leaf_node *n = ctx;

    star_send_down(n->cfg.star, to->ip - 1, to->udp_port, CTL_PORT, payload, bytes, false);
}

static void send_up(void *ctx, unsigned uplink, const uint8_t *payload, size_t bytes)
{
    struct leaf_node *n = ctx;

    (void)uplink;
    star_send_up(n->cfg.star, n->cfg.host, CTL_PORT, CTL_PORT, payload, bytes, false);
}

static int prepare(void *ctx, const struct relay_job *job, uint8_t *number, char text[CTL_TEXT_MAX])
{
    struct leaf_node *n = ctx;
    const int free_one = numbered_jobs_free_number(&n->jobs, AGG_JOBS, &job->entry);
    const struct ctl_endpoint parent = star_endpoint(n->cfg.parent_ip - 1, 0);
    const struct agg_sender above = carry_sender(parent.mac, n->cfg.parent_ip, job->parent_data_port);
    struct keys_secret above_shared = {.library = &toy_library};
    const struct agg_node tree = {.ranks = job->entry.size,
                                  .contributor = job->contributor,
                                  .has_parent = true,
                                  .parent_job = job->parent_number,
                                  .parent_shared = &above_shared};
    struct agg_footprint f;

    (void)text;
    memcpy(above_shared.secret, job->parent_secret, sizeof(above_shared.secret));
    if (free_one < 0)
        return -EMFILE;
    struct leaf_job *j = memory_of(sizeof(*j));
    j->job = carry_open_tree(&n->running, &job->entry, (uint8_t)free_one, &job->entry.terms, &toy_library,
                             &tree, &above, &f);
    if (j->job == NULL)
        sim_die("the terms of a job are out of range");
    j->parent_number = job->parent_number;
    j->parent_port = job->parent_data_port;
    j->nic = nic_ends(&job->entry);
    j->unsummed = f.checked;
    n->jobs.job[free_one] = j;
    agg_jobs_set(&n->above, j->parent_number, j->job);
    *number = (uint8_t)free_one;
    return 0;
}

static void no_buffer(void *buffer)
{
    (void)buffer;
}

static void free_job(void *ctx, unsigned number)
{
    struct leaf_node *n = ctx;
    struct leaf_job *j = numbered_jobs_take_out(&n->jobs, number);

    if (agg_jobs_find(&n->above, j->parent_number) == j->job)
        agg_jobs_set(&n->above, j->parent_number, NULL);
    j->job->protocol->drain(j->job->pool, no_buffer);
    carry_close(&n->running, j->job);
    free(j->nic);
    free(j);
}

static void release(void *ctx, const struct relay_job *job)
{
    free_job(ctx, job->entry.number);
}

static void event(void *ctx, const struct ctl_entry *job, const struct ctl_event *event)
{
    const struct leaf_node *n = ctx;

    sim_trace(n->cfg.sim, "switch below", "job %s, epoch %u, at %u: %s", job->name, job->epoch, n->cfg.host,
              event->text);
}

static uint64_t next_random(void *ctx)
{
    struct leaf_node *n = ctx;

    return rng_next(&n->rng);
}

static uint16_t payload_bytes(void *ctx, unsigned uplink)
{
    (void)ctx, (void)uplink;
    return UINT16_MAX;
}

/* Life and death */

static void tick(void *ctx, uint64_t boot)
{
    struct leaf_node *n = ctx;

    if (boot != n->boots || n->id == 0)
        return;
    relay_tick(n->proxy, n->cfg.sim->now);
    sim_at(n->cfg.sim, n->cfg.sim->now + n->cfg.lost_after_ns / 10, tick, n, boot);
}

void leaf_init(struct leaf_node *n, const struct leaf_config *cfg, uint64_t *rng)
{
    *n = (struct leaf_node){.cfg = *cfg, .rng = rng_fork(rng), .protocol = &sml_protocol};
    n->keys = cfg->tenancy->leaves_keyed ? 2 : 0;
    n->key[0] = (struct ctl_tenant_key){.key = cfg->tenancy->tenant[0].key};
    n->key[1] = (struct ctl_tenant_key){.key = cfg->tenancy->leaf_key};
    n->uplink = (struct relay_uplink){.ip = cfg->parent_ip,
                                      .data_port = LEAF_DATA_PORT,
                                      .us = {.ip = cfg->host + 1, .udp_port = CTL_PORT},
                                      .key = &cfg->tenancy->leaf_key,
                                      .keys = n->keys > 0};
}

void leaf_start(struct leaf_node *n)
{
    const struct relay_config cfg = {
        .protocols = &n->protocol,
        .protocols_known = 1,
        .uplink = &n->uplink,
        .uplinks = 1,
        .max_jobs = LEAF_JOBS,
        .max_processes = 64,
        .hears_nics = true,
        .id = rng_next(&n->rng) | 1,
        .ip = n->cfg.host + 1,
        .lost_after_ns = n->cfg.lost_after_ns,
        .library = &toy_library,
        .key = n->key,
        .keys = n->keys,
        .actions = {.ctx = n,
                    .random = next_random,
                    .send = send_down,
                    .send_up = send_up,
                    .prepare = prepare,
                    .release = release,
                    .event = event,
                    .payload_bytes = payload_bytes},
    };

    leaf_kill(n);
    n->id = cfg.id;
    n->boots++;
    n->proxy = relay_init(room_of(relay_footprint(&cfg)), &cfg);
    sim_trace(n->cfg.sim, "switch below", "starts at %u", n->cfg.host);
    tick(n, n->boots);
}

void leaf_kill(struct leaf_node *n)
{
    if (n->id == 0)
        return;
    sim_trace(n->cfg.sim, "switch below", "is killed at %u", n->cfg.host);
    numbered_jobs_clear(&n->jobs, free_job, n);
    free(n->proxy);
    n->proxy = NULL;
    n->id = 0;
}

unsigned leaf_pools(const struct leaf_node *n)
{
    unsigned open = 0;

    for (unsigned i = 0; i < AGG_JOBS; i++)
        open += n->jobs.job[i] != NULL;
    return open;
}

/* Messages */

/* As the registry that such a switch has for jobs of its own. */
static void answer_unknown(struct leaf_node *n, const struct ctl_endpoint *from, const struct ctl_message *m)
{
    const struct ctl_guard guard = {.library = &toy_library, .key = n->key, .keys = n->keys};
    struct ctl_message a = {.head = m->head};
    uint8_t out[CTL_MESSAGE_MAX];

    a.head.type = CTL_UNKNOWN;
    a.head.boot_id = n->id;
    send_down(n, from, out, ctl_guard_build(&guard, from, 0, &a, out));
}

static void receive_control(struct leaf_node *n, const struct frame *f, bool from_above)
{
    const struct ctl_endpoint origin =
        star_endpoint(from_above ? n->cfg.parent_ip - 1 : f->host, from_above ? CTL_PORT : f->host_port);
    struct ctl_endpoint from = origin;
    struct ctl_message m;

    if (from_above)
        relay_receive_up(n->proxy, 0, &origin, f->payload, f->bytes, n->cfg.sim->now);
    else if (relay_read(n->proxy, &m, &from, f->payload, f->bytes) != CTL_PARSED)
        return;
    else if (m.head.type == CTL_JOIN || relay_knows(n->proxy, &m, &from))
        relay_receive(n->proxy, &origin, 0, f->payload, f->bytes, n->cfg.sim->now);
    else
        answer_unknown(n, &from, &m);
}

/* Data packets */

static void send_data(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                      const struct carried *what)
{
    struct leaf_node *n = ctx;
    const struct leaf_job *j = n->jobs.job[job->number];

    (void)answered;
    if (what->to == CARRY_TO_PARENT) {
        star_send_up(n->cfg.star, n->cfg.host, LEAF_DATA_PORT, j->parent_port, what->payload, what->bytes,
                     j->unsummed);
    } else if (j->nic[what->rank].queue_pair != 0) {
        nic_send_down(n->cfg.star, what->member->ip - 1, &j->nic[what->rank], what->payload, what->bytes);
    } else {
        star_send_down(n->cfg.star, what->member->ip - 1, ntohs(what->member->port),
                       job->protocol->udp_ports.first, what->payload, what->bytes, j->unsummed);
    }
}

/* Anybody may say that the job is not known; it changes no sum. */
static bool nobody_proves(const struct agg_packet *p)
{
    return p->payload[0] >> 4 == SML_REJECT;
}

static void receive_data(struct leaf_node *n, const struct frame *f, bool from_above)
{
    const struct ctl_endpoint from = star_endpoint(from_above ? n->cfg.parent_ip - 1 : f->host, 0);
    struct agg_packet p = {.payload = f->buffer->at,
                           .bytes = f->bytes,
                           .from =
                               carry_sender(from.mac, from.ip, from_above ? f->switch_port : f->host_port)};
    struct agg_verdict v;

    n->protocol->locate(from_above ? &n->above : &n->running, &p, 1);
    n->protocol->apply(&p, 1, n->cfg.sim->now, &v);
    n->deceived += (f->damaged || (f->untrue && !nobody_proves(&p))) && v.action != AGG_DROP;
    if (!n->protocol->reason[v.reason].strange) {
        sim_trace(n->cfg.sim, "switch below", "at %u, job %u, from %u: %s", n->cfg.host, p.job->number,
                  p.rank, n->protocol->reason[v.reason].name);
        carry_out(p.job, &p, &v, send_data, n);
    } else if (!from_above) {
        switch_refuse(n->cfg.star, n->protocol, f, &p, n->id);
    }
}

void leaf_receive(struct leaf_node *n, struct frame *f, bool from_above)
{
    const bool by_nic = !from_above && f->switch_port == ROCE_PORT;

    if (n->id != 0 && !frame_is_dropped(f) && (!by_nic || nic_hear(&n->heard, f))) {
        const uint16_t port = from_above ? f->host_port : f->switch_port;

        if (port == CTL_PORT)
            receive_control(n, f, from_above);
        else if (!from_above || port == LEAF_DATA_PORT)
            receive_data(n, f, from_above);
    }
    frame_free(f);
}
