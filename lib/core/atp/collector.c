#include <string.h>

#include "atp/collector_state.h"
#include "atp/index.h"
#include "wire/atp.h"

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

/* What a lane answers, and whom it believes. Each answer is a verdict, of the reason that its name says. */

/* How often sequence numbers had wrapped before this one, less than 2^31 chunks from what the lane expects.
 */
static uint32_t wraps_before(const struct atp_lane *lane, uint32_t sequence)
{
    const uint64_t expected = (uint64_t)lane->wraps << 32 | lane->expected;

    return (uint32_t)((expected + (uint64_t)(int64_t)(int32_t)(sequence - lane->expected)) >> 32);
}

/* Appends the job's trailer to a packet about this chunk; returns the length of both. */
static size_t seal(const struct atp_collector *c, const struct atp_lane *lane, uint32_t sequence,
                   uint8_t *payload, size_t bytes)
{
    const struct xfer_route route = {
        .sender = XFER_SWITCH, .receiver = XFER_SWITCH, .wraps = wraps_before(lane, sequence)};

    return atp_seal_append(payload, bytes, c->auth, &route);
}

/* Whether a packet ends with the job's trailer, as this rank makes it. */
static bool believes(const struct atp_collector *c, const struct atp_lane *lane, uint16_t rank,
                     const struct atp_packet *p, const uint8_t *payload, size_t bytes)
{
    const struct xfer_route route = {
        .sender = rank, .receiver = XFER_SWITCH, .wraps = wraps_before(lane, p->sequence)};

    return p->seal == c->cfg.seal && atp_seal_holds(p, payload, bytes, c->auth, &route);
}

/* The header of a packet about the lane's chunk. */
static struct atp_packet about(const struct atp_collector *c, const struct atp_lane *lane, enum atp_kind kind)
{
    return (struct atp_packet){.kind = (uint8_t)kind,
                               .job = c->cfg.job,
                               .life = c->cfg.life,
                               .sequence = lane->expected,
                               .index = lane->index,
                               .seal = (uint8_t)c->cfg.seal};
}

/* An answer about the lane's chunk, whose body is where it goes. */
static void answer(const struct atp_collector *c, const struct atp_lane *lane, enum atp_kind kind,
                   size_t body_bytes, enum atp_reason reason, struct agg_verdict *v)
{
    const struct atp_packet out = about(c, lane, kind);

    atp_build_header(v->answer, &out);
    v->payload = v->answer;
    v->bytes = seal(c, lane, lane->expected, v->answer, ATP_HEADER_BYTES + body_bytes);
    v->reason = reason;
}

/* To one of two sides that differ. */
static void answer_mismatch(const struct atp_collector *c, struct atp_lane *lane, const struct atp_side *side,
                            struct agg_verdict *v)
{
    const struct atp_side *peer = atp_sides_agree(side, &lane->first) ? &lane->other : &lane->first;
    const struct xfer_mismatch m = {.your_rank = side->rank,
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

    xfer_build_mismatch(v->answer + ATP_HEADER_BYTES, &m);
    answer(c, lane, ATP_MISMATCH, XFER_MISMATCH_BYTES, ATP_SEND_MISMATCH, v);
}

/* Whose contributions are in. */
static void answer_waiting(const struct atp_collector *c, const struct atp_lane *lane, enum atp_reason reason,
                           struct agg_verdict *v)
{
    const size_t bytes = ranks_map_write(v->answer + ATP_HEADER_BYTES, lane->in, c->cfg.topology.workers);

