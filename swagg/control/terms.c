#include "control/terms.h"

#include <errno.h>
#include <stdio.h>

enum { IPV4_AND_UDP_BYTES = 20 + 8 };

unsigned terms_packet_bytes(const struct ctl_job *job)
{
    return IPV4_AND_UDP_BYTES + SML_HEADER_BYTES + job->chunk_bytes +
           (unsigned)sml_trailer_bytes(job->checksum);
}

uint16_t terms_payload_bytes(const struct config *cfg)
{
    return (uint16_t)(cfg->mtu - IPV4_AND_UDP_BYTES);
}

int terms_check(const struct config *cfg, const struct ctl_job *job, uint16_t *slots, char text[CTL_TEXT_MAX])
{
    const unsigned packet = terms_packet_bytes(job);

    if (job->size > cfg->limits.workers)
        snprintf(text, CTL_TEXT_MAX, "%u ranks are more than the switch's limits.workers, %u", job->size,
                 cfg->limits.workers);
    else if (packet > cfg->mtu)
        snprintf(text, CTL_TEXT_MAX, "chunks of %u bytes make packets of %u bytes, the switch's mtu is %u",
                 job->chunk_bytes, packet, cfg->mtu);
    else if (job->resumed && *slots > cfg->pool.slots_per_job)
        snprintf(text, CTL_TEXT_MAX,
                 "the job had %u slots before the switch restarted, its pool.slots_per_job is now %u", *slots,
                 cfg->pool.slots_per_job);
    else {
        if (*slots > cfg->pool.slots_per_job)
            *slots = (uint16_t)cfg->pool.slots_per_job;
        return 0;
    }
    return -EINVAL;
}
