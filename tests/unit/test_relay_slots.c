/* Pools in trees of switches: whatever links between ranks and switches, and between switches, do, every rank
 * gets every sum, all the same one, added in the order that docs/protocol.md states; also after switches have
 * restarted in the middle of it. */
#include "relay/slots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hostagg/protocol.h"
#include "kernels_chosen.h"
#include "placed.h"
#include "random.h"
#include "reference.h"
#include "relay/protocol.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "toy_keys.h"
#include "unit.h"
#include "wire/auth.h"

enum { SWITCHES_MAX = 6, RANKS_MAX = 9, TAGS = 24, CHUNK = 256, NONE = -1, PACKET_MAX = 512, COUNT = 4 };

struct shape {
    int switches, ranks;
    int above[SWITCHES_MAX]; /* the switch above; NONE: the root, which is the first */
    int at[RANKS_MAX];       /* by rank */
};

static const struct shape shapes[] = {
    {3, 4, {NONE, 0, 0}, {1, 1, 2, 2}},
    {3, 5, {NONE, 0, 0}, {2, 1, 0, 1, 2}},                   /* a rank at the root; ranks interleaved */
    {2, 3, {NONE, 0}, {1, 1, 1}},                            /* a root with nothing but one switch */
    {5, 9, {NONE, 0, 1, 1, 0}, {2, 3, 3, 2, 4, 1, 0, 2, 4}}, /* three levels, ranks on each */
    {6, 7, {NONE, 0, 1, 2, 3, 0}, {4, 4, 5, 2, 4, 5, 3}},    /* five levels */
};

/* On its way. to: a rank, or, from RANKS_MAX on, a switch. */
struct letter {
    int to;
    int from; /* as to */
    size_t bytes;
    uint8_t payload[PACKET_MAX];
};

struct station {
    struct sml_pool *pool;
    uint8_t job; /* on the wire; of another life it is another one */
    uint16_t contributors, contributor[RANKS_MAX];
    int sends[RANKS_MAX];      /* by contributor: who it is, as letter.to */
    struct keys_secret shared; /* keyed: by this switch and those below, in this life */
    struct xfer_auth *auth;    /* the ranks' */
};

struct worker {
    uint32_t oldest, next; /* without a result; not sent yet */
    bool has[TAGS];        /* it knows that the chunk is complete, and has the sum if it wants it */
    bool settled[TAGS];    /* in this life of the job */
    bool nacked[TAGS];
};

struct grove {
    const struct shape *shape;
    struct sml_pool_config cfg;
    uint64_t rng;
    uint32_t fault_ppm; /* of losses, duplicates and letters that wait, each */
    bool keeps;
    unsigned life;
    struct station station[SWITCHES_MAX];
    struct worker worker[RANKS_MAX];
    struct letter *mail;
    size_t letters, room;
    uint8_t code[TAGS];
    bool empty[TAGS][RANKS_MAX]; /* the rank has nothing to add; not all ranks */
    uint8_t in[TAGS][RANKS_MAX][CHUNK], sum[TAGS][CHUNK];
    uint8_t got[TAGS][CHUNK]; /* what the first rank got */
    unsigned kept;
    unsigned forged, unproven; /* letters that somebody without a secret sent; that were dropped for it */
};

static size_t bytes_of(const struct grove *g, uint32_t tag)
{
    return COUNT * agg_code_bytes(g->code[tag]);
}

/* For each tag alike, a third of the ranks. */
static bool wants(int rank, uint32_t tag)
{
    return (rank + (int)tag) % 3 != 0;
}

/* Where a rank's contribution comes to a switch from: the rank, or a switch below; NONE: not from below. */
static int way_to(const struct shape *s, int node, int rank)
{
    int at = s->at[rank], from = rank;

    while (at != node && at != NONE) {
        from = RANKS_MAX + at;
        at = s->above[at];
    }
    return at == node ? from : NONE;
}

/* Expected sums: as protocol.md says, within a switch by the lowest rank of each contributor. False: nobody
 * below has anything to add. */

static bool tree_sum(const struct grove *g, uint32_t tag, int node, uint8_t *out)
{
    const void *in[RANKS_MAX];
    uint8_t parts[RANKS_MAX][CHUNK];
    int seen[RANKS_MAX];
    unsigned n = 0, known_ones = 0;

    for (int rank = 0; rank < g->shape->ranks; rank++) {
        const int from = way_to(g->shape, node, rank);
        bool known = from == NONE;

        for (unsigned i = 0; i < known_ones; i++)
            known = known || seen[i] == from;
        if (known)
            continue;
        seen[known_ones++] = from;
        if (from < RANKS_MAX ? g->empty[tag][rank] : !tree_sum(g, tag, from - RANKS_MAX, parts[n]))
            continue;
        if (from < RANKS_MAX)
            memcpy(parts[n], g->in[tag][rank], bytes_of(g, tag));
        in[n] = parts[n];
        n++;
    }
    if (n == 1)
        memcpy(out, parts[0], bytes_of(g, tag));
    else if (n > 1)
        reference_reduce(g->code[tag], out, in, n, COUNT);
    return n > 0;
}

static bool is_tame(const struct grove *g, uint32_t tag)
{
    return g->cfg.mode == XFER_ON_ARRIVAL || agg_code_op(g->code[tag]) == AGG_AVG;
}

/* Who has something to add to the chunk: all, some, or one rank. */
static void draw_empty(struct grove *g, uint32_t tag)
{
    const uint64_t ranks = (uint64_t)g->shape->ranks, one = rng_below(&g->rng, ranks);
    const uint64_t of_4 = rng_below(&g->rng, 5);

    if (!g->cfg.empties || g->cfg.kernels->operations[g->code[tag]].finish != NULL)
        return;
    for (uint64_t rank = 0; rank < ranks; rank++)
        g->empty[tag][rank] = rank != one && rng_below(&g->rng, 4) < of_4;
}

