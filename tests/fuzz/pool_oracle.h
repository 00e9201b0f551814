/* What must be true of a pool's verdicts: an oracle that remembers all contributions to the chunks being
 * collected and adds them up by itself. For the target pool.c. */
#pragma once

#include "carry.h"
#include "fuzz.h"
#include "given.h"
#include "look_up.h"
#include "reference.h"
#include "switchml/labels.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "tags.h"
#include "transfer/blocks.h"
#include "wire/bytes.h"

enum { WORKERS_MAX = 8, SLOTS_MAX = 4, BODY_MAX = 160, JOB = 3, HELD_ROUNDS = 2 };

/* What the oracle knows of a slot. */
struct slot {
    uint32_t expected;
    bool completed, wanted[WORKERS_MAX];
    unsigned contributed;
    uint16_t order[WORKERS_MAX];               /* ranks, as they came */
    bool has[WORKERS_MAX], empty[WORKERS_MAX]; /* empty: it has no elements */
    uint8_t body[WORKERS_MAX][BODY_MAX];
    struct sml_packet first; /* with the length of those that have elements, if any do */
    struct sml_label last;   /* labelled: of the chunk completed last */
    uint8_t result[SML_HEADER_BYTES + BODY_MAX + XFER_TRAILER_BYTES]; /* of the chunk completed last */
    size_t result_bytes;
    /* With a quorum: */
    uint64_t first_at;
    unsigned closings;        /* chunks that it has closed */
    uint8_t names;            /* of the ranks in the result */
    bool was_in[WORKERS_MAX]; /* a result, and the latest that was is of this chunk: */
    uint32_t in[WORKERS_MAX];
};

struct world {
    struct sml_terms terms;
    uint16_t workers;
    struct agg_jobs jobs;
    struct agg_job *job;
    struct slot slots[SLOTS_MAX];
    bool keeps; /* the pool may keep what it is given */
    uint64_t now;
    bool absent[WORKERS_MAX]; /* not heard since a chunk was closed without the rank */
};

static bool is_typed(const struct world *w)
{
    return w->terms.format == XFER_FORMAT_TYPED;
}

/* All tensors are near the first one. */
static struct sml_label label_of(const struct sml_packet *p)
{
    return sml_label_of(p, 0);
}

/* Whether a contribution with this label may be the next in its slot, as published clients use slots. */
static bool may_be_next(const struct slot *s, const struct sml_packet *p)
{
    const struct sml_label label = label_of(p), first = label_of(&s->first);
    if (s->contributed > 0)
        return sml_label_equal(&label, &first);
    return !s->completed || (label.ver != s->last.ver && sml_label_is_newer(&label, &s->last));
}

static bool is_expected(const struct world *w, const struct slot *s, const struct sml_packet *p)
{
    return w->terms.labelled ? may_be_next(s, p) : p->tag == s->expected;
}

static bool is_shadow(const struct world *w, const struct slot *s, const struct sml_packet *p)
{
    const struct sml_label label = label_of(p);
    if (!s->completed)
        return false;
    return w->terms.labelled ? sml_label_equal(&label, &s->last) : p->tag == s->expected - w->terms.slots;
}

/* Whether the chunk that is being collected is to be closed. */
static bool is_due(const struct world *w, const struct slot *s, bool by_time)
{
    bool all_are_heard = true;
    if (s->contributed == w->workers)
        return true;
    if (s->contributed < w->terms.quorum || (w->terms.resumed && s->closings < HELD_ROUNDS))
        return false;
    for (unsigned r = 0; r < w->workers; r++)
        all_are_heard &= s->has[r] || w->absent[r];
    return w->now - s->first_at >= w->terms.wait_ms * UINT64_C(1000000) || (!by_time && all_are_heard);
}

static uint8_t names_of(const struct world *w, const struct slot *s)
{
    uint8_t names = 0;
    for (unsigned r = 0; r < w->workers; r++)
        names |= (uint8_t)(s->has[r] << r);
    return names;
}

static uint8_t code_of(const struct world *w, const struct sml_packet *p)
{
    return xfer_elements_code(w->terms.format, p->e0);
}

static struct sml_element element_of(const struct world *w, const struct sml_packet *p)
{
    return sml_element_of(code_of(w, p));
}

