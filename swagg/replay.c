#include "replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "log.h"

/* The rank-th worker, as swagg-pcap's captures have it. */
static void seat_worker(struct ctl_member *m, const struct config_replay *r, uint16_t rank)
{
    uint32_t mac;

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
    uint16_t slots = (uint16_t)r->slots;
    char why[CTL_TEXT_MAX];
    uint8_t number;
    int rc;

    *job = (struct ctl_job){
        .size = (uint16_t)r->workers,
        .format = r->published ? SML_FORMAT_INT32 : SML_FORMAT_TYPED,
        .mode = r->in_order ? SML_WHEN_COMPLETE : SML_ON_ARRIVAL,
        .chunk_bytes = (uint16_t)r->chunk_bytes,
    };
    for (uint16_t rank = 0; rank < job->size; rank++)
        seat_worker(&job->members[rank], r, rank);
    rc = jobs_open(&dp->jobs, job, tag_bits, &us, &slots, &number, why);
    if (rc == 0 && slots < r->slots) {
        snprintf(why, sizeof(why), "pool.megabytes allow it only %u slots", slots);
        rc = -ENOSPC;
    }
    if (rc < 0)
        log_error("replayed job: %s", why);
    else
        log_notice("job %u is for replays: %u workers, %u slots, chunks of %u bytes, tags 0..%u", number,
                   r->workers, r->slots, r->chunk_bytes, r->slots * r->phases - 1);
    return rc;
}

int replay_open(struct datapath *dp, const struct config *cfg)
{
    struct ctl_job *job = calloc(1, sizeof(*job)); /* large */
    int rc = job == NULL ? -ENOMEM : 0;

    for (unsigned i = 0; i < cfg->replays && rc == 0; i++)
        rc = open_job(dp, &cfg->replay[i], job);
    free(job);
    return rc;
}
