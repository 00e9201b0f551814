/* A pool of one switch in a tree: any sequence of packets of those below and of the switch above, against an
 * oracle that remembers all contributions to the chunks being collected. An input is the configuration, then
 * for each packet a byte and its arguments. */

#include "carry.h"
#include "fuzz.h"
#include "given.h"
#include "kernels_chosen.h"
#include "reference.h"
#include "relay/protocol.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "transfer/blocks.h"

enum { STEPS_MAX = 400, BELOW_MAX = 4, RANKS_MAX = 12, SLOTS_MAX = 4, BODY_MAX = 160, JOB = 3 };
enum { PACKET_MAX = SML_HEADER_BYTES + BODY_MAX + XFER_TRAILER_BYTES };

/* What the oracle knows of a slot. */
struct slot {
    uint32_t expected;
    bool completed, has[BELOW_MAX], wanted[BELOW_MAX], empty[BELOW_MAX]; /* empty: it has no elements */
    unsigned contributed;
    uint16_t order[BELOW_MAX]; /* contributors, as they came */
    uint8_t body[BELOW_MAX][BODY_MAX];
    struct sml_packet first; /* with the length of those that have elements, if any do */
    uint8_t went_up[PACKET_MAX], result[PACKET_MAX];
    size_t up_bytes, result_bytes;
};

struct world {
    struct sml_terms terms;
    uint16_t below, ranks, contributor[RANKS_MAX], lowest[BELOW_MAX];
    bool has_parent, keeps;
    uint8_t parent_job;
    struct agg_jobs jobs, above; /* by our number, and by the parent's */
    struct agg_job *job;
    struct slot slots[SLOTS_MAX];
};

static struct agg_sender sender_of(unsigned from)
{
    static const uint8_t mac[AGG_MAC_BYTES] = {2};
    return carry_sender(mac, from == AGG_PARENT ? 9 : 1, (uint16_t)(1000 + from));
}

static void check_view(const struct world *w, uint16_t i)
{
    struct agg_slot_view view;
    const struct slot *s = &w->slots[i];
    REQUIRE(w->job->protocol->view(w->job->pool, i, &view) && view.chunk == s->expected);
    for (uint16_t rank = 0; rank < w->ranks; rank++) {
        const uint16_t c = w->contributor[rank];
        REQUIRE((view.ranks[0] >> rank & 1) == (c != AGG_NOBODY && s->has[c]));
    }
}

static bool all_are_in(const struct world *w, const struct slot *s)
{
    return s->contributed == w->below;
}

/* What the contributions here make together, by the scalar kernels; whole: the result, not a part of it. */
static void reduce(const struct world *w, const struct slot *s, size_t skip, size_t bytes, bool whole,
                   uint8_t *out)
{
    const uint8_t code = xfer_elements_code(w->terms.format, s->first.e0);
    const struct agg_operation *op = &agg_kernels_scalar.operations[code];
    const void *in[BELOW_MAX];
    unsigned n = 0;

    for (unsigned i = 0; i < w->below; i++) {
        const unsigned c = w->terms.mode == XFER_ORDERED ? i : s->order[i];
        if (!s->empty[c])
            in[n++] = s->body[c] + skip;
    }
    if (n == 0)
        return;
    if (n == 1)
        memcpy(out, in[0], bytes);
    else
        op->reduce(out, in, n, bytes);
    if (whole && op->finish != NULL)
        op->finish(out, out, w->ranks, bytes);
}

/* Averages are divided by the root; those with a wider accumulator are not computed here. */
static bool is_computed(const struct world *w, const struct slot *s)
{
    const struct agg_operation *op =
        &agg_kernels_scalar.operations[xfer_elements_code(w->terms.format, s->first.e0)];
    return op->finish == NULL || !agg_is_wide(op);
}

static void note_want(const struct world *w, struct slot *s, uint16_t from, const struct sml_packet *p)
{
    s->wanted[from] |= w->terms.format != XFER_FORMAT_TYPED || p->e1 & SML_FLAG_WANT;
}

