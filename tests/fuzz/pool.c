/* A pool: any sequence of packets from any ranks, against an oracle that remembers all contributions to the
 * chunks being collected and adds them up by itself. An input is the configuration, then for each packet a
 * byte and its arguments. */

#include "carry.h"
#include "fuzz.h"
#include "look_up.h"
#include "reference.h"
#include "switchml/blocks.h"
#include "switchml/labels.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "tags.h"

enum { STEPS_MAX = 400, WORKERS_MAX = 8, SLOTS_MAX = 4, BODY_MAX = 160, JOB = 3, SENDERS = 16 };

/* What the oracle knows of a slot. */
struct slot {
    uint32_t expected;
    bool completed, wanted[WORKERS_MAX];
    unsigned contributed;
    uint16_t order[WORKERS_MAX]; /* ranks, as they came */
    bool has[WORKERS_MAX];
    uint8_t body[WORKERS_MAX][BODY_MAX];
    struct sml_packet first;
    struct sml_label last; /* labelled: of the chunk completed last */
    uint8_t result[SML_HEADER_BYTES + BODY_MAX + SML_TRAILER_BYTES]; /* of the chunk completed last */
    size_t result_bytes;
};

struct world {
    struct sml_terms terms;
    uint16_t workers;
    struct agg_jobs jobs;
    struct agg_job *job;
    struct slot slots[SLOTS_MAX];
    bool keeps; /* the pool may keep what it is given */
};

static bool is_typed(const struct world *w)
{
    return w->terms.format == SML_FORMAT_TYPED;
}

/* Whether a contribution with this label may be the next in its slot, as published clients use slots. */
static bool may_be_next(const struct slot *s, const struct sml_packet *p)
{
    const struct sml_label label = sml_label_of(p), first = sml_label_of(&s->first);
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
    const struct sml_label label = sml_label_of(p);
    if (!s->completed)
        return false;
    return w->terms.labelled ? sml_label_equal(&label, &s->last) : p->tag == s->expected - w->terms.slots;
}

static uint8_t code_of(const struct world *w, const struct sml_packet *p)
{
    return sml_elements_code(w->terms.format, p->e0);
}

static struct sml_element element_of(const struct world *w, const struct sml_packet *p)
{
    return sml_element_of(code_of(w, p));
}

/* What becomes of indices. */
static void look_up(const struct world *w, const struct slot *s, size_t skip, size_t elements, uint8_t *out)
{
    memset(out, 0, elements * sml_element_of(w->terms.table.code).out);
    for (unsigned i = 0; i < w->workers; i++)
        look_up_add(&w->terms.table, out, s->body[i] + skip, elements);
}

/* What becomes of the chunk, by the scalar kernels. A single rank gets its own back. */
static void reduce(const struct world *w, const struct slot *s, size_t skip, size_t bytes, uint8_t *out)
{
    const struct agg_operation *op = &agg_kernels_scalar.operations[code_of(w, &s->first)];
    const void *in[WORKERS_MAX];

    for (unsigned i = 0; i < w->workers; i++)
        in[i] = s->body[w->terms.mode == SML_ORDERED ? i : s->order[i]] + skip;
    if (w->workers == 1)
        memcpy(out, in[0], bytes);
    else
        op->reduce(out, in, w->workers, bytes);
    if (op->finish != NULL && !agg_is_wide(op))
        op->finish(out, out, w->workers, bytes);
}

/* A result without the sum is its header, with a checksum of its own. */
static void check_ack(const struct world *w, const uint8_t *ack, size_t bytes, const uint8_t *result)
{
    struct sml_packet p;
    REQUIRE(sml_parse(&p, ack, bytes) == SML_OK && p.body_bytes == 0);
    REQUIRE(sml_checksum_holds(&p, w->terms.checksum, SML_SWITCH));
    REQUIRE(memcmp(ack, result, SML_HEADER_BYTES) == 0);
}

