/* Whether results that are for all ranks come to this one by the job's group. The server sends there what it
 * has for those ranks that say that they hear it, and to all others one by one. So a rank asks for a packet
 * by the group until it has had one, and then says so. If results come one by one nevertheless, though it has
 * not asked for them, that word was lost: it says so again. If it has had to ask for each, the group does not
 * reach it any more: it takes back its word, and asks anew. */
#include "atp/stream_state.h"

enum { MISSES = 8 }; /* results in a row that came one by one */

static const uint64_t PAUSE_FIRST_NS = 20000000, PAUSE_MAX_NS = 5000000000;

void atp_group_init(struct atp_stream *s)
{
    s->group = (struct atp_group){.pause = PAUSE_FIRST_NS};
}

void atp_group_note(struct atp_stream *s, const struct atp_packet *p, bool asked)
{
    struct atp_group *g = &s->group;

    if (p->flags & ATP_BY_GROUP) {
        g->misses = 0;
        if (!g->hears)
            g->tell_at = 0;
        g->hears = true;
        if (p->kind == ATP_PARAMETER)
            g->pause = PAUSE_FIRST_NS;
    } else if (g->told && s->call.collective == XFER_ALLREDUCE && ++g->misses == MISSES) {
        g->misses = 0;
        if (asked) {
            g->hears = false;
        } else {
            g->told = false;
            g->tell_at = 0;
        }
    }
}

uint64_t atp_group_due(const struct atp_stream *s)
{
    const struct atp_group *g = &s->group;
    const bool settled = g->hears && g->told;

    if (s->cfg.terms.group == 0 || s->cfg.workers == 1 || s->una == s->end || settled)
        return UINT64_MAX;
    return g->tell_at;
}

void atp_group_tell(struct atp_stream *s, uint64_t now, struct xfer_send *send)
{
    struct atp_group *g = &s->group;
    const struct atp_packet p = {.kind = ATP_GROUP,
                                 .flags = g->hears ? ATP_HEARS : 0,
                                 .job = s->cfg.job,
                                 .life = s->cfg.terms.life,
                                 .sequence = (uint32_t)s->una,
                                 .index = atp_flight_of(s, s->una)->index,
                                 .seal = (uint8_t)atp_terms_seal(&s->cfg.terms)};

    atp_begin_packet(s, s->una, send);
    atp_build_header(send->head, &p);
    g->told = g->hears;
    g->tell_at = now + g->pause;
    g->pause = 2 * g->pause < PAUSE_MAX_NS ? 2 * g->pause : PAUSE_MAX_NS;
}
