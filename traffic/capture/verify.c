#include "capture/verify.h"

#include <stdio.h>
#include <string.h>

#include "elements.h"
#include "switchml/words.h"
#include "transfer/blocks.h"

/* The packets of one chunk: [contributions ... results ... end) */
struct chunk {
    const struct stored_packet *begin, *results, *end;
    const struct stored_packet *from[AGG_MAX_WORKERS]; /* one contribution of each worker */
    unsigned workers;
    bool conflict;
};

static const uint8_t *body(const struct store *s, const struct stored_packet *p)
{
    return s->bodies + p->at;
}

static bool same_contribution(const struct store *s, const struct stored_packet *a,
                              const struct stored_packet *b)
{
    return a->kind == b->kind && a->e0 == b->e0 && a->bytes == b->bytes &&
           memcmp(body(s, a), body(s, b), a->bytes) == 0;
}

/* Finds the end of the chunk that begins at `begin`, and its contributors. */
static void collect(struct chunk *c, const struct store *s, const struct stored_packet *begin)
{
    const struct stored_packet *end = s->packets + s->count, *p = begin;

    *c = (struct chunk){.begin = begin};
    for (; p < end && !p->result && p->job == begin->job && p->tag == begin->tag; p++) {
        if (c->workers > 0 && c->from[c->workers - 1]->worker == p->worker)
            c->conflict |= !same_contribution(s, c->from[c->workers - 1], p);
        else if (c->workers < AGG_MAX_WORKERS)
            c->from[c->workers++] = p;
        else
            c->conflict = true;
    }
    c->results = p;
    while (p < end && p->job == begin->job && p->tag == begin->tag)
        p++;
    c->end = p;
}

static const struct stored_packet *contribution_of(const struct chunk *c, uint64_t worker)
{
    for (unsigned w = 0; w < c->workers; w++) {
        if (c->from[w]->worker == worker)
            return c->from[w];
    }
    return NULL;
}

static int8_t greater(int8_t a, uint8_t b)
{
    return a > (int8_t)b ? a : (int8_t)b;
}

static bool exponents_are_largest(const struct chunk *c, const struct stored_packet *r)
{
    int8_t e0 = INT8_MIN, e1 = INT8_MIN;

    for (unsigned w = 0; w < c->workers; w++) {
        e0 = greater(e0, c->from[w]->e0);
        e1 = greater(e1, c->from[w]->e1);
    }
    return (int8_t)r->e0 == e0 && (int8_t)r->e1 == e1;
}

/* An average is that of all ranks, also where a switch sends one sum for several: the others count as 0. With
 * a quorum it is that of the ranks in it. */
static unsigned divided_by(const struct store *s, const struct chunk *c, uint8_t code)
{
    const struct stored_job *job = &s->job[c->begin->job];
    const bool of_all = agg_code_op(code) == AGG_AVG && !job->quorum;

    return of_all && job->size > c->workers ? job->size : c->workers;
}

/* Whether a result's elements are what the contributions come to. why: room for the reason if not. */
static bool elements_are_right(const struct store *s, const struct chunk *c, const struct stored_packet *r,
                               uint8_t code, size_t skip, char why[128])
{
    static const uint8_t nothing[ELEMENT_BYTES_MAX];
    const uint8_t *in[AGG_MAX_WORKERS];
    const size_t element = agg_code_bytes(code);
    const unsigned terms = divided_by(s, c, code);

    for (size_t i = 0; skip + (i + 1) * element <= r->bytes; i++) {
        const size_t at = skip + i * element;

        for (unsigned w = 0; w < terms; w++)
            in[w] = w < c->workers ? body(s, c->from[w]) + at : nothing;
        if (!element_is_result(code, body(s, r) + at, in, terms)) {
            char text[80];

            element_print(text, sizeof(text), code, body(s, r) + at);
            snprintf(why, 128, "element %zu, %s, is not the %s of the workers'", i, text,
                     agg_op_name(agg_code_op(code)));
            return false;
        }
    }
    return true;
}

/* The same for a compressed call: sums of what the workers' indices stand for. NULL: they are right. */
static const char *judge_sums(const struct store *s, const struct chunk *c, const struct stored_packet *r,
                              size_t skip, char why[128])
{
    const struct sml_table *t = &s->job[r->job].table;
    const struct sml_element e = sml_element_of(t->code);
    const size_t bytes = c->from[0]->bytes < skip ? 0 : c->from[0]->bytes - skip,
                 count = bytes / e.in * SML_GROUP;

    if (r->bytes != skip + count / SML_GROUP * e.out)
        return "its length is not that of the contributions' sums";
    for (size_t i = 0; i < count; i++) {
        unsigned sum = 0;

        for (unsigned w = 0; w < c->workers; w++)
            sum += t->values[sml_look_up_index(t->code, body(s, c->from[w]) + skip, i)];
        if (sml_look_up_sum(t->code, body(s, r) + skip, i) != sum) {
            snprintf(why, 128, "sum %zu, %u, is not the %u of the workers' table values", i,
                     sml_look_up_sum(t->code, body(s, r) + skip, i), sum);
            return why;
        }
    }
    return NULL;
}

