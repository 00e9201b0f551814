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
    for (struct compress_call *call = c->call; call < c->call + COMPRESS_CALLS; call++) {
        free(call->norms);
        free(call->packed);
        free(call->sums);
        free(call->missed);
        free(call->norm_roll);
        free(call->roll);
    }
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

static uint64_t elements_of(const struct compress_call *call)
{
    return thc_filled(call->floats) / SML_GROUP;
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
static bool make_rolls(const struct compress *c, struct compress_call *call)
{
    const size_t out = sml_element_of(code_of(c)).out, one = sizeof(struct xfer_roll);
    const uint64_t norms = xfer_chunk_count(c->chunk_bytes, sizeof(float), call->parts * sizeof(float)),
                   sums = xfer_chunk_count(c->chunk_bytes, out, elements_of(call) * out);
    if (!make_room((void **)&call->norm_roll, &call->norm_roll_room, norms * one) ||
        !make_room((void **)&call->roll, &call->roll_room, sums * one))
        return false;
    memset(call->norm_roll, 0, norms * one);
    memset(call->roll, 0, sums * one); /* a call may end without some (compress_miss) */
    return true;
}

static bool make_all_room(struct compress *c, struct compress_call *call)
{
    const struct sml_element e = sml_element_of(code_of(c));
    const size_t block = thc_part_at(call->floats, c->options.block, 0).block;
    return make_room((void **)&c->block, &c->block_room, block * sizeof(float)) &&
           make_room((void **)&call->norms, &call->norms_room, call->parts * sizeof(float)) &&
           make_room((void **)&call->packed, &call->packed_room, elements_of(call) * e.in) &&
           make_room((void **)&call->sums, &call->sums_room, elements_of(call) * e.out) &&
           make_room((void **)&call->missed, &call->missed_room, elements_of(call)) &&
           (!c->quorum || make_rolls(c, call));
}

static struct xfer_pieces pieces_of(const struct compress_call *call, const struct thc_part *p, bool out)
{
    return xfer_segments_find(call->segments, call->segment_count, p->at * sizeof(float),
                              p->used * sizeof(float), out);
}

/* The part of the tensor, and what was left out of it before, in c->block. */
static void gather(struct compress *c, const struct compress_call *call, const struct thc_part *p)
{
    const struct xfer_pieces pieces = pieces_of(call, p, false);
    xfer_pieces_gather(&pieces, c->block, agg_convert_same);
    memset(c->block + p->used, 0, (p->block - p->used) * sizeof(float));
    for (uint32_t i = 0; call->left_out && i < p->used; i++)
        c->block[i] += call->left_out[p->at + i];
}

static struct feedback_key key_of(const struct compress_call *call, const struct compress_how *how)
{
    size_t first = 0;
    while (first + 1 < call->segment_count && call->segments[first].count == 0)
        first++;
    const void *where = how->where ? how->where : call->segments[first].in;
    return (struct feedback_key){.named = how->name != 0,
                                 .who = how->name != 0 ? how->name : (uint64_t)(uintptr_t)where,
                                 .floats = call->floats};
}

/* That of another call, which has its indices, may be forgotten for it. */
static float *left_out_of(struct compress *c, const struct compress_call *call,
                          const struct compress_how *how)
{
    if (!c->options.feedback)
        return NULL;
    if (how->left_out)
        return how->left_out;
    const struct feedback_key key = key_of(call, how);
    return feedback_of(&c->feedback, &key);
}

/* One that no call on its way has. */
static struct compress_call *find_room(struct compress *c)
{
    for (struct compress_call *call = c->call; call < c->call + COMPRESS_CALLS; call++)
        if (!call->taken)
            return call;
    return NULL;
}

bool compress_has_room(struct compress *c)
{
    return find_room(c) != NULL;
}

struct compress_call *compress_begin(struct compress *c, struct xfer_segment segments[], size_t n,
                                     bool average, size_t chunk_bytes, const struct compress_how *how)
{
    struct compress_call *call = find_room(c);
    if (!call)
        return NULL;
    c->chunk_bytes = chunk_bytes;
    call->segments = segments;
    call->segment_count = n;
    call->average = average;
    xfer_segments_measure(segments, n, sizeof(float), &call->floats);
    call->parts = thc_parts(call->floats, c->options.block);
    if (!make_all_room(c, call))
        return NULL;
    call->normed = call->encoded = call->decoded = (struct compress_pass){0};
    call->left_out = left_out_of(c, call, how);
    call->round = c->round = how->round ? how->round : c->round + 1;
    call->misses = false;
    call->taken = true;
    return call;
}

struct xfer_call compress_call_norms(const struct compress_call *call)
{
    return (struct xfer_call){.collective = XFER_NORMS, .type = AGG_F32, .op = AGG_MAX, .count = call->parts};
}

struct xfer_call compress_call_indices(const struct compress *c, const struct compress_call *call)
{
    return (struct xfer_call){.collective = XFER_ALLREDUCE,
                              .type = code_of(c),
                              .op = SML_LOOK_UP,
                              .root = (uint32_t)(thc_filled(call->floats) - call->floats) +
                                      (call->average ? SML_MEANS : 0),
                              .count = elements_of(call)};
}

/* What a pass does with block k. */
typedef void part_fn(struct compress *c, struct compress_call *call, const struct thc_part *p, uint64_t k);

/* Goes on with a pass, to the end of the first so many blocks or floats at most. */
static void go_on(struct compress *c, struct compress_call *call, struct compress_pass *pass,
                  struct compress_pass most, uint64_t floats, part_fn *each)
{
    const uint64_t from = pass->floats;
    while (pass->parts < call->parts && pass->parts < most.parts && pass->floats - from < floats) {
        const struct thc_part p = thc_part_at(call->floats, c->options.block, pass->floats);
        if (p.block > most.floats - pass->floats)
            return;
        thc_codec_resize(&c->codec, p.block);
        each(c, call, &p, pass->parts);
        pass->parts++;
        pass->floats += p.block;
    }
}

static void norm_part(struct compress *c, struct compress_call *call, const struct thc_part *p, uint64_t k)
{
    gather(c, call, p);
    const float norm = thc_norm(&c->codec, c->block);
    call->norms[k] = norm < INFINITY ? norm : INFINITY; /* a NaN would not be the largest */
}

void compress_norm(struct compress *c, struct compress_call *call, uint64_t floats)
{
    go_on(c, call, &call->normed, (struct compress_pass){UINT64_MAX, UINT64_MAX}, floats, norm_part);
}

/* The signs of a block, which all ranks share, and what each rounds by, which they do not. */
static uint64_t signs_of(const struct compress_call *call, uint64_t k)
{
    return splitmix_hash(call->round) + k;
}
static uint32_t rounding_of(const struct compress *c, const struct compress_call *call, uint64_t k)
{
    return (uint32_t)splitmix_hash(splitmix_hash(call->round << 16 | c->rank) + k);
}

static double squared(float x)
{
    return (double)x * (double)x;
}

/* What is in c->block is left out of the tensor now, and is not what was left out before, which has gone with
 * it: by the difference this rank's part of the sum errs. */
static void leave_out(struct compress *c, const struct compress_call *call, const struct thc_part *p)
{
    float *restrict left_out = call->left_out + p->at, *restrict block = c->block;
    for (uint32_t i = 0; i < p->used; i++) {
        const float now = block[i];
        block[i] -= left_out[i];
        left_out[i] = now;
    }
    memset(block + p->used, 0, (p->block - p->used) * sizeof(float));
    c->error2 += squared(thc_norm(&c->codec, block));
}

/* The block has a norm that is one. */
static void encode_numbers(struct compress *c, const struct compress_call *call, const struct thc_part *p,
                           uint64_t k, uint8_t *packed)
{
    gather(c, call, p);
    if (!(thc_transform(&c->codec, c->block, signs_of(call, k)) <
          INFINITY)) /* others agreed without this rank */
        memset(c->block, 0, p->block * sizeof(float));
    thc_encode(&c->codec, packed, c->block, call->norms[k], rounding_of(c, call, k));
    thc_subtract(&c->codec, c->block, packed, call->norms[k]);
    if (!call->left_out) {
        c->error2 += squared(thc_norm(&c->codec, c->block));
        return;
    }
    thc_transform_back(&c->codec, c->block, signs_of(call, k));
    leave_out(c, call, p);
}

static void encode_part(struct compress *c, struct compress_call *call, const struct thc_part *p, uint64_t k)
{
    const size_t in = sml_element_of(code_of(c)).in;
    uint8_t *packed = call->packed + p->at / SML_GROUP * in;
    if (call->norms[k] < INFINITY) {
        encode_numbers(c, call, p, k, packed);
        return;
    }
    memset(packed, 0, p->block / SML_GROUP * in);
    if (call->left_out)
        memset(call->left_out + p->at, 0, p->used * sizeof(float));
}

void compress_encode(struct compress *c, struct compress_call *call, uint64_t norms, uint64_t floats)
{
    go_on(c, call, &call->encoded, (struct compress_pass){norms, UINT64_MAX}, floats, encode_part);
}

void compress_miss(struct compress_call *call, uint64_t at, uint64_t n)
{
    if (!call->misses)
        memset(call->missed, 0, elements_of(call));
    call->misses = true;
    memset(call->missed + at, 1, n);
}

/* With a quorum each chunk of indices may be summed over other ranks, as its roll says; and what of this
 * rank's indices is in no sum goes back into its error feedback. Where a block's norm could not be had, it is
 * 0 here: then this rank's indices stand for zeros, its feedback keeps the whole block, and its sum is 0. */

/* Of a block, from one of its floats on: those whose sums are of the same ranks. */
struct piece {
    uint32_t floats;
    struct xfer_roll roll;
};

static struct piece piece_at(const struct compress *c, const struct compress_call *call,
                             const struct thc_part *p, uint32_t from)
{
    if (!c->quorum)
        return (struct piece){.floats = p->block - from, .roll = {.ranks = c->ranks & 0x7fff, .mine = 1}};
    const size_t out = c->options.sum_bits / 8 * (size_t)SML_GROUP;
    const uint64_t chunk = xfer_chunk_with(c->chunk_bytes, out, (p->at + from) / SML_GROUP);
    const uint64_t ends = xfer_chunk_open_bytes(c->chunk_bytes, out) / out +
                          chunk * (xfer_chunk_data_bytes(c->chunk_bytes, out) / out);
    const uint64_t rest = ends * SML_GROUP - p->at - from;
    return (struct piece){.floats = rest < p->block - from ? (uint32_t)rest : p->block - from,
                          .roll = call->roll[chunk]};
}

/* Whether the norm of block k could not be had. */
static bool norm_is_missed(const struct compress *c, const struct compress_call *call, uint64_t k)
{
    return c->quorum && call->norm_roll[xfer_chunk_with(c->chunk_bytes, sizeof(float), k)].ranks == 0;
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
static void note_turnout(struct compress *c, const struct compress_call *call, const struct thc_part *p,
                         uint64_t k)
{
    for (uint32_t at = 0; c->quorum && at < p->used;) {
        struct piece piece = piece_at(c, call, p, at);
        if (norm_is_missed(c, call, k))
            piece.roll = (struct xfer_roll){0};
        note(c, piece.roll, piece.floats < p->used - at ? piece.floats : p->used - at);
        at += piece.floats;
    }
}

/* Whether this rank has not waited for the sum: its contribution still reaches the others. */
static bool is_left_behind(const struct compress_call *call, const struct thc_part *p, uint32_t at)
{
    return call->misses && call->missed[(p->at + at) / SML_GROUP];
}

/* Has the error feedback keep what is in no sum of block k. Uses c->block. */
static void give_back(struct compress *c, const struct compress_call *call, const struct thc_part *p,
                      uint64_t k)
{
    const size_t in = (size_t)SML_GROUP / 8 * c->options.table.bits;
    bool any = false;
    if (!c->quorum || !call->left_out || !(call->norms[k] < INFINITY))
        return;
    memset(c->block, 0, p->block * sizeof(float));
    thc_subtract(&c->codec, c->block, call->packed + p->at / SML_GROUP * in, call->norms[k]);
    for (uint32_t at = 0; at < p->block;) {
        const struct piece piece = piece_at(c, call, p, at);
        if (piece.roll.mine || is_left_behind(call, p, at))
            memset(c->block + at, 0, piece.floats * sizeof(float));
        else
            any = true;
        at += piece.floats;
    }
    if (!any)
        return;
    thc_transform_back(&c->codec, c->block, signs_of(call, k));
    for (uint32_t i = 0; i < p->used; i++)
        call->left_out[p->at + i] -= c->block[i];
}

static void leave_out_missed(struct compress *c, const struct compress_call *call, const struct thc_part *p)
{
    const uint8_t *missed = call->missed + p->at / SML_GROUP;
    for (uint32_t i = 0; i < p->block / SML_GROUP; i++)
        if (missed[i]) {
            memset(c->block + i * SML_GROUP, 0, SML_GROUP * sizeof(float));
            c->missed_total += SML_GROUP;
        }
}

/* A piece of block k, still transformed: the sum of its ranks, or their mean. The codec's decoding gives the
 * mean. */
static void decode_piece(struct compress *c, const struct compress_call *call, uint32_t at,
                         const struct piece *piece, const uint8_t *sums, uint64_t k)
{
    const unsigned ranks = piece->roll.ranks;
    const float norm = call->norms[k];
    if (ranks == 0)
        memset(c->block + at, 0, piece->floats * sizeof(float));
    else
        thc_decode(&c->codec, c->block + at, sums + at * (c->options.sum_bits / 8u), c->options.sum_bits,
                   piece->floats, ranks, call->average ? norm : norm * (float)ranks);
}

static void decode_numbers(struct compress *c, const struct compress_call *call, const struct thc_part *p,
                           uint64_t k)
{
    const uint8_t *sums = call->sums + p->at / SML_GROUP * sml_element_of(code_of(c)).out;
    for (uint32_t at = 0; at < p->block;) {
        const struct piece piece = piece_at(c, call, p, at);
        decode_piece(c, call, at, &piece, sums, k);
        at += piece.floats;
    }
    if (call->misses)
        leave_out_missed(c, call, p);
    c->sum2 += squared(thc_norm(&c->codec, c->block)) * (call->average ? squared(c->ranks) : 1);
    thc_transform_back(&c->codec, c->block, signs_of(call, k));
}

static void decode_part(struct compress *c, struct compress_call *call, const struct thc_part *p, uint64_t k)
{
    if (call->norms[k] < INFINITY)
        decode_numbers(c, call, p, k);
    else
        for (uint32_t i = 0; i < p->used; i++)
            c->block[i] = NAN;
    const struct xfer_pieces pieces = pieces_of(call, p, true);
    xfer_pieces_scatter(&pieces, c->block, agg_convert_same);
    note_turnout(c, call, p, k);
    give_back(c, call, p, k);
}

void compress_decode(struct compress *c, struct compress_call *call, uint64_t sums, uint64_t floats)
{
    const uint64_t come = sums < elements_of(call) ? sums * SML_GROUP : UINT64_MAX;
    go_on(c, call, &call->decoded, (struct compress_pass){UINT64_MAX, come}, floats, decode_part);
}

void compress_end(struct compress *c, struct compress_call *call, const struct xfer_turnout *with_them)
{
    if (with_them) {
        c->turnout = *with_them;
        c->turnout.elements = c->turnout.partial = c->turnout.left_out = c->turnout.missed = 0;
    }
    compress_decode(c, call, UINT64_MAX, UINT64_MAX);
    c->calls++;
    c->missed_calls += call->misses;
    c->total += call->floats;
    call->taken = false;
}

void compress_give_up(struct compress_call *call)
{
    call->taken = false;
}
