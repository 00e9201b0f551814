/* Sums of floats whose numbers travel with a scale (SWAGG_NUMBERS=int32 or fp16): within the bound of the
 * paper's theorems, the same bits on all ranks, and a NaN is not lost. Natively, they are as exact as floats
 * are. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100003, NAN_AT = 50000 };

/* Of every order of magnitude, with |x| < 2^EXPONENT. */
enum { EXPONENT = 10 };
static float element(int rank, int i)
{
    const uint32_t random = (uint32_t)(i * 2654435761u) ^ (uint32_t)(rank * 40503u);
    return ldexpf((float)(int)(random % 4001) - 2000, EXPONENT - 11 - i / 1000 % 20);
}

/* For n ranks: what rounding to integers or halves does, and the switch's rounding of halves. */
static double bound(const char *numbers, int n, double sum)
{
    const double unit = ldexp(1, EXPONENT), floats = (n + 1) * fabs(sum) * 0x1p-24 + n * unit * 0x1p-23;

    if (numbers != NULL && strcmp(numbers, "int32") == 0)
        return floats + n * n * unit / INT32_MAX;
    if (numbers != NULL && strcmp(numbers, "fp16") == 0)
        return floats + n * unit * 0x1p-12 + n * n * unit * 0x1p-24 + fabs(sum) * 0x1p-11 + unit * 0x1p-25;
    return floats;
}

/* A block with a NaN is NaN, and blocks are packets; far from it nothing is. */
static int wrong_elements(const float *got, int size)
{
    const char *numbers = getenv("SWAGG_NUMBERS");
    int wrong = !isnan(got[NAN_AT]);

    for (int i = 0; i < COUNT; i++) {
        double sum = 0;
        if (abs(i - NAN_AT) <= 8960)
            continue;
        for (int rank = 0; rank < size; rank++)
            sum += (double)element(rank, i);
        wrong += !(fabs((double)got[i] - sum) <= bound(numbers, size, sum));
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, wrong;
    float *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out);
    int *integers = malloc(COUNT * sizeof *integers);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; i++) {
        in[i] = element(rank, i);
        integers[i] = i * (rank + 1);
    }
    if (rank == 1)
        in[NAN_AT] = NAN;
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    wrong = wrong_elements(out, size);
    float *first = malloc(COUNT * sizeof *first);
    memcpy(first, out, COUNT * sizeof *first);
    MPI_Bcast(first, COUNT, MPI_FLOAT, 0, MPI_COMM_WORLD);
    wrong += memcmp(first, out, COUNT * sizeof *first) != 0;
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : in, rank == 0 ? in : NULL, COUNT, MPI_FLOAT, MPI_SUM, 0,
               MPI_COMM_WORLD);
    if (rank == 0)
        wrong += wrong_elements(in, size);
    MPI_Allreduce(MPI_IN_PLACE, integers, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        wrong += integers[i] != i * (size * (size + 1) / 2);
    printf("numbers: rank %d, %d wrong\n", rank, wrong);
    free(in);
    free(out);
    free(first);
    free(integers);
    MPI_Finalize();
    return wrong != 0;
}
