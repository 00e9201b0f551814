#include "loop_jobs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atp/protocol.h"
#include "memory.h"
#include "random.h"
#include "sodium_keys.h"
#include "switchml/protocol.h"
#include "wire/path.h"
#include "wire/switchml.h"

const struct agg_protocol *loop_protocol(enum loop_port port)
{
    return port == LOOP_ATP ? &atp_protocol : &sml_protocol;
}

/* The running jobs of this one's protocol. */
static struct agg_jobs *jobs_beside(struct loop_life *life, const struct ctl_entry *job)
{
    return &life->jobs[job->protocol == &atp_protocol ? LOOP_ATP : LOOP_SWITCHML];
}

static int prepare(void *ctx, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX])
{
    struct loop_life *life = ctx;
    struct agg_jobs *jobs = jobs_beside(life, job);
    unsigned i = 0;
    if (life->full && job->protocol == &sml_protocol) {
        snprintf(text, CTL_TEXT_MAX, "all slots are taken");
        return -ENOMEM;
    }
    while (i < LOOP_JOBS && (agg_jobs_find(jobs, i) || ctl_entry_had_number(job, (uint8_t)i)))
        i++;
    if (i == LOOP_JOBS) {
        snprintf(text, CTL_TEXT_MAX, "all %d job numbers are taken", LOOP_JOBS);
        return -EMFILE;
    }
    *number = (uint8_t)i;
    if (carry_open_joined(jobs, job, *number, terms, keys_sodium(), NULL))
        return 0;
    snprintf(text, CTL_TEXT_MAX, "the terms are out of range");
    return -EINVAL;
}

static void release(void *ctx, const struct ctl_entry *job)
{
    struct agg_jobs *jobs = jobs_beside(ctx, job);
    carry_close(jobs, agg_jobs_find(jobs, job->number));
}

static void send_control(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct loop_life *life = ctx;
    life->send(life->ctx, LOOP_CONTROL, to->ip, to->udp_port, payload, bytes);
}

static uint64_t next_random(void *ctx)
{
    struct loop_life *life = ctx;
    return rng_next(&life->random);
}

void loop_life_begin(struct loop_life *life, uint64_t boot_id, uint64_t lost_after_ns,
                     const struct keys_key *key, loop_send_fn *send, void *ctx)
{
    *life = (struct loop_life){.boot_id = boot_id, .random = boot_id, .send = send, .ctx = ctx};
    static const struct agg_protocol *const protocols[] = {&sml_protocol, &atp_protocol};
    static const struct ctl_tenant tenants[] = {{.name = "all"}, {.name = "keyed", .data_keys = true}};
    if (key)
        life->key = (struct ctl_tenant_key){.key = *key, .tenant = 1};
    struct ctl_registry_config config = {
        .protocols = protocols,
        .protocols_known = 2,
        .max_jobs = LOOP_JOBS,
        .tenants_known = sizeof tenants / sizeof *tenants,
        .tenants = tenants,
        .boot_id = boot_id,
        .lost_after_ns = lost_after_ns,
        .library = keys_sodium(),
        .key = &life->key,
        .keys = key != NULL,
        .actions = {.ctx = life,
                    .send = send_control,
                    .prepare = prepare,
                    .release = release,
                    .random = next_random},
    };
    life->registry = ctl_registry_init(room_of(ctl_registry_footprint(&config)), &config);
}

void loop_life_control(struct loop_life *life, uint32_t ip, uint16_t port, const uint8_t *payload,
                       size_t bytes, uint64_t now)
{
    struct ctl_endpoint from = {.ip = ip, .udp_port = port};
    ctl_registry_receive(life->registry, &from, payload, bytes, now);
}

static void send_one(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                     const struct carried *what)
{
    struct loop_life *life = ctx;
    const enum loop_port from = job->protocol == &atp_protocol ? LOOP_ATP : LOOP_SWITCHML;
    (void)answered;
    if (what->rank >= 32 || !(life->deaf >> what->rank & 1))
        life->send(life->ctx, from, what->member->ip, ntohs(what->member->port), what->payload, what->bytes);
}

static void answer_path_probe(struct loop_life *life, enum loop_port at, uint32_t ip, uint16_t port,
                              const uint8_t *question, size_t bytes)
{
    uint8_t *answer = memory_of(bytes);
    memcpy(answer, question, bytes);
    path_answer(answer, 1);
    life->send(life->ctx, at, ip, port, answer, bytes);
    free(answer);
}

void loop_life_data(struct loop_life *life, enum loop_port at, uint32_t ip, uint16_t port,
                    const uint8_t *payload, size_t bytes, uint64_t now)
{
    static const uint8_t no_mac[AGG_MAC_BYTES];
    const struct agg_protocol *protocol = loop_protocol(at); /* all that comes to this port */
    struct agg_packet p = {
        .payload = (uint8_t *)payload, .bytes = bytes, .from = carry_sender(no_mac, ip, port)};
    struct agg_verdict v;
    uint8_t answer[AGG_ANSWER_BYTES];
    if (path_is_question(payload, bytes)) {
        answer_path_probe(life, at, ip, port, payload, bytes);
        return;
    }
    protocol->locate(&life->jobs[at], &p, 1);
    if (!protocol->reason[p.reason].strange) {
        protocol->apply(&p, 1, now, &v);
        carry_out(p.job, &p, &v, send_one, life);
        return;
    }
    size_t n = protocol->refuse(&p, life->boot_id, answer);
    if (n > 0)
        life->send(life->ctx, at, ip, port, answer, n);
}

static bool tick_job(struct loop_life *life, const struct agg_job *job, uint64_t now)
{
    const struct agg_protocol *protocol = job->protocol;
    struct agg_verdict v;
    if (protocol->tick == NULL || (protocol->ticks != NULL && !protocol->ticks(job->pool, 0)))
        return false;
    while (protocol->tick(job, 0, 1, now, &v))
        carry_out(job, NULL, &v, send_one, life);
    return true;
}

bool loop_life_tick(struct loop_life *life, uint64_t now)
{
    bool ticks = false;
    for (enum loop_port port = LOOP_SWITCHML; port < LOOP_PORTS; port++)
        for (unsigned i = 0; i < LOOP_JOBS; i++)
            if (agg_jobs_find(&life->jobs[port], i))
                ticks |= tick_job(life, agg_jobs_find(&life->jobs[port], i), now);
    return ticks;
}

void loop_life_end(struct loop_life *life)
{
    for (enum loop_port port = LOOP_SWITCHML; port < LOOP_PORTS; port++)
        for (unsigned i = 0; i < LOOP_JOBS; i++)
            if (agg_jobs_find(&life->jobs[port], i))
                carry_close(&life->jobs[port], agg_jobs_find(&life->jobs[port], i));
    free(life->registry);
}
