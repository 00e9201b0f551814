#include "thc/codec.h"

#include <string.h>

const struct thc_loops *thc_loops_for(const struct agg_kernels *kernels)
{
    const struct thc_loops *l;

    for (unsigned i = 0; (l = thc_loops_here(i)) != NULL; i++)
        if (strcmp(l->name, kernels->name) == 0)
            return l;
    return &thc_loops_scalar;
}

static void make_steps(struct thc_steps *s, const struct thc_table *t)
{
    const unsigned last = (1u << t->bits) - 1;

    s->granularity = t->granularity;
    for (unsigned i = 0; i < last; i++) {
        s->value[i] = t->value[i];
        s->by_step[i] = 0x1p24f * (1.f / (float)(t->value[i + 1] - t->value[i]));
    }
    for (unsigned i = 0; i < THC_MOST_VALUES - 2; i++)
        memset(s->below[i], i + 1 < last ? t->value[i + 1] - 129 : INT8_MAX, sizeof s->below[i]);
}

static float by_root_of(uint32_t block)
{
    const unsigned bits = (unsigned)__builtin_ctz(block);
    float by_root = bits % 2 != 0 ? 0x1.6a09e6p-1f : 1;

    for (unsigned i = 0; i < bits / 2; i++)
        by_root /= 2;
    return by_root;
}

bool thc_codec_init(struct thc_codec *c, const struct thc_table *table, uint32_t block,
                    const struct agg_kernels *kernels)
{
    if (block < THC_LEAST_BLOCK || block > THC_MOST_BLOCK || (block & (block - 1)) != 0 ||
        !thc_table_can(table))
        return false;
    *c = (struct thc_codec){.table = *table,
                            .block = block,
                            .loops = thc_loops_for(kernels),
                            .by_root = by_root_of(block),
                            .bound = (float)thc_table_bound(table)};
    make_steps(&c->steps, table);
    return true;
}

void thc_codec_resize(struct thc_codec *c, uint32_t block)
{
    c->block = block;
    c->by_root = by_root_of(block);
}

float thc_norm(const struct thc_codec *c, const float *block)
{
    return c->loops->norm(block, c->block);
}

float thc_transform(const struct thc_codec *c, float *block, uint64_t seed)
{
    c->loops->flip(block, c->block, seed);
    c->loops->hadamard(block, c->block, c->by_root);
    return thc_norm(c, block);
}

void thc_transform_back(const struct thc_codec *c, float *block, uint64_t seed)
{
    c->loops->hadamard(block, c->block, c->by_root);
    c->loops->flip(block, c->block, seed);
}

/* What one table value more is worth. A norm of 0 makes all floats 0, whatever the sums are. */
static float worth(const struct thc_codec *c, float norm)
{
    return 2 * c->bound * c->by_root / c->steps.granularity * norm;
}

void thc_encode(const struct thc_codec *c, uint8_t *packed, const float *block, float norm, uint32_t key)
{
    const float value = worth(c, norm);

    c->loops->quantise(packed, block, c->block, c->table.bits, &c->steps, value > 0 ? 1 / value : 0, key);
}

void thc_subtract(const struct thc_codec *c, float *block, const uint8_t *packed, float norm)
{
    c->loops->subtract(block, packed, c->block, c->table.bits, c->table.value, c->steps.granularity / 2,
                       worth(c, norm));
}

void thc_add8(const struct thc_codec *c, uint8_t *sums, const uint8_t *packed)
{
    c->loops->add8(sums, packed, c->block, c->table.bits, c->table.value);
}

void thc_add16(const struct thc_codec *c, uint16_t *sums, const uint8_t *packed)
{
    c->loops->add16(sums, packed, c->block, c->table.bits, c->table.value);
}

void thc_decode(const struct thc_codec *c, float *at, const void *sums, unsigned sum_bits, uint32_t floats,
                unsigned workers, float norm)
{
    const float middle = c->steps.granularity / 2 * (float)workers, factor = worth(c, norm) / (float)workers;

    if (sum_bits == 8)
        c->loops->decode8(at, sums, floats, middle, factor);
    else
        c->loops->decode16(at, sums, floats, middle, factor);
}

void thc_decode8(const struct thc_codec *c, float *block, const uint8_t *sums, unsigned workers, float norm)
{
    thc_decode(c, block, sums, 8, c->block, workers, norm);
}

void thc_decode16(const struct thc_codec *c, float *block, const uint16_t *sums, unsigned workers, float norm)
{
    thc_decode(c, block, sums, 16, c->block, workers, norm);
}
