/* Which of a chunk's packets have passed the switch, though they were to be added. */
#include "atp/table_state.h"

/* Of the packet's chunk, level and rack, without ranks. */
static struct atp_passed passed_of(const struct atp_packet *p, const struct agg_packet *raw)
{
    const bool edge = p->flags & ATP_EDGE;

    return (struct atp_passed){.life = p->life,
                               .sequence = p->sequence,
                               .job = p->job,
                               .network = raw->from.network,
                               .edge = edge,
                               .rack = edge ? 0 : p->rack};
}

static bool is_same(const struct atp_passed *a, const struct atp_passed *b)
{
    return a->sequence == b->sequence && a->life == b->life && a->job == b->job && a->network == b->network &&
           a->edge == b->edge && a->rack == b->rack;
}

/* Chunks that follow one another have different places. */
static struct atp_passed *place(struct atp_hand *hand, const struct atp_packet *p)
{
    return &hand->passed[(p->life + p->sequence) % ATP_PASSED];
}

void atp_note_passed(struct atp_hand *hand, const struct atp_packet *p, const struct agg_packet *raw,
                     uint64_t bits)
{
    const struct atp_passed new = passed_of(p, raw);
    struct atp_passed *noted = place(hand, p);

    if (!is_same(noted, &new))
        *noted = new;
    noted->ranks |= bits;
}

uint64_t atp_passed(struct atp_hand *hand, const struct atp_packet *p, const struct agg_packet *raw)
{
    const struct atp_passed sought = passed_of(p, raw);
    const struct atp_passed *noted = place(hand, p);

    return is_same(noted, &sought) ? noted->ranks : 0;
}
