#include "program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"
#include "look_up.h"
#include "memory.h"
#include "reference.h"
#include "sim.h"

enum { OTHERS_COMPUTE = 16 /* times shorter than the slow rank */ };

void program_fini(struct program *p)
{
    for (unsigned c = 0; c < p->calls; c++) {
        free(p->expected[c]);
        free(p->parts[c]);
    }
}

struct xfer_call program_call(const struct program *p, unsigned rank, unsigned call)
{
    struct xfer_call c = p->call[call];

    if (p->deviation.rank != rank || p->deviation.call != call)
        return c;
    switch (p->deviation.kind) {
    case DEVIATION_COUNT:
        c.count++;
        break;
    case DEVIATION_TYPE:
        c.op = AGG_SUM;
        c.type = c.type == AGG_F32 ? AGG_I32 : AGG_F32;
        c.root = c.collective == XFER_REDUCE ? c.root : 0;
        break;
    case DEVIATION_COLLECTIVE:
        c.root = c.collective == XFER_REDUCE ? 0 : (uint32_t)rank;
        c.collective = c.collective == XFER_REDUCE ? XFER_ALLREDUCE : XFER_REDUCE;
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

bool program_is_agreed(const struct program *p, unsigned call)
{
    const enum program_deviation kind = p->deviation.kind;

    return kind < DEVIATION_COUNT || kind > DEVIATION_COLLECTIVE || p->deviation.call > call;
}

static uint64_t rng_of(const struct program *p, unsigned rank, unsigned call)
{
    return p->seed ^ (uint64_t)rank << 40 ^ (uint64_t)call << 20;
}

uint64_t program_compute(const struct program *p, unsigned rank, unsigned call)
{
    uint64_t r = rng_of(p, rank, call + PROGRAM_CALLS_MAX);
    const uint64_t most = p->quorum != 0 && rank != p->slow ? p->compute_ns / OTHERS_COMPUTE : p->compute_ns;

    return most == 0 ? 0 : rng_below(&r, rng_below(&r, most) + 1);
}

static bool is_integer(unsigned type)
{
    return type != AGG_F32 && type != AGG_F64 && type < AGG_F16;
}

/* Floats that travel as integers with a scale. */
static bool is_scaled(const struct program *p, const struct xfer_call *c)
{
    return xfer_has_exponents(p->format) && c->type != AGG_I32;
}

/* Sums of a dozen of those fit. */
static double scaled_most(unsigned type)
{
    return type == AGG_F16 ? 200 * 16 : 1e6 * (1 << 19);
}

static float scaled_get(unsigned type, const uint8_t *tensor, uint64_t i)
{
    uint16_t half;
    float x;

    memcpy(&half, tensor + 2 * i, sizeof half);
    if (type == AGG_F16)
        return agg_half_to_float(half);
    memcpy(&x, tensor + 4 * i, sizeof x);
    return x;
}

static void fill_scaled(const struct program *p, unsigned rank, unsigned call, uint8_t *tensor)
{
    const bool half = p->call[call].type == AGG_F16;
    const unsigned digits = half ? 400 : 2000000, exponents = half ? 5 : 20;
    uint64_t r = rng_of(p, rank, call);

    for (uint64_t i = 0; i < p->call[call].count; i++) {
        const double part = (double)rng_below(&r, digits + 1u) - digits / 2.0;
        const float x = (float)ldexp(part, (int)rng_below(&r, exponents));
        const uint16_t narrow = agg_float_to_half(x);

        memcpy(tensor + (half ? 2 : 4) * i, half ? (const void *)&narrow : (const void *)&x, half ? 2 : 4);
    }
}

void program_fill(const struct program *p, unsigned rank, unsigned call, uint8_t *tensor)
{
    struct xfer_call c = program_call(p, rank, call);
    uint64_t r = rng_of(p, rank, call);

    if (is_scaled(p, &c)) {
        fill_scaled(p, rank, call, tensor);
        return;
    }
    if (!sml_looks_up(agg_code(c.type, c.op)))
        reference_fill(agg_code(c.type, c.op), &r, p->whole, tensor, c.count);
    for (size_t i = 0; c.op == SML_LOOK_UP && i < c.count * program_element(&c).in; i++)
        tensor[i] = (uint8_t)rng_next(&r);
}

/* To be freed. */
static uint8_t *look_up(const struct program *p, unsigned call)
{
    const struct xfer_call *c = &p->call[call];
    const struct sml_element e = program_element(c);
    uint8_t *in = memory_of(c->count * e.in), *sums = memory_of(c->count * e.out);

    memset(sums, 0, c->count * e.out);
    for (unsigned r = 0; r < p->size; r++) {
        program_fill(p, r, call, in);
        look_up_add(&p->table, sums, in, c->count);
    }
    free(in);
    return sums;
}

static bool check_looked_up(const struct program *p, unsigned call, const uint8_t *tensor)
{
    const struct xfer_call *c = &p->call[call];
    uint8_t *sums = look_up(p, call);
    const bool right = memcmp(sums, tensor, c->count * program_element(c).out) == 0;

    free(sums);
    return right;
}

void program_supply(const struct program *p, unsigned call, uint64_t offset, size_t bytes, uint8_t *sums)
{
    uint8_t *right = look_up(p, call);

    memcpy(sums + offset, right + offset, bytes);
    free(right);
}

/* Of all ranks, in[rank]. To be freed. */
static uint8_t *contributions(const struct program *p, unsigned call)
{
    const struct xfer_call *c = &p->call[call];
    const size_t bytes = c->count * program_element(c).in;
    uint8_t *all = memory_of(p->size * bytes);

    for (unsigned r = 0; r < p->size; r++)
        program_fill(p, r, call, all + r * bytes);
    return all;
}

static const uint8_t *expected(struct program *p, unsigned call)
{
    const struct xfer_call *c = &p->call[call];
    const unsigned code = agg_code(c->type, c->op);
    const size_t bytes = c->count * agg_element_size(c->type, c->op);

    if (p->expected[call] == NULL) {
        const void *in[CTL_RANKS_MAX];
        uint8_t *all = contributions(p, call);
        p->expected[call] = memory_of(bytes);
        for (unsigned r = 0; r < p->size; r++)
            in[r] = all + r * bytes;
        if (p->size == 1)
            memcpy(p->expected[call], all, bytes);
        else
            reference_reduce(code, p->expected[call], in, p->size, c->count);
        free(all);
    }
    return p->expected[call];
}

/* As the theorems say, with the largest elements that there may be in a block, and what floats round. */
static double scaled_bound(const struct program *p, unsigned type)
{
    const double n = p->size, block = 2 * scaled_most(type);

    return n * (p->format == XFER_FORMAT_INT32 ? n * block / INT32_MAX : ldexp(block, -10)) +
           n * block * (type == AGG_F16 ? 0x1p-11 : 0x1p-23);
}

static bool check_scaled(const struct program *p, unsigned call, const uint8_t *tensor)
{
    const struct xfer_call *c = &p->call[call];
    const double bound = scaled_bound(p, c->type), parts = c->op == AGG_AVG ? p->size : 1;
    uint8_t *in = memory_of(c->count * sizeof(float));
    double *sum = memory_of(c->count * sizeof *sum);
    bool right = true;

    memset(sum, 0, c->count * sizeof *sum);
    for (unsigned r = 0; r < p->size; r++) {
        fill_scaled(p, r, call, in);
        for (uint64_t i = 0; i < c->count; i++)
            sum[i] += (double)scaled_get(c->type, in, i);
    }
    for (uint64_t i = 0; i < c->count; i++)
        right &= fabs((double)scaled_get(c->type, tensor, i) * parts - sum[i]) <= bound;
    free(in);
    free(sum);
    return right;
}

bool program_check(struct program *p, unsigned call, const uint8_t *tensor)
{
    const struct xfer_call *c = &p->call[call];
    const unsigned code = agg_code(c->type, c->op);

    if (sml_looks_up(agg_code(c->type, c->op)))
        return check_looked_up(p, call, tensor);
    if (is_scaled(p, c))
        return check_scaled(p, call, tensor);
    if ((p->mode == XFER_ORDERED && !p->tree) || is_integer(c->type))
        return reference_same(code, tensor, expected(p, call), c->count);
    return !p->whole || reference_equal(code, tensor, expected(p, call), c->count);
}

/* Where the contributions of those who are named begin, at this element; returns how many they are. */
static unsigned parts_of(struct program *p, unsigned call, uint64_t from, const uint8_t *names,
                         const void *in[])
{
    const struct xfer_call *c = &p->call[call];
    const size_t element = program_element(c).in;
    unsigned n = 0;

    if (p->parts[call] == NULL)
        p->parts[call] = contributions(p, call);
    for (unsigned r = 0; r < p->size; r++)
        if (names[r / 8] >> r % 8 & 1)
            in[n++] = p->parts[call] + (r * c->count + from) * element;
    return n;
}

bool program_check_some(struct program *p, unsigned call, uint64_t from, uint64_t n, const uint8_t *names,
                        const uint8_t *sums)
{
    const struct xfer_call *c = &p->call[call];
    const unsigned code = agg_code(c->type, c->op);
    const void *in[CTL_RANKS_MAX];
    const unsigned ranks = parts_of(p, call, from, names, in);
    uint8_t *right = memory_of(n * program_element(c).out);
    bool same;

    if (sml_looks_up(code)) {
        for (unsigned i = 0; i < ranks; i++)
            look_up_add(&p->table, right, in[i], n);
        same = memcmp(right, sums, n * program_element(c).out) == 0;
    } else {
        if (ranks == 1) /* as it is */
            memcpy(right, in[0], n * program_element(c).in);
        else
            reference_reduce(code, right, in, ranks, n);
        same = p->mode == XFER_ORDERED || is_integer(c->type)
                   ? reference_same(code, sums, right, n)
                   : !p->whole || reference_equal(code, sums, right, n);
    }
    free(right);
    return same;
}