/* What becomes of indices. */
static void look_up(const struct world *w, const struct slot *s, size_t skip, size_t elements, uint8_t *out)
{
    memset(out, 0, elements * sml_element_of(w->terms.table.code).out);
    for (unsigned i = 0; i < s->contributed; i++)
        look_up_add(&w->terms.table, out, s->body[s->order[i]] + skip, elements);
}

/* What becomes of the chunk, by the scalar kernels. A job's only rank gets its own back. */
static void reduce(const struct world *w, const struct slot *s, size_t skip, size_t bytes, uint8_t *out)
{
    const struct agg_operation *op = &agg_kernels_scalar.operations[code_of(w, &s->first)];
    const void *in[WORKERS_MAX];
    unsigned n = 0;

    for (unsigned i = 0; i < w->workers && w->terms.mode == XFER_ORDERED; i++)
        if (s->has[i] && !s->empty[i])
            in[n++] = s->body[i] + skip;
    for (unsigned i = 0; i < s->contributed && w->terms.mode == XFER_ON_ARRIVAL; i++)
        if (!s->empty[s->order[i]])
            in[n++] = s->body[s->order[i]] + skip;
    if (n == 0)
        return;
    if (n == 1 && (w->terms.quorum == 0 || !agg_is_wide(op)))
        memcpy(out, in[0], bytes);
    else
        op->reduce(out, in, n, bytes);
    if (op->finish != NULL && !agg_is_wide(op))
        op->finish(out, out, n, bytes);
}

/* A result without the sum is its header, with a checksum of its own. */
static void check_ack(const struct world *w, const uint8_t *ack, size_t bytes, const uint8_t *result)
{
    struct sml_packet p;
    REQUIRE(sml_parse(&p, ack, bytes) == SML_OK && p.body_bytes == 0);
    REQUIRE(sml_checksum_holds(&p, w->terms.checksum, XFER_SWITCH));
    REQUIRE(memcmp(ack, result, SML_HEADER_BYTES) == 0);
}

static void check_result(const struct world *w, struct slot *s, const struct agg_verdict *v)
{
    struct sml_packet p;
    uint8_t expected[BODY_MAX];
    size_t skip = s->first.kind == SML_OPEN ? XFER_CALL_BYTES : 0;
    REQUIRE(sml_parse(&p, v->payload, v->bytes) == SML_OK);
    REQUIRE(sml_checksum_holds(&p, w->terms.checksum, XFER_SWITCH));
    REQUIRE(p.kind == s->first.kind && p.tag == s->first.tag && p.job == s->first.job);
    REQUIRE(w->terms.labelled || (p.tag == s->expected && p.job == JOB));
    const struct sml_element e = element_of(w, &s->first);
    const size_t elements = (s->first.body_bytes - skip) / e.in;
    if (w->terms.quorum != 0)
        REQUIRE(p.body[--p.body_bytes] == names_of(w, s));
    REQUIRE(p.body_bytes == skip + elements * e.out);
    check_ack(w, v->brief, v->brief_bytes, v->payload);
    REQUIRE(memcmp(p.body, s->first.body, skip) == 0);
    const uint8_t code = code_of(w, &s->first);
    if (sml_looks_up(code)) {
        look_up(w, s, skip, elements, expected);
        REQUIRE(memcmp(p.body + skip, expected, elements * e.out) == 0);
        return;
    }
    reduce(w, s, skip, p.body_bytes - skip, expected);
    REQUIRE(reference_same(code, p.body + skip, expected, elements));
}

static void keep_result(const struct world *w, struct slot *s, const struct agg_verdict *v)
{
    REQUIRE(v->bytes <= sizeof s->result);
    memcpy(s->result, v->payload, v->bytes);
    s->result_bytes = v->bytes;
    s->expected += w->terms.slots;
    s->last = label_of(&s->first);
    s->completed = true;
    s->contributed = 0;
    s->closings++;
    s->names = w->terms.quorum != 0 ? v->payload[v->bytes - xfer_trailer_bytes(w->terms.checksum) - 1] : 0;
    for (unsigned r = 0; r < w->workers; r++)
        if (s->names >> r & 1) {
            s->was_in[r] = true;
            s->in[r] = s->expected - w->terms.slots;
        }
    memset(s->has, 0, sizeof s->has);
    memset(s->wanted, 0, sizeof s->wanted);
}

