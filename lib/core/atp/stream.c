#include "atp/stream.h"

#include <errno.h>
#include <string.h>

#include "atp/index.h"
#include "atp/stream_state.h"

/* Whether results that are for all ranks come to this one by the job's group. The server sends there what it
 * has for those ranks that say that they hear it, and to all others one by one. So a rank asks for a packet
 * by the group until it has had one, and then says so. If results come one by one nevertheless, though it has
 * not asked for them, that word was lost: it says so again. If it has had to ask for each, the group does not
 * reach it any more: it takes back its word, and asks anew. */
enum { MISSES = 8 }; /* results in a row that came one by one */

static const uint64_t PAUSE_FIRST_NS = 20000000, PAUSE_MAX_NS = 5000000000;

static void atp_group_init(struct atp_stream *s)
{
    s->group = (struct atp_group){.pause = PAUSE_FIRST_NS};
}

void atp_group_note(struct atp_stream *s, const struct atp_packet *p, bool for_all, bool asked)
{
    struct atp_group *g = &s->group;

    if (p->flags & ATP_BY_GROUP) {
        g->misses = 0;
        if (!g->hears)
            g->tell_at = 0;
        g->hears = true;
        if (p->kind == ATP_PARAMETER)
            g->pause = PAUSE_FIRST_NS;
    } else if (g->told && for_all && ++g->misses == MISSES) {
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

struct atp_packet atp_group_tell(struct atp_stream *s, uint64_t now)
{
    struct atp_group *g = &s->group;

    g->told = g->hears;
    g->tell_at = now + g->pause;
    g->pause = 2 * g->pause < PAUSE_MAX_NS ? 2 * g->pause : PAUSE_MAX_NS;
    return (struct atp_packet){.kind = ATP_GROUP,
                               .flags = g->hears ? ATP_HEARS : 0,
                               .job = s->cfg.job,
                               .life = s->cfg.terms.life,
                               .sequence = (uint32_t)s->una,
                               .index = atp_flight_of(s, s->una)->index,
                               .seal = (uint8_t)atp_terms_seal(&s->cfg.terms)};
}

enum { ALIGN = 64 };

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static struct atp_topology topology_of(const struct atp_stream_config *c)
{
    return (struct atp_topology){.workers = c->workers, .per_rack = c->terms.per_rack, .near = c->terms.near};
}

static bool config_ok(const struct atp_stream_config *c)
{
    const struct atp_terms *t = &c->terms;
    const struct atp_topology racks = topology_of(c);

    return atp_topology_fits(&racks) && c->rank < c->workers && t->window >= ATP_MIN_WINDOW &&
           t->window <= ATP_MAX_WINDOW && (t->window & (t->window - 1)) == 0 &&
           t->chunk_bytes >= ATP_MIN_CHUNK_BYTES && t->chunk_bytes <= ATP_MAX_CHUNK_BYTES &&
           t->chunk_bytes % 4 == 0 && t->format < XFER_FORMATS && t->checksum <= XFER_CHECKSUM_CRC32C &&
           (!t->keyed || c->shared != NULL) && t->servers >= 1 && t->server < t->servers &&
           xfer_queue_room(c->calls) != 0;
}

static size_t exponents_bytes(const struct atp_stream_config *c)
{
    return xfer_has_exponents(c->terms.format) ? 4u * c->terms.window : 0;
}

static size_t auth_bytes(const struct atp_stream_config *c)
{
    return c->terms.keyed ? aligned(xfer_auth_footprint(c->terms.chunk_bytes)) : 0;
}

/* A new life of the job begins at this position. */
static void atp_begin_life(struct atp_stream *s, uint64_t position, const struct keys_secret *shared)
{
    s->round = position >> 32 << 32;
    if (s->auth != NULL)
        xfer_auth_init(s->auth, shared, s->cfg.terms.chunk_bytes);
}

size_t atp_stream_footprint(const struct atp_stream_config *cfg)
{
    if (!config_ok(cfg))
        return 0;
    return aligned(sizeof(struct atp_stream)) + aligned(cfg->terms.window * sizeof(struct atp_flight)) +
           aligned(exponents_bytes(cfg)) + auth_bytes(cfg) +
           aligned(xfer_queue_room(cfg->calls) * sizeof(uint64_t)) +
           aligned(xfer_queue_room(cfg->calls) * sizeof(struct atp_order)) +
           aligned(cfg->terms.window * sizeof(struct atp_kept)) + cfg->terms.window * atp_kept_bytes(cfg);
}

struct atp_stream *atp_stream_init(void *mem, const struct atp_stream_config *cfg)
{
    struct atp_stream *s = mem;
    uint8_t *p = mem;

    memset(s, 0, atp_stream_footprint(cfg));
    s->cfg = *cfg;
    atp_stream_deal(s, 1);
    p += aligned(sizeof *s);
    s->flights = (struct atp_flight *)p;
    p += aligned(cfg->terms.window * sizeof(struct atp_flight));
    s->exponents = (int8_t *)p;
    memset(s->exponents, NUM_NO_BLOCK, exponents_bytes(cfg));
    p += aligned(exponents_bytes(cfg));
    s->auth = cfg->terms.keyed ? (struct xfer_auth *)p : NULL;
    p += auth_bytes(cfg);
    s->queue = (struct xfer_queue){.base = (uint64_t *)p, .room = xfer_queue_room(cfg->calls)};
    p += aligned(s->queue.room * sizeof(uint64_t));
    s->orders = (struct atp_order *)p;
    p += aligned(s->queue.room * sizeof(struct atp_order));
    s->kept = (struct atp_kept *)p;
    s->kept_data = p + aligned(cfg->terms.window * sizeof(struct atp_kept));
    s->numbers = num_loops_for(cfg->kernels);
    s->topology = topology_of(cfg);

    /* Positions begin above 2^32, so that 0 is none. */
    s->base = (UINT64_C(1) << 32) + cfg->terms.first_sequence;
    s->una = s->inf = s->oldest = s->end = s->sent_end = s->shared = s->base;
    atp_begin_life(s, s->base, cfg->shared);
    s->cfg.shared = NULL;
    for (uint32_t i = 0; i < cfg->terms.window; i++)
        atp_flight_of(s, s->base + i)->index =
            atp_index_first(cfg->terms.mapping, cfg->terms.life, (uint32_t)(s->base + i));
    s->sent = s->due = (struct atp_list){ATP_NO_FLIGHT, ATP_NO_FLIGHT};
    xfer_rtt_init(&s->rtt, cfg->rto_first_ns, cfg->rto_min_ns, cfg->rto_max_ns);
    atp_congestion_init(&s->congestion, cfg->terms.window);
    atp_group_init(s);
    return s;
}

void atp_list_put(struct atp_stream *s, struct atp_list *list, uint16_t place)
{
    struct atp_flight *f = &s->flights[place];

    f->listed = true;
    f->due = list == &s->due;
    f->next = ATP_NO_FLIGHT;
    f->prev = list->last;
    if (list->last == ATP_NO_FLIGHT)
        list->first = place;
    else
        s->flights[list->last].next = place;
    list->last = place;
}

void atp_list_take(struct atp_stream *s, uint16_t place)
{
    struct atp_flight *f = &s->flights[place];
    struct atp_list *list = f->due ? &s->due : &s->sent;

    if (!f->listed)
        return;
    f->listed = false;
    if (f->prev == ATP_NO_FLIGHT)
        list->first = f->next;
    else
        s->flights[f->prev].next = f->next;
    if (f->next == ATP_NO_FLIGHT)
        list->last = f->prev;
    else
        s->flights[f->next].prev = f->prev;
}

void atp_make_due(struct atp_stream *s, uint64_t position, bool direct)
{
    const uint16_t place = (uint16_t)(position & (s->cfg.terms.window - 1u));

    s->flights[place].direct |= direct;
    if (s->flights[place].listed && s->flights[place].due)
        return;
    atp_list_take(s, place);
    atp_list_put(s, &s->due, place);
}

static bool call_ok(const struct atp_stream *s, const struct xfer_call *call)
{
    const bool root_ok = (call->collective == XFER_ALLREDUCE && call->root == 0) ||
                         (call->collective == XFER_REDUCE && call->root < s->cfg.workers);

    return root_ok && atp_cut_carries(&s->cfg.terms, call);
}

/* Of each port three chunks behind a lost one have to fit into the window; where it is too small, results of
 * some ports are looked at together. */
void atp_stream_deal(struct atp_stream *s, uint8_t ports)
{
    const unsigned fit = s->cfg.terms.window / (ATP_OUT_OF_ORDER + 1);
    const unsigned most = fit < ATP_SERVER_PORTS ? fit : ATP_SERVER_PORTS;

    s->ports = ports == 0 ? 1 : ports < most ? ports : most;
    memset(s->latest, 0, sizeof(s->latest));
}

int atp_stream_begin_segments(struct atp_stream *s, const struct xfer_call *call,
                              struct xfer_segment segments[], size_t n, uint64_t now)
{
    const bool wants = call->collective == XFER_ALLREDUCE || call->root == s->cfg.rank;
    struct xfer_call counted = *call;

    if (xfer_queue_full(&s->queue))
        return -EBUSY;
    if (!call_ok(s, call) || !xfer_segments_given(segments, n, wants))
        return -EINVAL;
    if (!xfer_segments_measure(segments, n, atp_cut_of(&s->cfg.terms, call).element, &counted.count))
        return -EOVERFLOW;
    const struct atp_cut cut = atp_cut_of(&s->cfg.terms, &counted);
    if (cut.packets > UINT64_C(1) << 31)
        return -EOVERFLOW;
    counted.seq = s->queue.next;
    if (xfer_queue_empty(&s->queue))
        s->progress = now;
    s->orders[xfer_queue_begin(&s->queue, s->end)] = (struct atp_order){
        .call = counted, .cut = cut, .segments = segments, .segment_count = n, .base = s->end};
    s->end += cut.packets;
    atp_end_if_done(s);
    return 0;
}

struct xfer_pieces atp_elements(const struct atp_stream *s, uint64_t position, bool block, bool out)
{
    const struct atp_order *o = atp_order_with(s, position);
    uint64_t offset;
    size_t bytes;

    atp_cut_span(&o->cut, position - o->base, block, &offset, &bytes);
    return xfer_segments_find(o->segments, o->segment_count, offset, bytes, out);
}

struct xfer_scale atp_scale(const struct atp_stream *s, uint64_t position, const struct xfer_call *call,
                            uint64_t lead)
{
    return xfer_scale_of(s->numbers, s->cfg.terms.format, call, s->cfg.workers,
                         *atp_exponent_at(s, position - lead));
}

uint64_t atp_stream_left(const struct atp_stream *s)
{
    const uint64_t window = s->oldest + s->cfg.terms.window;
    uint64_t left = s->end - s->oldest;

    for (uint64_t p = s->oldest; p < s->end && p < window; p++)
        left -= atp_flight_of(s, p)->have;
    return left;
}

uint32_t atp_stream_ended(const struct atp_stream *s)
{
    return s->queue.first;
}

uint32_t atp_stream_completed(const struct atp_stream *s)
{
    return s->queue.first;
}

const struct xfer_call *atp_stream_oldest_call(const struct atp_stream *s)
{
    return xfer_queue_empty(&s->queue) ? NULL : &atp_order_with(s, s->base)->call;
}

uint64_t atp_stream_packets(const struct atp_stream *s, const struct xfer_call *call)
{
    return atp_cut_of(&s->cfg.terms, call).packets;
}

enum xfer_status atp_stream_status(const struct atp_stream *s)
{
    if (s->mismatched)
        return XFER_MISMATCH;
    if (s->rejected)
        return XFER_REJECTED;
    return xfer_queue_empty(&s->queue) ? XFER_DONE : XFER_RUNNING;
}

const struct xfer_mismatch *atp_stream_mismatch(const struct atp_stream *s)
{
    return &s->mismatch;
}

uint64_t atp_stream_progress(const struct atp_stream *s)
{
    return s->progress;
}

unsigned atp_stream_missing(const struct atp_stream *s, uint16_t ranks[], unsigned max)
{
    if (s->waiting_position != s->una)
        return 0;
    return ranks_map_lacks(s->waiting, s->cfg.workers, ranks, max);
}

void atp_stream_stats(const struct atp_stream *s, struct xfer_stats *out)
{
    *out = s->stats;
    out->srtt_ns = s->rtt.srtt;
    out->rttvar_ns = s->rtt.var;
    out->rto_ns = xfer_rtt_rto(&s->rtt);
    out->window = atp_window(s);
    out->unanswered = s->silent;
}

void atp_stream_signs(const struct atp_stream *s, struct atp_stream_signs *out)
{
    *out = s->signs;
    out->halved = s->congestion.halved;
}

/* What a stream keeps for a server that has restarted. */
static struct atp_kept *kept_at(const struct atp_stream *s, uint64_t position)
{
    return &s->kept[position & (s->cfg.terms.window - 1u)];
}

const struct xfer_call *atp_call_at(const struct atp_stream *s, uint64_t position)
{
    return position < s->base ? &kept_at(s, position)->call : &atp_order_with(s, position)->call;
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
    const struct atp_order *o = atp_order_with(s, position);
    const bool result = atp_wants(s, &o->call) && atp_have(s, position);
    return (struct atp_chunk){.call = &o->call,
                              .elements = atp_elements(s, position, false, result),
                              .lead = o->cut.lead,
                              .opening = position == o->base};
}

/* Ends the oldest in progress. Another server would not be asked about what all ranks share; the present one
 * is, if it has restarted. */
static void keep(struct atp_stream *s, uint64_t end)
{
    const uint64_t needed = s->shared < s->una ? s->shared : s->una;
    uint64_t position = needed > s->base ? needed : s->base;

    for (; position < end; position++) {
        uint8_t *data = s->kept_data + (position & (s->cfg.terms.window - 1u)) * atp_kept_bytes(&s->cfg);
        const struct atp_chunk chunk = atp_chunk_at(s, position);
        *kept_at(s, position) =
            (struct atp_kept){.call = *chunk.call,
                              .elements = {.in = data, .out = data, .end = chunk.elements.bytes},
                              .lead = chunk.lead,
                              .opening = chunk.opening};
        if (chunk.elements.bytes > 0)
            xfer_pieces_gather(&chunk.elements, data, agg_convert_same);
        s->stats.kept++;
    }
    s->base = end;
    s->queue.first++;
}

void atp_end_if_done(struct atp_stream *s)
{
    while (!xfer_queue_empty(&s->queue)) {
        const uint64_t end = xfer_queue_oldest_end(&s->queue, s->end);

        if (s->oldest < end)
            return;
        keep(s, end);
    }
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
    s->sent = s->due = (struct atp_list){ATP_NO_FLIGHT, ATP_NO_FLIGHT};
    s->under_way = 0;
    s->limited = false;
    atp_congestion_init(&s->congestion, s->cfg.terms.window);
}

int atp_stream_resume(struct atp_stream *s, uint8_t job, const struct atp_terms *granted,
                      const struct keys_secret *shared, uint64_t now)
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
