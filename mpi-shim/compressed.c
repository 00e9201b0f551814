#include "compressed.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>

void compressed_text(const struct compressed *mine, char *text, size_t size)
{
    double squares[2] = {mine->error2, mine->sum2}, all[2] = {0, 0};
    uint64_t most = 0;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(squares, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&mine->calls, &most, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    *text = '\0';
    if (rank == 0 && most > 0)
        snprintf(text, size,
                 "SWAGG_COMPRESSION=thc: the sums of %" PRIu64
                 " calls were approximate: they erred by %.3g of their own "
                 "square (NMSE), on average",
                 most, all[1] > 0 ? all[0] / all[1] : 0);
}
