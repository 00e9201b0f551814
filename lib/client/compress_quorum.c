/* Compressed calls in jobs with a quorum. Each chunk of indices may be summed over other ranks, as its roll
 * says; and what of this rank's indices is in no sum goes back into its error feedback. Where a block's norm
 * could not be had, it is 0 here: then this rank's indices stand for zeros, its feedback keeps the whole
 * block, and its sum is 0. */
#include <math.h>
#include <string.h>

#include "compress.h"
#include "switchml/chunks.h"

static size_t in_first(const struct compress *c, size_t element)
{
    return sml_chunk_open_bytes(c->chunk_bytes, element) / element;
}

/* The chunk of a call that has element i. */
static uint64_t chunk_of(const struct compress *c, size_t element, uint64_t i)
{
    const size_t first = in_first(c, element);
    return i < first ? 0 : 1 + (i - first) / (sml_chunk_data_bytes(c->chunk_bytes, element) / element);
}

struct compress_piece compress_piece_at(const struct compress *c, const struct thc_part *p, uint32_t from)
{
    if (!c->quorum)
        return (struct compress_piece){.floats = p->block - from,
                                       .roll = {.ranks = c->ranks & 0x7fff, .mine = 1}};
    const size_t out = c->options.sum_bits / 8 * (size_t)SML_GROUP;
    const uint64_t chunk = chunk_of(c, out, (p->at + from) / SML_GROUP);
    const uint64_t ends = in_first(c, out) + chunk * (sml_chunk_data_bytes(c->chunk_bytes, out) / out);
    const uint64_t rest = ends * SML_GROUP - p->at - from;
    return (struct compress_piece){.floats = rest < p->block - from ? (uint32_t)rest : p->block - from,
                                   .roll = c->roll[chunk]};
}

/* Whether the norm of block k could not be had. */
static bool norm_is_missed(const struct compress *c, uint64_t k)
{
    return c->quorum && c->norm_roll[chunk_of(c, sizeof(float), k)].ranks == 0;
}

/* As sml_turnout_add, whose maps the stream has. */
static void note(struct compress *c, struct sml_roll roll, uint64_t floats)
{
    struct sml_turnout *t = &c->turnout;
    if (roll.ranks == 0) {
        t->missed += floats;
        return;
    }
    t->elements += floats;
    t->partial += roll.ranks < c->ranks ? floats : 0;
    t->left_out += roll.mine ? 0 : floats;
}

void compress_note_turnout(struct compress *c, const struct thc_part *p, uint64_t k)
{
    for (uint32_t at = 0; c->quorum && at < p->used;) {
        struct compress_piece piece = compress_piece_at(c, p, at);
        if (norm_is_missed(c, k))
            piece.roll = (struct sml_roll){0};
        note(c, piece.roll, piece.floats < p->used - at ? piece.floats : p->used - at);
        at += piece.floats;
    }
}

/* Whether this rank has not waited for the sum: its contribution still reaches the others. */
static bool is_left_behind(const struct compress *c, const struct thc_part *p, uint32_t at)
{
    return c->misses && c->missed[(p->at + at) / SML_GROUP];
}

void compress_give_back(struct compress *c, const struct thc_part *p, uint64_t k, uint64_t signs)
{
    const size_t in = (size_t)SML_GROUP / 8 * c->options.table.bits;
    bool any = false;
    if (!c->quorum || !c->left_out || !(c->norms[k] < INFINITY))
        return;
    memset(c->block, 0, p->block * sizeof(float));
    thc_subtract(&c->codec, c->block, c->packed + p->at / SML_GROUP * in, c->norms[k]);
    for (uint32_t at = 0; at < p->block;) {
        const struct compress_piece piece = compress_piece_at(c, p, at);
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
