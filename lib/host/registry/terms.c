#include "registry/terms.h"

#include <errno.h>
#include <stdio.h>

uint16_t terms_payload_bytes(const struct config *cfg)
{
    return (uint16_t)(cfg->mtu - AGG_IP_UDP_BYTES);
}

/* Lowers the terms to this many slots; false: they cannot be. *f: their footprint, before and after. */
static bool lower_to(uint32_t slots, const struct agg_protocol *protocol, struct agg_pool_config *pool,
                     struct agg_footprint *f)
{
    while (f->slots > slots)
        if (!protocol->lower(&pool->terms) || !protocol->footprint(pool, f))
            return false;
    return true;
}

/* payload_max: what the ports carry. */
static int check(const struct config *cfg, const struct agg_protocol *protocol, struct agg_pool_config pool,
                 uint16_t payload_max, struct agg_terms *terms, char text[AGG_TEXT_MAX])
{
    struct agg_footprint f;

    pool.terms = *terms;
    if (!protocol->footprint(&pool, &f))
        snprintf(text, AGG_TEXT_MAX, "no pool of %s serves %u ranks under these terms", protocol->name,
                 pool.workers);
    else if (f.payload_bytes > payload_max)
        snprintf(text, AGG_TEXT_MAX, "the job's packets have up to %u bytes, the %s's mtu is %u",
                 AGG_IP_UDP_BYTES + f.payload_bytes, config_word(cfg), cfg->mtu);
    else if (!lower_to(cfg->pool.slots_per_job, protocol, &pool, &f))
        snprintf(text, AGG_TEXT_MAX,
                 "the job cannot go on with fewer than %u slots, and the %s's pool.slots_per_job is now %u",
                 f.slots, config_word(cfg), cfg->pool.slots_per_job);
    else {
        *terms = pool.terms;
        return 0;
    }
    return -EINVAL;
}

int terms_check(const struct config *cfg, const struct agg_protocol *protocol, uint16_t ranks,
                const struct keys_secret *shared, struct agg_terms *terms, char text[AGG_TEXT_MAX])
{
    return check(cfg, protocol, (struct agg_pool_config){.workers = ranks, .shared = shared},
                 terms_payload_bytes(cfg), terms, text);
}

int terms_check_wish(const struct config *cfg, const struct agg_protocol *protocol,
                     const struct keys_secret *shared, struct agg_terms *terms, char text[AGG_TEXT_MAX])
{
    return check(cfg, protocol, (struct agg_pool_config){.workers = 1, .shared = shared}, UINT16_MAX, terms,
                 text);
}