static void check_result(const struct world *w, struct slot *s, const struct agg_verdict *v)
{
    struct sml_packet p;
    uint8_t expected[BODY_MAX];
    size_t skip = s->first.kind == SML_OPEN ? SML_CALL_BYTES : 0;
    REQUIRE(sml_parse(&p, v->payload, v->bytes) == SML_OK);
    REQUIRE(p.kind == s->first.kind && p.tag == s->first.tag && p.job == s->first.job);
    REQUIRE(w->terms.labelled || (p.tag == s->expected && p.job == JOB));
    const struct sml_element e = element_of(w, &s->first);
    const size_t elements = (s->first.body_bytes - skip) / e.in;
    REQUIRE(p.body_bytes == skip + elements * e.out && sml_checksum_holds(&p, w->terms.checksum, SML_SWITCH));
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
    s->last = sml_label_of(&s->first);
    s->completed = true;
    s->contributed = 0;
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
        s->first = *p;
        s->first.body = s->body[rank];
    }
    REQUIRE(p->body_bytes == s->first.body_bytes && p->kind == s->first.kind);
    s->order[s->contributed++] = rank;
    s->has[rank] = true;
    s->wanted[rank] = !is_typed(w) || p->e1 & SML_FLAG_WANT;
}

static void check_answer(const struct world *w, const struct slot *s, uint16_t rank,
                         const struct sml_packet *p, const struct agg_verdict *v)
{
    struct sml_packet a;
    REQUIRE(sml_parse(&a, v->payload, v->bytes) == SML_OK);
    REQUIRE(sml_checksum_holds(&a, w->terms.checksum, SML_SWITCH));
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
        REQUIRE(a.kind == SML_DATA && a.body_bytes == 0 && s->completed);
        REQUIRE(tag_before(p->tag, s->expected - w->terms.slots));
        break;
    }
}

static void check_mismatch(const struct slot *s, uint16_t rank, const struct sml_packet *p,
                           const struct agg_verdict *v)
{
    struct sml_packet a;
    struct sml_mismatch m;
    REQUIRE(sml_parse(&a, v->payload, v->bytes) == SML_OK && a.kind == SML_MISMATCH);
    REQUIRE(sml_parse_mismatch(&m, a.body, a.body_bytes));
    REQUIRE(s->contributed > 0 && !s->has[rank] && p->tag == s->expected);
    REQUIRE(m.your_rank == rank && m.peer_rank == s->order[0] && m.your_tag == p->tag);
}

static void check_wants(const struct world *w, const struct slot *s, const struct agg_verdict *v)
{
    for (uint16_t r = 0; r < w->workers; r++)
        REQUIRE(agg_wants(v, r) == s->wanted[r]);
}

static void judge(struct world *w, struct slot *s, uint16_t rank, const struct sml_packet *p,
                  const struct agg_verdict *v)
{
    bool holds = sml_checksum_holds(p, w->terms.checksum, rank);
    bool shadow = is_shadow(w, s, p);
    REQUIRE((v->reason == SML_DROP_BAD_CHECKSUM) == !holds);
    switch (v->reason) {
    case SML_HELD:
        note_contribution(w, s, rank, p);
        REQUIRE(s->contributed < w->workers);
        break;
    case SML_SEND_ALL:
        note_contribution(w, s, rank, p);
        REQUIRE(s->contributed == w->workers);
        check_result(w, s, v);
        check_wants(w, s, v);
        keep_result(w, s, v);
        break;
    case SML_RESTORED:
        REQUIRE(w->terms.resumed && !s->completed && p->kind == SML_RESTORE && p->tag == s->expected);
        REQUIRE(v->bytes == SML_HEADER_BYTES + p->body_bytes + sml_trailer_bytes(w->terms.checksum));
        REQUIRE(memcmp(v->payload + SML_HEADER_BYTES, p->body, p->body_bytes) == 0);
        check_wants(w, s, v);
        keep_result(w, s, v);
        break;
    case SML_SEND_ONE:
        REQUIRE(shadow);
        if (v->bytes == s->result_bytes)
            REQUIRE(memcmp(v->payload, s->result, v->bytes) == 0);
        else
            check_ack(w, v->payload, v->bytes, s->result);
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
        REQUIRE(is_expected(w, s, p) ? s->has[rank] : shadow && p->kind == SML_RESTORE);
        break;
    default:
        REQUIRE(v->reason < SML_VERDICTS);
        break;
    }
}