static void note_contribution(const struct world *w, struct slot *s, uint16_t from,
                              const struct sml_packet *p)
{
    REQUIRE(p->tag == s->expected && !s->has[from] && from < w->below); /* no wrong chunk, no double add */
    REQUIRE(p->kind == SML_DATA || p->kind == SML_OPEN);
    REQUIRE(p->body_bytes <= w->terms.chunk_bytes);
    memcpy(s->body[from], p->body, p->body_bytes);
    if (s->contributed == 0) {
        s->first = *p;
        s->first.body = s->body[from];
    }
    const size_t skip = p->kind == SML_OPEN ? XFER_CALL_BYTES : 0;
    REQUIRE(has_its_length(&s->first, p, skip, w->terms.empties) && p->kind == s->first.kind);
    s->order[s->contributed++] = from;
    s->has[from] = true;
    s->empty[from] = w->terms.empties && p->body_bytes == skip;
    note_want(w, s, from, p);
}

/* The sum of those here, as it goes up or as the result. */
static void check_sum(const struct world *w, const struct slot *s, const struct agg_verdict *v, bool whole)
{
    const size_t skip = s->first.kind == SML_OPEN ? XFER_CALL_BYTES : 0;
    const uint16_t sender = whole ? XFER_SWITCH : w->lowest[0];
    uint8_t expected[BODY_MAX];
    struct sml_packet p;
    REQUIRE(sml_parse(&p, v->payload, v->bytes) == SML_OK);
    REQUIRE(p.kind == s->first.kind && p.tag == s->expected && p.job == (whole ? JOB : w->parent_job));
    REQUIRE(p.body_bytes == s->first.body_bytes && sml_checksum_holds(&p, w->terms.checksum, sender));
    REQUIRE(memcmp(p.body, s->first.body, skip) == 0);
    if (!is_computed(w, s))
        return;
    reduce(w, s, skip, p.body_bytes - skip, whole, expected);
    const uint8_t code = xfer_elements_code(w->terms.format, s->first.e0);
    const size_t element = agg_code_bytes(code);
    REQUIRE(reference_same(code, p.body + skip, expected, (p.body_bytes - skip) / element));
}

/* The chunk is complete here. */
static void complete(const struct world *w, struct slot *s, const struct agg_verdict *v)
{
    for (uint16_t c = 0; c < w->below; c++)
        REQUIRE(agg_wants(v, c) == s->wanted[c]);
    REQUIRE(v->bytes <= sizeof s->result);
    memcpy(s->result, v->payload, v->bytes);
    s->result_bytes = v->bytes;
    s->expected += w->terms.slots;
    s->completed = true;
    s->contributed = 0;
    s->up_bytes = 0;
    memset(s->has, 0, sizeof s->has);
    memset(s->wanted, 0, sizeof s->wanted);
}

static void check_result_from_above(const struct world *w, struct slot *s, const struct sml_packet *p,
                                    const struct agg_verdict *v)
{
    struct sml_packet down;
    REQUIRE(p->tag == s->expected && p->job == w->parent_job);
    REQUIRE(all_are_in(w, s) || (w->terms.resumed && !s->completed));
    REQUIRE(sml_parse(&down, v->payload, v->bytes) == SML_OK);
    REQUIRE(down.job == JOB && down.tag == p->tag && down.kind == p->kind);
    REQUIRE(down.body_bytes == p->body_bytes && memcmp(down.body, p->body, p->body_bytes) == 0);
    REQUIRE(sml_checksum_holds(&down, w->terms.checksum, XFER_SWITCH));
    for (uint16_t c = 0; c < w->below && w->terms.empties; c++) /* whoever wants elements gets them, if any */
        REQUIRE(down.body_bytes > 0 || !s->wanted[c]);
    complete(w, s, v);
}

