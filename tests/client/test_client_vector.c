/* libswagg over real sockets against the loop switch: tensors posted together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "overlap.h"
#include "random.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

enum { GAP = 8 };

/* A tensor in n segments, in any order of memory, with gaps; every other one is summed in place. */
struct pieces {
    size_t n, element, bytes;
    struct swagg_segment *segment;
    uint8_t *memory, *before; /* sends and recvs; the same before the call */
    size_t memory_bytes;
};

/* Where to cut and in which order the pieces lie differs from rank to rank: that is each rank's own affair.
 */
static void choose_pieces(struct pieces *p, uint64_t *random, size_t count, size_t at[])
{
    size_t left = count, where = 0;
    for (size_t i = 0; i < p->n; i++) {
        size_t most = 2 * (left / (p->n - i)) + 1, take = i + 1 == p->n ? left : rng_below(random, most + 1);
        p->segment[i].count = take < left ? take : left;
        left -= p->segment[i].count;
        at[i] = i;
    }
    for (size_t i = p->n; i > 1; i--) {
        size_t other = rng_below(random, i), swap = at[i - 1];
        at[i - 1] = at[other];
        at[other] = swap;
    }
    for (size_t k = 0; k < p->n; k++) {
        struct swagg_segment *s = &p->segment[at[k]];
        bool in_place = at[k] % 2 == 0;
        s->send = p->memory + where;
        s->recv = in_place ? p->memory + where : p->memory + where + s->count * p->element + GAP;
        where += (in_place ? 1 : 2) * (s->count * p->element + GAP);
    }
}

static struct pieces cut(const struct crew_member *m, const struct tensor *t, size_t n)
{
    uint64_t random = t->seed + (uint64_t)m->rank;
    struct pieces p = {.n = n, .element = swagg_element_size(t->type, SWAGG_SUM)};
    p.bytes = t->count * p.element;
    p.memory_bytes = 2 * (p.bytes + n * GAP);
    p.segment = calloc(n + 1, sizeof *p.segment);
    p.memory = malloc(p.memory_bytes + 1);
    p.before = malloc(p.memory_bytes + 1);
    size_t *at = calloc(n + 1, sizeof *at);
    if (!p.segment || !p.memory || !p.before || !at)
        abort();
    memset(p.memory, 0xa5, p.memory_bytes);
    choose_pieces(&p, &random, t->count, at);
    free(at);
    uint8_t *flat = malloc(p.bytes + 1), *from = flat;
    tensor_fill(t, m->rank, flat);
    for (size_t i = 0; i < n; from += p.segment[i++].count * p.element)
        memcpy((void *)p.segment[i].send, from, p.segment[i].count * p.element);
    free(flat);
    memcpy(p.before, p.memory, p.memory_bytes);
    return p;
}

/* Whether the sums are right, and nothing else was written to. */
static bool is_summed(const struct crew_member *m, const struct tensor *t, const struct pieces *p)
{
    uint8_t *flat = malloc(p->bytes + 1), *to = flat;
    for (size_t i = 0; i < p->n; i++) {
        size_t bytes = p->segment[i].count * p->element;
        memcpy(to, p->segment[i].recv, bytes);
        memcpy(p->before + ((uint8_t *)p->segment[i].recv - p->memory), to, bytes);
        to += bytes;
    }
    bool right = tensor_is_result(t, m->crew->size, flat);
    free(flat);
    return right && memcmp(p->before, p->memory, p->memory_bytes) == 0;
}

static int sum_pieces(struct crew_member *m, const struct tensor *t, size_t n)
{
    struct pieces p = cut(m, t, n);
    int rc = swagg_allreducev(m->job, p.segment, n, t->type, SWAGG_SUM);
    if (rc == 0 && !is_summed(m, t, &p))
        rc = WRONG_SUM;
    free(p.segment);
    free(p.memory);
    free(p.before);
    return rc;
}

