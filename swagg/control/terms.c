#include "control/terms.h"

#include <errno.h>
#include <stdio.h>

enum { IPV4_AND_UDP_BYTES = 20 + 8 };

unsigned terms_packet_bytes(const struct sml_terms *t)
{
    return IPV4_AND_UDP_BYTES + SML_HEADER_BYTES + t->chunk_bytes + (unsigned)sml_trailer_bytes(t->checksum);
}

uint16_t terms_payload_bytes(const struct config *cfg)
{
    return (uint16_t)(cfg->mtu - IPV4_AND_UDP_BYTES);
}

int terms_check(const struct config *cfg, uint16_t ranks, struct sml_terms *t, char text[AGG_TEXT_MAX])
{
    const unsigned packet = terms_packet_bytes(t);

    if (ranks > cfg->limits.workers)
        snprintf(text, AGG_TEXT_MAX, "%u ranks are more than the switch's limits.workers, %u", ranks,
                 cfg->limits.workers);
    else if (packet > cfg->mtu)
        snprintf(text, AGG_TEXT_MAX, "chunks of %u bytes make packets of %u bytes, the switch's mtu is %u",
                 t->chunk_bytes, packet, cfg->mtu);
    else if (t->resumed && t->slots > cfg->pool.slots_per_job)
        snprintf(text, AGG_TEXT_MAX,
                 "the job had %u slots before the switch restarted, its pool.slots_per_job is now %u",
                 t->slots, cfg->pool.slots_per_job);
    else {
        if (t->slots > cfg->pool.slots_per_job)
            t->slots = (uint16_t)cfg->pool.slots_per_job;
        return 0;
    }
    return -EINVAL;
}
