/* Broadcast, all-gather, gather, scatter, reduce-scatter and barrier, beside allreduces, of lengths around
 * the borders of packets, through losses; and how they are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

enum { MOST = 40000 };

/* What rank `from` sends in a call of this number. */
static void fill(uint8_t *to, int from, unsigned call, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)((i + 1) * (size_t)(from * 37 + 11) + call + (i >> 8));
}

static bool is_from(const uint8_t *at, int from, unsigned call, size_t bytes)
{
    static _Thread_local uint8_t right[MOST];

    fill(right, from, call, bytes);
    return memcmp(at, right, bytes) == 0;
}

struct buffers {
    uint8_t *send, *recv; /* of size * MOST bytes */
    bool posted;          /* calls are posted, and waited for */
};

static int ended(int rc, struct swagg_request *request)
{
    return rc < 0 ? rc : swagg_wait(&request);
}

static int broadcast(struct crew_member *m, struct buffers *b, unsigned call, size_t bytes)
{
    const int root = (int)(call % (unsigned)m->crew->size);

    if (m->rank == root)
        fill(b->recv, root, call, bytes);
    struct swagg_request *r = NULL;
    int rc = b->posted ? swagg_post_broadcast(m->job, b->recv, bytes, root, NULL, &r)
                       : swagg_broadcast(m->job, b->recv, bytes, root);
    rc = ended(rc, r);
    return rc == 0 && !is_from(b->recv, root, call, bytes) ? WRONG_SUM : rc;
}

static bool has_all(const struct crew_member *m, const uint8_t *at, unsigned call, size_t bytes)
{
    for (int r = 0; r < m->crew->size; r++)
        if (!is_from(at + (size_t)r * bytes, r, call, bytes))
            return false;
    return true;
}

static int allgather(struct crew_member *m, struct buffers *b, unsigned call, size_t bytes)
{
    uint8_t *own = call % 2 ? b->send : b->recv + (size_t)m->rank * bytes; /* where it goes */

    fill(own, m->rank, call, bytes);
    struct swagg_request *r = NULL;
    int rc = b->posted ? swagg_post_allgather(m->job, own, b->recv, bytes, NULL, &r)
                       : swagg_allgather(m->job, own, b->recv, bytes);
    rc = ended(rc, r);
    return rc == 0 && !has_all(m, b->recv, call, bytes) ? WRONG_SUM : rc;
}

static int allgatherv(struct crew_member *m, struct buffers *b, unsigned call, size_t bytes)
{
    size_t lengths[CREW_MAX], offsets[CREW_MAX];
    int rc;

    for (int r = 0; r < m->crew->size; r++) {
        lengths[r] = r % 2 ? bytes * (size_t)r / 3 : r == 2 ? 0 : bytes;
        offsets[r] = (size_t)(m->crew->size - 1 - r) * MOST + (unsigned)r;
    }
    fill(b->send, m->rank, call, lengths[m->rank]);
    memset(b->recv, 0x77, (size_t)m->crew->size * MOST);
    struct swagg_request *request = NULL;
    rc = b->posted ? swagg_post_allgatherv(m->job, b->send, b->recv, lengths, offsets, NULL, &request)
                   : swagg_allgatherv(m->job, b->send, b->recv, lengths, offsets);
    rc = ended(rc, request);
    for (int r = 0; r < m->crew->size && rc == 0; r++)
        if (!is_from(b->recv + offsets[r], r, call, lengths[r]) || b->recv[offsets[r] + lengths[r]] != 0x77)
            rc = WRONG_SUM;
    return rc;
}

static int gather(struct crew_member *m, struct buffers *b, unsigned call, size_t bytes)
{
    const int root = (int)(call % (unsigned)m->crew->size);

    fill(b->send, m->rank, call, bytes);
    const int rc = swagg_gather(m->job, b->send, m->rank == root ? b->recv : NULL, bytes, root);
    return rc == 0 && m->rank == root && !has_all(m, b->recv, call, bytes) ? WRONG_SUM : rc;
}

