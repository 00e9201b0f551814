/* What a stream keeps for a server that has restarted, and how it goes on there. */
#include <errno.h>
#include <string.h>

#include "atp/index.h"
#include "atp/stream_state.h"

static struct atp_kept *kept_at(const struct atp_stream *s, uint64_t position)
{
    return &s->kept[position & (s->cfg.terms.window - 1u)];
}

struct atp_chunk atp_chunk_at(const struct atp_stream *s, uint64_t position)
{
    if (position < s->base) {
        const struct atp_kept *k = kept_at(s, position);
        return (struct atp_chunk){.call = &k->call,
                                  .elements = xfer_segments_find(&k->elements, 1, 0, k->elements.end, false),
                                  .lead = k->lead,
                                  .opening = k->opening};
    }
    const bool result = atp_wants(s, &s->call) && atp_have(s, position);
    return (struct atp_chunk){.call = &s->call,
                              .elements = atp_elements(s, position, false, result),
                              .lead = s->cut.lead,
                              .opening = position == s->base};
}

static void copy(void *dst, const void *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}

/* Another server would not be asked about what all ranks share; the present one is, if it has restarted. */
static void keep(struct atp_stream *s)
{
    const uint64_t needed = s->shared < s->una ? s->shared : s->una;
    uint64_t position = needed > s->base ? needed : s->base;

    s->stats.kept += s->end - position;
    for (; position < s->end; position++) {
        uint8_t *data = s->kept_data + (position & (s->cfg.terms.window - 1u)) * atp_kept_bytes(&s->cfg);
        const struct atp_chunk chunk = atp_chunk_at(s, position);
        *kept_at(s, position) =
            (struct atp_kept){.call = *chunk.call,
                              .elements = {.in = data, .out = data, .end = chunk.elements.bytes},
                              .lead = chunk.lead,
                              .opening = chunk.opening};
        if (chunk.elements.bytes > 0)
            xfer_pieces_gather(&chunk.elements, data, copy);
    }
}

void atp_end_if_done(struct atp_stream *s)
{
    if (s->base == s->end || s->oldest != s->end)
        return;
    keep(s);
    s->base = s->end;
    s->call.seq++;
}

uint32_t atp_stream_oldest(const struct atp_stream *s)
{
    return (uint32_t)s->oldest;
}

/* All that was under way is forgotten; chunks of the new life go to aggregators as in its first window. */
static void restart_flights(struct atp_stream *s)
{
    for (uint32_t i = 0; i < s->cfg.terms.window; i++) {
        struct atp_flight *f = atp_flight_of(s, s->una + i);
        *f = (struct atp_flight){
            .have = f->have,
            .index = atp_index_first(s->cfg.terms.mapping, s->cfg.terms.life, (uint32_t)(s->una + i))};
    }
    s->sent = s->due = (struct atp_list){ATP_NO_PLACE, ATP_NO_PLACE};
    s->under_way = 0;
    s->limited = false;
    atp_congestion_init(&s->congestion, s->cfg.terms.window);
}

int atp_stream_resume(struct atp_stream *s, uint8_t job, const struct atp_terms *granted,
                      const struct keys_shared *shared, uint64_t now)
{
    const int64_t back = (int32_t)((uint32_t)s->oldest - granted->first_sequence);

    if (back < 0 || (uint64_t)back > s->oldest - s->shared || granted->window != s->cfg.terms.window ||
        granted->chunk_bytes != s->cfg.terms.chunk_bytes)
        return -ENODATA;
    s->cfg.job = job;
    s->cfg.terms.life = granted->life;
    s->cfg.terms.group = granted->group;
    s->una = s->inf = s->oldest - (uint64_t)back;
    restart_flights(s);
    atp_begin_life(s, s->una, shared);
    atp_group_init(s);
    s->quiet_since = now;
    s->backoff = s->silent = 0;
    s->waiting_position = 0;
    s->rejected = false;
    return 0;
}
