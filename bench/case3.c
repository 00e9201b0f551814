/* What calls take by which rank 0 gets the sum of all ranks' floats, under mpirun:
 *
 *     bench-case3 reduce|sends BYTES CALLS WARM-UPS
 *
 * reduce: MPI_Reduce. sends: all others send theirs to rank 0, which adds them and sends each the sum. A
 * call's time is the slowest rank's, from a barrier on. Rank 0 prints a row as mpi-perf's JSON has them. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

enum { TAG = 7, CALLS_MAX = 1000 };

struct bench {
    int rank, size, n;
    float *own, *sum, *got;
    long wrong;
};

/* Small whole numbers, whose sums are the same in any order. */
static float value(int rank, int i, int call)
{
    return (float)((i * 7919L + rank * 104729L + call) % 2003);
}

static void reduce(struct bench *b)
{
    MPI_Reduce(b->own, b->sum, b->n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void send_to_root(struct bench *b)
{
    MPI_Send(b->own, b->n, MPI_FLOAT, 0, TAG, MPI_COMM_WORLD);
    MPI_Recv(b->sum, b->n, MPI_FLOAT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void sends(struct bench *b)
{
    if (b->rank != 0) {
        send_to_root(b);
        return;
    }
    memcpy(b->sum, b->own, (size_t)b->n * sizeof(float));
    for (int other = 1; other < b->size; other++) {
        MPI_Recv(b->got, b->n, MPI_FLOAT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < b->n; i++)
            b->sum[i] += b->got[i];
    }
    for (int other = 1; other < b->size; other++)
        MPI_Send(b->sum, b->n, MPI_FLOAT, other, TAG, MPI_COMM_WORLD);
}

static bool is_wrong(const struct bench *b, int call)
{
    for (int i = 0; i < b->n; i++) {
        float want = 0;

        for (int rank = 0; rank < b->size; rank++)
            want += value(rank, i, call);
        if (b->sum[i] != want)
            return true;
    }
    return false;
}

/* us */
static double time_call(struct bench *b, void (*call)(struct bench *), int number, bool all_have_sums)
{
    double us, slowest;

    for (int i = 0; i < b->n; i++)
        b->own[i] = value(b->rank, i, number);
    MPI_Barrier(MPI_COMM_WORLD);
    us = now_ns();
    call(b);
    us = (now_ns() - us) / 1e3;
    b->wrong += (all_have_sums || b->rank == 0) && is_wrong(b, number);
    MPI_Allreduce(&us, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int run(struct bench *b, bool by_sends, int calls, int warmups)
{
    static double us[CALLS_MAX];

    for (int i = 0; i < warmups + calls; i++)
        us[i < warmups ? 0 : i - warmups] = time_call(b, by_sends ? sends : reduce, i, by_sends);
    MPI_Allreduce(MPI_IN_PLACE, &b->wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (b->rank == 0)
        printf("[{\"bytes\": %zu, \"median_us\": %.1f, \"wrong\": %ld}]\n", (size_t)b->n * sizeof(float),
               median(us, (size_t)calls), b->wrong);
    return b->wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const int calls = argc == 5 ? atoi(argv[3]) : 0, warmups = argc == 5 ? atoi(argv[4]) : 0;
    struct bench b = {.n = argc == 5 ? atoi(argv[2]) / (int)sizeof(float) : 0};
    int status;

    if (b.n < 1 || calls < 1 || calls > CALLS_MAX || warmups < 0) {
        fprintf(stderr, "usage: bench-case3 reduce|sends BYTES CALLS WARM-UPS\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.size);
    b.own = calloc((size_t)b.n, sizeof(float));
    b.sum = calloc((size_t)b.n, sizeof(float));
    b.got = calloc((size_t)b.n, sizeof(float));
    if (b.own == NULL || b.sum == NULL || b.got == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    status = run(&b, strcmp(argv[1], "sends") == 0, calls, warmups);
    free(b.own);
    free(b.sum);
    free(b.got);
    MPI_Finalize();
    return status;
}
