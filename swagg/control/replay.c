#include "control/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "base/clock.h"
#include "base/log.h"
#include "protocols.h"

/* The worker of this rank, with the addresses that it has in swagg-pcap's captures. */
static void seat_worker(struct jobs_member *m, const struct config_replay *r, uint16_t rank)
{
    uint32_t mac;

    memcpy(m->mac.addr_bytes, r->worker_mac, sizeof(m->mac.addr_bytes));
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

static int open_job(struct jobs *jobs, const struct jobs_identity *us, const struct config_replay *r,
                    struct replay *job)
{
    char why[AGG_TEXT_MAX];
    int rc;

    job->since = clock_ns();
    job->plan = (struct jobs_plan){.protocol = agg_protocol_find(r->terms.protocol),
                                   .terms = r->terms,
                                   .as_it_is = true,
                                   .tenant = -1,
                                   .size = (uint16_t)r->workers};
    snprintf(job->plan.name, sizeof(job->plan.name), "%s", job->name);
    for (uint16_t rank = 0; rank < job->plan.size; rank++)
        seat_worker(&job->plan.member[rank], r, rank);
    rc = jobs_open(jobs, &job->plan, us, &job->number, why);
    if (rc < 0)
        log_error("%s: %s", job->name, why);
    else
        log_notice("job %u is %s: %u workers, %u slots, chunks of %u bytes, %u chunks before it starts over",
                   job->number, job->name, r->workers, r->slots, r->chunk_bytes, r->slots * r->phases);
    return rc;
}

int replays_open(struct replays *replays, struct jobs *jobs, const struct jobs_identity *us,
                 const struct config *cfg)
{
    int rc = 0;

    if (cfg->replays == 0)
        return 0;
    replays->job = calloc(cfg->replays, sizeof(*replays->job));
    if (replays->job == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < cfg->replays && rc == 0; i++, replays->n++) {
        snprintf(replays->job[i].name, sizeof(replays->job[i].name), "replay[%u]", i);
        rc = open_job(jobs, us, &cfg->replay[i], &replays->job[i]);
    }
    return rc;
}

void replays_close(struct replays *replays)
{
    free(replays->job);
    *replays = (struct replays){0};
}