/* Around the boundaries of packets, in few and many pieces, the same number on each rank and not. */
static int sum_all_cuts(struct crew_member *m)
{
    static const enum swagg_type types[] = {SWAGG_I32, SWAGG_I64, SWAGG_F32, SWAGG_F64};
    static const size_t counts[] = {0, 1, 3, 180, 360, 361, 725, 1000, 10007}, cuts[] = {1, 2, 7, 100, 3000};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t n = 0; n < sizeof cuts / sizeof *cuts; n++) {
                struct tensor tensor = {.type = types[t], .count = counts[c], .seed = seed + c + n};
                int rc = sum_pieces(m, &tensor, cuts[n] + (c % 2 ? (size_t)m->rank : 0));
                if (rc < 0)
                    return rc;
            }
    return swagg_allreducev(m->job, NULL, 0, SWAGG_F32, SWAGG_SUM);
}

TEST(tensors_posted_together_are_summed)
{
    for (unsigned checksum = SWAGG_CHECKSUM_NONE; checksum <= SWAGG_CHECKSUM_CRC32C; checksum++) {
        struct crew crew = crew_of(3, the_switch, "vector", sum_all_cuts, NULL);
        crew.options.checksum = checksum;
        crew_succeed(&crew);
    }
}

static int sum_ten_thousand(struct crew_member *m)
{
    return sum_pieces(m, &(struct tensor){.type = SWAGG_F32, .count = 700000, .seed = seed}, 10000);
}

TEST(ten_thousand_survive_losses)
{
    struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = 0.02}}};
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed, .in = link, .out = link}, 2, "ten thousand",
                       sum_ten_thousand, NULL);
}

/* 161 of 10 elements: 1610 elements fit five packets, the first of them with 360, the others with 365. */
TEST(small_tensors_share_packets)
{
    float data[161][10] = {0};
    struct swagg_segment segments[161];
    struct swagg_job *job = NULL;
    struct crew one = crew_of(1, the_switch, "share", NULL, NULL);
    struct swagg_stats s = SWAGG_STATS_INIT;
    one.options.rank = 0;
    one.options.size = 1;
    for (unsigned i = 0; i < 161; i++)
        segments[i] = (struct swagg_segment){data[i], data[i], 10};
    CU_ASSERT_EQUAL_FATAL(swagg_open(&job, &one.options), 0);
    CU_ASSERT_EQUAL(swagg_allreducev(job, segments, 161, SWAGG_F32, SWAGG_SUM), 0);
    CU_ASSERT_EQUAL(swagg_get_stats(job, &s), 0);
    CU_ASSERT_EQUAL(s.packets_sent - s.retransmitted - s.probes, 5);
    CU_ASSERT_EQUAL(s.calls, 1);
    CU_ASSERT_EQUAL(s.elements, 1610);
    swagg_close(job);
}

/* To its peers a vector call is an allreduce of as many elements: rank 0 makes that one. */
static int sum_with_or_without(struct crew_member *m)
{
    struct tensor t = {.type = SWAGG_F64, .count = 5003, .seed = seed};
    return m->rank == 0 ? crew_sum(m, &t, -1, false) : sum_pieces(m, &t, 40);
}

TEST(a_plain_call_meets_a_vector_call)
{
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed}, 3, "both", sum_with_or_without, NULL);
}

static int differ(struct crew_member *m)
{
    float data[30] = {0};
    struct swagg_segment segments[] = {{data, data, 10}, {data + 10, data + 10, 10 + (size_t)m->rank}};
    return swagg_allreducev(m->job, segments, 2, SWAGG_F32, SWAGG_SUM);
}

TEST(a_mismatch_names_the_elements_in_all)
{
    struct crew crew = crew_of(2, the_switch, "differ", differ, NULL);
    crew_disagree(&crew, "allreduce of 20 float32", "allreduce of 21 float32");
}

