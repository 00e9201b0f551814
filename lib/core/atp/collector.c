#include "atp/collector.h"

#include <string.h>

#include "atp/collector_state.h"
#include "atp/index.h"
#include "atp/reasons.h"

static uint8_t *aside(const struct atp_collector *c, struct atp_lane *lane)
{
    return atp_lane_sum(c, lane) + c->cfg.chunk_bytes;
}

/* Ordered mode: where a rank's contribution waits. */
static uint8_t *place(const struct atp_collector *c, struct atp_lane *lane, unsigned rank)
{
    return atp_lane_sum(c, lane) + (size_t)rank * c->cfg.chunk_bytes;
}

static void clear(uint64_t set[], unsigned words)
{
    memset(set, 0, words * sizeof *set);
}

/* The sum becomes this part. */
static void start(const struct atp_collector *c, struct atp_lane *lane, const struct atp_part *part)
{
    const struct agg_operation *op = atp_operation(c, lane->first.code);

    if (agg_is_wide(op))
        op->start(atp_lane_sum(c, lane), part->elements, part->bytes);
    else
        memcpy(atp_lane_sum(c, lane), part->elements, part->bytes);
    memcpy(lane->in, part->ranks, c->words * sizeof *lane->in);
    lane->exponent = part->exponent;
}

static void add(const struct atp_collector *c, struct atp_lane *lane, const struct atp_part *part)
{
    atp_operation(c, lane->first.code)->fold(atp_lane_sum(c, lane), part->elements, part->bytes);
    ranks_unite(lane->in, part->ranks, c->words);
    if (part->exponent > lane->exponent)
        lane->exponent = part->exponent;
}

static void put_aside(const struct atp_collector *c, struct atp_lane *lane, const struct atp_part *part)
{
    memcpy(aside(c, lane), part->elements, part->bytes);
    memcpy(lane->aside, part->ranks, c->words * sizeof *lane->aside);
    lane->aside_exponent = part->exponent;
}

/* Whether this part and the one aside are all ranks, each once. */
static bool completes_aside(const struct atp_collector *c, const struct atp_lane *lane,
                            const struct atp_part *part)
{
    const unsigned n = ranks_count(lane->aside, c->words);

    return n > 0 && !ranks_meet(lane->aside, part->ranks, c->words) &&
           n + ranks_count(part->ranks, c->words) == c->cfg.topology.workers;
}

static void use_aside(const struct atp_collector *c, struct atp_lane *lane, const struct atp_part *part)
{
    struct atp_part other = {
        .elements = aside(c, lane), .bytes = part->bytes, .exponent = lane->aside_exponent};

    memcpy(other.ranks, lane->aside, sizeof other.ranks);
    start(c, lane, &other);
    add(c, lane, part);
    clear(lane->aside, c->words);
}

static enum atp_brought take_part(const struct atp_collector *c, struct atp_lane *lane,
                                  const struct atp_part *part)
{
    if (completes_aside(c, lane, part))
        use_aside(c, lane, part);
    else if (ranks_within(part->ranks, lane->in, c->words))
        return ATP_BROUGHT_NOTHING;
    else if (ranks_within(lane->in, part->ranks, c->words)) /* also of nobody */
        start(c, lane, part);
    else if (!ranks_meet(lane->in, part->ranks, c->words))
        add(c, lane, part);
    else {
        if (ranks_count(part->ranks, c->words) > ranks_count(lane->aside, c->words))
            put_aside(c, lane, part);
        return ATP_BROUGHT_OVERLAP;
    }
    if (ranks_within(lane->aside, lane->in, c->words))
        clear(lane->aside, c->words);
    return ATP_BROUGHT_SOMETHING;
}

static unsigned only_rank(const struct atp_collector *c, const uint64_t set[])
{
    for (unsigned i = 0; i < c->words; i++)
        if (set[i] != 0)
            return 64 * i + (unsigned)__builtin_ctzll(set[i]);
    return 0;
}