static void note_contribution(const struct world *w, struct slot *s, uint16_t rank,
                              const struct sml_packet *p)
{
    REQUIRE(is_expected(w, s, p) && !s->has[rank]); /* no wrong chunk, no double add */
    REQUIRE(p->kind == SML_DATA || p->kind == SML_OPEN);
    REQUIRE(p->body_bytes <= w->terms.chunk_bytes);
    memcpy(s->body[rank], p->body, p->body_bytes);
    if (s->contributed == 0) {
        s->first_at = w->now;
        s->first = *p;
        s->first.body = s->body[rank];
    }
    const size_t skip = p->kind == SML_OPEN ? XFER_CALL_BYTES : 0;
    REQUIRE(has_its_length(&s->first, p, skip, w->terms.empties) && p->kind == s->first.kind);
    s->order[s->contributed++] = rank;
    s->has[rank] = true;
    s->empty[rank] = w->terms.empties && p->body_bytes == skip;
    s->wanted[rank] = !is_typed(w) || p->e1 & SML_FLAG_WANT;
}

static void check_answer(const struct world *w, const struct slot *s, uint16_t rank,
                         const struct sml_packet *p, const struct agg_verdict *v)
{
    struct sml_packet a;
    REQUIRE(sml_parse(&a, v->payload, v->bytes) == SML_OK);
    REQUIRE(sml_checksum_holds(&a, w->terms.checksum, XFER_SWITCH));
    REQUIRE(a.tag == p->tag && a.slot == p->slot && a.job == p->job);
    switch (a.kind) {
    case SML_NACK:
        REQUIRE(p->tag == s->expected && !s->has[rank]);
        break;
    case SML_WAIT:
        REQUIRE(p->tag == s->expected && s->has[rank] && a.body_bytes == (w->workers + 7u) / 8);
        for (unsigned r = 0; r < w->workers; r++)
            REQUIRE(s->has[r] == (a.body[r / 8] >> r % 8 & 1));
        break;
    default:
        REQUIRE(w->terms.quorum == 0 && a.kind == SML_DATA && a.body_bytes == 0 && s->completed);
        REQUIRE(tag_before(p->tag, s->expected - w->terms.slots));
        break;
    }
}

static void check_mismatch(const struct slot *s, uint16_t rank, const struct sml_packet *p,
                           const struct agg_verdict *v)
{
    struct sml_packet a;
    struct xfer_mismatch m;
    REQUIRE(sml_parse(&a, v->payload, v->bytes) == SML_OK && a.kind == SML_MISMATCH);
    REQUIRE(xfer_parse_mismatch(&m, a.body, a.body_bytes));
    REQUIRE(s->contributed > 0 && !s->has[rank] && p->tag == s->expected);
    REQUIRE(m.your_rank == rank && m.peer_rank == s->order[0] && m.your_tag == p->tag);
}

static void check_wants(const struct world *w, const struct slot *s, const struct agg_verdict *v)
{
    for (uint16_t r = 0; r < w->workers; r++)
        REQUIRE(agg_wants(v, r) == s->wanted[r]);
}

/* The chunk is closed, with whoever is in it; others get its sum, too. */
static void judge_closing(struct world *w, struct slot *s, const struct agg_verdict *v)
{
    REQUIRE((v->reason == SML_SEND_ALL) == (s->contributed == w->workers));
    REQUIRE(is_due(w, s, false) && (w->terms.quorum != 0 || s->contributed == w->workers));
    check_result(w, s, v);
    for (unsigned r = 0; r < w->workers; r++)
        if (!s->has[r])
            w->absent[r] = s->wanted[r] = true;
    check_wants(w, s, v);
    keep_result(w, s, v);
}

/* Of time alone. */
static void judge_tick(struct world *w, const struct agg_verdict *v)
{
    struct sml_packet p;
    REQUIRE(v->reason == SML_SEND_QUORUM && v->released == NULL && !v->kept);
    REQUIRE(sml_parse(&p, v->payload, v->bytes) == SML_OK && p.slot < w->terms.slots);
    judge_closing(w, &w->slots[p.slot], v);
}

static bool is_in(const struct slot *s, uint16_t rank)
{
    return s->names >> rank & 1;
}