static void make_work(struct grove *g)
{
    for (uint32_t tag = 0; tag < TAGS; tag++) {
        const void *in[RANKS_MAX];
        unsigned n = 0;

        g->code[tag] = (uint8_t)reference_any(&g->rng);
        draw_empty(g, tag);
        for (int rank = 0; rank < g->shape->ranks; rank++) {
            reference_fill(g->code[tag], &g->rng, is_tame(g, tag), g->in[tag][rank], COUNT);
            if (!g->empty[tag][rank])
                in[n++] = g->in[tag][rank];
        }
        if (is_tame(g, tag) && n > 1)
            reference_reduce(g->code[tag], g->sum[tag], in, n, COUNT);
        else
            tree_sum(g, tag, 0, g->sum[tag]);
    }
}

/* Switches */

static void open_station(struct grove *g, int node, uint32_t first_tag, bool resumed)
{
    struct station *s = &g->station[node];
    const int above = g->shape->above[node];
    struct agg_node tree = {.ranks = (uint16_t)g->shape->ranks,
                            .contributor = s->contributor,
                            .has_parent = above != NONE,
                            .parent_job = above == NONE ? 0 : g->station[above].job,
                            .parent_shared = above == NONE ? NULL : &g->station[above].shared};
    struct sml_pool_config cfg = g->cfg;

    s->job = (uint8_t)(10 * g->life + (unsigned)node + 1);
    s->contributors = 0;
    for (int rank = 0; rank < g->shape->ranks; rank++) {
        const int from = way_to(g->shape, node, rank);
        uint16_t c = 0;

        while (c < s->contributors && s->sends[c] != from)
            c++;
        s->contributor[rank] = from == NONE ? AGG_NOBODY : c;
        if (from != NONE && c == s->contributors)
            s->sends[s->contributors++] = from;
    }
    s->shared = (struct keys_secret){.library = &toy_library};
    for (unsigned i = 0; i < KEYS_SECRET_BYTES; i++)
        s->shared.secret[i] = (uint8_t)rng_next(&g->rng);
    s->auth = xfer_auth_init(malloc(xfer_auth_footprint(CHUNK)), &s->shared, CHUNK);
    cfg.shared = &s->shared;
    cfg.job = s->job;
    cfg.workers = s->contributors;
    cfg.first_tag = first_tag;
    cfg.resumed = resumed;
    s->pool = relay_slots_of(&cfg, &tree);
}

static unsigned drained;

static void drain_one(void *buffer)
{
    free(buffer);
    drained++;
}

static void close_station(struct grove *g, int node)
{
    drained = 0;
    sml_pool_drain(g->station[node].pool, drain_one);
    g->kept -= drained;
    free(g->station[node].pool);
    free(g->station[node].auth);
}

static void put(struct grove *g, int from, int to, const uint8_t *payload, size_t bytes)
{
    unsigned copies = rng_below(&g->rng, 1000000) < g->fault_ppm ? 0 : 1;

    copies += rng_below(&g->rng, 1000000) < g->fault_ppm;
    CU_ASSERT_FATAL(bytes <= PACKET_MAX);
    while (copies-- > 0) {
        if (g->letters == g->room)
            g->mail = realloc(g->mail, (g->room += 1024) * sizeof(*g->mail));
        struct letter *l = &g->mail[g->letters++];
        *l = (struct letter){.from = from, .to = to, .bytes = bytes};
        memcpy(l->payload, payload, bytes);
    }
}

static int contributor_of(const struct station *s, int from)
{
    for (uint16_t c = 0; c < s->contributors; c++)
        if (s->sends[c] == from)
            return c;
    return NONE;
}

static void send_out(struct grove *g, int node, int asker, const struct agg_verdict *v)
{
    const struct station *s = &g->station[node];
    const int us = RANKS_MAX + node, above = g->shape->above[node];

    switch (sml_reasons[v->reason].action) {
    case AGG_REPLY:
        CU_ASSERT_FATAL(asker != AGG_PARENT);
        put(g, us, s->sends[asker], v->payload, v->bytes);
        break;
    case AGG_TO_PARENT:
        CU_ASSERT_FATAL(above != NONE);
        put(g, us, RANKS_MAX + above, v->payload, v->bytes);
        CU_ASSERT_FATAL(v->brief_bytes == 0 || asker != AGG_PARENT);
        if (v->brief_bytes > 0)
            put(g, us, s->sends[asker], v->brief, v->brief_bytes);
        break;
    case AGG_TO_ALL:
        for (unsigned c = 0; c < s->contributors; c++) {
            if (agg_wants(v, c))
                put(g, us, s->sends[c], v->payload, v->bytes);
            else if (v->brief_bytes > 0)
                put(g, us, s->sends[c], v->brief, v->brief_bytes);
        }
        break;
    default:
        break;
    }
}