/* Contributions come singly. */
static enum atp_brought take_single(const struct atp_collector *c, struct atp_lane *lane,
                                    const struct atp_part *part)
{
    const bool first = ranks_count(lane->in, c->words) == 0;

    if (ranks_count(part->ranks, c->words) != 1)
        return ATP_BROUGHT_SUM;
    if (ranks_within(part->ranks, lane->in, c->words))
        return ATP_BROUGHT_NOTHING;
    if (c->cfg.mode == XFER_ORDERED) {
        memcpy(place(c, lane, only_rank(c, part->ranks)), part->elements, part->bytes);
        ranks_unite(lane->in, part->ranks, c->words);
        lane->exponent = first || part->exponent > lane->exponent ? part->exponent : lane->exponent;
    } else if (first) {
        start(c, lane, part);
    } else {
        add(c, lane, part);
    }
    return ATP_BROUGHT_SOMETHING;
}

/* Takes a part of the lane's chunk, which is like those before it. */
static enum atp_brought atp_lane_take(const struct atp_collector *c, struct atp_lane *lane,
                                      const struct atp_part *part)
{
    if (c->cfg.mode == XFER_ORDERED || agg_is_wide(atp_operation(c, lane->first.code)))
        return take_single(c, lane, part);
    return take_part(c, lane, part);
}

void atp_lane_finish(const struct atp_collector *c, struct atp_lane *lane, uint8_t *out, size_t bytes)
{
    const struct agg_operation *op = atp_operation(c, lane->first.code);
    const uint16_t n = c->cfg.topology.workers;
    const void *in[ATP_MAX_WORKERS];

    if (c->cfg.mode == XFER_ORDERED) {
        for (unsigned rank = 0; rank < n; rank++)
            in[rank] = place(c, lane, rank);
        op->reduce(out, in, n, bytes);
        if (op->finish != NULL && !agg_is_wide(op))
            op->finish(out, out, n, bytes);
    } else if (op->finish != NULL) {
        op->finish(out, atp_lane_sum(c, lane), n, bytes);
    } else {
        memcpy(out, atp_lane_sum(c, lane), bytes);
    }
}

enum { LINE = 64 };

static size_t lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static size_t lane_bytes_of(const struct atp_collector_config *cfg)
{
    const size_t parts = cfg->mode == XFER_ORDERED ? cfg->topology.workers : 2;

    return lines(sizeof(struct atp_lane) + ATP_HEADER_BYTES + (1 + parts) * cfg->chunk_bytes +
                 XFER_TRAILER_MAX);
}

static size_t auth_bytes_of(const struct atp_collector_config *cfg)
{
    return cfg->seal == XFER_CHECKSUM_KEYED ? lines(xfer_auth_footprint(cfg->chunk_bytes)) : 0;
}

size_t atp_collector_footprint(const struct atp_collector_config *cfg)
{
    if (!atp_topology_fits(&cfg->topology) || cfg->window < ATP_MIN_WINDOW || cfg->window > ATP_MAX_WINDOW ||
        (cfg->window & (cfg->window - 1)) != 0 || cfg->chunk_bytes < ATP_MIN_CHUNK_BYTES ||
        cfg->chunk_bytes > ATP_MAX_CHUNK_BYTES || cfg->chunk_bytes % 4 != 0 || cfg->mode > XFER_ORDERED ||
        cfg->format >= XFER_FORMATS || cfg->mapping >= ATP_MAPPINGS || cfg->seal > XFER_CHECKSUM_KEYED ||
        (cfg->seal == XFER_CHECKSUM_KEYED && cfg->shared == NULL))
        return 0;
    return lines(sizeof(struct atp_collector)) + auth_bytes_of(cfg) + cfg->window * lane_bytes_of(cfg);
}

static struct atp_lane *lane_at(const struct atp_collector *c, uint32_t i)
{
    return (struct atp_lane *)(c->lanes + i * c->lane_bytes);
}

static struct atp_lane *lane_of(const struct atp_collector *c, uint32_t sequence)
{
    return lane_at(c, sequence & (c->cfg.window - 1u));
}

struct atp_collector *atp_collector_init(void *mem, const struct atp_collector_config *cfg)
{
    struct atp_collector *c = mem;

