#include "blocks.h"

static int blocks_of(MPI_Comm comm)
{
    int between = 0, size = 0;
    if (!comm || comm == MPI_COMM_NULL)
        return 0;
    PMPI_Comm_test_inter(comm, &between);
    if (between)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}

static size_t positive(int count)
{
    return count > 0 ? (size_t)count : 0;
}

size_t blocks_alike(int count, MPI_Comm comm)
{
    return positive(count) * (size_t)blocks_of(comm);
}

size_t blocks_total(const int counts[], MPI_Comm comm)
{
    const int n = counts ? blocks_of(comm) : 0;
    size_t total = 0;
    for (int r = 0; r < n; r++)
        total += positive(counts[r]);
    return total;
}

int blocks_own(const int counts[], MPI_Comm comm)
{
    int rank;
    if (!counts || !comm || comm == MPI_COMM_NULL)
        return 0;
    PMPI_Comm_rank(comm, &rank);
    return counts[rank];
}

size_t blocks_size(size_t items, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (!type || type == MPI_DATATYPE_NULL)
        return 0;
    PMPI_Type_size_x(type, &size);
    return size > 0 ? items * (size_t)size : 0;
}

size_t blocks_bytes(const int counts[], const MPI_Datatype types[], MPI_Comm comm)
{
    const int n = counts && types ? blocks_of(comm) : 0;
    size_t bytes = 0;
    for (int r = 0; r < n; r++)
        bytes += blocks_size(positive(counts[r]), types[r]);
    return bytes;
}
