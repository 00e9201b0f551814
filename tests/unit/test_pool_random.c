/* Any interleaving of contributions, probes, results handed back, duplicates, stale, early and contradicting
 * packets: the pool against an oracle that keeps every chunk's whole history. Loss needs no packet of its
 * own: it is a packet that is not sent. */
#include "placed.h"

#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "random.h"
#include "reference.h"
#include "unit.h"

enum {
    CHUNKS = 64,
    HANDED_BACK = 2000, /* the rank whose content a result has that rank 0 hands back, and so on: results
                         * that differ tell which one was adopted */
};

/* What is known of a chunk: who has contributed, in which order, and the result when there is one. */
struct history {
    uint16_t order[AGG_MAX_WORKERS], contributed;
    bool seen[AGG_MAX_WORKERS], wants[AGG_MAX_WORKERS];
    bool completed;
    uint8_t result[SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES + XFER_TRAILER_BYTES];
    size_t result_bytes;
};

struct world {
    struct sml_pool_config cfg;
    struct sml_pool *pool;
    unsigned keepable;        /* of ten packets, those whose bytes the pool may keep */
    void *kept[2 * CHUNKS];   /* buffers that the pool has */
    unsigned long kept_total; /* in all runs */
    uint64_t rng;
    uint64_t content; /* seed of the elements */
    uint8_t code;     /* of what the job does to its elements */
    struct history chunks[CHUNKS];
    uint64_t verdicts[SML_VERDICTS];
    const char *wrong; /* the first thing that was */
};

static bool typed(const struct world *w)
{
    return w->cfg.format == XFER_FORMAT_TYPED;
}

/* Content follows from (chunk, rank) alone: a retransmission has the same. */

static uint64_t hash(const struct world *w, uint32_t chunk, uint32_t rank, uint32_t i)
{
    return splitmix_hash(w->content ^ (uint64_t)chunk << 40 ^ (uint64_t)rank << 20 ^ i);
}

static bool opens(const struct world *w, uint32_t chunk)
{
    return typed(w) && hash(w, chunk, 1000, 0) % 4 == 0;
}

static size_t call_bytes(const struct world *w, uint32_t chunk)
{
    return opens(w, chunk) ? XFER_CALL_BYTES : 0;
}

static size_t element_bytes(const struct world *w)
{
    return agg_code_bytes(w->code);
}

static size_t elements(const struct world *w, uint32_t chunk)
{
    size_t most = (w->cfg.chunk_bytes - call_bytes(w, chunk)) / element_bytes(w);

    return hash(w, chunk, 1001, 0) % 2 ? most : 1 + hash(w, chunk, 1002, 0) % most;
}

/* Whether rank has nothing to add to the chunk. A result that is handed back has elements. */
static bool is_empty(const struct world *w, uint32_t chunk, uint32_t rank)
{
    const unsigned empty_of_4 = hash(w, chunk, 1004, 0) % 5; /* none are, some, all */

    return w->cfg.empties && rank < HANDED_BACK && hash(w, chunk, rank, 1005) % 4 < empty_of_4;
}

/* In the host's order. Numbers that make no NaN, of which the bits would be anybody's. */
static void fill(const struct world *w, uint32_t chunk, uint32_t rank, void *out)
{
    uint64_t state = hash(w, chunk, rank, 0);

    reference_fill(w->code, &state, true, out, elements(w, chunk));
}

static void to_or_from_wire(const struct world *w, uint32_t chunk, void *body)
{
    agg_kernels_scalar.convert[agg_code_type(w->code)](body, body, elements(w, chunk) * element_bytes(w));
}

/* Writes the body that rank sends for the chunk and returns its length. */
static size_t build_body(const struct world *w, uint32_t chunk, uint32_t rank, uint8_t *body)
{
    const bool empty = is_empty(w, chunk, rank);
    size_t n = elements(w, chunk), head = call_bytes(w, chunk);
    struct xfer_call call = {.seq = chunk,
                             .collective = XFER_ALLREDUCE,
                             .type = agg_code_type(w->code),
                             .op = agg_code_op(w->code),
                             .count = n};

    if (head > 0)
        xfer_build_call(body, &call);
    if (empty)
        return head;
    fill(w, chunk, rank, body + head);
    to_or_from_wire(w, chunk, body + head);
    return head + n * element_bytes(w);
}

