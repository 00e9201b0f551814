#include "compress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random/splitmix.h"
#include "switchml/elements.h"
#include "transfer/chunks.h"

/* --- what compression has left out of each tensor --- */

struct feedback_key {
    bool named;
    uint64_t who; /* the name, or the address */
    uint64_t floats;
};

struct feedback_memory {
    struct feedback_memory *next; /* used before this one */
    struct feedback_key key;
    float left_out[];
};

static bool is_of(const struct feedback_memory *m, const struct feedback_key *key)
{
    return m->key.named == key->named && m->key.who == key->who && m->key.floats == key->floats;
}

static size_t bytes_of(const struct feedback_key *key)
{
    return sizeof(struct feedback_memory) + key->floats * sizeof(float);
}

static void forget_oldest(struct feedback *f)
{
    struct feedback_memory **last = &f->latest;
    while ((*last)->next)
        last = &(*last)->next;
    f->bytes -= bytes_of(&(*last)->key);
    free(*last);
    *last = NULL;
}

static struct feedback_memory *find(struct feedback *f, const struct feedback_key *key)
{
    for (struct feedback_memory **m = &f->latest; *m; m = &(*m)->next)
        if (is_of(*m, key)) {
            struct feedback_memory *found = *m;
            *m = found->next;
            return found;
        }
    return NULL;
}

static struct feedback_memory *make(struct feedback *f, const struct feedback_key *key)
{
    if (key->floats > f->most_bytes / sizeof(float) || bytes_of(key) > f->most_bytes) {
        f->forgotten++;
        return NULL;
    }
    for (; f->bytes + bytes_of(key) > f->most_bytes; f->forgotten++)
        forget_oldest(f);
    struct feedback_memory *m = calloc(1, bytes_of(key));
    if (!m) {
        f->forgotten++;
        return NULL;
    }
    m->key = *key;
    f->bytes += bytes_of(key);
    return m;
}

/* The memory of a tensor, [floats]; zeros the first time. NULL: it is too long, or there is no memory, so
 * this call's errors are lost. Stays in place until the next call of this function. */
static float *feedback_of(struct feedback *f, const struct feedback_key *key)
{
    struct feedback_memory *m = find(f, key);
    if (!m && !(m = make(f, key)))
        return NULL;
    m->next = f->latest;
    f->latest = m;
    return m->left_out;
}

static void feedback_forget_all(struct feedback *f)
{
    while (f->latest)
        forget_oldest(f);
}

/* --- compression --- */

void compress_open(struct compress *c, const struct client_options *options,
                   const struct agg_kernels *kernels)
{
    *c = (struct compress){.options = options->compression,
                           .rank = options->rank,
                           .ranks = options->size,
                           .quorum = options->quorum != 0,
                           .feedback.most_bytes = options->compression.feedback_bytes};
    thc_codec_init(&c->codec, &c->options.table, c->options.block, kernels);
}

void compress_close(struct compress *c)
{
    feedback_forget_all(&c->feedback);
    free(c->block);
    free(c->norms);
    free(c->packed);
    free(c->sums);
    free(c->missed);
    free(c->norm_roll);
    free(c->roll);
}

bool compress_takes(const struct compress *c, const struct xfer_call *call)
{
    return c->options.on && call->collective == XFER_ALLREDUCE && call->type == AGG_F32 &&
           (call->op == AGG_SUM || call->op == AGG_AVG) && call->count >= c->options.least;
}

static uint8_t code_of(const struct compress *c)
{
    return sml_table_of(&c->options.table, c->options.sum_bits).code;
}

static uint64_t elements_of(const struct compress *c)
{
    return thc_filled(c->floats) / SML_GROUP;
}

/* Makes room for so many bytes, if there is less. What was there is lost. */
static bool make_room(void **at, size_t *room, size_t bytes)
{
    if (*room >= bytes)
        return true;
    free(*at);
    *at = malloc(bytes);
    *room = *at ? bytes : 0;
    return *at != NULL;
}

/* One for each chunk of the two calls. */
static bool make_rolls(struct compress *c)
{
    const size_t out = sml_element_of(code_of(c)).out;
    const uint64_t norms = xfer_chunk_count(c->chunk_bytes, sizeof(float), c->parts * sizeof(float)),
                   sums = xfer_chunk_count(c->chunk_bytes, out, elements_of(c) * out);
    if (!make_room((void **)&c->norm_roll, &c->norm_roll_room, norms * sizeof *c->roll) ||
        !make_room((void **)&c->roll, &c->roll_room, sums * sizeof *c->roll))
        return false;
    memset(c->norm_roll, 0, norms * sizeof *c->roll);
    memset(c->roll, 0, sums * sizeof *c->roll); /* a call may end without some (compress_miss) */
    return true;
}