static void at_switch(struct grove *g, int node, const struct letter *l)
{
    const struct station *s = &g->station[node];
    const bool from_above = l->from == RANKS_MAX + g->shape->above[node];
    const int from = from_above ? AGG_PARENT : contributor_of(s, l->from);
    struct agg_verdict v;
    struct sml_packet p;
    uint8_t *frame = malloc(l->bytes + XFER_TRAILER_MAX);
    void *buffer = g->keeps && rng_below(&g->rng, 2) ? frame : NULL;

    memcpy(frame, l->payload, l->bytes);
    CU_ASSERT_FATAL(sml_parse(&p, frame, l->bytes) == SML_OK && from != NONE);
    if (p.job != (from_above ? g->station[g->shape->above[node]].job : s->job)) {
        free(frame); /* of an earlier life */
        return;
    }
    struct sml_slot *slot = sml_pool_locate(s->pool, &p, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
    sml_pool_apply(s->pool, slot, (uint16_t)from, &p, buffer, 0, &v);
    g->unproven += v.reason == SML_DROP_UNPROVEN;
    CU_ASSERT(v.reason != SML_DROP_BAD_CHECKSUM && v.reason != SML_DROP_BAD_KIND &&
              v.reason != SML_DROP_BAD_LENGTH && v.reason != SML_DROP_BAD_SLOT &&
              v.reason != SML_DROP_BAD_TYPE && v.reason != SML_SEND_MISMATCH);
    CU_ASSERT_FATAL(!v.kept || buffer != NULL);
    send_out(g, node, from, &v);
    g->kept += v.kept;
    g->kept -= v.released != NULL;
    free(v.released);
    if (!v.kept)
        free(frame);
}

/* Ranks */

/* Between the host's order and the wire's. */
static void convert(const struct grove *g, uint32_t tag, void *out, const void *in)
{
    g->cfg.kernels->convert[agg_code_type(g->code[tag])](out, in, bytes_of(g, tag));
}

static void send_work(struct grove *g, int rank, uint32_t tag, enum sml_kind kind)
{
    uint8_t payload[PACKET_MAX];
    const bool empty = kind == SML_DATA && g->empty[tag][rank];
    const size_t body = kind == SML_PROBE || empty ? 0 : bytes_of(g, tag);
    const struct sml_packet head = {.kind = kind,
                                    .size_code = SML_SIZE_AGREED,
                                    .checksum = (uint8_t)g->cfg.checksum,
                                    .job = g->station[g->shape->at[rank]].job,
                                    .ver = sml_tag_ver(tag, g->cfg.slots),
                                    .slot = sml_tag_slot(tag, g->cfg.slots),
                                    .tag = tag,
                                    .e0 = g->code[tag],
                                    .e1 = wants(rank, tag) && kind != SML_RESTORE ? SML_FLAG_WANT : 0};
    size_t bytes = SML_HEADER_BYTES + body;

    sml_build_header(payload, &head);
    if (kind == SML_RESTORE)
        memcpy(payload + SML_HEADER_BYTES, g->got[tag], body);
    else if (body > 0)
        convert(g, tag, payload + SML_HEADER_BYTES, g->in[tag][rank]);
    if (g->cfg.checksum == XFER_CHECKSUM_CRC32C)
        sml_build_trailer(payload + bytes, (uint16_t)rank, payload, bytes, NULL, 0);
    else if (g->cfg.checksum == XFER_CHECKSUM_KEYED)
        xfer_auth_build(payload + bytes, g->station[g->shape->at[rank]].auth,
                        &(struct xfer_route){.sender = (uint16_t)rank, .receiver = XFER_SWITCH}, payload,
                        SML_HEADER_BYTES, payload + SML_HEADER_BYTES, body);
    bytes += xfer_trailer_bytes(g->cfg.checksum);
    put(g, rank, RANKS_MAX + g->shape->at[rank], payload, bytes);
}

static void take_result(struct grove *g, int rank, uint32_t tag, const struct sml_packet *p)
{
    struct worker *w = &g->worker[rank];
    const bool want = wants(rank, tag);

    if (want && !w->has[tag] &&
        p->body_bytes == 0) { /* it came before our contribution, so it is not for us */
        CU_ASSERT(g->life > 0);
        return;
    }
    w->settled[tag] = true;
    if (w->has[tag])
        return;
    CU_ASSERT_EQUAL_FATAL(p->body_bytes, want ? bytes_of(g, tag) : 0);
    if (want) {
        uint8_t sum[CHUNK];
        convert(g, tag, sum, p->body);
        const bool right = is_tame(g, tag) ? reference_equal(g->code[tag], sum, g->sum[tag], COUNT)
                                           : reference_same(g->code[tag], sum, g->sum[tag], COUNT);
        CU_ASSERT_FATAL(right);
        bool first = true;
        for (int other = 0; other < g->shape->ranks; other++)
            first = first && !(g->worker[other].has[tag] && wants(other, tag));
        if (first)
            memcpy(g->got[tag], p->body, p->body_bytes);
        CU_ASSERT_EQUAL_FATAL(memcmp(g->got[tag], p->body, p->body_bytes), 0);
    }
    w->has[tag] = true;
    while (w->oldest < TAGS && w->has[w->oldest])
        w->oldest++;
}

static bool is_believed(const struct grove *g, int rank, const struct sml_packet *p)
{
    const struct xfer_route route = {.sender = XFER_SWITCH,
                                     .receiver = sml_receiver(p->kind, (uint16_t)rank)};

    return g->cfg.checksum == XFER_CHECKSUM_KEYED
               ? sml_auth_holds(g->station[g->shape->at[rank]].auth, &route, p, 0)
               : sml_checksum_holds(p, g->cfg.checksum, XFER_SWITCH);
}

static void at_rank(struct grove *g, int rank, const struct letter *l)
{
    struct sml_packet p;

    CU_ASSERT_FATAL(sml_parse(&p, l->payload, l->bytes) == SML_OK && p.tag < TAGS);
    if (p.job != g->station[g->shape->at[rank]].job)
        return;
    if (!is_believed(g, rank, &p)) {
        CU_ASSERT(g->forged > 0);
        return;
    }
    if (p.kind == SML_DATA)
        take_result(g, rank, p.tag, &p);
    else if (p.kind == SML_NACK)
        g->worker[rank].nacked[p.tag] = true;
    else
        CU_ASSERT(p.kind == SML_WAIT && p.body_bytes == (g->shape->ranks + 7u) / 8);
}

/* Whoever holds a wanted sum hands it back; in this test the others contribute again. */
static void send_again(struct grove *g, int rank, uint32_t tag)
{
    const bool holds = g->worker[rank].has[tag] && wants(rank, tag);

    send_work(g, rank, tag, holds ? SML_RESTORE : SML_DATA);
}

/* Everybody's next packets: what may go, and questions about what is late. */
static void turn(struct grove *g, uint32_t from)
{
    for (int rank = 0; rank < g->shape->ranks; rank++) {
        struct worker *w = &g->worker[rank];

        for (uint32_t tag = from; tag < w->next; tag++) {
            if (w->settled[tag])
                continue;
            if (w->nacked[tag])
                send_again(g, rank, tag);
            else
                send_work(g, rank, tag, SML_PROBE);
            w->nacked[tag] = false;
        }
        while (w->next < TAGS && w->next < w->oldest + g->cfg.slots)
            send_work(g, rank, w->next++, SML_DATA);
    }
}

/* Whoever has no secret sends what somebody has sent once more: changed, or to another switch in the name of
 * whoever is its neighbour there, under the number that the job has there. */
static void forge(struct grove *g, const struct letter *seen)
{
    struct letter l = *seen;
    const int node = (int)rng_below(&g->rng, (uint64_t)g->shape->switches);
    const struct station *s = &g->station[node];
    const int above = g->shape->above[node];

    if (g->cfg.checksum != XFER_CHECKSUM_KEYED || rng_below(&g->rng, 4) > 0)
        return;
    if (rng_below(&g->rng, 2)) {
        l.payload[SML_HEADER_BYTES + rng_below(&g->rng, l.bytes - SML_HEADER_BYTES)] ^= 1;
    } else {
        l.to = RANKS_MAX + node;
        l.from = above != NONE && rng_below(&g->rng, 3) == 0 ? RANKS_MAX + above
                                                             : s->sends[rng_below(&g->rng, s->contributors)];
        l.payload[1] = above != NONE && l.from == RANKS_MAX + above ? g->station[above].job : s->job;
    }
    if (l.to == seen->to && l.from == seen->from && memcmp(l.payload, seen->payload, l.bytes) == 0)
        return; /* a mere copy */
    g->forged++;
    if (l.to >= RANKS_MAX)
        at_switch(g, l.to - RANKS_MAX, &l);
    else
        at_rank(g, l.to, &l);
}

static void deliver(struct grove *g)
{
    while (g->letters > 0) {
        /* mostly in order */
        const size_t i = rng_below(&g->rng, 1000000) < g->fault_ppm ? rng_below(&g->rng, g->letters) : 0;
        const struct letter l = g->mail[i];

        memmove(g->mail + i, g->mail + i + 1, (--g->letters - i) * sizeof(*g->mail));
        forge(g, &l);
        if (l.to >= RANKS_MAX)
            at_switch(g, l.to - RANKS_MAX, &l);
        else
            at_rank(g, l.to, &l);
    }
}

static void start(struct grove *g, const struct shape *shape, uint64_t seed)
{
    static const enum xfer_checksum checksums[] = {XFER_CHECKSUM_NONE, XFER_CHECKSUM_CRC32C,
                                                   XFER_CHECKSUM_KEYED};

    *g = (struct grove){.shape = shape, .rng = seed};
    g->cfg = (struct sml_pool_config){.slots = 4,
                                      .chunk_bytes = CHUNK,
                                      .format = XFER_FORMAT_TYPED,
                                      .mode = seed % 2 ? XFER_ORDERED : XFER_ON_ARRIVAL,
                                      .checksum = checksums[seed / 2 % 3],
                                      .arrivals = true,
                                      .empties = seed / 3 % 2 != 0,
                                      .kernels = kernels_or_exit()};
    g->keeps = seed % 5 != 0;
    g->fault_ppm = seed % 4 == 0 ? 0 : (uint32_t)rng_below(&g->rng, 200000);
    make_work(g);
    for (int node = 0; node < shape->switches; node++)
        open_station(g, node, 0, false);
}

static void stop(struct grove *g)
{
    for (int node = 0; node < g->shape->switches; node++)
        close_station(g, node);
    CU_ASSERT_EQUAL(g->kept, 0);
    free(g->mail);
}

static bool is_over(const struct grove *g)
{
    for (int rank = 0; rank < g->shape->ranks; rank++)
        if (g->worker[rank].oldest < TAGS)
            return false;
    return true;
}

/* Any switch restarts, so the job begins another life at all of them: ranks go on where the last one is. Who
 * has handed back a sum, or does not want one, must hear again that the switches are done with the chunk. */
static uint32_t restart(struct grove *g)
{
    uint32_t first = TAGS;

    for (int rank = 0; rank < g->shape->ranks; rank++)
        first = g->worker[rank].oldest < first ? g->worker[rank].oldest : first;
    for (int node = 0; node < g->shape->switches; node++)
        close_station(g, node);
    g->life++;
    for (int node = 0; node < g->shape->switches; node++)
        open_station(g, node, first, true);
    for (int rank = 0; rank < g->shape->ranks; rank++) {
        struct worker *w = &g->worker[rank];
        for (uint32_t tag = first; tag < w->next; tag++) {
            w->settled[tag] = false;
            send_again(g, rank, tag);
        }
    }
    return first;
}

static void play(const struct shape *shape, uint64_t seed)
{
    static struct grove g;
    uint32_t first = 0;
    unsigned rounds = 0, restarts = (unsigned)(seed % 3);

    start(&g, shape, seed);
    while (!is_over(&g) && rounds++ < 3000) {
        turn(&g, first);
        if (restarts > 0 && rng_below(&g.rng, 8) == 0 && !is_over(&g)) {
            restarts--;
            first = restart(&g);
        }
        deliver(&g);
    }
    if (!is_over(&g))
        fprintf(stderr, "seed %" PRIu64 ": %d switches, %d ranks: not over\n", seed, shape->switches,
                shape->ranks);
    CU_ASSERT_FATAL(is_over(&g));
    CU_ASSERT(g.unproven <= g.forged && (g.unproven > 0) == (g.cfg.checksum == XFER_CHECKSUM_KEYED));
    stop(&g);
}

TEST(every_rank_gets_every_sum_whatever_links_do)
{
    for (uint64_t seed = 0; seed < 120; seed++)
        play(&shapes[seed % (sizeof(shapes) / sizeof(*shapes))], seed);
}

static bool is_below(const struct shape *s, int rank, int node)
{
    return way_to(s, node, rank) != NONE;
}

/* All ranks' chunks of the first round, of which only the ranks below a switch have the results. Then a
 * switch restarts. */
static void lose_results_but_below(struct grove *g, int node)
{
    turn(g, 0);
    deliver(g);
    for (int rank = 0; rank < g->shape->ranks; rank++) {
        struct worker *w = &g->worker[rank];

        CU_ASSERT_EQUAL_FATAL(w->oldest, g->cfg.slots);
        if (is_below(g->shape, rank, node))
            continue;
        memset(w->has, 0, sizeof(w->has));
        w->oldest = 0;
    }
    restart(g);
}

/* What ranks hand back comes back to all of them at once, to those below the same switch, too. Else each
 * chunk would wait for a timer of theirs: 256 chunks in flight took up to 12 s. */
TEST(handed_back_sums_complete_without_a_question)
{
    static struct grove g;

    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        for (int node = 1; node < shapes[i].switches; node++) {
            start(&g, &shapes[i], 4 * i);
            lose_results_but_below(&g, node);
            deliver(&g);
            for (int rank = 0; rank < g.shape->ranks; rank++)
                for (uint32_t tag = 0; tag < g.cfg.slots; tag++)
                    CU_ASSERT(g.worker[rank].settled[tag] && g.worker[rank].has[tag]);
            stop(&g);
        }
}

/* The table for jobs in trees has pools and views of its own; views are by ranks of the whole job. */
TEST(views_are_by_rank)
{
    static const uint16_t contributor[] = {AGG_NOBODY, 0, 1, 0, AGG_NOBODY};
    const struct agg_node tree = {
        .ranks = 5, .contributor = contributor, .has_parent = true, .parent_job = 9};
    const struct sml_terms terms = {.format = XFER_FORMAT_TYPED, .slots = 4, .chunk_bytes = 64};
    const struct agg_protocol *protocol = relay_protocol_of(&sml_protocol);
    struct agg_pool_config cfg = {
        .job = 3, .workers = 2, .delays = true, .kernels = kernels_or_exit(), .tree = &tree};
    struct agg_footprint f, flat;
    struct agg_slot_view view;
    struct agg_rank_view rank;
    struct agg_verdict v;
    uint8_t payload[SML_HEADER_BYTES + 8] = {SML_DATA << 4 | SML_SIZE_AGREED, 3};
    struct sml_packet p;

    sml_terms_build(&cfg.terms, &terms);
    CU_ASSERT_FATAL(protocol->footprint(&cfg, &f) && sml_protocol.footprint(&cfg, &flat));
    CU_ASSERT(f.bytes > flat.bytes && f.slots == 4);
    void *pool = protocol->init(aligned_alloc(64, f.bytes), &cfg);
    payload[8] = AGG_SUM << 4 | AGG_I64;
    CU_ASSERT_FATAL(sml_parse(&p, payload, sizeof(payload)) == SML_OK);
    sml_pool_apply(pool, sml_pool_locate(pool, &p, 0), 0, &p, NULL, 0, &v);
    CU_ASSERT_EQUAL(v.reason, SML_HELD);
    CU_ASSERT(protocol->view(pool, 0, &view) && !protocol->view(pool, 4, &view));
    CU_ASSERT_EQUAL(view.contributed, 2);
    CU_ASSERT_EQUAL(view.ranks[0], 1 << 1 | 1 << 3);
    CU_ASSERT(protocol->view_rank(pool, 3, &rank) && rank.contributions == 1 && rank.sender == 1);
    CU_ASSERT(protocol->view_rank(pool, 1, &rank) && rank.contributions == 1 && rank.sender == 1);
    CU_ASSERT(protocol->view_rank(pool, 2, &rank) && rank.contributions == 0 && rank.sender == 2);
    CU_ASSERT(!protocol->view_rank(pool, 0, &rank));
    free(pool);
    CU_ASSERT_PTR_NULL(relay_protocol_of(&hag_protocol));
}

/* The longest ASK and WAIT: a bit for each of 4,096 ranks, of which every third is at this switch. */
TEST(a_question_in_the_largest_tree_names_every_rank)
{
    static uint16_t contributor[AGG_MAX_RANKS];
    struct agg_node tree = {
        .ranks = AGG_MAX_RANKS, .contributor = contributor, .has_parent = true, .parent_job = 9};
    const struct sml_pool_config cfg = {
        .job = 3, .workers = 2, .slots = 4, .chunk_bytes = 64, .kernels = kernels_or_exit()};
    const uint8_t data[SML_HEADER_BYTES + 8] = {SML_DATA << 4 | SML_SIZE_AGREED,
                                                3, [8] = AGG_SUM << 4 | AGG_I64};
    const uint8_t probe[SML_HEADER_BYTES] = {SML_PROBE << 4 | SML_SIZE_AGREED, 3};
    struct sml_packet p;
    struct agg_verdict v;

    for (unsigned r = 0; r < AGG_MAX_RANKS; r++)
        contributor[r] = r % 3 == 0 ? r > 0 : AGG_NOBODY;
    struct sml_pool *pool = relay_slots_of(&cfg, &tree);
    CU_ASSERT_FATAL(sml_parse(&p, data, sizeof(data)) == SML_OK);
    sml_pool_apply(pool, sml_pool_locate(pool, &p, 0), 1, &p, NULL, 0, &v);
    CU_ASSERT_EQUAL(v.reason, SML_HELD);
    CU_ASSERT_FATAL(sml_parse(&p, probe, sizeof(probe)) == SML_OK);
    sml_pool_apply(pool, sml_pool_locate(pool, &p, 0), 1, &p, NULL, 0, &v);
    CU_ASSERT_EQUAL_FATAL(v.reason, SML_ASK_PARENT);
    CU_ASSERT_EQUAL(v.brief_bytes, v.bytes);
    CU_ASSERT_FATAL(sml_parse(&p, v.payload, v.bytes) == SML_OK);
    CU_ASSERT_EQUAL_FATAL(p.body_bytes, AGG_MAX_RANKS / 8);
    for (unsigned r = 0; r < AGG_MAX_RANKS; r++)
        CU_ASSERT_EQUAL(p.body[r / 8] >> r % 8 & 1, r > 0 && r % 3 == 0);
    free(pool);
    tree.ranks++;
    CU_ASSERT_EQUAL(relay_slots_footprint(&cfg, &tree), 0);
}

/* Script: a switch in the middle of a tree, without keys. Ranks 1 and 3 are below, 0, 2 and 4 elsewhere. */

static struct sml_pool *open_middle(bool resumed)
{
    static const uint16_t contributor[] = {AGG_NOBODY, 0, AGG_NOBODY, 1, AGG_NOBODY};
    const struct agg_node tree = {
        .ranks = 5, .contributor = contributor, .has_parent = true, .parent_job = 9};
    const struct sml_pool_config cfg = {.job = 3,
                                        .workers = 2,
                                        .slots = 4,
                                        .chunk_bytes = 64,
                                        .resumed = resumed,
                                        .arrivals = true,
                                        .kernels = kernels_or_exit()};

    return relay_slots_of(&cfg, &tree);
}

static uint64_t hear_at; /* ns */

/* A packet about a chunk with this one int64, or these bytes, or none. */
static enum sml_reason hear(struct sml_pool *pool, uint16_t from, enum sml_kind kind, uint32_t tag,
                            const void *body, size_t bytes, struct agg_verdict *v)
{
    const struct sml_packet head = {.kind = kind,
                                    .size_code = SML_SIZE_AGREED,
                                    .job = from == AGG_PARENT ? 9 : 3,
                                    .ver = sml_tag_ver(tag, 4),
                                    .slot = sml_tag_slot(tag, 4),
                                    .tag = tag,
                                    .e0 = AGG_SUM << 4 | AGG_I64,
                                    .e1 = kind == SML_DATA || kind == SML_PROBE ? SML_FLAG_WANT : 0};
    uint8_t payload[SML_HEADER_BYTES + XFER_MISMATCH_BYTES];
    struct sml_packet p;

    sml_build_header(payload, &head);
    if (bytes > 0)
        memcpy(payload + SML_HEADER_BYTES, body, bytes);
    CU_ASSERT_FATAL(sml_parse(&p, payload, SML_HEADER_BYTES + bytes) == SML_OK);
    *v = (struct agg_verdict){0};
    sml_pool_apply(pool, sml_pool_locate(pool, &p, 0), from, &p, NULL, hear_at, v);
    return v->reason;
}

static enum sml_reason hear_number(struct sml_pool *pool, uint16_t from, enum sml_kind kind, uint32_t tag,
                                   uint64_t number, struct agg_verdict *v)
{
    return hear(pool, from, kind, tag, &number, sizeof number, v);
}

/* The bitmap of the answer that is shown to who has asked. */
static uint8_t told(const struct agg_verdict *v)
{
    struct sml_packet p;
    const bool brief = v->brief_bytes > 0;

    CU_ASSERT_FATAL(sml_parse(&p, brief ? v->brief : v->payload, brief ? v->brief_bytes : v->bytes) ==
                    SML_OK);
    CU_ASSERT(p.kind == SML_WAIT && p.job == 3 && p.body_bytes == 1);
    return p.body[0];
}

/* Who is below hears of ranks elsewhere what the switch above has said, of this chunk: nothing is held
 * against them before it has. */
TEST(those_below_hear_for_whom_the_switch_above_waits)
{
    struct sml_pool *pool = open_middle(false);
    const uint8_t there = 1 << 2, none = 0;
    struct agg_verdict v;

    CU_ASSERT_EQUAL(hear_number(pool, 0, SML_DATA, 0, 5, &v), SML_HELD);
    CU_ASSERT_EQUAL(hear(pool, 0, SML_PROBE, 0, NULL, 0, &v), SML_ASK_PARENT);
    CU_ASSERT_EQUAL(told(&v), 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4); /* rank 3 has not sent */
    CU_ASSERT_EQUAL(hear(pool, AGG_PARENT, SML_WAIT, 0, &there, 1, &v), SML_PARENT_WAITS);
    CU_ASSERT_EQUAL(hear(pool, 0, SML_PROBE, 0, NULL, 0, &v), SML_ASK_PARENT);
    CU_ASSERT_EQUAL(told(&v), 1 << 1 | 1 << 2);
    CU_ASSERT_EQUAL(hear_number(pool, 1, SML_DATA, 0, 6, &v), SML_SEND_PARENT);
    CU_ASSERT_EQUAL(hear(pool, AGG_PARENT, SML_WAIT, 0, &none, 1, &v), SML_PARENT_WAITS); /* an older one */
    CU_ASSERT_EQUAL(hear(pool, 1, SML_PROBE, 0, NULL, 0, &v), SML_SEND_ANSWER); /* rank 1's went up */
    CU_ASSERT_EQUAL(told(&v), 1 << 1 | 1 << 2 | 1 << 3);
    CU_ASSERT_EQUAL(hear_number(pool, AGG_PARENT, SML_DATA, 0, 100, &v), SML_PARENT_RESULT);
    CU_ASSERT_EQUAL(hear_number(pool, 0, SML_DATA, 4, 5, &v),
                    SML_HELD); /* of the next one nothing is known */
    CU_ASSERT_EQUAL(hear(pool, 0, SML_PROBE, 4, NULL, 0, &v), SML_ASK_PARENT);
    CU_ASSERT_EQUAL(told(&v), 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4);
    free(pool);
}

/* A switch below asks for a chunk before its own ranks are all in: it is told to wait. Once they are, its sum
 * must have been lost, and it is asked for it. */
TEST(a_switch_below_is_asked_for_what_it_has)
{
    struct sml_pool *pool = open_middle(false);
    const uint8_t none = 0, rank_3 = 1 << 3;
    struct agg_verdict v;
    struct sml_packet p;

    CU_ASSERT_EQUAL(hear(pool, 1, SML_ASK, 0, &none, 1, &v), SML_ASK_PARENT);
    CU_ASSERT_EQUAL(told(&v) & 1 << 3, 0);
    CU_ASSERT_EQUAL(hear(pool, 1, SML_ASK, 0, &rank_3, 1, &v), SML_ASK_PARENT);
    CU_ASSERT(sml_parse(&p, v.brief, v.brief_bytes) == SML_OK && p.kind == SML_NACK);
    free(pool);
}

/* What a switch below says it has sent, and what it asks for although it was sent, is lost on the link to it.
 */
TEST(losses_on_the_link_to_a_switch_below_are_noted)
{
    struct sml_pool *pool = open_middle(false);
    const uint8_t none = 0, rank_3 = 1 << 3;
    struct agg_rank_view below, own;
    struct agg_verdict v;

    hear(pool, 1, SML_ASK, 0, &none, 1, &v);
    CU_ASSERT(relay_slots_view_rank(pool, 3, &below) && below.lost_up == 0 && below.probes == 1);
    hear(pool, 1, SML_ASK, 0, &rank_3, 1, &v);
    CU_ASSERT(relay_slots_view_rank(pool, 3, &below) && below.lost_up == 1 && below.repeated == 0);
    hear_number(pool, 0, SML_DATA, 0, 5, &v);
    hear_number(pool, 1, SML_DATA, 0, 6, &v);
    hear_at = 7000;
    CU_ASSERT_EQUAL(hear_number(pool, AGG_PARENT, SML_DATA, 0, 100, &v), SML_PARENT_RESULT);
    CU_ASSERT_EQUAL(hear(pool, 1, SML_ASK, 0, &rank_3, 1, &v), SML_SEND_ONE); /* they crossed */
    hear_at = 8000;
    CU_ASSERT_EQUAL(hear(pool, 1, SML_ASK, 0, &rank_3, 1, &v), SML_SEND_ONE);
    CU_ASSERT(relay_slots_view_rank(pool, 3, &below) && below.lost_down == 1);
    CU_ASSERT(relay_slots_view_rank(pool, 1, &own) && own.lost_up == 0 && own.lost_down == 0);
    hear_at = 0;
    free(pool);
}

/* The result of the chunk before comes once more while the next one's is awaited. */
TEST(an_old_result_is_no_other_chunks)
{
    struct sml_pool *pool = open_middle(false);
    struct agg_verdict v;

    for (uint32_t tag = 0; tag <= 4; tag += 4) {
        CU_ASSERT_EQUAL(hear_number(pool, 0, SML_DATA, tag, 5, &v), SML_HELD);
        CU_ASSERT_EQUAL(hear_number(pool, 1, SML_DATA, tag, 6, &v), SML_SEND_PARENT);
        CU_ASSERT_EQUAL(hear_number(pool, AGG_PARENT, SML_DATA, 0, 100, &v),
                        tag == 0 ? SML_PARENT_RESULT : SML_DROP_PARENT);
    }
    CU_ASSERT_EQUAL(hear_number(pool, AGG_PARENT, SML_DATA, 4, 11, &v), SML_PARENT_RESULT);
    free(pool);
}

/* What differs is told to the lowest rank below, whose name the sum had, and nobody else; that the job is not
 * known, to all. */
TEST(those_below_hear_the_word_of_the_switch_above)
{
    const uint8_t mismatch[XFER_MISMATCH_BYTES] = {0, 1, 0, 2}, boot[8] = {7};
    struct sml_pool *pool = open_middle(false);
    struct agg_verdict v;
    struct sml_packet p;

    CU_ASSERT_EQUAL(hear_number(pool, 0, SML_DATA, 0, 5, &v), SML_HELD);
    CU_ASSERT_EQUAL(hear(pool, AGG_PARENT, SML_MISMATCH, 0, mismatch, sizeof mismatch, &v), SML_DROP_PARENT);
    CU_ASSERT_EQUAL(hear_number(pool, 1, SML_DATA, 0, 6, &v), SML_SEND_PARENT);
    CU_ASSERT_EQUAL(hear(pool, AGG_PARENT, SML_MISMATCH, 0, mismatch, sizeof mismatch, &v), SML_PARENT_WORD);
    CU_ASSERT(agg_wants(&v, 0) && !agg_wants(&v, 1) && v.brief_bytes == 0);
    CU_ASSERT_FATAL(sml_parse(&p, v.payload, v.bytes) == SML_OK);
    CU_ASSERT(p.kind == SML_MISMATCH && p.job == 3 && p.body_bytes == sizeof mismatch);
    CU_ASSERT_EQUAL(memcmp(p.body, mismatch, sizeof mismatch), 0);
    CU_ASSERT_EQUAL(hear(pool, AGG_PARENT, SML_REJECT, 0, boot, sizeof boot, &v), SML_PARENT_WORD);
    CU_ASSERT(!agg_wants(&v, 0) && !agg_wants(&v, 1));
    CU_ASSERT_FATAL(sml_parse(&p, v.brief, v.brief_bytes) == SML_OK);
    CU_ASSERT(p.kind == SML_REJECT && p.job == 3);
    free(pool);
}

/* A sum that was handed back is kept for who asks for it later; from then on the slot is like any: no other
 * sum of it is handed back, and no result completes a chunk to which those below have yet to contribute. */
TEST(a_restored_sum_is_kept)
{
    static const uint64_t longer[2] = {100, 100}; /* than what was handed back */
    struct sml_pool *pool = open_middle(true);
    struct agg_verdict v;
    struct sml_packet p;
    uint64_t number;

    CU_ASSERT_EQUAL(hear_number(pool, 0, SML_RESTORE, 0, 100, &v), SML_RESTORE_PARENT);
    CU_ASSERT_FATAL(sml_parse(&p, v.payload, v.bytes) == SML_OK);
    CU_ASSERT(p.kind == SML_RESTORE && p.job == 9);
    CU_ASSERT_EQUAL(hear(pool, AGG_PARENT, SML_DATA, 0, longer, sizeof longer, &v), SML_DROP_PARENT);
    CU_ASSERT_EQUAL(hear_number(pool, AGG_PARENT, SML_DATA, 0, 100, &v), SML_PARENT_RESULT);
    CU_ASSERT_EQUAL(hear(pool, 1, SML_PROBE, 0, NULL, 0, &v), SML_SEND_ONE);
    CU_ASSERT_FATAL(sml_parse(&p, v.payload, v.bytes) == SML_OK && p.body_bytes == sizeof number);
    memcpy(&number, p.body, sizeof number);
    CU_ASSERT_EQUAL(number, 100);
    CU_ASSERT_EQUAL(hear_number(pool, 1, SML_RESTORE, 0, 7, &v), SML_DROP_DUPLICATE);
    CU_ASSERT_EQUAL(hear_number(pool, 1, SML_RESTORE, 4, 7, &v), SML_DROP_AHEAD);
    CU_ASSERT_EQUAL(hear_number(pool, AGG_PARENT, SML_DATA, 4, 7, &v), SML_DROP_PARENT);
    CU_ASSERT_EQUAL(hear_number(pool, 0, SML_DATA, 4, 5, &v), SML_HELD);
    CU_ASSERT_EQUAL(hear_number(pool, AGG_PARENT, SML_DATA, 4, 7, &v), SML_DROP_PARENT);
    CU_ASSERT_EQUAL(hear_number(pool, 1, SML_DATA, 4, 6, &v), SML_SEND_PARENT);
    CU_ASSERT_EQUAL(hear_number(pool, AGG_PARENT, SML_DATA, 4, 11, &v), SML_PARENT_RESULT);
    CU_ASSERT_EQUAL(hear(pool, 1, SML_PROBE, 4, NULL, 0, &v), SML_SEND_ONE);
    free(pool);
}

/* A switch below hears of the parent that it does not know the job, which nobody can prove: all ranks are to
 * ask. What he could prove, but has not, is dropped. */
TEST(a_keyed_switch_passes_a_reject_on)
{
    static const uint16_t contributor[] = {AGG_NOBODY, 0, 1};
    const struct keys_secret ours = {&toy_library, {1}}, parents = {&toy_library, {2}};
    struct agg_node tree = {.ranks = 3, .contributor = contributor, .has_parent = true, .parent_job = 9};
    const struct sml_pool_config cfg = {.job = 3,
                                        .workers = 2,
                                        .slots = 4,
                                        .chunk_bytes = 64,
                                        .checksum = XFER_CHECKSUM_KEYED,
                                        .shared = &ours,
                                        .kernels = kernels_or_exit()};
    const struct sml_packet asked = {.kind = SML_DATA, .checksum = XFER_CHECKSUM_KEYED, .job = 9};
    uint8_t reject[SML_REJECT_BYTES];
    struct sml_packet p;
    struct agg_verdict v;

    CU_ASSERT_EQUAL(relay_slots_footprint(&cfg, &tree), 0); /* there is no secret to share with the parent */
    tree.parent_shared = &parents;
    struct sml_pool *pool = relay_slots_of(&cfg, &tree);
    const size_t bytes = sml_build_reject(reject, &asked, 77);
    CU_ASSERT_FATAL(sml_parse(&p, reject, bytes) == SML_OK);
    sml_pool_apply(pool, sml_pool_locate(pool, &p, 0), AGG_PARENT, &p, NULL, 0, &v);
    CU_ASSERT_EQUAL(v.reason, SML_PARENT_WORD);
    CU_ASSERT_FATAL(sml_parse(&p, v.brief, v.brief_bytes) == SML_OK);
    CU_ASSERT(p.kind == SML_REJECT && p.checksum == XFER_CHECKSUM_NONE && p.job == 3);
    reject[0] ^= SML_REJECT << 4 ^ SML_NACK << 4;
    CU_ASSERT_FATAL(sml_parse(&p, reject, SML_HEADER_BYTES) == SML_OK);
    p.job = 9;
    sml_pool_apply(pool, sml_pool_locate(pool, &p, 0), AGG_PARENT, &p, NULL, 0, &v);
    CU_ASSERT_EQUAL(v.reason, SML_DROP_UNPROVEN);
    free(pool);
}

static size_t footprint_of(uint16_t workers, bool has_parent, const uint16_t contributor[3])
{
    const struct agg_node tree = {.ranks = 3, .contributor = contributor, .has_parent = has_parent};
    const struct sml_pool_config cfg = {
        .workers = workers, .slots = 4, .chunk_bytes = 64, .kernels = kernels_or_exit()};

    return relay_slots_footprint(&cfg, &tree);
}

TEST(tables_that_are_none_are_refused)
{
    CU_ASSERT(footprint_of(2, false, (uint16_t[]){0, 1, 0}) > 0);
    CU_ASSERT(footprint_of(2, true, (uint16_t[]){0, AGG_NOBODY, 1}) > 0);
    CU_ASSERT_EQUAL(footprint_of(2, false, (uint16_t[]){0, AGG_NOBODY, 1}), 0); /* nobody brings rank 1 */
    CU_ASSERT_EQUAL(footprint_of(2, true, (uint16_t[]){1, 0, 0}), 0);           /* not by the lowest rank */
    CU_ASSERT_EQUAL(footprint_of(3, true, (uint16_t[]){0, 1, 0}), 0); /* a contributor without a rank */
    CU_ASSERT_EQUAL(footprint_of(1, true, (uint16_t[]){0, 1, 0}), 0);
}
