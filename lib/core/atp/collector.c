#include "atp/collector.h"

#include <string.h>

#include "atp/collector_state.h"
#include "atp/index.h"
#include "atp/reasons.h"

enum { LINE = 64 };

static size_t lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static size_t lane_bytes_of(const struct atp_collector_config *cfg)
{
    const size_t parts = cfg->mode == ATP_ORDERED ? cfg->topology.workers : 2;

    return lines(sizeof(struct atp_lane) + ATP_HEADER_BYTES + (1 + parts) * cfg->chunk_bytes);
}

size_t atp_collector_footprint(const struct atp_collector_config *cfg)
{
    if (!atp_topology_fits(&cfg->topology) || cfg->window < ATP_MIN_WINDOW || cfg->window > ATP_MAX_WINDOW ||
        (cfg->window & (cfg->window - 1)) != 0 || cfg->chunk_bytes < ATP_MIN_CHUNK_BYTES ||
        cfg->chunk_bytes > ATP_MAX_CHUNK_BYTES || cfg->chunk_bytes % 4 != 0 || cfg->mode > ATP_ORDERED ||
        cfg->format >= SML_FORMATS || cfg->mapping >= ATP_MAPPINGS)
        return 0;
    return lines(sizeof(struct atp_collector)) + cfg->window * lane_bytes_of(cfg);
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
                                .lanes = (uint8_t *)mem + lines(sizeof *c)};
    for (uint32_t i = 0; i < cfg->window; i++) {
        const uint32_t sequence = cfg->first_sequence + i;
        *lane_of(c, sequence) = (struct atp_lane){
            .expected = sequence, .index = atp_index_first(cfg->mapping, cfg->life, sequence)};
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
        sml_parse_call(&side.call, body, body_bytes);
    return side;
}

static bool sides_agree(const struct atp_side *a, const struct atp_side *b)
{
    return a->bytes == b->bytes && a->root == b->root && a->code == b->code && a->opening == b->opening &&
           a->scaled == b->scaled && (!a->opening || sml_call_equal(&a->call, &b->call));
}

/* The header of an answer about the lane's chunk, built where it goes. */
static void answer(const struct atp_collector *c, const struct atp_lane *lane, enum atp_kind kind,
                   size_t body_bytes, enum atp_reason reason, struct agg_verdict *v)
{
    const struct atp_packet out = {.kind = (uint8_t)kind,
                                   .job = c->cfg.job,
                                   .life = c->cfg.life,
                                   .sequence = lane->expected,
                                   .index = lane->index};

    atp_build_header(v->answer, &out);
    v->payload = v->answer;
    v->bytes = ATP_HEADER_BYTES + body_bytes;
    v->reason = reason;
}

static void send_mismatch(const struct atp_collector *c, struct atp_lane *lane, const struct atp_side *side,
                          struct agg_verdict *v)
{
    const struct atp_side *peer = sides_agree(side, &lane->first) ? &lane->other : &lane->first;
    const struct sml_mismatch m = {.your_rank = side->rank,
                                   .peer_rank = peer->rank,
                                   .your_tag = lane->expected,
                                   .peer_tag = lane->expected,
                                   .your_e0 = side->code,
                                   .peer_e0 = peer->code,
                                   .opening = side->opening || peer->opening,
                                   .your_bytes = side->bytes,
                                   .peer_bytes = peer->bytes,
                                   .yours = side->call,
                                   .peers = peer->call};

    sml_build_mismatch(v->answer + ATP_HEADER_BYTES, &m);
    answer(c, lane, ATP_MISMATCH, SML_MISMATCH_BYTES, ATP_SEND_MISMATCH, v);
}

/* Whose contributions are in. */
static void send_waiting(const struct atp_collector *c, const struct atp_lane *lane, enum atp_reason reason,
                         struct agg_verdict *v)
{
    const unsigned bytes = (c->cfg.topology.workers + 7u) / 8;

    for (unsigned i = 0; i < bytes; i++)
        v->answer[ATP_HEADER_BYTES + i] = (uint8_t)(lane->in[i / 8] >> 8 * (i % 8));
    answer(c, lane, ATP_WAITING, bytes, reason, v);
}

/* Asks those of these ranks that are not in to send again. */
static void ask(const struct atp_collector *c, struct atp_lane *lane, const uint64_t ranks[],
                struct agg_verdict *v)
{
    for (unsigned i = 0; i < c->words; i++)
        lane->wants[i] = ranks[i] & ~lane->in[i];
    v->wants = lane->wants;
    v->brief_bytes = 0;
    send_waiting(c, lane, ATP_SEND_ASK, v);
}

