/* In memory: the protocol's pool, then the slots, each of them
 *
 *     the protocol's slot, map of workers | head room, sum | contribution of worker 0 | of worker 1 | ...
 *
 * everything in whole cache lines. The head room ends where a line ends.
 */
#include "gather/gather.h"

#include <assert.h>
#include <string.h>

#include "protocol/heard.h"

enum { LINE = 64 };

static_assert(GATHER_HEAD_ROOM % LINE == 0, "the sum begins a line");

#define publish(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)
#define read_relaxed(field)   __atomic_load_n(&(field), __ATOMIC_RELAXED)

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static struct gather_slot *slot_at(const struct gather *g, size_t i)
{
    return (struct gather_slot *)((uint8_t *)g + g->pool_bytes + i * g->slot_bytes);
}

/* The set of workers that have contributed, in whole words after the protocol's slot. */
static uint64_t *map_of(const struct gather *g, const struct gather_slot *slot)
{
    return (uint64_t *)(void *)((uint8_t *)slot + (g->cfg.slot_struct_bytes + 7u) / 8 * 8);
}

static uint8_t *contribution_of(const struct gather *g, const struct gather_slot *slot, size_t worker)
{
    return gather_sum(g, slot) + (1 + worker) * g->chunk_room;
}

static bool config_valid(const struct gather_config *cfg)
{
    const size_t element = agg_code_bytes(cfg->code);

    return cfg->workers >= 1 && cfg->workers <= cfg->members && cfg->members <= AGG_MAX_WORKERS &&
           cfg->slots >= 1 && cfg->slots <= GATHER_MAX_SLOTS && (cfg->slots & (cfg->slots - 1)) == 0 &&
           element != 0 && cfg->chunk_bytes >= element && cfg->chunk_bytes % element == 0;
}

static struct gather layout(const struct gather_config *cfg)
{
    struct gather g = {.cfg = *cfg};
    const size_t slot_struct_bytes = (cfg->slot_struct_bytes + 7u) / 8 * 8;

    g.element = agg_code_bytes(cfg->code);
    g.map_words = (uint16_t)ranks_words(cfg->workers);
    g.pool_bytes = whole_lines(cfg->pool_struct_bytes);
    g.head_bytes = whole_lines(slot_struct_bytes + g.map_words * sizeof(uint64_t));
    g.chunk_room = whole_lines(cfg->chunk_bytes);
    g.slot_bytes = g.head_bytes + GATHER_HEAD_ROOM + (1u + cfg->workers) * g.chunk_room;
    return g;
}

size_t gather_footprint(const struct gather_config *cfg)
{
    const struct gather g = layout(cfg);

    return config_valid(cfg) ? g.pool_bytes + cfg->slots * g.slot_bytes : 0;
}

void gather_init(struct gather *g, const struct gather_config *cfg)
{
    *g = layout(cfg);
    for (size_t i = 0; i < cfg->slots; i++)
        memset(slot_at(g, i), 0, g->head_bytes);
}

struct gather_slot *gather_slot(const struct gather *g, uint32_t chunk)
{
    return slot_at(g, chunk & (g->cfg.slots - 1u));
}

uint8_t *gather_sum(const struct gather *g, const struct gather_slot *slot)
{
    return (uint8_t *)slot + g->head_bytes + GATHER_HEAD_ROOM;
}

void gather_expect(const struct gather *g, struct gather_slot *slot, uint32_t chunk)
{
    publish(slot->expected, chunk);
    publish(slot->contributed, 0);
    ranks_clear(map_of(g, slot), g->map_words);
}

bool gather_has(const struct gather *g, const struct gather_slot *slot, unsigned worker)
{
    return ranks_has(map_of(g, slot), worker);
}

/* Who looks at the sum meanwhile sees that it changes. last: who has contributed last, these elements. */
static void sum(const struct gather *g, struct gather_slot *slot, unsigned last, const uint8_t *elements,
                size_t bytes)
{
    const struct agg_operation *op = &g->cfg.kernels->operations[g->cfg.code];
    const void *in[AGG_MAX_WORKERS];
    uint8_t *to = gather_sum(g, slot);

    for (unsigned worker = 0; worker < g->cfg.workers; worker++)
        in[worker] = contribution_of(g, slot, worker);
    in[last] = elements;
    publish(slot->sums, slot->sums + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    op->reduce(to, in, g->cfg.workers, bytes);
    if (op->finish != NULL && !agg_is_wide(op))
        op->finish(to, to, g->cfg.workers, bytes);
    publish(slot->sum_bytes, (uint16_t)bytes);
    publish(slot->sum_of, slot->expected);
    __atomic_store_n(&slot->sums, slot->sums + 1, __ATOMIC_RELEASE);
}

bool gather_add(const struct gather *g, struct gather_slot *slot, unsigned worker, const uint8_t *elements,
                size_t bytes)
{
    if (slot->contributed == g->cfg.workers - 1) {
        sum(g, slot, worker, elements, bytes);
        gather_expect(g, slot, slot->expected + g->cfg.slots);
        return true;
    }
    memcpy(contribution_of(g, slot, worker), elements, bytes);
    ranks_add(map_of(g, slot), worker);
    publish(slot->contributed, slot->contributed + 1);
    return false;
}

size_t gather_write_map(const struct gather *g, const struct gather_slot *slot, uint8_t *to)
{
    return ranks_map_write(to, map_of(g, slot), g->cfg.workers);
}

void gather_note_heard(struct gather *g)
{
    agg_heard_set(&g->heard);
}

bool gather_heard(void *pool)
{
    struct gather *g = pool;

    return agg_heard_take(&g->heard);
}

bool gather_view(const void *pool, uint32_t i, struct agg_slot_view *view)
{
    const struct gather *g = pool;
    const struct gather_slot *slot = i < g->cfg.slots ? slot_at(g, i) : NULL;

    if (slot == NULL)
        return false;
    *view = (struct agg_slot_view){.chunk = read_relaxed(slot->expected),
                                   .contributed = read_relaxed(slot->contributed)};
    for (size_t w = 0; w < g->map_words; w++)
        view->ranks[w] = read_relaxed(map_of(g, slot)[w]);
    for (unsigned member = g->cfg.workers; member < g->cfg.members; member++)
        ranks_add(view->ranks, member);
    return true;
}

bool gather_view_sum(const void *pool, uint32_t i, struct agg_sum_view *view)
{
    const struct gather *g = pool;
    const struct gather_slot *slot = i < g->cfg.slots ? slot_at(g, i) : NULL;
    uint32_t sums;

    if (slot == NULL)
        return false;
    sums = __atomic_load_n(&slot->sums, __ATOMIC_ACQUIRE);
    if (sums == 0 || sums % 2 == 1)
        return false;
    view->code = g->cfg.code;
    view->chunk = read_relaxed(slot->sum_of);
    view->bytes = read_relaxed(slot->sum_bytes);
    if (view->bytes > sizeof view->elements)
        view->bytes = sizeof view->elements;
    memcpy(view->elements, gather_sum(g, slot), view->bytes);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return read_relaxed(slot->sums) == sums;
}