static int8_t exponent(const struct world *w, uint32_t chunk, uint32_t rank, uint32_t which)
{
    return (int8_t)hash(w, chunk, rank, 100000 + which);
}

/* What a rank says of the results that it holds. A result handed back says nothing. */
static uint8_t held(const struct world *w, uint32_t chunk, uint32_t rank)
{
    uint32_t lacked = hash(w, chunk, rank, 1003) % w->cfg.slots;

    return rank < HANDED_BACK ? xfer_held_build(w->cfg.slots, lacked) : 0;
}

static struct sml_packet packet(const struct world *w, enum sml_kind kind, uint32_t chunk, uint32_t rank)
{
    uint32_t tag = w->cfg.first_tag + chunk;

    return (struct sml_packet){
        .kind = kind,
        .size_code = SML_SIZE_AGREED,
        .checksum = w->cfg.checksum,
        .job = w->cfg.job,
        .tag = tag,
        .slot = tag % w->cfg.slots,
        .ver = tag / w->cfg.slots % 2,
        .e0 = typed(w) ? w->code : (uint8_t)exponent(w, chunk, rank, 0),
        .e1 = typed(w) ? held(w, chunk, rank) : (uint8_t)exponent(w, chunk, rank, 1),
    };
}

/* Ends a payload with the trailer that the job wants, if any, and returns the length with it. */
static size_t finish(const struct world *w, uint8_t *payload, size_t bytes, uint16_t sender)
{
    if (w->cfg.checksum != XFER_CHECKSUM_NONE)
        sml_build_trailer(payload + bytes, sender, payload, bytes, NULL, 0);
    return bytes + xfer_trailer_bytes(w->cfg.checksum);
}

/* The oracle */

static uint16_t nth(const struct world *w, const struct history *h, uint16_t i)
{
    return w->cfg.mode == XFER_ORDERED ? i : h->order[i];
}

/* Writes the elements of the result, and returns their bytes. Those of a single rank are as they are. */
static size_t reduce(const struct world *w, uint32_t chunk, const struct history *h, uint8_t *out)
{
    static uint8_t body[AGG_MAX_WORKERS][SML_MAX_CHUNK_BYTES];
    const void *in[AGG_MAX_WORKERS];
    const size_t bytes = elements(w, chunk) * element_bytes(w);
    unsigned n = 0;

    for (uint16_t i = 0; i < w->cfg.workers; i++) {
        if (is_empty(w, chunk, nth(w, h, i)))
            continue;
        in[n] = body[n];
        fill(w, chunk, nth(w, h, i), body[n++]);
    }
    if (n == 0)
        return 0;
    if (n == 1)
        memcpy(out, body[0], bytes);
    else
        reference_reduce(w->code, out, in, n, elements(w, chunk));
    to_or_from_wire(w, chunk, out);
    return bytes;
}

/* The whole UDP payload that a complete chunk's result must be. */
static size_t expected_result(const struct world *w, uint32_t chunk, uint8_t *out)
{
    const struct history *h = &w->chunks[chunk];
    struct sml_packet p = packet(w, opens(w, chunk) ? SML_OPEN : SML_DATA, chunk, 0);
    uint8_t *body = out + SML_HEADER_BYTES;
    size_t bytes = call_bytes(w, chunk);

    for (uint16_t r = 1; typed(w) && r < w->cfg.workers; r++)
        p.e1 = p.e1 < held(w, chunk, r) ? p.e1 : held(w, chunk, r);
    for (uint16_t r = 1; !typed(w) && r < w->cfg.workers; r++) {
        int8_t e0 = exponent(w, chunk, r, 0), e1 = exponent(w, chunk, r, 1);
        p.e0 = (uint8_t)(e0 > (int8_t)p.e0 ? e0 : (int8_t)p.e0);
        p.e1 = (uint8_t)(e1 > (int8_t)p.e1 ? e1 : (int8_t)p.e1);
    }
    sml_build_header(out, &p);
    build_body(w, chunk, 0, body);
    bytes += reduce(w, chunk, h, body + bytes);
    return finish(w, out, SML_HEADER_BYTES + bytes, XFER_SWITCH);
}

