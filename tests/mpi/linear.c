/* A program that reduces to rank 0, and talks about other things in between: linear CALLS FLOATS [any]. Every
 * sum must have the bits of Open MPI's linear reduce, which adds from the highest rank down; no other order
 * gives them. With the other traffic a part of MPI's messages is short, long, of a tag of the program's own,
 * from the root, and of other collectives.
 *
 * any: numbers whose sums are the same in any order. CALLS 0: for ever; rank 0 tells of every tenth. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OTHER = 50000, TAG = 5 };

static int rank, size;
static bool any_order;
static long wrong;

static float value(int r, int i, long call)
{
    if (any_order)
        return (float)((i * 7919L + r * 104729L + call) % 2003);
    return (float)((i * 7919L + r * 104729L + call * 31) % 1000003) / 997 - 400;
}

static float expected(int i, long call)
{
    float sum = value(size - 1, i, call);

    for (int r = size - 2; r >= 0; r--)
        sum += value(r, i, call);
    return sum;
}

static void reduce(float *own, float *sum, int n, long call, bool in_place)
{
    for (int i = 0; i < n; i++)
        own[i] = value(rank, i, call);
    memset(sum, 0x55, (size_t)n * sizeof(*sum));
    if (in_place && rank == 0) {
        memcpy(sum, own, (size_t)n * sizeof(*sum));
        MPI_Reduce(MPI_IN_PLACE, sum, n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    } else {
        MPI_Reduce(own, sum, n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; rank == 0 && i < n; i++) {
        const float want = expected(i, call);

        if (memcmp(&want, &sum[i], sizeof(want)) != 0) {
            printf("call %ld: element %d is %a, not %a\n", call, i, (double)sum[i], (double)want);
            wrong++;
            return;
        }
    }
}

/* Around a ring, and from the root. */
static void talk(float *own, float *other, long call)
{
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;

    own[0] = (float)(rank + call);
    MPI_Sendrecv(own, OTHER, MPI_FLOAT, next, TAG, other, OTHER, MPI_FLOAT, before, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    wrong += other[0] != (float)(before + call);
    other[1] = (float)call;
    MPI_Bcast(other, OTHER, MPI_FLOAT, 0, MPI_COMM_WORLD);
    wrong += other[1] != (float)call;
    MPI_Allreduce(MPI_IN_PLACE, own, 100, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    wrong += own[0] != (float)(size - 1 + call);
    reduce(own, other, 1000, call, false); /* short: without a rendezvous */
}

int main(int argc, char **argv)
{
    const long calls = argc > 2 ? atol(argv[1]) : 10;
    const int n = argc > 2 ? atoi(argv[2]) : 100000, room = n > OTHER ? n : OTHER;
    float *own = malloc((size_t)room * sizeof(*own)), *sum = malloc((size_t)room * sizeof(*sum));

    any_order = argc > 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (own == NULL || sum == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (long call = 0; calls == 0 || call < calls; call++) {
        reduce(own, sum, n, call, call % 3 == 1);
        if (call % 10 == 9)
            talk(own, sum, call);
        if (calls == 0 && rank == 0 && call % 10 == 0) {
            printf("call %ld, %ld wrong\n", call, wrong);
            fflush(stdout);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld calls, %ld wrong\n", calls, wrong);
    free(own);
    free(sum);
    MPI_Finalize();
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
