#include "control/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "base/clock.h"
#include "base/log.h"

/* The rank-th worker, as swagg-pcap's captures have it. */
static void seat_worker(struct ctl_member *m, const struct config_replay *r, uint16_t rank)
{
    uint32_t mac;

    m->state = CTL_MEMBER_JOINED;
    m->heard_at = clock_ns();
    memcpy(m->endpoint.mac, r->worker_mac, sizeof(m->endpoint.mac));
    m->endpoint.ip = r->worker_ip;
    m->data_port = (uint16_t)r->worker_port;
    if (r->one_host) {
        m->data_port = (uint16_t)(m->data_port + rank);
        return;
    }
    memcpy(&mac, m->endpoint.mac + 2, sizeof(mac));
    mac = rte_cpu_to_be_32(rte_be_to_cpu_32(mac) + rank);
    memcpy(m->endpoint.mac + 2, &mac, sizeof(mac));
    m->endpoint.ip = rte_cpu_to_be_32(rte_be_to_cpu_32(r->worker_ip) + rank);
}

static int open_job(struct datapath *dp, const struct config_replay *r, struct ctl_job *job)
{
    const struct jobs_identity us = {.mac = dp->mac, .ip = dp->ip};
    const uint8_t tag_bits = (uint8_t)rte_log2_u32(r->slots * r->phases);
    char why[CTL_TEXT_MAX];
    int rc;

    job->state = CTL_JOB_RUNNING;
    job->since = clock_ns();
    job->size = job->present = (uint16_t)r->workers;
    job->slots = (uint16_t)r->slots;
    job->format = r->published ? SML_FORMAT_INT32 : SML_FORMAT_TYPED;
    job->mode = r->in_order ? SML_WHEN_COMPLETE : SML_ON_ARRIVAL;
    job->chunk_bytes = (uint16_t)r->chunk_bytes;
    for (uint16_t rank = 0; rank < job->size; rank++)
        seat_worker(&job->members[rank], r, rank);
    rc = jobs_open(&dp->jobs, job, tag_bits, &us, &job->slots, &job->number, why);
    if (rc == 0 && job->slots < r->slots) {
        snprintf(why, sizeof(why), "pool.megabytes allow it only %u slots", job->slots);
        rc = -ENOSPC;
    }
    if (rc < 0)
        log_error("%s: %s", job->name, why);
    else
        log_notice("job %u is %s: %u workers, %u slots, chunks of %u bytes, tags 0..%u", job->number,
                   job->name, r->workers, r->slots, r->chunk_bytes, r->slots * r->phases - 1);
    return rc;
}

int replays_open(struct replays *replays, struct datapath *dp, const struct config *cfg)
{
    int rc = 0;

    if (cfg->replays == 0)
        return 0;
    replays->job = calloc(cfg->replays, sizeof(*replays->job));
    if (replays->job == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < cfg->replays && rc == 0; i++, replays->n++) {
        snprintf(replays->job[i].name, CTL_NAME_MAX, "replay[%u]", i);
        rc = open_job(dp, &cfg->replay[i], &replays->job[i]);
    }
    return rc;
}

void replays_close(struct replays *replays)
{
    free(replays->job);
    *replays = (struct replays){0};
}