/* The same of a chunk whose result rank has handed back. */
static size_t adopted_result(const struct world *w, uint32_t chunk, uint16_t rank, uint8_t *out)
{
    struct sml_packet p = packet(w, opens(w, chunk) ? SML_OPEN : SML_DATA, chunk, HANDED_BACK + rank);

    size_t bytes = SML_HEADER_BYTES + build_body(w, chunk, HANDED_BACK + rank, out + SML_HEADER_BYTES);

    sml_build_header(out, &p);
    return finish(w, out, bytes, XFER_SWITCH);
}

/* The chunk that this chunk's slot is collecting. */
static uint32_t current(const struct world *w, uint32_t chunk)
{
    chunk %= w->cfg.slots;
    while (chunk < CHUNKS && w->chunks[chunk].completed)
        chunk += w->cfg.slots;
    return chunk;
}

/* Only the first chunk of each slot can have been completed before the switch restarted. */
static enum sml_reason foretell_restore(const struct world *w, uint32_t chunk)
{
    uint32_t now = current(w, chunk);

    if (!w->cfg.resumed)
        return SML_DROP_BAD_KIND;
    if (chunk > now || (chunk == now && chunk >= w->cfg.slots))
        return SML_DROP_AHEAD;
    if (chunk == now)
        return SML_RESTORED;
    return chunk + w->cfg.slots == now ? SML_DROP_DUPLICATE : SML_DROP_STALE;
}

static enum sml_reason foretell(const struct world *w, const struct sml_packet *p, uint32_t chunk,
                                uint16_t rank, bool odd)
{
    uint32_t now = current(w, chunk);
    const struct history *h = &w->chunks[chunk];

    if (p->kind == SML_RESTORE)
        return foretell_restore(w, chunk);
    if (chunk > now)
        return SML_DROP_AHEAD;
    if (chunk < now && chunk + w->cfg.slots == now)
        return SML_SEND_ONE;
    if (chunk < now)
        return p->kind == SML_PROBE ? SML_SEND_ANSWER : SML_DROP_STALE;
    if (p->kind == SML_PROBE)
        return SML_SEND_ANSWER;
    if (h->seen[rank])
        return SML_DROP_DUPLICATE;
    if (odd)
        return SML_SEND_MISMATCH;
    return h->contributed + 1 == w->cfg.workers ? SML_SEND_ALL : SML_HELD;
}

static void check(struct world *w, bool good, const char *what)
{
    if (!good && w->wrong == NULL)
        w->wrong = what;
}

/* A result without the sum: its header alone. */
static size_t build_ack(const struct world *w, const struct history *h, uint8_t *out)
{
    memcpy(out, h->result, SML_HEADER_BYTES);
    return finish(w, out, SML_HEADER_BYTES, XFER_SWITCH);
}

static void check_completed(struct world *w, uint32_t chunk, uint16_t rank, const struct agg_verdict *v)
{
    struct history *h = &w->chunks[chunk];

    h->completed = true;
    h->result_bytes = v->reason == SML_RESTORED ? adopted_result(w, chunk, rank, h->result)
                                                : expected_result(w, chunk, h->result);
    check(w, v->bytes == h->result_bytes, "length of the result");
    check(w, memcmp(v->payload, h->result, h->result_bytes) == 0, "bits of the result");
    uint8_t ack[SML_HEADER_BYTES + XFER_TRAILER_BYTES];
    size_t ack_bytes = build_ack(w, h, ack);
    check(w, v->brief_bytes == ack_bytes && memcmp(v->brief, ack, ack_bytes) == 0,
          "the result without the sum");
    for (uint16_t r = 0; r < w->cfg.workers; r++)
        check(w, agg_wants(v, r) == h->wants[r], "who wants the sum");
}

