#include "program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "sim.h"

void program_fini(struct program *p)
{
    for (unsigned c = 0; c < p->calls; c++)
        free(p->expected[c]);
}

struct sml_call program_call(const struct program *p, unsigned rank, unsigned call)
{
    struct sml_call c = p->call[call];

    if (p->deviation.rank != rank || p->deviation.call != call)
        return c;
    switch (p->deviation.kind) {
    case DEVIATION_COUNT:
        c.count++;
        break;
    case DEVIATION_TYPE:
        c.type = c.type == AGG_F32 ? AGG_I32 : AGG_F32;
        break;
    case DEVIATION_COLLECTIVE:
        c.root = c.collective == SML_REDUCE ? 0 : (uint32_t)rank;
        c.collective = c.collective == SML_REDUCE ? SML_ALLREDUCE : SML_REDUCE;
        break;
    default:
        break;
    }
    return c;
}

bool program_has_mismatch(const struct program *p, unsigned call)
{
    return p->deviation.kind >= DEVIATION_COUNT && p->deviation.kind <= DEVIATION_COLLECTIVE &&
           p->deviation.call == call;
}

static uint64_t rng_of(const struct program *p, unsigned rank, unsigned call)
{
    return p->seed ^ (uint64_t)rank << 40 ^ (uint64_t)call << 20;
}

uint64_t program_compute(const struct program *p, unsigned rank, unsigned call)
{
    uint64_t r = rng_of(p, rank, call + PROGRAM_CALLS_MAX);

    return p->compute_ns == 0 ? 0 : rng_below(&r, rng_below(&r, p->compute_ns) + 1);
}

/* Reads or writes one element as a double, or for the integers as what a double of small whole numbers holds.
 */
static double get(const uint8_t *tensor, unsigned type, uint64_t i)
{
    switch (type) {
    case AGG_I32:
        return ((const int32_t *)tensor)[i];
    case AGG_I64:
        return (double)((const int64_t *)tensor)[i];
    case AGG_F32:
        return ((const float *)tensor)[i];
    default:
        return ((const double *)tensor)[i];
    }
}

static void put(uint8_t *tensor, unsigned type, uint64_t i, double value)
{
    switch (type) {
    case AGG_I32:
        ((int32_t *)tensor)[i] = (int32_t)value;
        break;
    case AGG_I64:
        ((int64_t *)tensor)[i] = (int64_t)value;
        break;
    case AGG_F32:
        ((float *)tensor)[i] = (float)value;
        break;
    default:
        ((double *)tensor)[i] = value;
    }
}

static bool is_float(unsigned type)
{
    return type == AGG_F32 || type == AGG_F64;
}

void program_fill(const struct program *p, unsigned rank, unsigned call, uint8_t *tensor)
{
    struct sml_call c = program_call(p, rank, call);
    uint64_t r = rng_of(p, rank, call);
    bool whole = p->whole || !is_float(c.type);

    for (uint64_t i = 0; i < c.count; i++) {
        double x = (double)rng_below(&r, 2000001) - 1000000;
        put(tensor, c.type, i, whole ? x : ldexp(x / 3, (int)rng_below(&r, 20)));
    }
}

/* Adds in the type itself, rank after rank. */
static void add(uint8_t *sum, const uint8_t *in, unsigned type, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (type == AGG_F32)
            ((float *)sum)[i] += ((const float *)in)[i];
        else
            put(sum, type, i, get(sum, type, i) + get(in, type, i));
}

static const uint8_t *expected(struct program *p, unsigned call)
{
    const struct sml_call *c = &p->call[call];
    size_t bytes = c->count * agg_element_size(c->type, c->op);

    if (p->expected[call] == NULL) {
        uint8_t *in = memory_of(bytes);
        p->expected[call] = memory_of(bytes);
        program_fill(p, 0, call, p->expected[call]);
        for (unsigned r = 1; r < p->size; r++) {
            program_fill(p, r, call, in);
            add(p->expected[call], in, c->type, c->count);
        }
        free(in);
    }
    return p->expected[call];
}

bool program_check(struct program *p, unsigned call, const uint8_t *tensor)
{
    const struct sml_call *c = &p->call[call];
    const uint8_t *sum = expected(p, call);

    if (p->whole || !is_float(c->type) || p->mode == SML_ORDERED)
        return memcmp(tensor, sum, c->count * agg_element_size(c->type, c->op)) == 0;
    double epsilon = c->type == AGG_F32 ? 0x1p-23 : 0x1p-52, largest = ldexp(1e6 / 3, 20) * p->size;
    for (uint64_t i = 0; i < c->count; i++)
        if (!(fabs(get(tensor, c->type, i) - get(sum, c->type, i)) <= largest * epsilon * p->size))
            return false;
    return true;
}