static int scatter(struct crew_member *m, struct buffers *b, unsigned call, size_t bytes)
{
    const int root = (int)(call % (unsigned)m->crew->size);

    for (int r = 0; r < m->crew->size; r++)
        fill(b->send + (size_t)r * bytes, r, call, bytes);
    const int rc = swagg_scatter(m->job, m->rank == root ? b->send : NULL, b->recv, bytes, root);
    return rc == 0 && !is_from(b->recv, m->rank, call, bytes) ? WRONG_SUM : rc;
}

/* Beside an allreduce of numbers whose sums are exact in any order. */
static int reduce_scatter(struct crew_member *m, struct buffers *b, unsigned call, size_t bytes)
{
    static const struct {
        enum swagg_type type;
        enum swagg_op op;
    } kinds[] = {{SWAGG_F32, SWAGG_SUM}, {SWAGG_I32, SWAGG_MAX}, {SWAGG_F32, SWAGG_AVG},
                 {SWAGG_F16, SWAGG_SUM}, {SWAGG_I32, SWAGG_SUM}, {SWAGG_F64, SWAGG_SUM}};
    const enum swagg_type type = kinds[call % 6].type;
    const enum swagg_op op = kinds[call % 6].op;
    const size_t element = swagg_element_size(type, op);
    const int size = m->crew->size;
    size_t counts[CREW_MAX], before = 0, total = 0;
    int rc;

    for (int r = 0; r < size; r++) {
        counts[r] = call % 2 ? bytes / element : bytes / element * (size_t)(r + 1) / (size_t)size;
        before += r < m->rank ? counts[r] : 0;
        total += counts[r];
    }
    const struct tensor t = {.type = type, .op = op, .count = total, .seed = call, .round = true};
    tensor_fill(&t, m->rank, b->send);
    rc = swagg_allreduce(m->job, b->send, b->recv, total, type, op);
    uint8_t *own = malloc(counts[m->rank] * element + 1);
    struct swagg_request *r = NULL;
    if (rc == 0 && b->posted)
        rc = call % 2 ? swagg_post_reduce_scatter_block(m->job, b->send, own, counts[0], type, op, NULL, &r)
                      : swagg_post_reduce_scatter(m->job, b->send, own, counts, type, op, NULL, &r);
    else if (rc == 0)
        rc = call % 2 ? swagg_reduce_scatter_block(m->job, b->send, own, counts[0], type, op)
                      : swagg_reduce_scatter(m->job, b->send, own, counts, type, op);
    rc = ended(rc, r);
    if (rc == 0 && memcmp(own, b->recv + before * element, counts[m->rank] * element) != 0)
        rc = WRONG_SUM;
    free(own);
    return rc;
}

static int barrier(struct crew_member *m, struct buffers *b, unsigned call, size_t bytes)
{
    struct swagg_request *r = NULL;

    (void)call, (void)bytes;
    const int rc = b->posted ? swagg_post_barrier(m->job, NULL, &r) : swagg_barrier(m->job);
    return ended(rc, r);
}

static int exchange_all(struct crew_member *m)
{
    static int (*const calls[])(struct crew_member *, struct buffers *, unsigned, size_t) = {
        broadcast, allgather, allgatherv, gather, scatter, reduce_scatter, barrier};
    static const size_t lengths[] = {0, 1, 8, 360, 1439, 1440, 1441, 2900, 10007, MOST - 8};
    const size_t room = (size_t)m->crew->size * MOST;
    struct buffers b = {malloc(room + CREW_MAX), malloc(room + CREW_MAX), m->crew->arg != NULL};
    unsigned number = 0;
    int rc = swagg_has_exchanges(m->job) == 1 ? 0 : WRONG_SUM;

    for (unsigned c = 0; c < sizeof calls / sizeof *calls; c++)
        for (unsigned l = 0; l < sizeof lengths / sizeof *lengths && rc == 0; l++)
            if ((rc = calls[c](m, &b, number++, lengths[l])) < 0)
                snprintf(m->error, sizeof m->error, "call %u, %zu bytes: %s", c, lengths[l],
                         swagg_last_error());
    free(b.send);
    free(b.recv);
    return rc;
}