static void check_sent_again(struct world *w, uint32_t chunk, const struct sml_packet *p,
                             const struct agg_verdict *v)
{
    const struct history *h = &w->chunks[chunk];
    bool wanted = !typed(w) || p->e1 & SML_FLAG_WANT;

    uint8_t ack[SML_HEADER_BYTES + XFER_TRAILER_BYTES];
    size_t ack_bytes = build_ack(w, h, ack);

    check(w, v->bytes == (wanted ? h->result_bytes : ack_bytes), "length sent again");
    check(w, memcmp(v->payload, wanted ? h->result : ack, v->bytes) == 0, "bits sent again");
}

static void check_answer(struct world *w, uint32_t chunk, uint16_t rank, const struct agg_verdict *v)
{
    const struct history *h = &w->chunks[chunk];
    struct sml_packet p;
    enum sml_kind kind = h->completed ? SML_DATA : h->seen[rank] ? SML_WAIT : SML_NACK;

    check(w, sml_parse(&p, v->payload, v->bytes) == SML_OK, "an answer that parses");
    check(w, sml_checksum_holds(&p, w->cfg.checksum, XFER_SWITCH), "the checksum of the answer");
    check(w, p.kind == kind && p.tag == w->cfg.first_tag + chunk, "kind and tag of the answer");
    check(w, p.body_bytes == (kind == SML_WAIT ? (w->cfg.workers + 7u) / 8 : 0), "length of the answer");
    for (uint16_t r = 0; kind == SML_WAIT && r < w->cfg.workers; r++)
        check(w, (p.body[r / 8] >> r % 8 & 1) == h->seen[r], "the bitmap of contributors");
}

static void check_view(struct world *w, uint32_t chunk, const struct sml_packet *p)
{
    struct agg_slot_view view;
    uint32_t now = current(w, chunk);

    sml_pool_view(w->pool, p->slot, &view);
    check(w, view.chunk == w->cfg.first_tag + now, "the tag that is expected");
    check(w, view.contributed == (now < CHUNKS ? w->chunks[now].contributed : 0),
          "the number of contributors");
    for (uint16_t r = 0; now < CHUNKS && r < w->cfg.workers; r++)
        check(w, (view.ranks[r / 64] >> r % 64 & 1) == w->chunks[now].seen[r],
              "the contributors in the view");
}

static enum sml_kind draw_kind(struct world *w, uint32_t chunk)
{
    switch (rng_below(&w->rng, 8)) {
    case 0:
        return SML_PROBE;
    case 1:
        return SML_RESTORE;
    default:
        return opens(w, chunk) ? SML_OPEN : SML_DATA;
    }
}

/* In each slot the result completed last, and the sum that is being made. */
static void check_buffers(struct world *w, const struct agg_verdict *v, uint8_t *buffer)
{
    unsigned i = 0, most = 2u * w->cfg.slots;

    if (v->released != NULL) {
        while (i < most && w->kept[i] != v->released)
            i++;
        check(w, i < most, "a buffer given back that was not kept");
        free(v->released);
        if (i < most)
            w->kept[i] = NULL;
    }
    if (!v->kept) {
        free(buffer);
        return;
    }
    for (i = 0; i < most && w->kept[i] != NULL;)
        i++;
    check(w, i < most, "more than two buffers a slot");
    if (i < most)
        w->kept[i] = buffer;
    w->kept_total++;
}

static struct world *drained;

static void take_back(void *buffer)
{
    struct agg_verdict v = {.released = buffer};

    check_buffers(drained, &v, NULL);
}

static void drain(struct world *w)
{
    drained = w;
    sml_pool_drain(w->pool, take_back);
    for (unsigned i = 0; i < 2u * w->cfg.slots; i++)
        check(w, w->kept[i] == NULL, "a buffer that was not given back");
}

/* The packet as the pool receives it: behind its header, and with a trailer that in a while is not what it
 * should be. True if so. */
static bool put_around(struct world *w, uint8_t *payload, const struct sml_packet *p, uint16_t rank)
{
    const unsigned other = w->cfg.checksum == XFER_CHECKSUM_NONE ? 2 : rng_below(&w->rng, 20);
    size_t bytes = SML_HEADER_BYTES + p->body_bytes;

    sml_build_header(payload, p);
    bytes = finish(w, payload, bytes, other == 0 ? rank + 1 : rank); /* as if another rank had sent it */
    if (other == 1)
        payload[rng_below(&w->rng, (uint32_t)bytes)] ^= (uint8_t)(1 << rng_below(&w->rng, 8));
    return other <= 1;
}