/* NULL: right; else why not. */
static const char *judge(enum xfer_format format, const struct store *s, const struct chunk *c,
                         const struct stored_packet *r, char why[128])
{
    const struct stored_packet *first = c->from[0];
    const bool typed = !xfer_has_exponents(format);
    const uint8_t code = xfer_elements_code(format, first->e0);
    const size_t skip = first->kind == SML_OPEN ? XFER_CALL_BYTES : 0;

    const bool compressed = typed && code != 0 && code == s->job[r->job].table.code;

    if (agg_code_bytes(code) == 0 && !compressed)
        return "its elements are of an unknown type";
    for (unsigned w = 1; w < c->workers; w++) {
        if (c->from[w]->kind != first->kind || c->from[w]->bytes != first->bytes ||
            (typed && c->from[w]->e0 != first->e0))
            return "the workers' contributions do not go together, so there should be no result";
    }
    if (r->slot != first->slot || r->ver != first->ver)
        return "its slot or version is not that of the contributions";
    if (r->kind != first->kind || (r->bytes != first->bytes && !compressed))
        return "its kind or length is not that of the contributions";
    if (first->bytes < skip || r->bytes < skip)
        return "it does not say which call it is of";
    if (!typed && !exponents_are_largest(c, r))
        return "its exponents are not the largest of the workers'";
    if (typed && r->e0 != first->e0)
        return "its element code differs from the contributions'";
    if (memcmp(body(s, r), body(s, first), skip) != 0)
        return "its description of the call differs from the contributions'";
    if (compressed)
        return judge_sums(s, c, r, skip, why);
    return elements_are_right(s, c, r, code, skip, why) ? NULL : why;
}

/* As the switch said when the job was formed, or else as the user said. */
static enum xfer_format format_of(const struct verify *v, const struct stored_job *job)
{
    return job->size > 0 ? job->format : v->format;
}

/* A result without elements is right for a worker that asked for none. */
static bool is_wanted_empty(enum xfer_format format, const struct chunk *c, const struct stored_packet *r)
{
    const struct stored_packet *own = contribution_of(c, r->worker);

    return !xfer_has_exponents(format) && r->bytes == 0 && own != NULL && own->bytes > 0 &&
           !(own->e1 & SML_FLAG_WANT);
}

static void count_verdict(struct verify *v, const struct stored_packet *r, const char *why)
{
    struct verify_job *j = &v->job[r->job];

    if (why == NULL) {
        j->right++;
        return;
    }
    j->wrong++;
    v->report(v->context, r, why);
}

/* In a job with a quorum a result names the ranks that are in it, behind its elements: leaves only their
 * contributions in the chunk, and only the elements in the result. How many it names; 0: none. */
static unsigned keep_named(const struct store *s, struct chunk *c, struct stored_packet *r)
{
    const unsigned ranks = s->job[r->job].size;
    const size_t names = ranks_map_bytes(ranks);
    const uint8_t *map;
    unsigned named = 0, kept = 0;

    if (r->bytes < names)
        return 0;
    r->bytes -= (uint32_t)names;
    map = body(s, r) + r->bytes;
    for (unsigned rank = 0; rank < ranks; rank++)
        named += ranks_map_has(map, rank);
    for (unsigned w = 0; w < c->workers; w++) {
        const struct stored_rank *from = store_rank(s, r->job, c->from[w]->worker);

        if (from != NULL && from->rank < ranks && ranks_map_has(map, from->rank))
            c->from[kept++] = c->from[w];
    }
    c->workers = kept;
    return named;
}

static void verify_quorate(struct verify *v, const struct store *s, const struct chunk *c,
                           const struct stored_packet *r)
{
    struct chunk named = *c;
    struct stored_packet sum = *r;
    const unsigned ranks = keep_named(s, &named, &sum);
    char text[128];

    if (ranks == 0)
        count_verdict(v, r, "it names no ranks");
    else if (named.workers != ranks || c->conflict)
        v->job[r->job].unknown++;
    else
        count_verdict(v, r, judge(s->job[r->job].format, s, &named, &sum, text));
}

static void verify_result(struct verify *v, const struct store *s, const struct chunk *c,
                          const struct stored_packet *r)
{
    struct verify_job *j = &v->job[r->job];
    const enum xfer_format format = format_of(v, &s->job[r->job]);
    char text[128];

    if (is_wanted_empty(format, c, r))
        j->empty++;
    else if (s->job[r->job].quorum)
        verify_quorate(v, s, c, r);
    else if (c->workers == 0 || c->workers != j->workers || c->conflict) /* of 0 where none was captured */
        j->unknown++;
    else
        count_verdict(v, r, judge(format, s, c, r, text));
}

static void verify_chunk(struct verify *v, const struct store *s, const struct chunk *c)
{
    struct verify_job *j = &v->job[c->begin->job];
    unsigned receivers = 0;

    j->chunks++;
    j->contributions += (uint64_t)(c->results - c->begin);
    j->repeated += (uint64_t)(c->results - c->begin) - c->workers;
    j->conflicts += c->conflict;
    for (const struct stored_packet *r = c->results; r < c->end; r++) {
        receivers += r == c->results || r[-1].worker != r->worker;
        verify_result(v, s, c, r);
    }
    if (!s->job[c->begin->job].quorum && c->workers == j->workers && receivers < j->workers)
        j->missing += j->workers - receivers;
}

/* How many contributions make a chunk complete. */
static void count_workers(struct verify *v, const struct store *s)
{
    const struct stored_packet *end = s->packets + s->count;
    struct chunk c;

    for (unsigned i = 0; i < s->jobs; i++)
        v->job[i].workers = v->workers > 0 ? v->workers : store_contributors(&s->job[i]);
    for (const struct stored_packet *p = s->packets; p < end && v->workers == 0; p = c.end) {
        collect(&c, s, p);
        if (c.workers > v->job[p->job].workers)
            v->job[p->job].workers = c.workers;
    }
}

void verify(struct verify *v, const struct store *s)
{
    const struct stored_packet *end = s->packets + s->count;
    struct chunk c;

    count_workers(v, s);
    for (const struct stored_packet *p = s->packets; p < end; p = c.end) {
        collect(&c, s, p);
        verify_chunk(v, s, &c);
    }
}
