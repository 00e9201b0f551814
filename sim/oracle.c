#include "oracle.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

void oracle_init(struct oracle *o, const struct sim *sim)
{
    *o = (struct oracle){.sim = sim};
}

void oracle_fini(struct oracle *o)
{
    while (o->formations != NULL) {
        struct formation *f = o->formations;
        o->formations = f->next;
        for (unsigned c = 0; c < PROGRAM_CALLS_MAX; c++) {
            free(f->parts[c]);
            free(f->maps[c]);
        }
        free(f);
    }
}

void oracle_fail(struct oracle *o, const char *format, ...)
{
    va_list args;

    if (o->failed)
        return;
    o->failed = true;
    va_start(args, format);
    vsnprintf(o->text, sizeof(o->text), format, args);
    va_end(args);
    sim_trace(o->sim, "oracle", "FAILED: %s", o->text);
}

struct formation *oracle_ready(struct oracle *o, struct program *program, unsigned rank, uint64_t key)
{
    struct formation *f = o->formations;

    while (f != NULL && (f->program != program || f->key != key))
        f = f->next;
    if (f == NULL) {
        f = memory_of(sizeof(*f) + program->size * sizeof(f->rank[0]));
        f->next = o->formations;
        f->program = program;
        f->key = key;
        o->formations = f;
    }
    if (f->rank[rank].ready)
        oracle_fail(o, "job %s: two processes are rank %u of the same formation", program->name, rank);
    f->rank[rank].ready = true;
    return f;
}

void oracle_begun(struct formation *f, unsigned rank)
{
    f->rank[rank].begun++;
}

static uint64_t digest_of(const uint8_t *bytes, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h | 1;
}

static void check_sum(struct oracle *o, struct formation *f, unsigned rank, unsigned call,
                      const uint8_t *tensor)
{
    const struct xfer_call *c = &f->program->call[call];
    uint64_t digest = digest_of(tensor, c->count * program_element(c).out);

    if (!program_check(f->program, call, tensor))
        oracle_fail(o, "job %s, rank %u, call %u: a wrong sum", f->program->name, rank, call);
    if (f->digest[call] != 0 && f->digest[call] != digest)
        oracle_fail(o, "job %s, rank %u, call %u: not the sum that another rank has", f->program->name, rank,
                    call);
    f->digest[call] = digest;
}

void oracle_succeeded(struct oracle *o, struct formation *f, unsigned rank, const uint8_t *tensor,
                      bool buffered)
{
    unsigned call = f->rank[rank].succeeded++;

    if (o->n.calls_succeeded++ == 0)
        o->succeeded_first = o->sim->now;
    o->succeeded_last = o->sim->now;
    if (buffered)
        return;
    f->rank[rank].proved = f->rank[rank].succeeded;
    if (program_has_mismatch(f->program, call) && f->program->quorum == 0)
        oracle_fail(o, "job %s, rank %u, call %u: a sum of different calls", f->program->name, rank, call);
    else if (tensor != NULL)
        check_sum(o, f, rank, call, tensor);
}

void oracle_ended(struct formation *f, unsigned rank, bool well)
{
    f->rank[rank].ended = true;
    f->rank[rank].well = well;
    if (well)
        f->rank[rank].proved = f->rank[rank].succeeded;
}

void oracle_left_behind(struct formation *f, unsigned rank)
{
    f->rank[rank].left_behind = true;
}

enum { NAMED, TOLD_IN, TOLD_OUT, MAPS };

/* Who is in the chunk, by one of three accounts. */
static uint8_t *map_of(struct formation *f, const struct oracle_part *p, unsigned which)
{
    if (f->parts[p->call] == NULL) {
        f->parts[p->call] = memory_of(p->chunks * sizeof(*f->parts[0]));
        f->maps[p->call] = memory_of(p->chunks * MAPS * p->names_bytes);
    }
    return f->maps[p->call] + (p->chunk * MAPS + which) * p->names_bytes;
}

static bool accounts_agree(struct formation *f, const struct oracle_part *p)
{
    bool well = true;

    for (size_t i = 0; i < p->names_bytes && f->parts[p->call][p->chunk] != 0; i++) {
        const uint8_t names = map_of(f, p, NAMED)[i];
        well &= (map_of(f, p, TOLD_IN)[i] & ~names) == 0;
        well &= f->resumed || (map_of(f, p, TOLD_OUT)[i] & names) == 0;
    }
    return well;
}

bool oracle_has_part(struct formation *f, const struct oracle_part *p)
{
    const uint64_t digest = digest_of(p->sums, p->bytes) ^ digest_of(p->names, p->names_bytes) << 1;
    uint8_t *names = map_of(f, p, NAMED);
    uint64_t *known = &f->parts[p->call][p->chunk];

    if (*known == 0) {
        *known = digest;
        memcpy(names, p->names, p->names_bytes);
    }
    return *known == digest && accounts_agree(f, p);
}

bool oracle_misses_part(struct formation *f, const struct oracle_part *p, unsigned rank, bool is_in)
{
    map_of(f, p, is_in ? TOLD_IN : TOLD_OUT)[rank / 8] |= (uint8_t)(1u << rank % 8);
    return accounts_agree(f, p);
}

void oracle_killed(struct formation *f, unsigned rank)
{
    oracle_ended(f, rank, false);
    f->rank[rank].killed = true;
}

/* How many calls have at least been begun by as many ranks as a sum needs. */
static unsigned begun_by_enough(const struct formation *f)
{
    unsigned calls = 0, ranks;

    do {
        calls++;
        ranks = 0;
        for (unsigned r = 0; r < f->program->size; r++)
            ranks += f->rank[r].begun >= calls;
    } while (ranks >= program_needs(f->program));
    return calls - 1;
}

static void finish_formation(struct oracle *o, const struct formation *f, bool must_succeed)
{
    const unsigned bound = begun_by_enough(f);
    unsigned well = 0;

    for (unsigned r = 0; r < f->program->size; r++) {
        const struct oracle_life *life = &f->rank[r];
        well += life->well;
        if (life->proved > bound)
            oracle_fail(o,
                        "job %s, rank %u: %u calls succeeded, but not enough ranks have begun more than %u",
                        f->program->name, r, life->proved, bound);
        if (life->ready && !life->ended)
            oracle_fail(o, "job %s, rank %u: hangs in call %u", f->program->name, r, life->succeeded);
        if (must_succeed && !life->well && !life->killed && !life->left_behind)
            oracle_fail(o, "job %s, rank %u: failed in call %u for no good reason", f->program->name, r,
                        life->succeeded);
    }
    o->n.formations_well += well == f->program->size;
    o->n.formations_failed += well != f->program->size;
}

void oracle_finish(struct oracle *o, bool must_succeed)
{
    for (const struct formation *f = o->formations; f != NULL; f = f->next)
        finish_formation(o, f, must_succeed);
}