/* Whether any contribution to the chunk has had elements. */
static bool has_elements(const struct world *w, uint32_t chunk)
{
    const struct history *h = &w->chunks[chunk];
    uint16_t i = 0;

    while (i < h->contributed && is_empty(w, chunk, h->order[i]))
        i++;
    return i < h->contributed;
}

/* One packet: mostly of the chunk that some slot collects or of its neighbours in time, of any rank. */
static void step(struct world *w)
{
    static uint8_t body[SML_MAX_CHUNK_BYTES + 64];
    static const int phases[] = {0, 0, 0, 0, 0, 0, -1, -1, -2, -3, 1};
    uint32_t now = current(w, rng_below(&w->rng, CHUNKS));
    int64_t wanted = now + (int64_t)phases[rng_below(&w->rng, 11)] * w->cfg.slots;
    uint32_t chunk = wanted < 0 || wanted >= CHUNKS ? rng_below(&w->rng, CHUNKS) : (uint32_t)wanted;
    uint16_t rank = (uint16_t)rng_below(&w->rng, w->cfg.workers);
    struct history *h = &w->chunks[chunk];
    enum sml_kind kind = draw_kind(w, chunk);
    uint32_t author = kind == SML_RESTORE ? HANDED_BACK + rank : rank;
    struct sml_packet p = packet(w, kind, chunk, author);
    struct agg_verdict v;

    if (typed(w) && rng_below(&w->rng, 2))
        p.e1 |= SML_FLAG_WANT;
    if (kind == SML_RESTORE && opens(w, chunk))
        p.e1 |= SML_FLAG_OPENING;
    if (kind != SML_PROBE)
        p.body_bytes = build_body(w, chunk, author, body);
    bool odd = (kind == SML_DATA || kind == SML_OPEN) && has_elements(w, chunk) &&
               !is_empty(w, chunk, rank) && elements(w, chunk) > 1 && rng_below(&w->rng, 10) == 0;
    if (odd && kind == SML_OPEN && rng_below(&w->rng, 2))
        body[0] ^= 1; /* another call */
    else if (odd)
        p.body_bytes -= element_bytes(w);
    bool keepable = rng_below(&w->rng, 10) < w->keepable;
    /* No byte more, so that a read beyond the packet is seen. */
    uint8_t *exact = malloc(SML_HEADER_BYTES + p.body_bytes + xfer_trailer_bytes(p.checksum));
    p.body = memcpy(exact + SML_HEADER_BYTES, body, p.body_bytes);
    bool damaged = put_around(w, exact, &p, rank);

    struct sml_slot *slot = sml_pool_locate(w->pool, &p, 0);
    enum sml_reason foretold = damaged ? SML_DROP_BAD_CHECKSUM : foretell(w, &p, chunk, rank, odd);
    sml_pool_apply(w->pool, slot, rank, &p, keepable ? exact : NULL, 0, &v);
    check(w, v.reason == foretold, "verdict");
    check(w, !v.kept || keepable, "a buffer kept that was not offered");
    check_buffers(w, &v, exact);
    if (w->wrong != NULL)
        return;

    w->verdicts[v.reason]++;
    if (v.reason == SML_HELD || v.reason == SML_SEND_ALL) {
        h->order[h->contributed++] = rank;
        h->seen[rank] = true;
        h->wants[rank] = !typed(w) || p.e1 & SML_FLAG_WANT;
    }
    if (v.reason == SML_SEND_ALL || v.reason == SML_RESTORED)
        check_completed(w, chunk, rank, &v);
    if (v.reason == SML_SEND_ONE)
        check_sent_again(w, chunk, &p, &v);
    if (v.reason == SML_SEND_ANSWER)
        check_answer(w, chunk, rank, &v);
    check_view(w, chunk, &p);
}

static bool done(const struct world *w)
{
    for (uint32_t slot = 0; slot < w->cfg.slots && slot < CHUNKS; slot++)
        if (current(w, slot) < CHUNKS)
            return false;
    return true;
}