static bool make_all_room(struct compress *c)
{
    const struct sml_element e = sml_element_of(code_of(c));
    const size_t block = thc_part_at(c->floats, c->options.block, 0).block;
    return make_room((void **)&c->block, &c->block_room, block * sizeof(float)) &&
           make_room((void **)&c->norms, &c->norms_room, c->parts * sizeof(float)) &&
           make_room((void **)&c->packed, &c->packed_room, elements_of(c) * e.in) &&
           make_room((void **)&c->sums, &c->sums_room, elements_of(c) * e.out) &&
           make_room((void **)&c->missed, &c->missed_room, elements_of(c)) && (!c->quorum || make_rolls(c));
}

static struct xfer_pieces pieces_of(const struct compress *c, const struct thc_part *p, bool out)
{
    return xfer_segments_find(c->segments, c->segment_count, p->at * sizeof(float), p->used * sizeof(float),
                              out);
}

/* The part of the tensor, and what was left out of it before, in c->block. */
static void gather(struct compress *c, const struct thc_part *p)
{
    const struct xfer_pieces pieces = pieces_of(c, p, false);
    xfer_pieces_gather(&pieces, c->block, agg_convert_same);
    memset(c->block + p->used, 0, (p->block - p->used) * sizeof(float));
    for (uint32_t i = 0; c->left_out && i < p->used; i++)
        c->block[i] += c->left_out[p->at + i];
}

static struct feedback_key key_of(const struct compress *c, uint64_t name)
{
    size_t first = 0;
    while (first + 1 < c->segment_count && c->segments[first].count == 0)
        first++;
    return (struct feedback_key){.named = name != 0,
                                 .who = name != 0 ? name : (uint64_t)(uintptr_t)c->segments[first].in,
                                 .floats = c->floats};
}

static float *left_out_of(struct compress *c, const struct compress_how *how)
{
    if (!c->options.feedback)
        return NULL;
    if (how->left_out)
        return how->left_out;
    const struct feedback_key key = key_of(c, how->name);
    return feedback_of(&c->feedback, &key);
}

bool compress_begin(struct compress *c, struct xfer_segment segments[], size_t n, bool average,
                    size_t chunk_bytes, const struct compress_how *how)
{
    c->chunk_bytes = chunk_bytes;
    c->segments = segments;
    c->segment_count = n;
    c->average = average;
    xfer_segments_measure(segments, n, sizeof(float), &c->floats);
    c->parts = thc_parts(c->floats, c->options.block);
    if (!make_all_room(c))
        return false;
    c->left_out = left_out_of(c, how);
    c->round = how->round ? how->round : c->round + 1;
    c->misses = false;

    uint64_t k = 0;
    for (struct thc_part p = {0}; k < c->parts; k++, p.at += p.block) {
        p = thc_part_at(c->floats, c->options.block, p.at);
        gather(c, &p);
        thc_codec_resize(&c->codec, p.block);
        const float norm = thc_norm(&c->codec, c->block);
        c->norms[k] = norm < INFINITY ? norm : INFINITY; /* a NaN would not be the largest */
    }
    return true;
}

struct xfer_call compress_call_norms(const struct compress *c)
{
    return (struct xfer_call){.collective = XFER_NORMS, .type = AGG_F32, .op = AGG_MAX, .count = c->parts};
}

struct xfer_call compress_call_indices(const struct compress *c)
{
    return (struct xfer_call){.collective = XFER_ALLREDUCE,
                              .type = code_of(c),
                              .op = SML_LOOK_UP,
                              .root = (uint32_t)(thc_filled(c->floats) - c->floats) +
                                      (c->average ? SML_MEANS : 0),
                              .count = elements_of(c)};
}

/* The signs of a block, which all ranks share, and what each rounds by, which they do not. */
static uint64_t signs_of(const struct compress *c, uint64_t k)
{
    return splitmix_hash(c->round) + k;
}
static uint32_t rounding_of(const struct compress *c, uint64_t k)
{
    return (uint32_t)splitmix_hash(splitmix_hash(c->round << 16 | c->rank) + k);
}

static double squared(float x)
{
    return (double)x * (double)x;
}

/* What is in c->block is left out of the tensor now, and is not what was left out before, which has gone with
 * it: by the difference this rank's part of the sum errs. */