TEST(all_that_is_exchanged_gets_where_it_belongs)
{
    for (int size = 1; size <= 4; size++) {
        struct crew crew = crew_of(size, the_switch, "exchange", exchange_all, NULL);
        crew.options.checksum = size % 2 ? SWAGG_CHECKSUM_CRC32C : SWAGG_CHECKSUM_NONE;
        crew.options.mode = size % 2 ? SWAGG_ON_ARRIVAL : SWAGG_ORDERED;
        crew_succeed(&crew);
    }
}

TEST(exchanges_survive_losses)
{
    struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = 0.02}}};
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed, .in = link, .out = link}, 3,
                       "lossy exchange", exchange_all, NULL);
}

TEST(exchanges_that_are_posted_are_the_same)
{
    for (int size = 2; size <= 3; size++) {
        struct crew crew = crew_of(size, the_switch, "posted exchange", exchange_all, the_switch);
        crew.options.progress_thread = size % 2 ? SWAGG_PROGRESS_THREAD_ON : SWAGG_PROGRESS_THREAD_OFF;
        crew_succeed(&crew);
    }
}

/* A broadcast, a reduce-scatter, an all-gather, a barrier and a sum, all in flight. */
enum { KINDS = 5, FLYING = 8 * KINDS, BLOCK = 2000 };

struct flying {
    struct swagg_request *request;
    uint8_t block[BLOCK], blocks[CREW_MAX * BLOCK];
};

static int launch(struct crew_member *m, struct flying *f, unsigned i)
{
    const int root = (int)(i % (unsigned)m->crew->size);

    fill(f->block, i % KINDS == 0 ? root : m->rank, i, BLOCK);
    switch (i % KINDS) {
    case 0:
        if (m->rank != root)
            memset(f->block, 0, BLOCK);
        return swagg_post_broadcast(m->job, f->block, BLOCK, root, NULL, &f->request);
    case 1:
        for (int r = 0; r < m->crew->size; r++)
            fill(f->blocks + r * BLOCK, r, i, BLOCK);
        return swagg_post_reduce_scatter_block(m->job, f->blocks, f->block, BLOCK, SWAGG_U8, SWAGG_BOR, NULL,
                                               &f->request);
    case 2:
        return swagg_post_allgather(m->job, f->block, f->blocks, BLOCK, NULL, &f->request);
    case 3:
        return swagg_post_barrier(m->job, NULL, &f->request);
    default:
        fill(f->block, 0, i, BLOCK);
        return swagg_post_allreduce(m->job, f->block, f->blocks, BLOCK, SWAGG_U8, SWAGG_BOR, NULL,
                                    &f->request);
    }
}

static bool is_landed(const struct crew_member *m, const struct flying *f, unsigned i)
{
    switch (i % KINDS) {
    case 0:
        return is_from(f->block, (int)(i % (unsigned)m->crew->size), i, BLOCK);
    case 1:
        return is_from(f->block, m->rank, i, BLOCK);
    case 2:
        return has_all(m, f->blocks, i, BLOCK);
    case 3:
        return true;
    default:
        return is_from(f->blocks, 0, i, BLOCK);
    }
}

static int fly(struct crew_member *m)
{
    struct flying *flying = calloc(FLYING, sizeof *flying);
    int rc = 0;

    for (unsigned i = 0; i < FLYING && rc == 0; i++)
        rc = launch(m, &flying[i], i);
    for (unsigned i = FLYING; i-- > 0 && rc == 0;) {
        rc = swagg_wait(&flying[i].request);
        if (rc == 0 && !is_landed(m, &flying[i], i))
            rc = WRONG_SUM;
    }
    free(flying);
    return rc;
}

TEST(exchanges_fly_beside_sums_and_land_in_any_order)
{
    struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = 0.01}}};
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed, .in = link, .out = link}, 3, "flying", fly,
                       NULL);
}

/* The ranks' blocks differ in length, not in all. */
static int gather_unlike(struct crew_member *m)
{
    const size_t lengths[] = {m->rank == 0 ? 1 : 2, m->rank == 0 ? 2 : 1};
    uint8_t send[2] = {0}, recv[3];

    return swagg_allgatherv(m->job, send, recv, lengths, NULL);
}