    if (lane->differs)
        memset(v->answer + ATP_HEADER_BYTES, 0, bytes);
    answer(c, lane, ATP_WAITING, bytes, reason, v);
}

/* The same, to those of these ranks that are not in, who are to send again. */
static void answer_ask(const struct atp_collector *c, struct atp_lane *lane, const uint64_t ranks[],
                       struct agg_verdict *v)
{
    for (unsigned i = 0; i < c->words; i++)
        lane->wants[i] = ranks[i] & ~lane->in[i];
    v->wants = lane->wants;
    v->brief_bytes = 0;
    answer_waiting(c, lane, ATP_SEND_ASK, v);
}

/* Somebody sends again: some contributions have come here alone, so those of others would wait in a switch
 * for them in vain. Tells who is missing, and these themselves, once in each round of questions: what they
 * were told, or what they have sent then, may be lost. (Where contributions
 * come alone because of another chunk's aggregator, as is common, nobody is told: that costs more than it
 * saves.) */
static void hurry(const struct atp_collector *c, struct atp_lane *lane, uint16_t rank, struct agg_verdict *v)
{
    uint64_t more = 0;

    if (ranks_has(lane->askers, rank)) {
        memset(lane->askers, 0, c->words * sizeof *lane->askers);
        memset(lane->asked, 0, c->words * sizeof *lane->asked);
    }
    ranks_add(lane->askers, rank);
    for (unsigned i = 0; i < c->words; i++) {
        lane->wants[i] = ranks_below(c->cfg.topology.workers, i) & ~lane->in[i] & ~lane->asked[i];
        lane->asked[i] |= lane->wants[i];
        more |= lane->wants[i];
    }
    ranks_add(lane->wants, rank);
    v->wants = lane->wants;
    v->brief_bytes = 0;
    answer_waiting(c, lane, more != 0 ? ATP_SEND_ASK : ATP_SEND_WAITING, v);
}

static bool wants_result(uint16_t root, uint16_t rank)
{
    return root == ATP_ALL || root == rank;
}

/* The lane goes on to its next chunk. */
static void go_on(struct atp_collector *c, struct atp_lane *lane, uint16_t next)
{
    const uint32_t following = lane->expected + c->cfg.window;

    lane->has_result = true;
    lane->again_to = ATP_AGAIN_NOBODY;
    lane->index = next;
    lane->begun = lane->marked = lane->collided = false;
    memset(lane->in, 0, c->words * sizeof *lane->in);
    memset(lane->aside, 0, c->words * sizeof *lane->aside);
    memset(lane->asked, 0, c->words * sizeof *lane->asked);
    memset(lane->askers, 0, c->words * sizeof *lane->askers);
    __atomic_store_n(&lane->contributed, 0, __ATOMIC_RELAXED);
    lane->wraps = wraps_before(lane, following);
    __atomic_store_n(&lane->expected, following, __ATOMIC_RELAXED);
}

/* The header, call and trailer of the result, whose elements are there. */
static void finish(struct atp_collector *c, struct atp_lane *lane, const uint8_t *call, size_t call_bytes)
{
    const uint32_t following = lane->expected + c->cfg.window;
    struct atp_packet out = about(c, lane, ATP_PARAMETER);

    out.flags = (uint8_t)((lane->first.opening ? ATP_OPENING : 0) | (lane->first.scaled ? ATP_SCALED : 0) |
                          (lane->marked ? ATP_ECN : 0) | (lane->collided ? ATP_COLLISION : 0));
    out.next = atp_index_next(c->cfg.mapping, c->cfg.life, following, lane->index, lane->collided);
    out.code = lane->first.code;
    out.exponent = lane->exponent;
    out.held = lane->held;
    atp_build_header(lane->result, &out);
    memcpy(lane->result + ATP_HEADER_BYTES, call, call_bytes);
    lane->result_bytes =
        (uint16_t)seal(c, lane, lane->expected, lane->result, ATP_HEADER_BYTES + (size_t)lane->first.bytes);
    lane->result_root = lane->first.root;
    go_on(c, lane, out.next);
}

/* Makes the chunk's result of what is in; body: of some packet of it, for its call. The lane goes on to its
 * next chunk. */
static void complete(struct atp_collector *c, struct atp_lane *lane, const uint8_t *body)
{
    const size_t head = lane->first.opening ? XFER_CALL_BYTES : 0;

    atp_lane_finish(c, lane, lane->result + ATP_HEADER_BYTES + head, lane->first.bytes - head);
    finish(c, lane, body, head);
}

/* Makes the chunk's result of a sum that a rank has handed back. */
static void restore_sum(struct atp_collector *c, struct atp_lane *lane, const struct atp_side *side,
                        const uint8_t *body)
{
    lane->first = *side;
    lane->marked = lane->collided = false;
    lane->held = 0; /* others may lack all that they may */
    finish(c, lane, body, side->bytes);
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

    if (hears) {
        __atomic_fetch_or(&c->hears[rank / 64], bit, __ATOMIC_RELAXED);
        v->reason = ATP_HEARS_GROUP;
        return;
    }
    __atomic_fetch_and(&c->hears[rank / 64], ~bit, __ATOMIC_RELAXED);
    memset(lane->wants, 0, sizeof lane->wants);
    lane->wants[rank / 64] = bit;
    answer(c, lane, ATP_GROUP, 0, ATP_SEND_GROUP, v);
    v->brief_bytes = 0;
    v->wants = v->grouped = lane->wants;
}

/* The result without its elements; returns its length. */
static size_t make_brief(const struct atp_collector *c, const struct atp_lane *lane, uint8_t *out)
{
    memcpy(out, lane->result, ATP_HEADER_BYTES);
    return seal(c, lane, lane->expected - c->cfg.window, out, ATP_HEADER_BYTES);
}

/* The result, to all. */
static void send_all(const struct atp_collector *c, struct atp_lane *lane, struct agg_verdict *v)
{
    for (unsigned i = 0; i < c->words; i++)
        lane->wants[i] = lane->result_root == ATP_ALL   ? UINT64_MAX
                         : lane->result_root / 64u == i ? UINT64_C(1) << lane->result_root % 64
                                                        : 0;
    v->wants = lane->wants;
    v->grouped = lane->result_root == ATP_ALL ? hearers(c, lane) : NULL;
    v->payload = lane->result;
    v->bytes = lane->result_bytes;
    v->brief = v->answer;
    v->brief_bytes = lane->result_root == ATP_ALL ? 0 : make_brief(c, lane, v->answer);
    v->reason = ATP_SEND_ALL;
}

static void remove_rank(uint64_t set[], uint16_t rank)
{
    set[rank / 64] &= ~(UINT64_C(1) << rank % 64);
}

/* Once a chunk, for no rank's question is left unanswered twice then. False: it is no use. */
static bool send_all_again(const struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
                           struct agg_verdict *v)
{
    const uint16_t first = lane->again_to;