    *c = (struct atp_collector){.cfg = *cfg,
                                .words = (cfg->topology.workers + 63u) / 64,
                                .lane_bytes = lane_bytes_of(cfg),
                                .lanes = (uint8_t *)mem + lines(sizeof *c) + auth_bytes_of(cfg)};
    if (cfg->seal == XFER_CHECKSUM_KEYED)
        c->auth = xfer_auth_init((uint8_t *)mem + lines(sizeof *c), cfg->shared, cfg->chunk_bytes);
    c->cfg.shared = NULL;
    for (uint32_t i = 0; i < cfg->window; i++) {
        const uint32_t sequence = cfg->first_sequence + i;
        *lane_of(c, sequence) =
            (struct atp_lane){.expected = sequence,
                              .wraps = sequence < cfg->first_sequence,
                              .index = atp_index_first(cfg->mapping, cfg->life, sequence)};
    }
    return c;
}

struct atp_lane *atp_collector_locate(struct atp_collector *c, const struct atp_packet *p)
{
    return p->life == c->cfg.life ? lane_of(c, p->sequence) : NULL;
}

void atp_lane_prefetch(const struct atp_lane *lane)
{
    __builtin_prefetch(lane, 1);
    __builtin_prefetch((const uint8_t *)lane + LINE, 1);
}

static struct atp_side side_of(uint16_t rank, const struct atp_packet *p, const uint8_t *body,
                               size_t body_bytes)
{
    struct atp_side side = {.rank = rank,
                            .bytes = (uint16_t)body_bytes,
                            .root = p->root,
                            .code = p->code,
                            .opening = (p->flags & ATP_OPENING) != 0,
                            .scaled = (p->flags & ATP_SCALED) != 0};

    if (side.opening)
        xfer_parse_call(&side.call, body, body_bytes);
    return side;
}

/* What becomes of a part that its lane has taken, or not. */
static void answer_part(struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
                        const struct atp_packet *p, const struct atp_part *part, const uint8_t *body,
                        enum atp_brought brought, struct agg_verdict *v)
{
    if (brought == ATP_BROUGHT_OVERLAP) {
        atp_lane_ask(c, lane, part->ranks, v);
    } else if (brought == ATP_BROUGHT_SUM) {
        v->reason = ATP_DROP_SUMMED;
    } else if (lane->contributed == c->cfg.topology.workers) {
        atp_lane_complete(c, lane, body);
        atp_lane_send_all(c, lane, v);
    } else if (p->flags & ATP_RESEND && p->flags & ATP_COLLISION) {
        atp_lane_waiting(c, lane, ATP_SEND_WAITING, v);
    } else if (p->flags & ATP_RESEND) {
        atp_lane_hurry(c, lane, rank, v);
    } else {
        v->reason = brought == ATP_BROUGHT_NOTHING ? ATP_DROP_DUPLICATE : ATP_HELD;
    }
}

/* A part of the chunk that the lane collects. */
static void collect(struct atp_collector *c, struct atp_lane *lane, const struct atp_side *side,
                    const struct atp_packet *p, const uint8_t *body, struct atp_part *part,
                    struct agg_verdict *v)
{
    enum atp_brought brought;

    if (!lane->begun) {
        lane->first = *side;
        lane->held = p->held;
        lane->begun = true;
        lane->differs = false;
    } else if (!lane->differs && !atp_sides_agree(side, &lane->first)) {
        lane->other = *side;
        lane->differs = true;
    }
    if (lane->differs) {
        atp_lane_mismatch(c, lane, side, v);
        return;
    }
    lane->marked |= (p->flags & ATP_ECN) != 0;
    lane->collided |= (p->flags & ATP_COLLISION) != 0;
    lane->held = p->held < lane->held ? p->held : lane->held;
    brought = atp_lane_take(c, lane, part);
    __atomic_store_n(&lane->contributed, (uint16_t)ranks_count(lane->in, c->words), __ATOMIC_RELAXED);
    answer_part(c, lane, side->rank, p, part, body, brought, v);
}

static bool fits(const struct atp_collector *c, const struct atp_packet *p, size_t body_bytes)
{
    return body_bytes <= c->cfg.chunk_bytes && atp_operation(c, p->code)->fold != NULL &&
           ((p->flags & ATP_SCALED) != 0) == xfer_has_exponents(c->cfg.format);
}