static bool may_be_restored(const struct world *w, const struct slot *s, const struct sml_packet *p)
{
    const unsigned rounds = w->terms.quorum != 0 ? HELD_ROUNDS : 1;
    return w->terms.resumed && s->closings < rounds && p->kind == SML_RESTORE && p->tag == s->expected;
}

static void check_late(const struct world *w, const struct slot *s, uint16_t rank, const struct sml_packet *p,
                       const struct agg_verdict *v)
{
    struct sml_packet a;
    REQUIRE(w->terms.quorum != 0 && s->completed && tag_before(p->tag, s->expected - w->terms.slots));
    REQUIRE(sml_parse(&a, v->payload, v->bytes) == SML_OK && a.kind == SML_LATE && a.tag == p->tag);
    REQUIRE(sml_checksum_holds(&a, w->terms.checksum, XFER_SWITCH) && get_be32(a.body) == s->expected);
    REQUIRE(a.e1 == (s->was_in[rank] && s->in[rank] == p->tag ? SML_FLAG_IN : 0));
}

/* A rank that was away is heard. */
static void note_heard(struct world *w, uint16_t rank, const struct sml_packet *p,
                       const struct agg_verdict *v)
{
    if ((p->kind == SML_DATA || p->kind == SML_OPEN) && v->reason != SML_DROP_BAD_CHECKSUM &&
        v->reason != SML_DROP_BAD_SLOT)
        w->absent[rank] = false;
}

static void judge(struct world *w, struct slot *s, uint16_t rank, const struct sml_packet *p,
                  const struct agg_verdict *v)
{
    bool holds = sml_checksum_holds(p, w->terms.checksum, rank);
    bool shadow = is_shadow(w, s, p);
    REQUIRE((v->reason == SML_DROP_BAD_CHECKSUM) == !holds);
    note_heard(w, rank, p, v);
    switch (v->reason) {
    case SML_HELD:
        note_contribution(w, s, rank, p);
        REQUIRE(w->terms.quorum != 0 ? !is_due(w, s, false) : s->contributed < w->workers);
        break;
    case SML_SEND_ALL:
    case SML_SEND_QUORUM:
        note_contribution(w, s, rank, p);
        judge_closing(w, s, v);
        break;
    case SML_RESTORED:
        REQUIRE(may_be_restored(w, s, p));
        REQUIRE(v->bytes == SML_HEADER_BYTES + p->body_bytes + xfer_trailer_bytes(w->terms.checksum));
        REQUIRE(memcmp(v->payload + SML_HEADER_BYTES, p->body, p->body_bytes) == 0);
        check_wants(w, s, v);
        keep_result(w, s, v);
        break;
    case SML_SEND_ONE:
    case SML_SEND_LATE:
        REQUIRE(shadow);
        REQUIRE((v->reason == SML_SEND_LATE) ==
                (w->terms.quorum != 0 && p->kind != SML_PROBE && !is_in(s, rank)));
        if (v->bytes == s->result_bytes)
            REQUIRE(memcmp(v->payload, s->result, v->bytes) == 0);
        else
            check_ack(w, v->payload, v->bytes, s->result);
        break;
    case SML_SEND_STRAGGLES:
        check_late(w, s, rank, p, v);
        break;
    case SML_DROP_MISMATCH:
        REQUIRE(w->terms.labelled && s->contributed > 0 && is_expected(w, s, p));
        break;
    case SML_SEND_ANSWER:
        REQUIRE(!w->terms.labelled);
        check_answer(w, s, rank, p, v);
        break;
    case SML_SEND_MISMATCH:
        REQUIRE(!w->terms.labelled);
        check_mismatch(s, rank, p, v);
        break;
    case SML_DROP_DUPLICATE:
        REQUIRE(is_expected(w, s, p) ? s->has[rank]
                                     : (shadow || w->terms.quorum != 0) && p->kind == SML_RESTORE);
        break;
    default:
        REQUIRE(v->reason < SML_VERDICTS);
        break;
    }
}

static void check_view(const struct world *w, uint16_t i)
{
    struct agg_slot_view view;
    const struct slot *s = &w->slots[i];
    REQUIRE(sml_protocol.view(w->job->pool, i, &view));
    REQUIRE(view.contributed == s->contributed);
    REQUIRE(w->terms.labelled || view.chunk == s->expected);
    for (unsigned r = 0; r < w->workers; r++)
        REQUIRE((view.ranks[0] >> r & 1) == s->has[r]);
}
