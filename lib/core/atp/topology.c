#include "atp/topology.h"

#include <string.h>

static unsigned racks(const struct atp_topology *t)
{
    return (t->workers + t->per_rack - 1u) / t->per_rack;
}

/* Ranks of this rack. */
static unsigned rack_size(const struct atp_topology *t, unsigned rack)
{
    const unsigned rest = t->workers - rack * t->per_rack;

    return rest < t->per_rack ? rest : t->per_rack;
}

static bool has_near(const struct atp_topology *t)
{
    return t->near != ATP_NOT_NEAR;
}

/* Racks that send to the server's switch by another one: they are its first children, the near ranks the
 * others. */
static unsigned far_racks(const struct atp_topology *t)
{
    return racks(t) - has_near(t);
}

static unsigned children(const struct atp_topology *t)
{
    return far_racks(t) + (has_near(t) ? rack_size(t, t->near) : 0);
}

bool atp_topology_fits(const struct atp_topology *t)
{
    return t->workers >= 1 && t->workers <= ATP_MAX_WORKERS && t->per_rack >= 1 && t->per_rack <= ATP_LEVEL &&
           (!has_near(t) || t->near < racks(t)) && children(t) <= ATP_LEVEL;
}

void atp_topology_fill(const struct atp_topology *t, uint16_t rank, struct atp_packet *p)
{
    const unsigned rack = rank / t->per_rack, place = rank % t->per_rack;

    p->rack = (uint8_t)rack;
    p->fan_in0 = (uint8_t)rack_size(t, rack);
    p->fan_in1 = (uint8_t)children(t);
    if (has_near(t) && rack == t->near) {
        p->flags |= ATP_EDGE;
        p->child = (uint8_t)(far_racks(t) + place);
        p->bitmap0 = 0;
        p->bitmap1 = UINT64_C(1) << p->child;
    } else {
        p->child = (uint8_t)(rack - (has_near(t) && rack > t->near));
        p->bitmap0 = UINT64_C(1) << place;
        p->bitmap1 = 0;
    }
}

/* Adds a rack's ranks, which begin at any bit; false: one of them is in already. */
static bool add(uint64_t ranks[ATP_RANK_WORDS], unsigned first, uint64_t bits)
{
    const unsigned word = first / 64, shift = first % 64;
    const uint64_t low = bits << shift, high = shift == 0 ? 0 : bits >> (64 - shift);

    if ((ranks[word] & low) != 0 || (high != 0 && (ranks[word + 1] & high) != 0))
        return false;
    ranks[word] |= low;
    if (high != 0)
        ranks[word + 1] |= high;
    return true;
}

static uint64_t whole(const struct atp_topology *t, unsigned rack)
{
    const unsigned n = rack_size(t, rack);

    return n == ATP_LEVEL ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static bool add_child(const struct atp_topology *t, unsigned child, uint64_t ranks[ATP_RANK_WORDS])
{
    if (child >= far_racks(t))
        return add(ranks, t->near * t->per_rack + (child - far_racks(t)), 1);
    const unsigned rack = child + (has_near(t) && child >= t->near);
    return add(ranks, rack * t->per_rack, whole(t, rack));
}

bool atp_topology_ranks(const struct atp_topology *t, const struct atp_packet *p,
                        uint64_t ranks[ATP_RANK_WORDS])
{
    const unsigned n = children(t);

    memset(ranks, 0, ATP_RANK_WORDS * sizeof *ranks);
    if (n < ATP_LEVEL && p->bitmap1 >> n != 0)
        return false;
    for (uint64_t rest = p->bitmap1; rest != 0; rest &= rest - 1)
        if (!add_child(t, (unsigned)__builtin_ctzll(rest), ranks))
            return false;
    if (p->bitmap0 == 0)
        return p->bitmap1 != 0;
    return p->rack < racks(t) && (p->bitmap0 & ~whole(t, p->rack)) == 0 &&
           add(ranks, (unsigned)p->rack * t->per_rack, p->bitmap0);
}