static void draw(struct world *w)
{
    static const uint16_t workers[] = {1, 2, 3, 5, 8, 63, 64, 65, 128, 256};
    static const char *const tables[] = {"scalar", "avx2", "avx512"};
    bool many = rng_below(&w->rng, 8) == 0;

    w->keepable = rng_below(&w->rng, 11);
    w->cfg = (struct sml_pool_config){
        .workers = workers[rng_below(&w->rng, many ? 10 : 5)],
        .slots = (uint16_t)(1u << rng_below(&w->rng, 6)),
        .chunk_bytes = (uint16_t)(64 + 4 * rng_below(&w->rng, rng_below(&w->rng, 4) == 0 ? 2225 : 50)),
        .job = (uint8_t)rng_next(&w->rng),
        .format = rng_below(&w->rng, 4) == 0 ? XFER_FORMAT_INT32 : XFER_FORMAT_TYPED,
        .mode = rng_below(&w->rng, 2) ? XFER_ORDERED : XFER_ON_ARRIVAL,
        .resumed = rng_below(&w->rng, 2),
        .first_tag =
            rng_below(&w->rng, 2) ? (uint32_t)rng_next(&w->rng) : (uint32_t)-rng_below(&w->rng, CHUNKS),
        .kernels = agg_kernels_get(tables[rng_below(&w->rng, 3)]),
    };
    if (w->cfg.kernels == NULL)
        w->cfg.kernels = kernels_or_exit();
    if (w->cfg.workers > 8)
        w->cfg.chunk_bytes = 64;
    w->cfg.checksum = typed(w) && rng_below(&w->rng, 2) ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE;
    w->code = typed(w) ? (uint8_t)reference_any(&w->rng) : agg_code(AGG_I32, AGG_SUM);
    w->cfg.empties =
        typed(w) && w->cfg.kernels->operations[w->code].finish == NULL && rng_below(&w->rng, 2) == 0;
    w->content = rng_next(&w->rng);
}

/* One job of CHUNKS chunks, until all are complete. */
static void run(struct world *w)
{
    draw(w);
    memset(w->chunks, 0, sizeof w->chunks);
    memset(w->kept, 0, sizeof w->kept);
    w->wrong = NULL;
    w->pool = pool_of(&w->cfg);
    unsigned steps = 0;
    for (; steps < 1000000 && w->wrong == NULL && !done(w); steps++)
        step(w);
    check(w, done(w), "completion");
    drain(w);
    free(w->pool);
    if (w->wrong != NULL)
        printf("\nwrong: %s, after %u steps; workers %u, slots %u, chunk %u bytes, format %d, mode %d, "
               "checksum %d, "
               "empties %d, resumed %d, first tag %u, code %#x, kernels %s\n",
               w->wrong, steps, w->cfg.workers, w->cfg.slots, w->cfg.chunk_bytes, w->cfg.format, w->cfg.mode,
               w->cfg.checksum, w->cfg.empties, w->cfg.resumed, w->cfg.first_tag, w->code,
               w->cfg.kernels->name);
}

TEST(any_interleaving_gives_what_the_oracle_foretells)
{
    static struct world w;
    uint64_t seed = rng_seed(2026);
    unsigned wrong = 0;

    for (unsigned scenario = 0; scenario < unit_cases(300) && wrong == 0; scenario++) {
        w.rng = seed + scenario;
        run(&w);
        wrong += w.wrong != NULL;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    /* Every kind of verdict that can come was met, many times. */
    static const enum sml_reason met[] = {
        SML_SEND_ALL,       SML_SEND_ONE,   SML_SEND_ANSWER, SML_SEND_MISMATCH, SML_HELD,
        SML_DROP_DUPLICATE, SML_DROP_STALE, SML_DROP_AHEAD,  SML_DROP_BAD_KIND, SML_DROP_BAD_CHECKSUM};
    for (size_t i = 0; i < sizeof met / sizeof *met; i++)
        CU_ASSERT(w.verdicts[met[i]] > unit_cases(1000));
    CU_ASSERT(w.verdicts[SML_RESTORED] >= unit_cases(50)); /* once a slot at most, and in every other job */
    CU_ASSERT(w.kept_total > unit_cases(1000));
}