/* Somebody sends again: some contributions have come here alone, so those of others would wait in a switch
 * for them in vain. Tells who is missing, and these themselves, unless they were told. (Where contributions
 * come alone because of another chunk's aggregator, as is common, nobody is told: that costs more than it
 * saves.) */
static void hurry(const struct atp_collector *c, struct atp_lane *lane, uint16_t rank, struct agg_verdict *v)
{
    uint64_t more = 0;

    for (unsigned i = 0; i < c->words; i++) {
        lane->wants[i] = ranks_below(c->cfg.topology.workers, i) & ~lane->in[i] & ~lane->asked[i];
        lane->asked[i] |= lane->wants[i];
        more |= lane->wants[i];
    }
    lane->wants[rank / 64] |= UINT64_C(1) << rank % 64;
    v->wants = lane->wants;
    v->brief_bytes = 0;
    send_waiting(c, lane, more != 0 ? ATP_SEND_ASK : ATP_SEND_WAITING, v);
}

static bool wants_result(uint16_t root, uint16_t rank)
{
    return root == ATP_ALL || root == rank;
}

/* The chunk's result, with its header; the lane goes on to its next chunk. */
static void complete(struct atp_collector *c, struct atp_lane *lane, const uint8_t *body)
{
    const size_t head = lane->first.opening ? SML_CALL_BYTES : 0;
    const struct atp_packet out = {
        .kind = ATP_PARAMETER,
        .flags = (uint8_t)((lane->first.opening ? ATP_OPENING : 0) | (lane->first.scaled ? ATP_SCALED : 0) |
                           (lane->marked ? ATP_ECN : 0) | (lane->collided ? ATP_COLLISION : 0)),
        .job = c->cfg.job,
        .life = c->cfg.life,
        .sequence = lane->expected,
        .index = lane->index,
        .next = atp_index_next(c->cfg.mapping, c->cfg.life, lane->expected + c->cfg.window, lane->index,
                               lane->collided),
        .code = lane->first.code,
        .exponent = lane->exponent,
    };

    atp_build_header(lane->result, &out);
    memcpy(lane->result + ATP_HEADER_BYTES, body, head);
    atp_lane_finish(c, lane, lane->result + ATP_HEADER_BYTES + head, lane->first.bytes - head);
    lane->result_bytes = (uint16_t)(ATP_HEADER_BYTES + lane->first.bytes);
    lane->result_root = lane->first.root;
    lane->has_result = true;
    lane->index = out.next;
    lane->begun = lane->marked = lane->collided = false;
    memset(lane->in, 0, c->words * sizeof *lane->in);
    memset(lane->aside, 0, c->words * sizeof *lane->aside);
    memset(lane->asked, 0, c->words * sizeof *lane->asked);
    __atomic_store_n(&lane->contributed, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->expected, lane->expected + c->cfg.window, __ATOMIC_RELAXED);
}

/* Who hears the group now, as it is to stay for this verdict; NULL: nobody does. */
static const uint64_t *hearers(const struct atp_collector *c, struct atp_lane *lane)
{
    uint64_t any = 0;

    for (unsigned i = 0; i < c->words; i++) {
        lane->grouped[i] = __atomic_load_n(&c->hears[i], __ATOMIC_RELAXED);
        any |= lane->grouped[i];
    }
    return any == 0 ? NULL : lane->grouped;
}

/* A rank says whether it hears the group. Who does not is sent something there, so that he may find out. */
static void note_hearing(struct atp_collector *c, struct atp_lane *lane, uint16_t rank, bool hears,
                         struct agg_verdict *v)
{
    const uint64_t bit = UINT64_C(1) << rank % 64;
    const struct atp_packet out = {.kind = ATP_GROUP,
                                   .job = c->cfg.job,
                                   .life = c->cfg.life,
                                   .sequence = lane->expected,
                                   .index = lane->index};

    if (hears) {
        __atomic_fetch_or(&c->hears[rank / 64], bit, __ATOMIC_RELAXED);
        v->reason = ATP_HEARS_GROUP;
        return;
    }
    __atomic_fetch_and(&c->hears[rank / 64], ~bit, __ATOMIC_RELAXED);
    memset(lane->wants, 0, sizeof lane->wants);
    lane->wants[rank / 64] = bit;
    atp_build_header(v->answer, &out);
    v->payload = v->answer;
    v->bytes = ATP_HEADER_BYTES;
    v->brief_bytes = 0;
    v->wants = v->grouped = lane->wants;
    v->reason = ATP_SEND_GROUP;
}