/* What a question says of the ranks here. */
static void check_question(const struct world *w, const struct slot *s, const struct agg_verdict *v)
{
    struct sml_packet ask;
    REQUIRE(sml_parse(&ask, v->payload, v->bytes) == SML_OK && ask.kind == SML_ASK);
    REQUIRE(ask.job == w->parent_job && ask.tag == s->expected);
    REQUIRE(sml_checksum_holds(&ask, w->terms.checksum, w->lowest[0]));
    REQUIRE(ask.body_bytes == (w->ranks + 7u) / 8);
    for (uint16_t rank = 0; rank < w->ranks; rank++) {
        const uint16_t c = w->contributor[rank];
        const bool told = ask.body[rank / 8] >> rank % 8 & 1;
        REQUIRE(c == AGG_NOBODY ? !told : !s->has[c] || told);
    }
}

static void check_handed_back(const struct world *w, const struct slot *s, const struct sml_packet *p,
                              const struct agg_verdict *v)
{
    struct sml_packet up;
    REQUIRE(p->kind == SML_RESTORE && w->terms.resumed && !s->completed && p->tag == s->expected);
    REQUIRE(sml_parse(&up, v->payload, v->bytes) == SML_OK && up.kind == SML_RESTORE);
    REQUIRE(up.body_bytes == p->body_bytes && memcmp(up.body, p->body, p->body_bytes) == 0);
    REQUIRE(up.job == w->parent_job && sml_checksum_holds(&up, w->terms.checksum, w->lowest[0]));
    REQUIRE(w->terms.format != XFER_FORMAT_TYPED || up.e1 == (p->e1 | SML_FLAG_WANT));
}

static void judge_sum(const struct world *w, struct slot *s, const struct agg_verdict *v)
{
    check_sum(w, s, v, false);
    memcpy(s->went_up, v->payload, v->bytes);
    s->up_bytes = v->bytes;
}

static void judge(struct world *w, struct slot *s, uint16_t from, const struct sml_packet *p,
                  const struct agg_verdict *v)
{
    REQUIRE(v->action != AGG_REPLY || from != AGG_PARENT);
    REQUIRE(v->action != AGG_TO_PARENT || w->has_parent);
    switch (v->reason) {
    case SML_HELD:
        note_contribution(w, s, from, p);
        REQUIRE(!all_are_in(w, s));
        break;
    case SML_SEND_PARENT:
        note_contribution(w, s, from, p);
        REQUIRE(all_are_in(w, s));
        judge_sum(w, s, v);
        break;
    case SML_SEND_PARENT_AGAIN:
        REQUIRE(from == AGG_PARENT && p->kind == SML_NACK && all_are_in(w, s));
        REQUIRE(v->bytes == s->up_bytes && memcmp(v->payload, s->went_up, v->bytes) == 0);
        break;
    case SML_ASK_PARENT:
        REQUIRE(from != AGG_PARENT);
        check_question(w, s, v);
        break;
    case SML_RESTORE_PARENT:
        check_handed_back(w, s, p, v);
        note_want(w, s, from, p);
        break;
    case SML_SEND_ALL:
        REQUIRE(!w->has_parent);
        note_contribution(w, s, from, p);
        REQUIRE(all_are_in(w, s));
        check_sum(w, s, v, true);
        complete(w, s, v);
        break;
    case SML_RESTORED:
        REQUIRE(!w->has_parent && p->kind == SML_RESTORE && w->terms.resumed && !s->completed);
        REQUIRE(p->tag == s->expected);
        REQUIRE(memcmp(v->payload + SML_HEADER_BYTES, p->body, p->body_bytes) == 0);
        note_want(w, s, from, p);
        complete(w, s, v);
        break;
    case SML_PARENT_RESULT:
        REQUIRE(from == AGG_PARENT);
        check_result_from_above(w, s, p, v);
        break;
    case SML_PARENT_WORD:
        REQUIRE(from == AGG_PARENT &&
                (p->kind == SML_REJECT || (p->kind == SML_MISMATCH && all_are_in(w, s))));
        break;
    case SML_SEND_ONE:
        REQUIRE(s->completed && p->tag == s->expected - w->terms.slots);
        REQUIRE(v->bytes != s->result_bytes || memcmp(v->payload, s->result, v->bytes) == 0);
        break;
    default:
        REQUIRE(v->reason < SML_VERDICTS);
        break;
    }
}