/* Refused are calls that would read or write what they must not; a good one after them still works. */
static int call_badly(struct crew_member *m)
{
    float a[100] = {0}, b[100] = {0};
    const struct {
        struct swagg_segment segments[3];
        size_t n;
        const char *says;
    } bad[] = {
        {{{a, b, 1}, {NULL, b + 1, 1}}, 2, "segments[1]: send is NULL"},
        {{{a, b, 1}, {a, NULL, 1}}, 2, "segments[1]: recv is NULL"},
        {{{a, a, SIZE_MAX / 8}, {b, b, SIZE_MAX / 8}}, 2, "segments[1]: count is"},
        {{{a, a + 5, 10}}, 1, "segments[0]: send and recv overlap"},
        {{{a, b, 10}, {a, b + 20, 10}, {a, b + 9, 1}}, 3, "segments[0] and segments[2] overlap"},
        {{{a, a, 10}, {b, b, 10}, {a + 9, b + 10, 1}}, 3, "segments[0] and segments[2] overlap"},
        {{{a + 10, b, 10}, {a, a + 10, 10}}, 2, "segments[0] and segments[1] overlap"},
    };
    if (swagg_allreducev(m->job, NULL, 1, SWAGG_F32, SWAGG_SUM) != SWAGG_ERR_ARGUMENT)
        return SWAGG_ERR_SYSTEM;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int rc = swagg_allreducev(m->job, bad[i].segments, bad[i].n, SWAGG_F32, SWAGG_SUM);
        if (rc != SWAGG_ERR_ARGUMENT || !strstr(swagg_last_error(), bad[i].says)) {
            printf("\n    %zu: %d, %s\n", i, rc, swagg_last_error());
            return SWAGG_ERR_SYSTEM;
        }
    }
    /* What is only read may be read twice; what is empty overlaps nothing. */
    const struct swagg_segment good[] = {{a, b, 10}, {a + 5, b + 10, 10}, {b + 5, a + 7, 0}, {NULL, NULL, 0}};
    return swagg_allreducev(m->job, good, 4, SWAGG_F32, SWAGG_SUM);
}

TEST(bad_segments_are_named)
{
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed}, 1, "bad segments", call_badly, NULL);
}

/* Each pair of segments, one by one. */
static bool overlap_slowly(const struct swagg_segment s[], size_t n)
{
    uint8_t use[64] = {0}; /* of each place: 1 read, 2 received, of another segment or unequal */
    for (size_t i = 0; i < n; i++) {
        const uint8_t *send = s[i].send, *recv = s[i].recv;
        for (size_t e = 0; e < s[i].count; e++) {
            size_t place = (size_t)(uintptr_t)(recv + e);
            if (use[place] != 0)
                return true;
            use[place] = 2;
        }
        for (size_t e = 0; send != recv && e < s[i].count; e++) {
            size_t place = (size_t)(uintptr_t)(send + e);
            if (use[place] == 2)
                return true;
            use[place] = 1;
        }
    }
    return false;
}

TEST(overlaps_are_found)
{
    struct swagg_segment s[5];
    struct overlap_range scratch[10];
    struct overlap_pair pair;
    uint64_t random = seed;
    unsigned overlapping = 0;
    for (unsigned run = 0; run < 100000; run++) {
        size_t n = rng_below(&random, 6);
        for (size_t i = 0; i < n; i++) {
            uintptr_t send = 1 + rng_below(&random, 56);
            uintptr_t recv = rng_below(&random, 2) ? send : 1 + rng_below(&random, 56);
            s[i] = (struct swagg_segment){(void *)send, (void *)recv, rng_below(&random, 7)};
        }
        bool expected = overlap_slowly(s, n);
        CU_ASSERT_EQUAL_FATAL(overlap_find(s, n, 1, scratch, &pair), expected);
        overlapping += expected;
    }
    CU_ASSERT(overlapping > 10000 && overlapping < 90000);
}
