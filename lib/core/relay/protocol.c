#include "relay/protocol.h"

#include "relay/slots.h"
#include "switchml/protocol.h"

static bool footprint(const struct agg_pool_config *cfg, struct agg_footprint *f)
{
    struct sml_pool_config pool;

    if (cfg->tree == NULL || !sml_protocol.footprint(cfg, f) || !sml_pool_config_of(cfg, &pool))
        return false;
    f->bytes = relay_slots_footprint(&pool, cfg->tree);
    return f->bytes > 0;
}

static void *init(void *mem, const struct agg_pool_config *cfg)
{
    struct sml_pool_config pool;

    return sml_pool_config_of(cfg, &pool) ? relay_slots_init(mem, &pool, cfg->tree) : NULL;
}

static bool view(const void *pool, uint32_t i, struct agg_slot_view *out)
{
    if (i >= sml_pool_slots(pool))
        return false;
    relay_slots_view(pool, (uint16_t)i, out);
    return true;
}

static bool view_rank(const void *pool, uint16_t rank, struct agg_rank_view *out)
{
    return relay_slots_view_rank(pool, rank, out);
}

static const struct agg_protocol switchml = {
    SML_PROTOCOL_COMMON, .footprint = footprint, .init = init, .view = view, .view_rank = view_rank,
};

const struct agg_protocol *relay_protocol_of(const struct agg_protocol *protocol)
{
    return protocol->id == AGG_PROTOCOL_SWITCHML ? &switchml : NULL;
}

bool relay_takes(const struct agg_protocol *protocol, const struct agg_terms *terms, char why[AGG_TEXT_MAX])
{
    if (relay_protocol_of(protocol) == NULL)
        return agg_refuse(why, "jobs of %s have one switch only, no tree of switches", protocol->name);
    if (protocol->quorum != NULL && protocol->quorum(terms) != 0)
        return agg_refuse(why, "jobs with a quorum have one switch only, no tree of switches: all ranks set "
                               "options.uplink to SWAGG_UPLINK_NONE, or options.quorum to 0");
    return true;
}
