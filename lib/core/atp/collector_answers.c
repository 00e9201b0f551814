/* What a lane answers, and whom it believes. */
#include <string.h>

#include "atp/collector_state.h"
#include "atp/index.h"
#include "atp/reasons.h"
#include "wire/atp.h"

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

bool atp_lane_believes(const struct atp_collector *c, const struct atp_lane *lane, uint16_t rank,
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

void atp_lane_mismatch(const struct atp_collector *c, struct atp_lane *lane, const struct atp_side *side,
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

void atp_lane_waiting(const struct atp_collector *c, const struct atp_lane *lane, enum atp_reason reason,
                      struct agg_verdict *v)
{
    const size_t bytes = ranks_map_write(v->answer + ATP_HEADER_BYTES, lane->in, c->cfg.topology.workers);

    if (lane->differs)
        memset(v->answer + ATP_HEADER_BYTES, 0, bytes);
    answer(c, lane, ATP_WAITING, bytes, reason, v);
}

void atp_lane_ask(const struct atp_collector *c, struct atp_lane *lane, const uint64_t ranks[],
                  struct agg_verdict *v)
{
    for (unsigned i = 0; i < c->words; i++)
        lane->wants[i] = ranks[i] & ~lane->in[i];
    v->wants = lane->wants;
    v->brief_bytes = 0;
    atp_lane_waiting(c, lane, ATP_SEND_ASK, v);
}

void atp_lane_hurry(const struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
                    struct agg_verdict *v)
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
    atp_lane_waiting(c, lane, more != 0 ? ATP_SEND_ASK : ATP_SEND_WAITING, v);
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

void atp_lane_complete(struct atp_collector *c, struct atp_lane *lane, const uint8_t *body)
{
    const size_t head = lane->first.opening ? XFER_CALL_BYTES : 0;

    atp_lane_finish(c, lane, lane->result + ATP_HEADER_BYTES + head, lane->first.bytes - head);
    finish(c, lane, body, head);
}

void atp_lane_restore(struct atp_collector *c, struct atp_lane *lane, const struct atp_side *side,
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

void atp_lane_note_hearing(struct atp_collector *c, struct atp_lane *lane, uint16_t rank, bool hears,
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

void atp_lane_send_all(const struct atp_collector *c, struct atp_lane *lane, struct agg_verdict *v)
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

void atp_lane_send_again(const struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
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