static struct agg_sender sender_of(unsigned rank)
{
    static const uint8_t mac[AGG_MAC_BYTES] = {2};
    return carry_sender(mac, 1, (uint16_t)(1000 + rank));
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

/* What does not get to a slot: p, if it is a packet at all, is of another job or names a slot that there is
 * not. */
static void check_refused(const struct world *w, const struct agg_packet *packet, const struct sml_packet *p)
{
    uint8_t answer[AGG_ANSWER_BYTES];
    REQUIRE(packet->reason < sml_protocol.reasons);
    bool other = p != NULL && p->job != JOB && !w->terms.labelled;
    REQUIRE(p == NULL || other || p->slot >= w->terms.slots);
    REQUIRE((packet->reason == SML_REFUSED_UNKNOWN_JOB) == other);
    size_t bytes = sml_protocol.refuse(packet, 1, answer);
    REQUIRE(bytes <= sizeof answer);
    REQUIRE(bytes == 0 || packet->reason == SML_REFUSED_UNKNOWN_JOB); /* no answer to what switches send */
}

static void deliver(struct world *w, uint16_t rank, const uint8_t *payload, size_t bytes)
{
    struct sml_packet p;
    struct agg_verdict v;
    bool parses = sml_parse(&p, payload, bytes) == SML_OK;
    /* In memory of its own: a use after it was released, or a buffer that is forgotten, is the sanitizer's to
     * find. */
    uint8_t *buffer = malloc(bytes + (bytes == 0));
    if (bytes > 0)
        memcpy(buffer, payload, bytes);
    struct agg_packet packet = {.payload = buffer, .bytes = bytes, .from = sender_of(rank)};
    sml_protocol.locate(&w->jobs, &packet, 1);
    packet.buffer = w->keeps ? buffer : NULL;
    REQUIRE(sml_protocol.apply(&packet, 1, 0, &v) == 1);
    REQUIRE(v.reason == packet.reason && v.action == sml_protocol.reason[v.reason].action);
    if (packet.slot == NULL) {
        check_refused(w, &packet, parses ? &p : NULL);
    } else {
        REQUIRE(parses && packet.rank == rank && packet.job == w->job);
        judge(w, &w->slots[p.slot], rank, &p, &v);
        check_view(w, p.slot);
    }
    free(v.released);
    if (!v.kept)
        free(buffer);
}

/* Mostly what a rank may send now; any field may be off. */
static void take_packet(struct world *w, struct input *in)
{
    static const uint8_t kinds[] = {SML_DATA, SML_DATA, SML_OPEN, SML_PROBE, SML_RESTORE};
    uint8_t body[BODY_MAX], payload[SML_HEADER_BYTES + BODY_MAX + SML_TRAILER_BYTES], odd = take8(in),
                                                                                      fill = take8(in);
    uint16_t rank = take8(in) % w->workers;
    struct sml_packet p = {.size_code = SML_SIZE_AGREED, .job = JOB, .e0 = AGG_SUM << 4 | AGG_F32};
    p.checksum = w->terms.checksum;
    p.slot = take8(in) % w->terms.slots;
    p.tag = w->slots[p.slot].expected + (uint32_t)(take8(in) % 5 - 2) * w->terms.slots;
    p.ver = sml_tag_ver(p.tag, w->terms.slots);
    p.kind = kinds[take8(in) % sizeof kinds];
    if (w->terms.labelled) { /* tensors that are near, sometimes across 255 */
        uint8_t label = take8(in);
        p.job = (uint8_t)(label % 8 - 4);
        p.tag = label >> 3 & 3;
        p.ver = label >> 5 & 1;
        p.kind = label >> 6 == 3 ? p.kind : SML_DATA;
    }
    p.e1 = odd >> 6;
    p.body_bytes = p.kind == SML_PROBE ? 0 : w->terms.chunk_bytes;
    if (w->terms.table.code != 0 && fill & 1 && p.kind != SML_PROBE) {
        const struct sml_element e = sml_element_of(w->terms.table.code);
        const size_t call = p.kind == SML_OPEN ? SML_CALL_BYTES : 0;
        p.e0 = w->terms.table.code;
        p.body_bytes = call + (w->terms.chunk_bytes - call) / e.out * (p.kind == SML_RESTORE ? e.out : e.in);
    }
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(p.kind == SML_OPEN && i < SML_CALL_BYTES ? i : fill * (i + 1) + rank);
    if (odd & 1)
        p.body_bytes = take8(in) % BODY_MAX;
    if (odd & 2)
        p.e0 = take8(in);
    if (odd & 4)
        p.size_code = take8(in) & 15;
    if (odd & 8)
        p.slot = take8(in);
    if (odd & 16)
        p.ver ^= 1;
    if (odd & 32)
        body[take8(in) % BODY_MAX] ^= take8(in);
    sml_build_header(payload, &p);
    memcpy(payload + SML_HEADER_BYTES, body, p.body_bytes);
    size_t bytes = SML_HEADER_BYTES + p.body_bytes;
    if (p.checksum != SML_CHECKSUM_NONE) {
        sml_build_trailer(payload + bytes, rank, payload, bytes, NULL, 0);
        bytes += SML_TRAILER_BYTES;
        if (odd & 32)
            payload[take8(in) % bytes] ^= take8(in);
    }
    deliver(w, rank, payload, bytes);
}

static void take_raw(struct world *w, struct input *in)
{
    size_t bytes;
    uint16_t rank = take8(in) % w->workers;
    uint8_t *raw = take_bytes(in, take8(in), &bytes);
    deliver(w, rank, raw, bytes);
    free(raw);
}

static void open_job(struct world *w)
{
    struct agg_pool_config cfg = {.job = JOB, .workers = w->workers, .kernels = agg_kernels_best()};
    struct agg_sender members[WORKERS_MAX];
    sml_terms_build(&cfg.terms, &w->terms);
    for (unsigned rank = 0; rank < w->workers; rank++)
        members[rank] = sender_of(rank);
    w->job = carry_open(&w->jobs, &sml_protocol, &cfg, members, NULL);
    REQUIRE(w->job != NULL);
    if (!w->terms.labelled)
        return;
    w->jobs.senders = calloc(1, sizeof *w->jobs.senders + SENDERS * sizeof w->jobs.senders->place[0]);
    w->jobs.senders->places = SENDERS;
    for (unsigned rank = 0; rank < w->workers; rank++)
        agg_senders_add(w->jobs.senders, agg_sender_key(&members[rank]), JOB);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world w = {0};
    uint8_t shape = take8(&in), kind = take8(&in);
    w.workers = 1 + shape % WORKERS_MAX;
    w.terms = (struct sml_terms){
        .slots = (uint16_t)(1 << (shape / WORKERS_MAX) % 3),
        .chunk_bytes = (uint16_t)(64 + 4 * (take8(&in) % 17)),
        .format = kind & 1 ? SML_FORMAT_INT32 : SML_FORMAT_TYPED,
        .mode = kind & 2 ? SML_ON_ARRIVAL : SML_ORDERED,
        .checksum = kind & 16 ? SML_CHECKSUM_CRC32C : SML_CHECKSUM_NONE,
        .first_tag = take32(&in),
        .resumed = kind & 4,
    };
    if (kind & 32) { /* a static job's */
        w.terms.labelled = true;
        w.terms.format = kind & 1 ? SML_FORMAT_INT32 : SML_FORMAT_FP16;
        w.terms.resumed = false;
        w.terms.checksum = SML_CHECKSUM_NONE;
    }
    if (kind & 64 && w.terms.format == SML_FORMAT_TYPED) { /* some calls are compressed */
        uint64_t table = shape;
        w.terms.table = look_up_table(
            &table, (uint8_t)(1 + w.terms.chunk_bytes / 4 % 4 + (kind & 128 ? SML_WIDE_SUMS : 0)),
            WORKERS_MAX);
        w.terms.chunk_bytes = (uint16_t)(SML_LOOK_UP_CHUNK_MIN + w.terms.chunk_bytes % 32);
    }
    w.keeps = kind & 8;
    open_job(&w);
    for (uint32_t i = 0; i < w.terms.slots; i++)
        w.slots[sml_tag_slot(w.terms.first_tag + i, w.terms.slots)].expected = w.terms.first_tag + i;
    for (unsigned n = 0; in.left > 0 && n < STEPS_MAX; n++)
        if (take8(&in) % 8 == 7)
            take_raw(&w, &in);
        else
            take_packet(&w, &in);
    sml_protocol.drain(w.job->pool, free);
    carry_close(&w.jobs, w.job);
    free(w.jobs.senders);
    return 0;
}