/* A rank has a sum of the chunk that this lane collects. */
static void restore(struct atp_collector *c, struct atp_lane *lane, uint16_t rank, const struct atp_packet *p,
                    const uint8_t *body, size_t body_bytes, struct agg_verdict *v)
{
    const struct atp_side side = side_of(rank, p, body, body_bytes);

    v->reason = ATP_DROP_RESTORE;
    if (!c->cfg.resumed || lane->has_result)
        return;
    lane->exponent = p->exponent;
    atp_lane_restore(c, lane, &side, body);
    atp_lane_send_all(c, lane, v);
    v->reason = ATP_SEND_RESTORED;
}

/* Of a chunk that its lane has completed before: its sum is there, if it was the last. */
static void look_back(const struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
                      const struct atp_packet *p, struct agg_verdict *v)
{
    const bool last = p->sequence == lane->expected - c->cfg.window && lane->has_result;

    v->reason = last ? ATP_DROP_DUPLICATE : ATP_DROP_STALE;
    if (last && (p->kind == ATP_ASK || p->flags & ATP_RESEND))
        atp_lane_send_again(c, lane, rank, v);
}

static void apply(struct atp_collector *c, struct atp_lane *lane, uint16_t rank, const struct atp_packet *p,
                  const uint8_t *body, size_t body_bytes, struct agg_verdict *v)
{
    const int32_t ahead = (int32_t)(p->sequence - lane->expected);
    const size_t head = p->flags & ATP_OPENING ? XFER_CALL_BYTES : 0;
    struct atp_part part = {.exponent = p->exponent};

    if (p->kind == ATP_GROUP && c->cfg.has_group) {
        atp_lane_note_hearing(c, lane, rank, p->flags & ATP_HEARS, v);
    } else if (p->kind != ATP_GRADIENT && p->kind != ATP_RESTORE && p->kind != ATP_ASK) {
        v->reason = ATP_DROP_BAD_KIND;
    } else if (p->kind == ATP_GRADIENT &&
               (!atp_topology_ranks(&c->cfg.topology, p, part.ranks) || !ranks_has(part.ranks, rank))) {
        v->reason = ATP_DROP_BAD_RANKS;
    } else if (ahead > 0) {
        v->reason = ATP_DROP_AHEAD;
    } else if (ahead < 0) {
        look_back(c, lane, rank, p, v);
    } else if (p->kind == ATP_ASK) {
        atp_lane_hurry(c, lane, rank, v);
    } else if (!fits(c, p, body_bytes)) {
        v->reason = ATP_DROP_BAD_LENGTH;
    } else if (p->kind == ATP_RESTORE) {
        restore(c, lane, rank, p, body, body_bytes, v);
    } else {
        const struct atp_side side = side_of(rank, p, body, body_bytes);
        part.elements = body + head;
        part.bytes = body_bytes - head;
        collect(c, lane, &side, p, body, &part, v);
    }
}

void atp_collector_apply(struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
                         const struct atp_packet *p, const uint8_t *payload, size_t bytes,
                         struct agg_verdict *v)
{
    v->kept = false;
    v->released = v->buffer = NULL;
    v->grouped = NULL;
    if (atp_lane_believes(c, lane, rank, p, payload, bytes))
        apply(c, lane, rank, p, payload + ATP_HEADER_BYTES, atp_body_bytes(p, bytes), v);
    else
        v->reason = c->cfg.seal == XFER_CHECKSUM_KEYED ? ATP_DROP_UNPROVEN : ATP_DROP_BAD_CHECKSUM;
}

uint16_t atp_collector_lanes(const struct atp_collector *c)
{
    return c->cfg.window;
}

void atp_collector_view(const struct atp_collector *c, uint16_t i, struct agg_slot_view *view)
{
    const struct atp_lane *lane = lane_at(c, i);

    *view = (struct agg_slot_view){.chunk = __atomic_load_n(&lane->expected, __ATOMIC_RELAXED),
                                   .contributed = __atomic_load_n(&lane->contributed, __ATOMIC_RELAXED)};
    for (unsigned w = 0; w < c->words; w++)
        view->ranks[w] = __atomic_load_n(&lane->in[w], __ATOMIC_RELAXED);
}
