#include "control/static_jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "base/counter.h"
#include "base/log.h"
#include "protocols.h"

/* The worker of this rank, with the addresses that it has in swagg-pcap's captures. */
static void seat_replayed(struct jobs_member *m, const struct config_replay *r, uint16_t rank)
{
    uint32_t mac;

    memcpy(m->mac.addr_bytes, r->worker_mac, sizeof(m->mac.addr_bytes));
    m->port = JOBS_PORT_UNKNOWN;
    m->ip = r->worker_ip;
    if (r->one_host) {
        m->udp_port = rte_cpu_to_be_16((uint16_t)(r->worker_port + rank));
        return;
    }
    m->udp_port = rte_cpu_to_be_16((uint16_t)r->worker_port);
    memcpy(&mac, m->mac.addr_bytes + 2, sizeof(mac));
    mac = rte_cpu_to_be_32(rte_be_to_cpu_32(mac) + rank);
    memcpy(m->mac.addr_bytes + 2, &mac, sizeof(mac));
    m->ip = rte_cpu_to_be_32(rte_be_to_cpu_32(r->worker_ip) + rank);
}

static void describe_replayed(struct static_job *job, const struct config_replay *r, unsigned i)
{
    snprintf(job->name, sizeof(job->name), "replay[%u]", i);
    job->plan = (struct jobs_plan){.protocol = agg_protocol_find(r->terms.protocol),
                                   .terms = r->terms,
                                   .as_it_is = true,
                                   .tenant = r->tenant,
                                   .size = (uint16_t)r->workers};
    for (uint16_t rank = 0; rank < job->plan.size; rank++)
        seat_replayed(&job->plan.member[rank], r, rank);
}

static struct jobs_member seat_of(const struct config_peer *peer)
{
    struct jobs_member m = {
        .port = JOBS_PORT_UNKNOWN, .udp_port = rte_cpu_to_be_16((uint16_t)peer->port), .ip = peer->ip};

    memcpy(m.mac.addr_bytes, peer->mac, sizeof(m.mac.addr_bytes));
    return m;
}

static void describe_static(struct static_job *job, const struct config_static *c)
{
    snprintf(job->name, sizeof(job->name), "%s", c->name);
    job->quiet_ns = c->quiet_ms * UINT64_C(1000000);
    job->plan = (struct jobs_plan){.protocol = agg_protocol_find(c->terms.protocol),
                                   .terms = c->terms,
                                   .as_it_is = true,
                                   .tenant = c->tenant,
                                   .is_static = true,
                                   .network = c->network,
                                   .without_udp_sum = !c->udp_checksum,
                                   .threads = (uint8_t)c->threads,
                                   .size = (uint16_t)c->workers};
    for (unsigned rank = 0; rank < c->workers; rank++)
        job->plan.member[rank] = seat_of(&c->worker[rank]);
}

/* The workers hear from the host, whom they have sent to; the host from the switch. */
static void describe_hostagg(struct static_job *job, const struct config_hostagg *c)
{
    snprintf(job->name, sizeof(job->name), "%s", c->name);
    job->plan = (struct jobs_plan){.protocol = agg_protocol_find(c->terms.protocol),
                                   .terms = c->terms,
                                   .as_it_is = true,
                                   .tenant = -1,
                                   .is_static = true,
                                   .size = (uint16_t)config_hostagg_members(c)};
    for (unsigned n = 0; n < JOBS_MAX; n++) /* its number on the wire is the one in the configuration */
        if (n != c->number)
            job->plan.unusable[n / 64] |= RTE_BIT64(n % 64);
    for (unsigned rank = 0; rank < c->workers; rank++) {
        job->plan.member[rank] = seat_of(&c->worker[rank]);
        job->plan.member[rank].hears_from = c->host.ip;
    }
    if (job->plan.size > c->workers)
        job->plan.member[c->workers] = seat_of(&c->host);
}

/* Job i of all lists, those first whose numbers on the wire depend on it. */
static void describe(struct static_job *job, const struct config *cfg, unsigned i)
{
    if (i < cfg->replays)
        describe_replayed(job, &cfg->replay[i], i);
    else if (i - cfg->replays < cfg->static_jobs)
        describe_static(job, &cfg->static_job[i - cfg->replays]);
    else
        describe_hostagg(job, &cfg->hostagg[i - cfg->replays - cfg->static_jobs]);
}

/* The switch in the network that the job is in. */
static struct jobs_identity identity(const struct jobs_identity *us, const struct static_job *job,
                                     const struct config *cfg)
{
    struct jobs_identity here = *us;

    if (cfg->vlans > 0)
        here.ip = cfg->vlan[job->plan.network].ip;
    return here;
}

static int open_job(struct static_jobs *s, struct static_job *job, const struct jobs_identity *us,
                    uint64_t now)
{
    char why[AGG_TEXT_MAX];
    struct agg_footprint f;
    int rc;

    job->since = job->heard_at = now;
    snprintf(job->plan.name, sizeof(job->plan.name), "%s", job->name);
    rc = jobs_open(s->jobs, &job->plan, us, &job->number, why);
    if (rc < 0) {
        log_error("%s: %s", job->name, why);
        return rc;
    }
    job->plan.protocol->footprint(&jobs_find(s->jobs, job->plan.protocol->id, job->number)->made_of, &f);
    log_notice(
        "job %u is %s: %u members, %u slots, packets of %u bytes; it is in the configuration, nobody joins",
        job->number, job->name, job->plan.size, f.slots, f.payload_bytes);
    return 0;
}

int static_jobs_open(struct static_jobs *s, struct jobs *jobs, const struct jobs_identity *us,
                     const struct config *cfg, uint64_t now)
{
    const unsigned n = cfg->replays + cfg->static_jobs + cfg->hostagg_jobs;
    struct jobs_identity here;
    int rc = 0;

    s->jobs = jobs;
    s->now = now;
    if (n == 0)
        return 0;
    s->job = calloc(n, sizeof(*s->job));
    if (s->job == NULL)
        return -ENOMEM;
    for (; s->n < n && rc == 0; s->n++) {
        describe(&s->job[s->n], cfg, s->n);
        here = identity(us, &s->job[s->n], cfg);
        rc = open_job(s, &s->job[s->n], &here, now);
    }
    return rc;
}

void static_jobs_close(struct static_jobs *s)
{
    free(s->job);
    *s = (struct static_jobs){0};
}

static void start_over(struct static_jobs *s, struct static_job *job, uint64_t now)
{
    jobs_renew(s->jobs, job->plan.protocol->id, job->number);
    job->worked = false;
    counter_add(&job->runs, 1);
    counter_set(&job->since, now);
}

void static_jobs_reset(struct static_jobs *s, const struct static_job *job)
{
    start_over(s, &s->job[job - s->job], counter_read(&s->now));
    log_notice("job %s: its slots start over, as the operator wishes", job->name);
}

void static_jobs_tick(struct static_jobs *s, uint64_t now)
{
    for (struct static_job *job = s->job; job < s->job + s->n; job++) {
        if (job->plan.protocol->heard(jobs_find(s->jobs, job->plan.protocol->id, job->number)->common.pool)) {
            job->worked = true;
            counter_set(&job->heard_at, now);
        } else if (job->quiet_ns > 0 && job->worked && now - job->heard_at >= job->quiet_ns) {
            start_over(s, job, now);
            log_notice("job %s: nothing was heard for %" PRIu64 " ms: its slots start over", job->name,
                       job->quiet_ns / 1000000);
        }
    }
    counter_set(&s->now, now);
}
