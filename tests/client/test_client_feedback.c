/* Error feedback, without a switch. In jobs with a quorum: what ranks contribute is, call by call, in a sum
 * or in what some rank keeps for the next one, once; whoever is in whose sums, and whoever cannot have them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compress.h"
#include "kernels_chosen.h"
#include "look_up.h"
#include "random.h"
#include "transfer/chunks.h"
#include "unit.h"

enum { RANKS = 4, FLOATS = 3000, CALLS = 12, CHUNK_BYTES = 212, CHUNKS_MAX = 64 };

struct rank {
    struct compress compress;
    struct compress_call *call; /* the last */
    float in[FLOATS], out[FLOATS];
    struct xfer_segment segment;
};

struct crew {
    uint64_t random;
    struct rank rank[RANKS];
    double contributed[FLOATS], summed[FLOATS];
};

static void open_ranks(struct crew *crew)
{
    struct swagg_options wish = SWAGG_OPTIONS_DEFAULT;
    struct client_options options = {.size = RANKS, .quorum = 1};

    wish.size = RANKS;
    wish.compression = SWAGG_COMPRESSION_THC;
    CU_ASSERT_EQUAL_FATAL(client_compression_resolve(&options.compression, &wish), 0);
    for (unsigned r = 0; r < RANKS; r++) {
        options.rank = (uint16_t)r;
        compress_open(&crew->rank[r].compress, &options, kernels_or_exit());
    }
}

static void begin(struct rank *k)
{
    k->call = compress_begin(&k->compress, &k->segment, 1, false, CHUNK_BYTES, &(struct compress_how){0});
    CU_ASSERT_FATAL(k->call != NULL);
    compress_norm(&k->compress, k->call, UINT64_MAX);
}

static void encode(struct rank *k)
{
    compress_encode(&k->compress, k->call, UINT64_MAX, UINT64_MAX);
}

/* Of a call that ends without sums. */
static void encode_only(struct rank *k)
{
    encode(k);
    compress_give_up(k->call);
}

static void contribute(struct crew *crew, unsigned r)
{
    struct rank *k = &crew->rank[r];

    for (unsigned i = 0; i < FLOATS; i++) {
        k->in[i] = (float)rng_below(&crew->random, 2001) / 1000 - 1 + (float)r;
        crew->contributed[i] += (double)k->in[i];
    }
    k->segment = (struct xfer_segment){.in = k->in, .out = k->out, .count = FLOATS};
    begin(k);
}

static void agree_on_norms(struct crew *crew)
{
    const struct compress_call *first = crew->rank[0].call;
    float largest[FLOATS] = {0};

    for (uint64_t k = 0; k < first->parts; k++)
        for (unsigned r = 0; r < RANKS; r++) {
            const float norm = crew->rank[r].call->norms[k];
            largest[k] = norm > largest[k] ? norm : largest[k];
        }
    for (unsigned r = 0; r < RANKS; r++) {
        struct compress_call *c = crew->rank[r].call;
        const uint64_t chunks = xfer_chunk_count(CHUNK_BYTES, sizeof(float), c->parts * sizeof(float));
        memcpy(c->norms, largest, c->parts * sizeof(float));
        for (uint64_t i = 0; i < chunks; i++)
            c->norm_roll[i] = (struct xfer_roll){.ranks = RANKS, .mine = 1};
        encode(&crew->rank[r]);
    }
}

/* A chunk of some ranks' indices. Rank 0 has the sum, others may not. */
static void sum_chunk(struct crew *crew, uint64_t chunk, uint64_t from, uint64_t elements)
{
    const struct client_compression *o = &crew->rank[0].compress.options;
    const struct sml_table table = sml_table_of(&o->table, o->sum_bits);
    const struct sml_element e = sml_element_of(table.code);
    const unsigned names = 1 + (unsigned)rng_below(&crew->random, (1 << RANKS) - 1);
    uint8_t sums[CHUNK_BYTES] = {0};

    for (unsigned r = 0; r < RANKS; r++)
        if (names >> r & 1)
            look_up_add(&table, sums, crew->rank[r].call->packed + from * e.in, elements);
    for (unsigned r = 0; r < RANKS; r++) {
        struct compress_call *c = crew->rank[r].call;
        const bool has = r == 0 || rng_below(&crew->random, 3) > 0;
        memcpy(c->sums + from * e.out, sums, elements * e.out);
        c->roll[chunk] =
            (struct xfer_roll){.ranks = has ? __builtin_popcount(names) & 0x7fff : 0, .mine = names >> r & 1};
    }
}

