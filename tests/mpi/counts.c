/* Four times each of the collectives whose blocks get counts, and no other. */
#include <mpi.h>
#include <stdio.h>

enum { TIMES = 4, EACH = 4 };

int main(int argc, char **argv)
{
    static const int counts[4] = {EACH, EACH, EACH, EACH}, places[4] = {0, EACH, 2 * EACH, 3 * EACH};
    int rank, in[4 * EACH], out[4 * EACH], wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4 * EACH; i++)
        in[i] = rank;
    for (int time = 0; time < TIMES; time++) {
        MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < EACH; i++)
            wrong += out[i] != 0 + 1 + 2 + 3;
        MPI_Allgatherv(in, EACH, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < 4 * EACH; i++)
            wrong += out[i] != i / EACH;
    }
    printf("counts: rank %d: %d wrong\n", rank, wrong);
    MPI_Finalize();
    return wrong != 0;
}
