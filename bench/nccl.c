/* What NCCL's plugin costs: calls through its table beside the same of libswagg. One process a rank:
 *
 *     bench-nccl SWITCH_IP RANK SIZE ROUNDS
 *
 * Each round takes, of an allreduce of 4 MiB, an all-gather and a reduce-scatter of as much, the time of
 * CALLS by libswagg and of CALLS by the table, as NCCL calls it: posted, and asked for until they have ended.
 * Both jobs have a progress thread. Rank 0 prints the rounds' seconds a call, as JSON. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_abi.h"
#include "swagg.h"
#include "timing.h"

enum { ROUNDS_MAX = 99, RANKS_MAX = 64, FLOATS = 1 << 20, CALLS = 5 };

enum what { ALLREDUCE, ALLGATHER, REDUCE_SCATTER, WHATS };
static const char *const names[WHATS] = {"allreduce", "allgather", "reduce_scatter"};

static float whole[FLOATS], part[FLOATS];

struct bench {
    struct swagg_job *job;
    void *comm;
    int rank, size;
    size_t each; /* floats of a rank's part */
};

static int by_libswagg(const struct bench *b, enum what what)
{
    struct swagg_request *request;
    int rc;

    if (what == ALLREDUCE)
        rc = swagg_post_allreduce(b->job, whole, whole, FLOATS, SWAGG_F32, SWAGG_MAX, NULL, &request);
    else if (what == ALLGATHER)
        rc = swagg_post_allgather(b->job, part, whole, b->each * sizeof *part, NULL, &request);
    else
        rc = swagg_post_reduce_scatter_block(b->job, whole, part, b->each, SWAGG_F32, SWAGG_MAX, NULL,
                                             &request);
    while (rc >= 0 && (rc = swagg_test(&request)) == SWAGG_IN_PROGRESS)
        sched_yield();
    return rc;
}

static enum nccl_result begin(const struct bench *b, enum what what, void **request)
{
    const struct nccl_collnet *coll = &ncclCollNetPlugin_v8;
    const size_t bytes = b->each * sizeof *part, all = bytes * (size_t)b->size;
    struct nccl_part window = {.address = whole, .size = (uint32_t)all};

    if (what == ALLREDUCE)
        return coll->iallreduce(b->comm, whole, whole, FLOATS, NCCL_FLOAT32, NCCL_MAX, NULL, NULL, request);
    if (what == ALLGATHER)
        return coll->iallgather(b->comm, part, 1, &window, bytes, 0, all, NULL, request);
    return coll->ireducescatter(b->comm, 1, &window, part, bytes, 0, all, NCCL_FLOAT32, NCCL_MAX, NULL,
                                request);
}

static int by_table(const struct bench *b, enum what what)
{
    void *request = NULL;
    enum nccl_result rc = begin(b, what, &request);

    for (int done = 0; !rc && !done; sched_yield())
        rc = ncclCollNetPlugin_v8.test(request, &done, NULL);
    return rc ? SWAGG_ERR_ABORTED : SWAGG_OK;
}

/* Seconds a call, on the slowest rank. */
static int measure(const struct bench *b, enum what what, int (*call)(const struct bench *, enum what),
                   double *took)
{
    int rc = swagg_barrier(b->job);
    const double began = now_ns();

    for (int i = 0; rc == SWAGG_OK && i < CALLS; i++)
        rc = call(b, what);
    *took = (now_ns() - began) / 1e9 / CALLS;
    return rc < 0 ? rc : swagg_allreduce(b->job, took, took, 1, SWAGG_F64, SWAGG_MAX);
}

/* NCCL carries handles to all ranks; here a job of libswagg's does. */
static int connect_all(struct bench *b)
{
    static char handles[RANKS_MAX][NCCL_HANDLE_MAX], own[NCCL_HANDLE_MAX];
    void *at[RANKS_MAX], *listening;

    if (ncclCollNetPlugin_v8.init(NULL) || ncclCollNetPlugin_v8.listen(0, own, &listening))
        return SWAGG_ERR_ABORTED;
    const int rc = swagg_allgather(b->job, own, handles, sizeof own);
    for (int r = 0; r < b->size; r++)
        at[r] = handles[r];
    return rc < 0                                                                    ? rc
           : ncclCollNetPlugin_v8.connect(at, b->size, b->rank, listening, &b->comm) ? SWAGG_ERR_ABORTED
                                                                                     : 0;
}

static void print(double seconds[WHATS][2][ROUNDS_MAX], int rounds)
{
    for (enum what what = 0; what < WHATS; what++)
        for (int way = 0; way < 2; way++) {
            printf("%s\"%s_%s_s\": [", what == 0 && way == 0 ? "{" : ", ", names[what],
                   way ? "table" : "libswagg");
            for (int i = 0; i < rounds; i++)
                printf("%s%.6f", i > 0 ? ", " : "", seconds[what][way][i]);
            printf("]");
        }
    printf("}\n");
}

int main(int argc, char *argv[])
{
    static double seconds[WHATS][2][ROUNDS_MAX];
    struct swagg_options o = SWAGG_OPTIONS_DEFAULT;
    const int rounds = argc == 5 ? atoi(argv[4]) : 0;

    if (rounds < 1 || rounds > ROUNDS_MAX || atoi(argv[3]) > RANKS_MAX) {
        fprintf(stderr, "usage: bench-nccl SWITCH_IP RANK SIZE ROUNDS   (1 to %d rounds, up to %d ranks)\n",
                ROUNDS_MAX, RANKS_MAX);
        return 2;
    }
    setenv("SWAGG_SWITCH", argv[1], 1);
    setenv("SWAGG_LOCAL", "off", 1); /* each rank is a host, as NCCL has it */
    o.local = SWAGG_LOCAL_OFF;
    o.switch_ip = argv[1];
    o.job = "nccl";
    o.rank = atoi(argv[2]);
    o.size = atoi(argv[3]);
    o.progress_thread = SWAGG_PROGRESS_THREAD_ON;
    struct bench b = {.rank = o.rank, .size = o.size, .each = FLOATS / (size_t)o.size};
    double unused;
    int rc = swagg_open(&b.job, &o);
    if (rc == SWAGG_OK)
        rc = connect_all(&b);
    for (int i = -1; rc >= 0 && i < rounds; i++) /* the first finds the windows */
        for (enum what what = 0; rc >= 0 && what < WHATS; what++)
            for (int turn = 0; rc >= 0 && turn < 2; turn++) {
                const int way = (i + turn) & 1; /* each is the first in half of the rounds */
                rc =
                    measure(&b, what, way ? by_table : by_libswagg, i < 0 ? &unused : &seconds[what][way][i]);
            }
    if (rc < 0)
        fprintf(stderr, "bench-nccl: %s: %s\n", swagg_strerror(rc), swagg_last_error());
    else if (o.rank == 0)
        print(seconds, rounds);
    if (b.comm)
        ncclCollNetPlugin_v8.close_coll(b.comm);
    swagg_close(b.job);
    return rc < 0;
}