static void sum(struct crew *crew)
{
    const struct xfer_call call = compress_call_indices(&crew->rank[0].compress, crew->rank[0].call);
    const size_t out = sml_element_of(call.type).out;
    const uint64_t chunks = xfer_chunk_count(CHUNK_BYTES, out, call.count * out);

    for (uint64_t i = 0; i < chunks; i++) {
        uint64_t offset;
        size_t bytes;
        xfer_chunk_span(CHUNK_BYTES, out, call.count * out, i, &offset, &bytes);
        sum_chunk(crew, i, offset / out, bytes / out);
    }
    for (unsigned r = 0; r < RANKS; r++)
        compress_end(&crew->rank[r].compress, crew->rank[r].call, &(struct xfer_turnout){0});
    for (unsigned i = 0; i < FLOATS; i++)
        crew->summed[i] += (double)crew->rank[0].out[i];
}

TEST(nothing_is_lost_and_nothing_counts_twice)
{
    struct crew *crew = calloc(1, sizeof *crew);
    double worst = 0;

    crew->random = rng_seed(1);
    open_ranks(crew);
    for (unsigned call = 0; call < CALLS; call++) {
        for (unsigned r = 0; r < RANKS; r++)
            contribute(crew, r);
        agree_on_norms(crew);
        sum(crew);
    }
    for (unsigned i = 0; i < FLOATS; i++) {
        double all = crew->summed[i];
        for (unsigned r = 0; r < RANKS; r++)
            all += (double)crew->rank[r].call->left_out[i];
        const double error = fabs(all - crew->contributed[i]);
        worst = error > worst ? error : worst;
    }
    printf("(%g) ", worst);
    CU_ASSERT(worst < 0.01); /* what floats round */
    for (unsigned r = 0; r < RANKS; r++)
        compress_close(&crew->rank[r].compress);
    free(crew);
}

static double square_of(const float *x, const float *y, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
    return sum;
}

/* The norms of a tensor's second call are those of what is sent: with what the first has left out. */
static void check_norms(const struct rank *k, const float *left_out)
{
    const struct compress_call *c = k->call;
    uint64_t part = 0;

    for (struct thc_part p = {0}; part < c->parts; part++, p.at += p.block) {
        double sum = 0;
        p = thc_part_at(FLOATS, k->compress.options.block, p.at);
        for (uint32_t i = 0; i < p.used; i++) {
            const double sent = (double)k->in[p.at + i] + (double)left_out[p.at + i];
            sum += sent * sent;
        }
        CU_ASSERT_DOUBLE_EQUAL((double)c->norms[part] * (double)c->norms[part], sum, sum / 1e5);
    }
}

/* A call leaves out what its indices lack, and adds what the call before has left out. By the difference it
 * errs. Of a block that is no number nothing is kept. */
TEST(the_second_call_makes_good_for_the_first)
{
    static const float zeros[FLOATS];
    static float before[FLOATS];
    struct crew *crew = calloc(1, sizeof *crew);
    struct rank *k = &crew->rank[0];
    const struct compress *c = &k->compress;

    crew->random = rng_seed(1);
    open_ranks(crew);
    contribute(crew, 0);
    encode_only(k);
    memcpy(before, k->call->left_out, sizeof before);
    const double first = square_of(before, zeros, FLOATS);
    CU_ASSERT(first > 1);
    CU_ASSERT_DOUBLE_EQUAL(c->error2, first, first / 1e5);

    contribute(crew, 0);
    check_norms(k, before);
    encode_only(k);
    const double second = square_of(k->call->left_out, before, FLOATS);
    CU_ASSERT_DOUBLE_EQUAL(c->error2 - first, second, second / 1e5);

    const uint32_t whole = thc_part_at(FLOATS, c->options.block, 0).block;
    k->in[whole - 1] = NAN;
    CU_ASSERT_FATAL(whole < FLOATS);
    begin(k);
    encode_only(k);
    CU_ASSERT_EQUAL(memcmp(k->call->left_out, zeros, whole * sizeof(float)), 0);
    CU_ASSERT(square_of(k->call->left_out + whole, zeros, FLOATS - whole) > 0);
    for (unsigned r = 0; r < RANKS; r++)
        compress_close(&crew->rank[r].compress);
    free(crew);
}