static void leave_out(struct compress *c, const struct thc_part *p)
{
    float *restrict left_out = c->left_out + p->at, *restrict block = c->block;
    for (uint32_t i = 0; i < p->used; i++) {
        const float now = block[i];
        block[i] -= left_out[i];
        left_out[i] = now;
    }
    memset(block + p->used, 0, (p->block - p->used) * sizeof(float));
    c->error2 += squared(thc_norm(&c->codec, block));
}

/* Block k has a norm that is one. */
static void encode_part(struct compress *c, const struct thc_part *p, uint64_t k, uint8_t *packed)
{
    gather(c, p);
    if (!(thc_transform(&c->codec, c->block, signs_of(c, k)) <
          INFINITY)) /* others agreed without this rank */
        memset(c->block, 0, p->block * sizeof(float));
    thc_encode(&c->codec, packed, c->block, c->norms[k], rounding_of(c, k));
    thc_subtract(&c->codec, c->block, packed, c->norms[k]);
    if (!c->left_out) {
        c->error2 += squared(thc_norm(&c->codec, c->block));
        return;
    }
    thc_transform_back(&c->codec, c->block, signs_of(c, k));
    leave_out(c, p);
}

void compress_encode(struct compress *c)
{
    const size_t in = sml_element_of(code_of(c)).in;
    uint64_t k = 0;
    for (struct thc_part p = {0}; k < c->parts; k++, p.at += p.block) {
        p = thc_part_at(c->floats, c->options.block, p.at);
        uint8_t *packed = c->packed + p.at / SML_GROUP * in;
        thc_codec_resize(&c->codec, p.block);
        if (c->norms[k] < INFINITY) {
            encode_part(c, &p, k, packed);
            continue;
        }
        memset(packed, 0, p.block / SML_GROUP * in);
        if (c->left_out)
            memset(c->left_out + p.at, 0, p.used * sizeof(float));
    }
}

void compress_miss(struct compress *c, uint64_t at, uint64_t n)
{
    if (!c->misses)
        memset(c->missed, 0, elements_of(c));
    c->misses = true;
    memset(c->missed + at, 1, n);
}

/* With a quorum each chunk of indices may be summed over other ranks, as its roll says; and what of this
 * rank's indices is in no sum goes back into its error feedback. Where a block's norm could not be had, it is
 * 0 here: then this rank's indices stand for zeros, its feedback keeps the whole block, and its sum is 0. */

/* Of a block, from one of its floats on: those whose sums are of the same ranks. */
struct piece {
    uint32_t floats;
    struct xfer_roll roll;
};

static size_t in_first(const struct compress *c, size_t element)
{
    return xfer_chunk_open_bytes(c->chunk_bytes, element) / element;
}

/* The chunk of a call that has element i. */
static uint64_t chunk_of(const struct compress *c, size_t element, uint64_t i)
{
    const size_t first = in_first(c, element);
    return i < first ? 0 : 1 + (i - first) / (xfer_chunk_data_bytes(c->chunk_bytes, element) / element);
}

static struct piece piece_at(const struct compress *c, const struct thc_part *p, uint32_t from)
{
    if (!c->quorum)
        return (struct piece){.floats = p->block - from, .roll = {.ranks = c->ranks & 0x7fff, .mine = 1}};
    const size_t out = c->options.sum_bits / 8 * (size_t)SML_GROUP;
    const uint64_t chunk = chunk_of(c, out, (p->at + from) / SML_GROUP);
    const uint64_t ends = in_first(c, out) + chunk * (xfer_chunk_data_bytes(c->chunk_bytes, out) / out);
    const uint64_t rest = ends * SML_GROUP - p->at - from;
    return (struct piece){.floats = rest < p->block - from ? (uint32_t)rest : p->block - from,
                          .roll = c->roll[chunk]};
}

/* Whether the norm of block k could not be had. */
static bool norm_is_missed(const struct compress *c, uint64_t k)
{
    return c->quorum && c->norm_roll[chunk_of(c, sizeof(float), k)].ranks == 0;
}

/* As xfer_turnout_add, whose maps the stream has. */
static void note(struct compress *c, struct xfer_roll roll, uint64_t floats)
{
    struct xfer_turnout *t = &c->turnout;
    if (roll.ranks == 0) {
        t->missed += floats;
        return;
    }
    t->elements += floats;
    t->partial += roll.ranks < c->ranks ? floats : 0;
    t->left_out += roll.mine ? 0 : floats;
}