/* `astray`: the packet is looked up among the jobs of the other side. */
static void deliver(struct world *w, uint16_t from, bool astray, const uint8_t *payload, size_t bytes)
{
    const struct given g = give(w->job->protocol, (from == AGG_PARENT) != astray ? &w->above : &w->jobs,
                                sender_of(from), w->keeps, 0, payload, bytes);
    if (g.packet.slot != NULL) {
        REQUIRE(g.parses && g.packet.rank == from && g.packet.job == w->job);
        judge(w, &w->slots[g.p.slot], from, &g.p, &g.v);
        check_view(w, g.p.slot);
    }
    given_end(&g);
}

static size_t take_body(const struct world *w, const struct slot *s, struct input *in, uint16_t from,
                        const struct sml_packet *p, uint8_t odd, uint8_t body[BODY_MAX])
{
    const uint8_t fill = take8(in);
    size_t bytes = s->contributed > 0 ? s->first.body_bytes : w->terms.chunk_bytes;
    for (size_t i = 0; i < BODY_MAX; i++)
        body[i] = (uint8_t)(p->kind == SML_OPEN && i < XFER_CALL_BYTES ? i : fill * (i + 1) + from);
    if (p->kind == SML_PROBE || p->kind == SML_NACK)
        bytes = 0;
    else if (p->kind == SML_WAIT || p->kind == SML_ASK)
        bytes = (w->ranks + 7u) / 8;
    else if (p->kind == SML_MISMATCH)
        bytes = XFER_MISMATCH_BYTES;
    else if (p->kind == SML_REJECT)
        bytes = 8;
    if (w->terms.empties && fill & 4 && (p->kind == SML_DATA || p->kind == SML_OPEN))
        bytes = p->kind == SML_OPEN ? XFER_CALL_BYTES : 0;
    if (odd & 1)
        bytes = take8(in) % BODY_MAX;
    if (odd & 32)
        body[take8(in) % BODY_MAX] ^= take8(in);
    return bytes;
}

/* Mostly what this sender may send now; any field may be off. */
static void take_packet(struct world *w, struct input *in)
{
    static const uint8_t from_below[] = {SML_DATA, SML_DATA, SML_OPEN, SML_PROBE, SML_RESTORE, SML_ASK};
    static const uint8_t from_above[] = {SML_DATA, SML_DATA,     SML_OPEN,  SML_NACK,
                                         SML_WAIT, SML_MISMATCH, SML_REJECT};
    uint8_t body[BODY_MAX], payload[PACKET_MAX];
    const uint8_t odd = take8(in), who = take8(in);
    const uint16_t from = who & 64 ? AGG_PARENT : who % w->below;
    struct sml_packet p = {.size_code = SML_SIZE_AGREED, .checksum = w->terms.checksum};
    p.job = from == AGG_PARENT ? w->parent_job : JOB;
    p.slot = take8(in) % w->terms.slots;
    struct slot *s = &w->slots[p.slot];
    p.tag = s->expected + (uint32_t)(take8(in) % 5 - 2) * w->terms.slots;
    p.ver = sml_tag_ver(p.tag, w->terms.slots);
    p.kind = from == AGG_PARENT ? from_above[take8(in) % sizeof from_above]
                                : from_below[take8(in) % sizeof from_below];
    p.e0 = w->terms.format == XFER_FORMAT_TYPED ? AGG_SUM << 4 | AGG_F32 : 1;
    p.e1 = odd >> 6;
    p.body_bytes = take_body(w, s, in, from, &p, odd, body);
    take_faults(in, odd, &p);
    if (odd & 16)
        p.job = take8(in) % 8;
    sml_build_header(payload, &p);
    memcpy(payload + SML_HEADER_BYTES, body, p.body_bytes);
    size_t bytes = SML_HEADER_BYTES + p.body_bytes;
    if (p.checksum != XFER_CHECKSUM_NONE) {
        sml_build_trailer(payload + bytes, from == AGG_PARENT ? XFER_SWITCH : w->lowest[from], payload, bytes,
                          NULL, 0);
        bytes += XFER_TRAILER_BYTES;
    }
    deliver(w, from, who >> 7, payload, bytes);
}

