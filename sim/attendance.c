#include "attendance.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "protocol/ranks.h"
#include "transfer/chunks.h"

/* What a chunk that nothing was said of has in its place. */
static const struct xfer_roll untold = {.ranks = 0x7fff, .mine = 1};

void attendance_init(struct attendance *a, uint16_t ranks, size_t chunk_bytes, uint32_t first_tag)
{
    *a = (struct attendance){
        .chunk_bytes = chunk_bytes, .next_tag = first_tag, .names_bytes = ranks_map_bytes(ranks)};
}

void attendance_begin(struct attendance *a, struct sml_stream *stream, const struct xfer_call *call)
{
    a->chunks = sml_stream_packets(stream, call);
    a->names = memory_of(a->chunks * a->names_bytes);
    a->roll = memory_of(a->chunks * sizeof(*a->roll));
    for (uint64_t i = 0; i < a->chunks; i++)
        a->roll[i] = untold;
    sml_stream_call_roll(stream, a->roll);
}

void attendance_end(struct attendance *a, struct sml_stream *stream)
{
    if (stream != NULL)
        sml_stream_call_roll(stream, NULL);
    free(a->names);
    free(a->roll);
    a->names = NULL;
    a->roll = NULL;
    a->next_tag += (uint32_t)a->chunks;
    a->chunks = 0;
}

void attendance_hear(struct attendance *a, const uint8_t *payload, size_t bytes)
{
    struct sml_packet p;

    if (sml_parse(&p, payload, bytes) != SML_OK || p.tag - a->next_tag >= a->chunks ||
        p.body_bytes < a->names_bytes) /* it says only that the chunk is closed */
        return;
    memcpy(a->names + (p.tag - a->next_tag) * a->names_bytes, p.body + p.body_bytes - a->names_bytes,
           a->names_bytes);
}

/* Returns how many ranks are named. */
static unsigned count(const uint8_t *names, size_t bytes)
{
    unsigned n = 0;

    for (size_t i = 0; i < bytes; i++)
        n += (unsigned)__builtin_popcount(names[i]);
    return n;
}

static bool are_zeros(const uint8_t *bytes, size_t n)
{
    return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

/* A chunk of a call. */
struct part {
    struct oracle *o;
    struct formation *f;
    unsigned rank;
    uint64_t from, n; /* elements */
    struct oracle_part is;
};

static void fail(const struct part *p, const char *what)
{
    oracle_fail(p->o, "job %s, rank %u, call %u, chunk %llu: %s", p->f->program->name, p->rank, p->is.call,
                (unsigned long long)p->is.chunk, what);
}

static bool names(const struct part *p, unsigned rank)
{
    return p->is.names[rank / 8] >> rank % 8 & 1;
}

static void check_names(const struct part *p, unsigned ranks)
{
    if (ranks < program_needs(p->f->program))
        fail(p, "a sum of less than a quorum");
    for (unsigned r = 0; r < p->f->program->size; r++)
        if (names(p, r) && p->f->rank[r].begun <= p->is.call)
            fail(p, "a sum with a rank in it that has not begun the call");
}

static void check_sums(const struct part *p)
{
    if (!program_check_some(p->f->program, p->is.call, p->from, p->n, p->is.names, p->is.sums))
        fail(p, "not the sum of the ranks that it names");
    if (!oracle_has_part(p->f, &p->is))
        fail(p, "not the sum, or not the ranks, that others have or were told of");
}

static void check_part(const struct part *p, const struct xfer_roll *said)
{
    const unsigned ranks = count(p->is.names, p->is.names_bytes);

    if (said->ranks != ranks || (ranks > 0 && said->mine != names(p, p->rank)))
        fail(p, "the roll is not what came with the result");
    p->o->n.parts++;
    p->o->n.parts_partial += ranks < p->f->program->size && ranks > 0;
    p->o->n.parts_missed += ranks == 0;
    if (ranks == 0) {
        if (!are_zeros(p->is.sums, p->is.bytes))
            fail(p, "a sum that could not be had is not 0");
        if (program_needs(p->f->program) == p->f->program->size)
            fail(p, "a sum of all ranks could not be had");
        if (!oracle_misses_part(p->f, &p->is, p->rank, said->mine))
            fail(p, "the rank was told wrongly whether it is in a sum that could not be had");
        p->o->n.parts_missed_in += said->mine;
        return;
    }
    check_names(p, ranks);
    check_sums(p);
}

static bool is_same(const struct xfer_turnout *a, const struct xfer_turnout *b)
{
    return a->elements == b->elements && a->partial == b->partial && a->left_out == b->left_out &&
           a->missed == b->missed && a->least == b->least && a->most == b->most &&
           memcmp(a->in_all, b->in_all, sizeof(a->in_all)) == 0 &&
           memcmp(a->in_some, b->in_some, sizeof(a->in_some)) == 0;
}

void attendance_check(const struct attendance *a, struct oracle *o, struct formation *f, unsigned rank,
                      unsigned call, const struct xfer_turnout *said, const uint8_t *sums, bool left)
{
    const struct xfer_call *c = &f->program->call[call];
    const size_t element = program_element(c).out;
    struct xfer_turnout t;

    xfer_turnout_begin(&t);
    if (!program_is_agreed(f->program, call))
        return;
    for (uint64_t i = 0; i < a->chunks && program_wants(c, rank); i++) {
        const uint8_t *told = a->names + i * a->names_bytes;
        uint64_t offset;
        size_t bytes;
        if (left && a->roll[i].ranks == untold.ranks)
            continue;
        xfer_chunk_span(a->chunk_bytes, element, c->count * element, i, &offset, &bytes);
        const struct part p = {.o = o,
                               .f = f,
                               .rank = rank,
                               .from = offset / element,
                               .n = bytes / element,
                               .is = {.call = call,
                                      .chunk = i,
                                      .chunks = a->chunks,
                                      .names = told,
                                      .names_bytes = a->names_bytes,
                                      .sums = sums + offset,
                                      .bytes = bytes}};
        check_part(&p, &a->roll[i]);
        xfer_turnout_add(&t, count(told, a->names_bytes) > 0 ? told : NULL, f->program->size, (uint16_t)rank,
                         p.n);
    }
    if (!is_same(&t, said))
        oracle_fail(o, "job %s, rank %u, call %u: the turnout is not that of the results", f->program->name,
                    rank, call);
}