static int broadcast_unlike(struct crew_member *m)
{
    uint8_t buffer[2] = {0};

    return m->rank == 0 ? swagg_barrier(m->job) : swagg_broadcast(m->job, buffer, 2, 1);
}

TEST(ranks_that_call_different_things_are_told_both)
{
    struct crew crew = crew_of(2, the_switch, "unlike", gather_unlike, NULL);

    crew_disagree(&crew, "rank 0 called allgather of 3 bytes, blocks ",
                  "rank 1 called allgather of 3 bytes, blocks ");
    crew = crew_of(2, the_switch, "unlike", broadcast_unlike, NULL);
    crew_disagree(&crew, "rank 0 called barrier", "rank 1 called broadcast of 2 bytes from rank 1");
}

static bool is_refused(int rc, const char *words)
{
    return rc == SWAGG_ERR_ARGUMENT && strstr(swagg_last_error(), words) != NULL;
}

/* Arguments that are none change nothing. */
static int argue(struct crew_member *m)
{
    uint8_t x[64] = {0};
    const size_t counts[] = {4, 4}, huge[] = {SIZE_MAX / 2, SIZE_MAX / 2}, before[] = {(size_t)-4, 8};
    struct swagg_job *job = m->job;
    const bool right =
        is_refused(swagg_broadcast(NULL, x, 4, 0), "job is NULL") &&
        is_refused(swagg_broadcast(job, NULL, 4, 0), "buffer is NULL") &&
        is_refused(swagg_broadcast(job, x, 4, 2), "root is 2: it must be 0 to 1") &&
        is_refused(swagg_allgather(job, x + 2, x, 4), "overlap") &&
        is_refused(swagg_allgather(job, x, x + 8, SIZE_MAX), "fits no address space") &&
        is_refused(swagg_allgatherv(job, x, x + 8, NULL, NULL), "bytes is NULL") &&
        is_refused(swagg_allgatherv(job, x, x + 8, huge, NULL), "fits no address space") &&
        is_refused(swagg_allgatherv(job, x, x + 8, counts, before), "offsets[0]") &&
        is_refused(swagg_gather(job, NULL, x, 4, 0), "send is NULL") &&
        is_refused(swagg_scatter(job, x, NULL, 4, 0), "recv is NULL") &&
        is_refused(swagg_reduce_scatter(job, x, x + 4, counts, SWAGG_F32, SWAGG_SUM), "overlap") &&
        is_refused(swagg_reduce_scatter(job, x, x + 32, counts, SWAGG_F32, SWAGG_BAND),
                   "there is no operation");

    return right ? swagg_barrier(job) : WRONG_SUM;
}

TEST(wrong_arguments_change_nothing)
{
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed}, 2, "arguments", argue, NULL);
}

/* arg: words of why there are none; a barrier there is, but with a quorum. */
static int miss(struct crew_member *m)
{
    uint8_t x[16] = {0};
    const char *words = m->crew->arg;

    if (swagg_has_exchanges(m->job) != 0 || !is_refused(swagg_broadcast(m->job, x, 4, 0), words) ||
        !is_refused(swagg_reduce_scatter_block(m->job, x, x + 8, 1, SWAGG_F32, SWAGG_SUM), words))
        return WRONG_SUM;
    if (m->crew->options.quorum != 0)
        return is_refused(swagg_barrier(m->job), "no barrier") ? 0 : WRONG_SUM;
    return swagg_barrier(m->job);
}

TEST(jobs_that_cannot_say_so)
{
    struct crew crew = crew_of(2, the_switch, "scaled", miss, "numbers travel scaled");

    crew.options.numbers = SWAGG_NUMBERS_INT32;
    crew_succeed(&crew);
    crew = crew_of(2, the_switch, "scaled halves", miss, "numbers travel scaled");
    crew.options.numbers = SWAGG_NUMBERS_FP16;
    crew_succeed(&crew);
    crew = crew_of(2, the_switch, "quorum", miss, "without options.quorum");
    crew.options.quorum = 1;
    crew_succeed(&crew);
}
