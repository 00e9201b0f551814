/* What options.compression and its companions come to. */
#include "errors.h"
#include "monotonic.h"
#include "options.h"
#include "thc/codec.h"

enum {
    DEFAULT_BITS = 4,
    DEFAULT_GRANULARITY = 30, /* the paper's, section 8 */
    DEFAULT_CLAMPED_ONE_IN = 32,
    DEFAULT_BLOCK = 4096,
    DEFAULT_LEAST = 16384,
    DEFAULT_FEEDBACK_BYTES = 1 << 30,
    CLAMPED_ONE_IN_MOST = 1 << 20,
};

static int check(const char *what, int value, int least, int most)
{
    if (value == 0 || (value >= least && value <= most))
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT, "options.%s is %d: it must be %d to %d, or 0 for the default",
                       what, value, least, most);
}

static int check_block(int block)
{
    if (block == 0 || (block >= THC_LEAST_BLOCK && block <= THC_MOST_BLOCK && (block & (block - 1)) == 0))
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT,
                       "options.thc_block is %d: it must be a power of two, %d to %d, or 0 for the default",
                       block, THC_LEAST_BLOCK, THC_MOST_BLOCK);
}

static unsigned or_default(int value, unsigned otherwise)
{
    return value ? (unsigned)value : otherwise;
}

/* The width of sums, and the granularity, from what was said of them: sums of 8 bits where they have room for
 * a table, and as fine a one as is usual. */
static int choose_sums(struct client_compression *out, const struct swagg_options *in)
{
    const unsigned ranks = (unsigned)in->size, least = (1u << out->table.bits) - 1;
    const unsigned fine = or_default(in->thc_granularity, DEFAULT_GRANULARITY);
    const unsigned needed = in->thc_granularity ? fine : least;
    unsigned bits = (unsigned)in->thc_sum_bits;

    if (bits == 0)
        bits = thc_granularity_for(ranks, 8) >= needed ? 8 : 16;
    const unsigned fits = thc_granularity_for(ranks, bits);
    if (fits < needed)
        return client_fail(
            SWAGG_ERR_ARGUMENT,
            "options: %u bits with a granularity of %u take more than sums of %u bits for %u ranks, which "
            "fit a granularity of %u at most: lower thc_granularity or thc_bits%s",
            out->table.bits, needed, bits, ranks, fits, bits == 8 ? ", or set thc_sum_bits to 16" : "");
    out->sum_bits = (uint8_t)bits;
    out->table.granularity = (uint8_t)(fine < fits ? fine : fits);
    return SWAGG_OK;
}

/* Numbers with a scale have packets of their own, and calls that are looked up are typed ones. */
static int check_together(const struct swagg_options *in)
{
    if (in->numbers == SWAGG_NUMBERS_NATIVE)
        return SWAGG_OK;
    return client_fail(
        SWAGG_ERR_ARGUMENT,
        "options.compression and options.numbers exclude each other: leave one of them at its default");
}

static int check_exact(const struct swagg_options *in)
{
    if (in->best_effort_ms == 0)
        return SWAGG_OK;
    return client_fail(
        SWAGG_ERR_ARGUMENT,
        "options.best_effort_ms is for compressed calls: set options.compression, or leave it 0");
}

int client_compression_resolve(struct client_compression *out, const struct swagg_options *in)
{
    int rc;

    *out = (struct client_compression){.on = in->compression != SWAGG_COMPRESSION_NONE};
    if (!out->on)
        return check_exact(in);
    if ((rc = check_together(in)) || (rc = check("thc_bits", in->thc_bits, 1, THC_MOST_BITS)) ||
        (rc = check("thc_clamped_one_in", in->thc_clamped_one_in, 2, CLAMPED_ONE_IN_MOST)) ||
        (rc = check_block(in->thc_block)) ||
        (rc = check("best_effort_ms", in->best_effort_ms, 1, INT32_MAX)) ||
        (rc = check("compress_least", in->compress_least, 1, INT32_MAX)))
        return rc;
    if (in->thc_sum_bits != 0 && in->thc_sum_bits != 8 && in->thc_sum_bits != 16)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.thc_sum_bits is %d: it must be 8, 16, or 0 for what fits",
                           in->thc_sum_bits);
    out->table.bits = (uint8_t)or_default(in->thc_bits, DEFAULT_BITS);
    rc = check("thc_granularity", in->thc_granularity, (1 << out->table.bits) - 1, THC_MOST_GRANULARITY);
    if (rc < 0 || (rc = choose_sums(out, in)) < 0)
        return rc;
    out->one_in = or_default(in->thc_clamped_one_in, DEFAULT_CLAMPED_ONE_IN);
    out->table.fraction = 1.0 / out->one_in;
    out->block = or_default(in->thc_block, DEFAULT_BLOCK);
    out->least = or_default(in->compress_least, DEFAULT_LEAST);
    out->feedback = in->feedback == SWAGG_FEEDBACK_BY_TENSOR;
    out->feedback_bytes = in->feedback_bytes ? in->feedback_bytes : DEFAULT_FEEDBACK_BYTES;
    out->patience_ns = (uint64_t)in->best_effort_ms * NS_PER_MS;
    thc_table_solve(&out->table);
    return SWAGG_OK;
}

struct sml_table client_compression_table(const struct client_compression *c)
{
    struct sml_table t = {0};

    if (!c->on)
        return t;
    t.code = (uint8_t)(c->table.bits | (c->sum_bits == 16 ? SML_WIDE_SUMS : 0));
    for (unsigned i = 0; i < 1u << c->table.bits; i++)
        t.values[i] = c->table.value[i];
    return t;
}

uint32_t client_compression_rest(const struct client_compression *c)
{
    return c->on ? c->one_in << 8 | (uint32_t)__builtin_ctz(c->block) : 0;
}