    if (first >= ATP_AGAIN_NOBODY || first == rank || lane->result_root != ATP_ALL ||
        hearers(c, lane) == NULL || !ranks_has(lane->grouped, rank))
        return false;
    memcpy(lane->wants, lane->grouped, sizeof lane->wants);
    memcpy(lane->spared, lane->grouped, sizeof lane->spared);
    remove_rank(lane->spared, first);
    remove_rank(lane->spared, rank);
    lane->again_to = ATP_ALL;
    v->wants = lane->wants;
    v->grouped = lane->grouped;
    v->payload = lane->result;
    v->bytes = lane->result_bytes;
    v->brief_bytes = 0;
    v->reason = ATP_SEND_ALL_AGAIN;
    return true;
}

/* The result to a rank that asks for it. If another one has asked before, the packet to all was lost for more
 * than one, perhaps for all: then it is sent to the group once more, and what others have asked meanwhile is
 * answered by that. (Of 64 ranks each would get it alone, while the next results wait.) */
static void send_again(const struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
                       struct agg_verdict *v)
{
    const bool wanted = wants_result(lane->result_root, rank);

    if (lane->again_to == ATP_ALL && ranks_has(lane->spared, rank)) {
        remove_rank(lane->spared, rank);
        v->reason = ATP_DROP_ANSWERED;
        return;
    }
    if (send_all_again(c, lane, rank, v))
        return;
    if (lane->again_to == ATP_AGAIN_NOBODY)
        lane->again_to = rank;
    v->payload = wanted ? lane->result : v->answer;
    v->bytes = wanted ? lane->result_bytes : make_brief(c, lane, v->answer);
    v->reason = ATP_SEND_ONE;
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
        answer_ask(c, lane, part->ranks, v);
    } else if (brought == ATP_BROUGHT_SUM) {
        v->reason = ATP_DROP_SUMMED;
    } else if (lane->contributed == c->cfg.topology.workers) {
        complete(c, lane, body);
        send_all(c, lane, v);
    } else if (p->flags & ATP_RESEND && p->flags & ATP_COLLISION) {
        answer_waiting(c, lane, ATP_SEND_WAITING, v);
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
        lane->held = p->held;
        lane->begun = true;
        lane->differs = false;
    } else if (!lane->differs && !atp_sides_agree(side, &lane->first)) {
        lane->other = *side;
        lane->differs = true;
    }
    if (lane->differs) {
        answer_mismatch(c, lane, side, v);
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
    restore_sum(c, lane, &side, body);
    send_all(c, lane, v);
    v->reason = ATP_SEND_RESTORED;
}

/* Of a chunk that its lane has completed before: its sum is there, if it was the last. */
static void look_back(const struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
                      const struct atp_packet *p, struct agg_verdict *v)
{
    const bool last = p->sequence == lane->expected - c->cfg.window && lane->has_result;

    v->reason = last ? ATP_DROP_DUPLICATE : ATP_DROP_STALE;
    if (last && (p->kind == ATP_ASK || p->flags & ATP_RESEND))
        send_again(c, lane, rank, v);
}

static void apply(struct atp_collector *c, struct atp_lane *lane, uint16_t rank, const struct atp_packet *p,
                  const uint8_t *body, size_t body_bytes, struct agg_verdict *v)
{
    const int32_t ahead = (int32_t)(p->sequence - lane->expected);
    const size_t head = p->flags & ATP_OPENING ? XFER_CALL_BYTES : 0;
    struct atp_part part = {.exponent = p->exponent};

    if (p->kind == ATP_GROUP && c->cfg.has_group) {
        note_hearing(c, lane, rank, p->flags & ATP_HEARS, v);
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
        hurry(c, lane, rank, v);
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
    if (believes(c, lane, rank, p, payload, bytes))
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