/* Adds block k to the turnout. */
static void note_turnout(struct compress *c, const struct thc_part *p, uint64_t k)
{
    for (uint32_t at = 0; c->quorum && at < p->used;) {
        struct piece piece = piece_at(c, p, at);
        if (norm_is_missed(c, k))
            piece.roll = (struct xfer_roll){0};
        note(c, piece.roll, piece.floats < p->used - at ? piece.floats : p->used - at);
        at += piece.floats;
    }
}

/* Whether this rank has not waited for the sum: its contribution still reaches the others. */
static bool is_left_behind(const struct compress *c, const struct thc_part *p, uint32_t at)
{
    return c->misses && c->missed[(p->at + at) / SML_GROUP];
}

/* Has the error feedback keep what is in no sum of block k, whose signs these are. Uses c->block. */
static void give_back(struct compress *c, const struct thc_part *p, uint64_t k, uint64_t signs)
{
    const size_t in = (size_t)SML_GROUP / 8 * c->options.table.bits;
    bool any = false;
    if (!c->quorum || !c->left_out || !(c->norms[k] < INFINITY))
        return;
    memset(c->block, 0, p->block * sizeof(float));
    thc_subtract(&c->codec, c->block, c->packed + p->at / SML_GROUP * in, c->norms[k]);
    for (uint32_t at = 0; at < p->block;) {
        const struct piece piece = piece_at(c, p, at);
        if (piece.roll.mine || is_left_behind(c, p, at))
            memset(c->block + at, 0, piece.floats * sizeof(float));
        else
            any = true;
        at += piece.floats;
    }
    if (!any)
        return;
    thc_transform_back(&c->codec, c->block, signs);
    for (uint32_t i = 0; i < p->used; i++)
        c->left_out[p->at + i] -= c->block[i];
}

static void leave_out_missed(struct compress *c, const struct thc_part *p)
{
    const uint8_t *missed = c->missed + p->at / SML_GROUP;
    for (uint32_t i = 0; i < p->block / SML_GROUP; i++)
        if (missed[i]) {
            memset(c->block + i * SML_GROUP, 0, SML_GROUP * sizeof(float));
            c->missed_total += SML_GROUP;
        }
}

/* A piece of a block, still transformed: the sum of its ranks, or their mean. The codec's decoding gives the
 * mean. */
static void decode_piece(struct compress *c, uint32_t at, const struct piece *piece, const uint8_t *sums,
                         float norm)
{
    const unsigned ranks = piece->roll.ranks;
    if (ranks == 0)
        memset(c->block + at, 0, piece->floats * sizeof(float));
    else
        thc_decode(&c->codec, c->block + at, sums + at * (c->options.sum_bits / 8u), c->options.sum_bits,
                   piece->floats, ranks, c->average ? norm : norm * (float)ranks);
}

static void decode_part(struct compress *c, const struct thc_part *p, uint64_t k, const uint8_t *sums)
{
    for (uint32_t at = 0; at < p->block;) {
        const struct piece piece = piece_at(c, p, at);
        decode_piece(c, at, &piece, sums, c->norms[k]);
        at += piece.floats;
    }
    if (c->misses)
        leave_out_missed(c, p);
    c->sum2 += squared(thc_norm(&c->codec, c->block)) * (c->average ? squared(c->ranks) : 1);
    thc_transform_back(&c->codec, c->block, signs_of(c, k));
}

void compress_decode(struct compress *c, const struct xfer_turnout *with_them)
{
    const size_t out = sml_element_of(code_of(c)).out;
    uint64_t k = 0;
    if (with_them) {
        c->turnout = *with_them;
        c->turnout.elements = c->turnout.partial = c->turnout.left_out = c->turnout.missed = 0;
    }
    for (struct thc_part p = {0}; k < c->parts; k++, p.at += p.block) {
        p = thc_part_at(c->floats, c->options.block, p.at);
        thc_codec_resize(&c->codec, p.block);
        if (c->norms[k] < INFINITY)
            decode_part(c, &p, k, c->sums + p.at / SML_GROUP * out);
        else
            for (uint32_t i = 0; i < p.used; i++)
                c->block[i] = NAN;
        const struct xfer_pieces pieces = pieces_of(c, &p, true);
        xfer_pieces_scatter(&pieces, c->block, agg_convert_same);
        note_turnout(c, &p, k);
        give_back(c, &p, k, signs_of(c, k));
    }
    c->calls++;
    c->missed_calls += c->misses;
    c->total += c->floats;
}