static void take_raw(struct world *w, struct input *in)
{
    const uint8_t who = take8(in);
    size_t bytes;
    uint8_t *raw = take_bytes(in, take8(in), &bytes);
    deliver(w, who & 64 ? AGG_PARENT : who % w->below, who >> 7, raw, bytes);
    free(raw);
}

/* Contributors are numbered by their lowest ranks. */
static void take_tree(struct world *w, struct input *in)
{
    w->ranks = 1 + take8(in) % RANKS_MAX;
    for (uint16_t rank = 0; rank < w->ranks; rank++) {
        const uint16_t choice = take8(in) % (BELOW_MAX + 1);
        w->contributor[rank] = choice < w->below ? choice : w->below;
        if (choice == BELOW_MAX && w->has_parent && (rank + 1 < w->ranks || w->below > 0))
            w->contributor[rank] = AGG_NOBODY;
        else if (w->contributor[rank] == BELOW_MAX)
            w->contributor[rank] = 0;
        else if (w->contributor[rank] == w->below)
            w->lowest[w->below++] = rank;
    }
}

static void open_job(struct world *w)
{
    const struct agg_node tree = {.ranks = w->ranks,
                                  .contributor = w->contributor,
                                  .has_parent = w->has_parent,
                                  .parent_job = w->parent_job};
    struct agg_pool_config cfg = {
        .job = JOB, .workers = w->below, .kernels = kernels_or_exit(), .tree = &tree};
    struct agg_sender members[BELOW_MAX];
    const struct agg_sender parent = sender_of(AGG_PARENT);
    sml_terms_build(&cfg.terms, &w->terms);
    for (unsigned c = 0; c < w->below; c++)
        members[c] = sender_of(c);
    w->job = carry_open(&w->jobs, relay_protocol_of(&sml_protocol), &cfg, members, NULL);
    REQUIRE(w->job != NULL);
    if (w->has_parent) {
        agg_job_seat(w->job, &parent, AGG_PARENT, 0);
        agg_jobs_set(&w->above, w->parent_job, w->job);
    }
    for (uint32_t i = 0; i < w->terms.slots; i++)
        w->slots[sml_tag_slot(w->terms.first_tag + i, w->terms.slots)].expected = w->terms.first_tag + i;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world w = {0};
    const uint8_t kind = take8(&in), shape = take8(&in);
    w.has_parent = !(kind & 1);
    w.keeps = kind & 8;
    w.parent_job = shape % 8;
    w.terms = (struct sml_terms){
        .slots = (uint16_t)(1 << shape / 8 % 3),
        .chunk_bytes = (uint16_t)(64 + 4 * (take8(&in) % 17)),
        .format = (enum xfer_format)((kind >> 5) % XFER_FORMATS),
        .mode = kind & 2 ? XFER_ON_ARRIVAL : XFER_ORDERED,
        .checksum = kind & 16 ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE,
        .first_tag = take32(&in),
        .resumed = kind & 4,
    };
    w.terms.empties = shape & 128 && w.terms.format == XFER_FORMAT_TYPED;
    take_tree(&w, &in);
    open_job(&w);
    for (unsigned n = 0; in.left > 0 && n < STEPS_MAX; n++)
        if (take8(&in) % 8 == 7)
            take_raw(&w, &in);
        else
            take_packet(&w, &in);
    w.job->protocol->drain(w.job->pool, free);
    carry_close(&w.jobs, w.job);
    return 0;
}
