/* What a switch does with a packet: the workflow of the paper's figure 4. */
#include <string.h>

#include "atp/reasons.h"
#include "atp/table_state.h"
#include "protocol/heard.h"
#include "random/splitmix.h"
#include "wire/atp.h"

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

/* The aggregator of the packet's chunk, level and rack; NULL: there is none. */
static struct atp_aggregator *atp_find_own(const struct atp_table *t, struct atp_aggregator *home,
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

/* For a chunk that has none: an empty one nearby, the home if possible, or else one whose sum is complete and
 * was sent: it would be needed only if that were lost. NULL: all are needed. */
static struct atp_aggregator *atp_find_room(const struct atp_table *t, struct atp_aggregator *home,
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

/* It is a chunk's of this home from now on; NULL: nobody's. hand: of its shard */
static void atp_take(struct atp_hand *hand, struct atp_aggregator *a, struct atp_aggregator *home)
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

/* Frees all that the packet's chunk has, of whatever level and rack; false: it has none. */
static bool atp_free_all(const struct atp_table *t, struct atp_aggregator *home, const struct atp_packet *p,
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
static struct atp_passed *passed_at(struct atp_hand *hand, const struct atp_packet *p)
{
    return &hand->passed[(p->life + p->sequence) % ATP_PASSED];
}

/* Notes ranks of the packet's chunk that pass, and says which ones have. */
static void atp_note_passed(struct atp_hand *hand, const struct atp_packet *p, const struct agg_packet *raw,
                            uint64_t bits)
{
    const struct atp_passed new = passed_of(p, raw);
    struct atp_passed *noted = passed_at(hand, p);

    if (!is_same(noted, &new))
        *noted = new;
    noted->ranks |= bits;
}

static uint64_t atp_passed(struct atp_hand *hand, const struct atp_packet *p, const struct agg_packet *raw)
{
    const struct atp_passed sought = passed_of(p, raw);
    const struct atp_passed *noted = passed_at(hand, p);

    return is_same(noted, &sought) ? noted->ranks : 0;
}

enum {
    ADDED_FLAGS = ATP_ECN | ATP_COLLISION, /* of a sum: if any contribution had them */
};

/* What a packet adds to its level's bitmap. The server's switch adds whole children only: 0 stands for parts
 * of one. */
static uint64_t bits_of(const struct atp_packet *p)
{
    if (!(p->flags & ATP_EDGE))
        return p->bitmap0;
    if (p->bitmap0 == 0)
        return p->bitmap1;
    if (p->bitmap1 != 0 || __builtin_popcountll(p->bitmap0) != p->fan_in0)
        return 0;
    return UINT64_C(1) << p->child;
}

static uint64_t *bitmap_of(struct atp_packet *sum)
{
    return sum->flags & ATP_EDGE ? &sum->bitmap1 : &sum->bitmap0;
}

static unsigned fan_in_of(const struct atp_packet *p)
{
    return p->flags & ATP_EDGE ? p->fan_in1 : p->fan_in0;
}

static bool is_complete(const struct atp_packet *p, uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits) >= fan_in_of(p);
}

static size_t call_bytes(const struct atp_packet *p)
{
    return p->flags & ATP_OPENING ? XFER_CALL_BYTES : 0;
}

/* Whether two packets of one chunk can be added up. Racks may differ in size. */
static bool agrees(const struct atp_aggregator *a, const struct atp_packet *p, const uint8_t *body,
                   size_t body_bytes)
{
    const uint8_t alike = ATP_OPENING | ATP_SCALED;

    return a->sum.code == p->code && a->sum.root == p->root && a->sum.seal == p->seal &&
           ((a->sum.flags ^ p->flags) & alike) == 0 && a->sum.fan_in1 == p->fan_in1 &&
           (a->sum.fan_in0 == p->fan_in0 || (p->flags & ATP_EDGE)) && a->body_bytes == body_bytes &&
           memcmp(a->payload + ATP_HEADER_BYTES, body, call_bytes(p)) == 0;
}

static void begin(const struct atp_table *t, struct atp_aggregator *a, struct atp_aggregator *home,
                  const struct atp_packet *p, const struct agg_packet *raw, uint64_t passed, uint64_t now)
{
    const uint64_t bits = bits_of(p);

    a->sum = *p;
    a->sum.bitmap0 = a->sum.bitmap1 = 0;
    *bitmap_of(&a->sum) = bits;
    a->flow = (struct agg_flow){.from = raw->from, .to = raw->to};
    a->body_bytes = (uint16_t)atp_body_bytes(p, raw->bytes);
    memcpy(a->payload + ATP_HEADER_BYTES, raw->payload + ATP_HEADER_BYTES, a->body_bytes);
    a->touched_at = now;
    a->passed = passed;
    atp_take(atp_hand_for(t, p), a, home);
}

static void add(const struct atp_table *t, struct atp_aggregator *a, const struct atp_packet *p,
                const uint8_t *body, size_t body_bytes)
{
    const size_t head = call_bytes(p);

    t->cfg.kernels->operations[p->code].fold(a->payload + ATP_HEADER_BYTES + head, body + head,
                                             body_bytes - head);
    a->sum.flags |= p->flags & ADDED_FLAGS;
    if (p->exponent > a->sum.exponent)
        a->sum.exponent = p->exponent;
    if (p->held < a->sum.held)
        a->sum.held = p->held;
}

/* The verdict: send what is there, under this header. */
static void send_sum(struct atp_aggregator *a, const struct atp_packet *header, enum atp_switch_reason reason,
                     struct agg_verdict *v)
{
    struct atp_packet out = *header;

    out.flags |= ATP_EDGE | (reason == ATP_SWITCH_SUM ? 0 : ATP_RESEND);
    atp_build_header(a->payload, &out);
    v->payload = a->payload;
    v->bytes = atp_seal_append(a->payload, ATP_HEADER_BYTES + (size_t)a->body_bytes, NULL, NULL);
    v->reason = reason;
}

void atp_send_away(const struct atp_table *t, struct atp_aggregator *a, unsigned shard, unsigned reason,
                   struct agg_verdict *v)
{
    struct atp_hand *hand = atp_hand_of(t, shard);

    send_sum(a, &a->sum, reason, v);
    memcpy(hand->payload, v->payload, v->bytes);
    hand->flow = a->flow;
    v->payload = hand->payload;
    v->as = &hand->flow;
    atp_take(hand, a, NULL);
}

/* The verdict: the packet goes on with these flags besides. Its trailer leaves them out. */
static void pass(const struct agg_packet *raw, const struct atp_packet *p, uint8_t flags,
                 enum atp_switch_reason reason, struct agg_verdict *v)
{
    struct atp_packet out = *p;

    out.flags |= ATP_EDGE | flags;
    atp_build_header(raw->payload, &out);
    v->payload = raw->payload;
    v->bytes = raw->bytes;
    v->reason = reason;
}

/* Sends on the sum once nothing is to come any more: all are in it, or have passed before. */
static void send_complete(struct atp_aggregator *a, uint64_t in, struct agg_verdict *v)
{
    a->complete = is_complete(&a->sum, in | a->passed);
    if (!a->complete)
        return;
    if (is_complete(&a->sum, in)) {
        send_sum(a, &a->sum, ATP_SWITCH_SUM, v);
        return;
    }
    a->sum.flags |= ATP_COLLISION;
    send_sum(a, &a->sum, ATP_SWITCH_REST, v);
}

/* The sum of a rack is complete. If this switch is the server's, too, though the job does not know it, those
 * of other racks meet here, and the next switch is the server: so this sum joins theirs. False: there are
 * none yet. Then it goes on, and they need not wait for it. */
static bool join_racks(const struct atp_table *t, struct atp_aggregator *home, struct atp_aggregator *a,
                       const struct agg_packet *raw, uint64_t now, struct agg_verdict *v)
{
    struct atp_packet up = a->sum;
    const uint8_t *body = a->payload + ATP_HEADER_BYTES;

    up.flags |= ATP_EDGE;
    const uint64_t bits = bits_of(&up);
    struct atp_aggregator *racks = atp_find_own(t, home, &up, raw);
    if (racks == NULL || !agrees(racks, &up, body, a->body_bytes) || (racks->sum.bitmap1 & bits) != 0) {
        atp_note_passed(atp_hand_for(t, &up), &up, raw, bits);
        return false;
    }
    add(t, racks, &up, body, a->body_bytes);
    racks->sum.bitmap1 |= bits;
    racks->touched_at = now;
    atp_take(atp_hand_for(t, &up), a, NULL);
    v->reason = ATP_SWITCH_HELD;
    send_complete(racks, racks->sum.bitmap1, v);
    return true;
}

/* A packet of the aggregator's chunk takes out what is there. The server's switch can say of parts of a child
 * whose they are, beside whole children. Another such switch on the way may have done so in this packet. */
static void take_out(const struct atp_table *t, struct atp_aggregator *a, const struct atp_packet *p,
                     const struct agg_packet *raw, struct agg_verdict *v)
{
    const bool has_part = bits_of(p) == 0;
    const uint64_t whole = has_part ? p->bitmap1 : bits_of(p);
    const uint64_t sought = has_part ? whole | UINT64_C(1) << p->child : whole;
    uint64_t *in = bitmap_of(&a->sum);
    const bool is_new = (*in & sought) == 0;
    struct atp_packet out;

    if (is_new) {
        add(t, a, p, raw->payload + ATP_HEADER_BYTES, a->body_bytes);
        *in |= whole;
    }
    out = a->sum;
    if (has_part && is_new) {
        out.bitmap0 = p->bitmap0;
        out.fan_in0 = p->fan_in0;
        out.rack = p->rack;
        out.child = p->child;
    }
    send_sum(a, &out, ATP_SWITCH_PARTIAL, v);
    atp_take(atp_hand_for(t, p), a, NULL);
}

/* Of the aggregator's own chunk. */
static void meet_own(const struct atp_table *t, struct atp_aggregator *home, struct atp_aggregator *a,
                     const struct atp_packet *p, const struct agg_packet *raw, uint64_t now,
                     struct agg_verdict *v)
{
    const uint64_t bits = bits_of(p);
    uint64_t *in = bitmap_of(&a->sum);

    if (!agrees(a, p, raw->payload + ATP_HEADER_BYTES, atp_body_bytes(p, raw->bytes))) {
        pass(raw, p, ATP_RESEND, ATP_SWITCH_DIFFERS, v);
        return;
    }
    if (p->flags & ATP_RESEND) {
        take_out(t, a, p, raw, v);
        return;
    }
    if (*in & bits) {
        v->reason = ATP_SWITCH_DUPLICATE;
        return;
    }
    add(t, a, p, raw->payload + ATP_HEADER_BYTES, a->body_bytes);
    *in |= bits;
    a->touched_at = now;
    v->reason = ATP_SWITCH_HELD;
    const bool whole_rack = !(p->flags & ATP_EDGE) && p->fan_in1 > 1 && is_complete(p, *in);
    if (!whole_rack || !join_racks(t, home, a, raw, now, v))
        send_complete(a, *in, v);
}

/* Of a chunk for which there is no room. Only its home may be taken from another. */
static void meet_foreign(const struct atp_table *t, struct atp_aggregator *home, const struct atp_packet *p,
                         const struct agg_packet *raw, uint64_t now, struct agg_verdict *v)
{
    const bool aged = now - home->touched_at >= t->cfg.max_age_ns;
    const bool yields = t->cfg.preempt && p->priority > home->sum.priority;

    if ((p->flags & ATP_RESEND) || !(aged || yields)) {
        atp_note_passed(atp_hand_for(t, p), p, raw, bits_of(p));
        pass(raw, p, ATP_RESEND | ATP_COLLISION, ATP_SWITCH_COLLISION, v);
        return;
    }
    atp_send_away(t, home, p->index % atp_table_shards(t), aged ? ATP_SWITCH_AGED : ATP_SWITCH_PREEMPTED, v);
    begin(t, home, home, p, raw, atp_passed(atp_hand_for(t, p), p, raw), now);
}

/* Of a chunk for which there is room: it begins there, unless all others have passed before. */
static void meet_empty(const struct atp_table *t, struct atp_aggregator *a, struct atp_aggregator *home,
                       const struct atp_packet *p, const struct agg_packet *raw, uint64_t now,
                       struct agg_verdict *v)
{
    const uint64_t passed = atp_passed(atp_hand_for(t, p), p, raw);

    if (is_complete(p, bits_of(p) | passed))
        pass(raw, p, ATP_RESEND | ATP_COLLISION, ATP_SWITCH_REST, v);
    else
        begin(t, a, home, p, raw, passed, now);
}

/* All packets of a chunk, or none. */
static bool is_forwarded(const struct atp_table *t, const struct atp_packet *p)
{
    const uint64_t chunk = splitmix_hash((uint64_t)p->life << 32 | p->sequence);

    return t->cfg.forward_ppm > 0 && splitmix_hash(t->cfg.seed ^ chunk) % ATP_ALL_CHUNKS < t->cfg.forward_ppm;
}

/* ATP_SWITCH_HELD, or why the switch lets it pass. */
static enum atp_switch_reason why_not_here(const struct atp_table *t, const struct atp_packet *p,
                                           size_t body_bytes)
{
    const struct agg_operation *op = &t->cfg.kernels->operations[p->code];

    if (p->seal == XFER_CHECKSUM_KEYED)
        return ATP_SWITCH_KEYED;
    if ((p->flags & ATP_DIRECT) || op->fold == NULL || agg_is_wide(op))
        return ATP_SWITCH_DIRECT;
    if (body_bytes > t->cfg.chunk_bytes)
        return ATP_SWITCH_TOO_LONG;
    return ATP_SWITCH_HELD;
}

static void apply_gradient(const struct atp_table *t, struct atp_aggregator *home, const struct atp_packet *p,
                           const struct agg_packet *raw, uint64_t now, struct agg_verdict *v)
{
    const uint64_t bits = bits_of(p);
    const bool lone = bits == 0 && (p->flags & (ATP_RESEND | ATP_EDGE)) != (ATP_RESEND | ATP_EDGE);
    struct atp_aggregator *a;

    v->reason = why_not_here(t, p, atp_body_bytes(p, raw->bytes));
    if (v->reason != ATP_SWITCH_HELD)
        return;
    if (is_complete(p, bits) || lone)
        pass(raw, p, 0, ATP_SWITCH_ALONE, v);
    else if (is_forwarded(t, p))
        pass(raw, p, ATP_RESEND | ATP_COLLISION, ATP_SWITCH_FORWARDED, v);
    else if ((a = atp_find_own(t, home, p, raw)) != NULL)
        meet_own(t, home, a, p, raw, now, v);
    else if ((a = atp_find_room(t, home, p)) == NULL)
        meet_foreign(t, home, p, raw, now, v);
    else if (p->flags & ATP_RESEND)
        pass(raw, p, 0, ATP_SWITCH_ALONE, v);
    else
        meet_empty(t, a, home, p, raw, now, v);
}

/* Takes out what is there of the chunk, to be sent on in the name of who has claimed the aggregator: who asks
 * need not be in it. */
static void apply_ask(const struct atp_table *t, struct atp_aggregator *home, const struct atp_packet *p,
                      const struct agg_packet *raw, struct agg_verdict *v)
{
    struct atp_aggregator *a;

    if (p->seal == XFER_CHECKSUM_KEYED)
        v->reason = ATP_SWITCH_KEYED;
    else if ((a = atp_find_own(t, home, p, raw)) != NULL)
        atp_send_away(t, a, p->index % atp_table_shards(t), ATP_SWITCH_ASKED, v);
    else
        pass(raw, p, 0, ATP_SWITCH_ALONE, v);
}

void atp_table_apply(struct atp_table *t, struct atp_aggregator *home, const struct atp_packet *p,
                     const struct agg_packet *raw, uint64_t now, struct agg_verdict *v)
{
    v->kept = false;
    v->released = v->buffer = NULL;
    agg_heard_set(&t->heard);
    if (p->seal == XFER_CHECKSUM_CRC32C && !atp_seal_holds(p, raw->payload, raw->bytes, NULL, NULL)) {
        v->reason = ATP_SWITCH_BAD_CHECKSUM;
    } else if (p->kind == ATP_GRADIENT) {
        apply_gradient(t, home, p, raw, now, v);
    } else if (p->kind == ATP_ASK) {
        apply_ask(t, home, p, raw, v);
    } else if (p->kind == ATP_PARAMETER && p->seal != XFER_CHECKSUM_KEYED && atp_free_all(t, home, p, raw)) {
        v->reason = ATP_SWITCH_FREED;
    } else {
        v->reason = ATP_SWITCH_PASSED;
    }
}
