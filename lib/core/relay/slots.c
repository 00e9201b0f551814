/* Memory and views of a pool in a tree; slots_below.c and slots_above.c apply packets. */
#include "relay/slots.h"

#include "relay/slots_state.h"
#include "switchml/pool_arrivals.h"

static void apply(struct sml_pool *pool, struct sml_slot *slot, uint16_t from, const struct sml_packet *p,
                  void *buffer, uint64_t now, struct agg_verdict *v)
{
    v->kept = false;
    v->released = NULL;
    v->brief_bytes = 0;
    if (from == AGG_PARENT) {
        v->reason = (uint8_t)relay_judge_above(pool, slot, p, buffer, v);
        if (pool->arrivals != NULL && v->reason == SML_PARENT_RESULT)
            sml_arrivals_sent(pool, slot, p->ver, now);
        return;
    }
    v->reason = (uint8_t)relay_judge_below(pool, slot, from, p, buffer, v);
    if (pool->arrivals != NULL)
        sml_arrivals_note(pool, slot, from, p, v, now);
}

/* Writes the lowest rank of each contributor, if lowest is not NULL; false: the table is not one. */
static bool find_lowest(const struct agg_node *tree, uint16_t contributors, uint16_t lowest[])
{
    uint16_t found = 0;

    for (uint16_t rank = 0; rank < tree->ranks; rank++) {
        const uint16_t c = tree->contributor[rank];

        if (c == AGG_NOBODY ? !tree->has_parent : c > found)
            return false;
        if (c == found && lowest != NULL)
            lowest[c] = rank;
        found += c == found;
    }
    return found == contributors;
}

static struct sml_pool_config with_role(const struct sml_pool_config *cfg, const struct agg_node *tree)
{
    struct sml_pool_config c = *cfg;

    c.role = apply;
    c.ranks = tree->ranks;
    c.role_bytes = (uint16_t)(sizeof(struct relay_slot) +
                              (ranks_words(cfg->workers) + ranks_words(tree->ranks)) * sizeof(uint64_t));
    return c;
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + SML_LINE - 1) / SML_LINE * SML_LINE;
}

static size_t table_bytes(const struct sml_pool_config *cfg, const struct agg_node *tree)
{
    return whole_lines(sizeof(struct relay_node) + ((size_t)tree->ranks + cfg->workers) * sizeof(uint16_t));
}

static bool shares_with_parent(const struct sml_pool_config *cfg, const struct agg_node *tree)
{
    return cfg->checksum == XFER_CHECKSUM_KEYED && tree->has_parent;
}

static size_t auth_bytes(const struct sml_pool_config *cfg, const struct agg_node *tree)
{
    return shares_with_parent(cfg, tree) ? xfer_auth_footprint(cfg->chunk_bytes) : 0;
}

size_t relay_slots_footprint(const struct sml_pool_config *cfg, const struct agg_node *tree)
{
    const struct sml_pool_config c = with_role(cfg, tree);
    const size_t bytes = cfg->labelled || cfg->tag_bits != 0 ? 0 : sml_pool_footprint(&c);

    if (bytes == 0 || !find_lowest(tree, cfg->workers, NULL))
        return 0;
    if (shares_with_parent(cfg, tree) && tree->parent_shared == NULL)
        return 0;
    return bytes + whole_lines(table_bytes(cfg, tree) + auth_bytes(cfg, tree));
}

struct sml_pool *relay_slots_init(void *mem, const struct sml_pool_config *cfg, const struct agg_node *tree)
{
    const struct sml_pool_config c = with_role(cfg, tree);
    struct sml_pool *pool = sml_pool_init(mem, &c);
    struct relay_node *table = (struct relay_node *)((uint8_t *)mem + sml_pool_footprint(&c));
    uint16_t *contributor = (uint16_t *)(table + 1), *lowest = contributor + tree->ranks;

    memcpy(contributor, tree->contributor, tree->ranks * sizeof(*contributor));
    find_lowest(tree, cfg->workers, lowest);
    *table = (struct relay_node){.ranks = tree->ranks,
                                 .has_parent = tree->has_parent,
                                 .parent_job = tree->parent_job,
                                 .contributor = contributor,
                                 .lowest = lowest};
    if (shares_with_parent(cfg, tree))
        table->auth =
            xfer_auth_init((uint8_t *)table + table_bytes(cfg, tree), tree->parent_shared, cfg->chunk_bytes);
    pool->tree = table;
    return pool;
}

void relay_slots_view(const struct sml_pool *pool, uint16_t slot, struct agg_slot_view *view)
{
    const struct relay_node *tree = relay_node_of(pool);
    struct agg_slot_view by_contributor;

    sml_pool_view(pool, slot, &by_contributor);
    *view = (struct agg_slot_view){.chunk = by_contributor.chunk};
    for (uint16_t rank = 0; rank < tree->ranks; rank++) {
        const uint16_t c = tree->contributor[rank];

        if (c == AGG_NOBODY || !ranks_has(by_contributor.ranks, c))
            continue;
        ranks_add(view->ranks, rank);
        view->contributed++;
    }
}

bool relay_slots_view_rank(const struct sml_pool *pool, uint16_t rank, struct agg_rank_view *view)
{
    const struct relay_node *tree = relay_node_of(pool);
    const uint16_t c = tree->contributor[rank];
    const bool noted = c != AGG_NOBODY && sml_pool_view_rank(pool, c, view);

    if (!noted)
        *view = (struct agg_rank_view){0};
    view->sender = noted ? tree->lowest[c] : rank;
    return noted;
}
