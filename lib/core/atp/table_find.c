/* Where in the table a chunk's sum is, and where there is room for one. */
#include "atp/table_state.h"

/* Where in the table the i-th is of those that a packet may use, all of them of one shard and part. */
static struct atp_aggregator *place(const struct atp_table *t, const struct atp_packet *p, uint32_t i)
{
    const uint32_t shards = atp_table_shards(t), part = p->job % t->parts;
    const uint32_t first = p->index % shards * t->per_shard + part * t->per_part;

    return atp_aggregator_at(t, first + (p->index / shards + i) % t->per_part);
}

/* The first is its home, which the caller has. */
static struct atp_aggregator *nearby(const struct atp_table *t, struct atp_aggregator *home,
                                     const struct atp_packet *p, uint32_t i)
{
    return i == 0 ? home : place(t, p, i);
}

static uint32_t reach(const struct atp_table *t)
{
    return t->per_part < ATP_REACH ? t->per_part : ATP_REACH;
}

/* Among so many are all that a packet's chunk has. */
static uint32_t held_among(const struct atp_table *t, const struct atp_aggregator *home)
{
    return home->away > 0 ? reach(t) : 1;
}

struct atp_aggregator *atp_table_locate(struct atp_table *t, const struct atp_packet *p)
{
    return place(t, p, 0);
}

/* Whether it has a sum of the packet's chunk, of whatever level and rack. */
static bool is_of(const struct atp_aggregator *a, const struct atp_packet *p, const struct agg_packet *raw)
{
    return a->taken && a->sum.life == p->life && a->sum.sequence == p->sequence && a->sum.job == p->job &&
           a->flow.from.network == raw->from.network;
}

static bool is_of_level(const struct atp_aggregator *a, const struct atp_packet *p)
{
    const bool edge = p->flags & ATP_EDGE;

    return (a->sum.flags & ATP_EDGE) == (p->flags & ATP_EDGE) && (edge || a->sum.rack == p->rack);
}

struct atp_aggregator *atp_find_own(const struct atp_table *t, struct atp_aggregator *home,
                                    const struct atp_packet *p, const struct agg_packet *raw)
{
    const uint32_t n = held_among(t, home);

    for (uint32_t i = 0; i < n; i++) {
        struct atp_aggregator *a = nearby(t, home, p, i);
        if (is_of(a, p, raw) && is_of_level(a, p))
            return a;
    }
    return NULL;
}

struct atp_aggregator *atp_find_room(const struct atp_table *t, struct atp_aggregator *home,
                                     const struct atp_packet *p)
{
    struct atp_aggregator *spare = NULL;

    for (uint32_t i = 0, n = reach(t); i < n; i++) {
        struct atp_aggregator *a = nearby(t, home, p, i);
        if (!a->taken)
            return a;
        if (a->complete && spare == NULL)
            spare = a;
    }
    return spare;
}

bool atp_free_all(const struct atp_table *t, struct atp_aggregator *home, const struct atp_packet *p,
                  const struct agg_packet *raw)
{
    const uint32_t n = held_among(t, home);
    bool freed = false;

    for (uint32_t i = 0; i < n; i++) {
        struct atp_aggregator *a = nearby(t, home, p, i);
        if (is_of(a, p, raw)) {
            atp_take(atp_hand_for(t, p), a, NULL);
            freed = true;
        }
    }
    return freed;
}

void atp_take(struct atp_hand *hand, struct atp_aggregator *a, struct atp_aggregator *home)
{
    hand->taken += (home != NULL) - a->taken;
    if (a->home != NULL)
        a->home->away--;
    a->home = home == a ? NULL : home;
    if (a->home != NULL)
        a->home->away++;
    a->complete = false;
    __atomic_store_n(&a->taken, home != NULL, __ATOMIC_RELAXED);
}
