/* Sums of floats that are compressed (SWAGG_COMPRESSION=thc): about right, the same bits on all ranks, and
 * better on average over several calls than in one; small sums and those of doubles are exact. Natively, all
 * are. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100003, SMALL = 3000, CALLS = 8 };

/* About normal; multiples of 1/64, so that sums are exact in any order. */
static float element(int rank, int i)
{
    uint32_t x = (uint32_t)i * 2654435761u ^ (uint32_t)rank * 40503u;
    int sum = 0;
    for (int k = 0; k < 8; k++) {
        x = x * 1664525 + 1013904223;
        sum += (int)(x >> 26) - 32;
    }
    return (float)sum / 64;
}

static double exact(int size, int i)
{
    double sum = 0;
    for (int rank = 0; rank < size; rank++)
        sum += (double)element(rank, i);
    return sum;
}

/* The square of the error, by that of what should be. */
static double error_of(const double *got, int size, int calls)
{
    double error = 0, whole = 0;
    for (int i = 0; i < COUNT; i++) {
        const double right = calls * exact(size, i);
        error += (got[i] - right) * (got[i] - right);
        whole += right * right;
    }
    return error / whole;
}

static int differ(const float *out)
{
    uint64_t hash = 1, least, most;
    for (int i = 0; i < COUNT; i++) {
        uint32_t bits;
        memcpy(&bits, &out[i], sizeof bits);
        hash = hash * UINT64_C(0x100000001b3) ^ bits;
    }
    MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return least != most;
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    float *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out);
    double *total = calloc(COUNT, sizeof *total), *wide = malloc(COUNT * sizeof *wide);
    const int compressed = getenv("SWAGG_COMPRESSION") != NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; i++)
        in[i] = element(rank, i);
    double first = 0, mean = 0; /* errors of calls */
    for (int call = 0; call < CALLS; call++) {
        MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        wrong += differ(out);
        for (int i = 0; i < COUNT; i++) {
            wide[i] = (double)out[i];
            total[i] += wide[i];
        }
        const double error = error_of(wide, size, 1);
        first = call == 0 ? error : first;
        mean += error / CALLS;
    }
    const double all = error_of(total, size, CALLS);
    wrong += compressed ? !(first > 0 && first < 0.03 && all < first / 10) : first != 0 || all != 0;

    for (int i = 0; i < COUNT; i++)
        wide[i] = (double)in[i];
    MPI_Allreduce(MPI_IN_PLACE, wide, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(in, out, SMALL, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        wrong += !(fabs(wide[i] - exact(size, i)) == 0) || (i < SMALL && (double)out[i] != exact(size, i));
    printf("compressed: rank %d, %d wrong\n", rank, wrong);
    if (rank == 0)
        printf("compressed: a call errs by %.4g\n", mean);
    free(in);
    free(out);
    free(total);
    free(wide);
    MPI_Finalize();
    return wrong != 0;
}