static void send_all(const struct atp_collector *c, struct atp_lane *lane, struct agg_verdict *v)
{
    for (unsigned i = 0; i < c->words; i++)
        lane->wants[i] = lane->result_root == ATP_ALL   ? UINT64_MAX
                         : lane->result_root / 64u == i ? UINT64_C(1) << lane->result_root % 64
                                                        : 0;
    v->wants = lane->wants;
    v->grouped = lane->result_root == ATP_ALL ? hearers(c, lane) : NULL;
    v->payload = v->brief = lane->result;
    v->bytes = lane->result_bytes;
    v->brief_bytes = ATP_HEADER_BYTES;
    v->reason = ATP_SEND_ALL;
}

static void send_again(const struct atp_lane *lane, uint16_t rank, struct agg_verdict *v)
{
    v->payload = lane->result;
    v->bytes = wants_result(lane->result_root, rank) ? lane->result_bytes : ATP_HEADER_BYTES;
    v->reason = ATP_SEND_ONE;
}

/* What becomes of a part that its lane has taken, or not. */
static void answer_part(struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
                        const struct atp_packet *p, const struct atp_part *part, const uint8_t *body,
                        enum atp_brought brought, struct agg_verdict *v)
{
    if (brought == ATP_BROUGHT_OVERLAP) {
        ask(c, lane, part->ranks, v);
    } else if (brought == ATP_BROUGHT_SUM) {
        v->reason = ATP_DROP_SUMMED;
    } else if (lane->contributed == c->cfg.topology.workers) {
        complete(c, lane, body);
        send_all(c, lane, v);
    } else if (p->flags & ATP_RESEND && p->flags & ATP_COLLISION) {
        send_waiting(c, lane, ATP_SEND_WAITING, v);
    } else if (p->flags & ATP_RESEND) {
        hurry(c, lane, rank, v);
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
        lane->begun = true;
        lane->differs = false;
    } else if (!lane->differs && !sides_agree(side, &lane->first)) {
        lane->other = *side;
        lane->differs = true;
    }
    if (lane->differs) {
        send_mismatch(c, lane, side, v);
        return;
    }
    lane->marked |= (p->flags & ATP_ECN) != 0;
    lane->collided |= (p->flags & ATP_COLLISION) != 0;
    if (p->flags & ATP_OVERFLOW) {
        ask(c, lane, part->ranks, v);
        return;
    }
    brought = atp_lane_take(c, lane, part);
    __atomic_store_n(&lane->contributed, (uint16_t)ranks_count(lane->in, c->words), __ATOMIC_RELAXED);
    answer_part(c, lane, side->rank, p, part, body, brought, v);
}

static bool fits(const struct atp_collector *c, const struct atp_packet *p, size_t body_bytes)
{
    return body_bytes <= c->cfg.chunk_bytes && atp_operation(c, p->code)->fold != NULL &&
           ((p->flags & ATP_SCALED) != 0) == sml_has_exponents(c->cfg.format);
}

static void apply(struct atp_collector *c, struct atp_lane *lane, uint16_t rank, const struct atp_packet *p,
                  const uint8_t *body, size_t body_bytes, struct agg_verdict *v)
{
    const int32_t ahead = (int32_t)(p->sequence - lane->expected);
    const size_t head = p->flags & ATP_OPENING ? SML_CALL_BYTES : 0;
    struct atp_part part = {.exponent = p->exponent};

    if (p->kind == ATP_GROUP && c->cfg.has_group) {
        note_hearing(c, lane, rank, p->flags & ATP_HEARS, v);
    } else if (p->kind != ATP_GRADIENT) {
        v->reason = ATP_DROP_BAD_KIND;
    } else if (!atp_topology_ranks(&c->cfg.topology, p, part.ranks) || !ranks_has(part.ranks, rank)) {
        v->reason = ATP_DROP_BAD_RANKS;
    } else if (ahead > 0) {
        v->reason = ATP_DROP_AHEAD;
    } else if (ahead < 0) {
        v->reason =
            ahead == -(int32_t)c->cfg.window && lane->has_result ? ATP_DROP_DUPLICATE : ATP_DROP_STALE;
        if (v->reason == ATP_DROP_DUPLICATE && (p->flags & ATP_RESEND))
            send_again(lane, rank, v);
    } else if (!fits(c, p, body_bytes)) {
        v->reason = ATP_DROP_BAD_LENGTH;
    } else {
        const struct atp_side side = side_of(rank, p, body, body_bytes);
        part.elements = body + head;
        part.bytes = body_bytes - head;
        collect(c, lane, &side, p, body, &part, v);
    }
}

void atp_collector_apply(struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
                         const struct atp_packet *p, const uint8_t *body, size_t body_bytes,
                         struct agg_verdict *v)
{
    v->kept = false;
    v->released = v->buffer = NULL;
    v->grouped = NULL;
    apply(c, lane, rank, p, body, body_bytes, v);
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
