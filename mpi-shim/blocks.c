#include "blocks.h"

static int own_group(MPI_Comm comm)
{
    int size = 0;
    if (comm && comm != MPI_COMM_NULL)
        PMPI_Comm_size(comm, &size);
    return size;
}

static int blocks_of(MPI_Comm comm)
{
    int between = 0, size = 0;
    if (!comm || comm == MPI_COMM_NULL)
        return 0;
    PMPI_Comm_test_inter(comm, &between);
    if (!between)
        return own_group(comm);
    PMPI_Comm_remote_size(comm, &size);
    return size;
}

static size_t positive(int count)
{
    return count > 0 ? (size_t)count : 0;
}

static size_t total(const int counts[], int n)
{
    size_t items = 0;
    for (int r = 0; r < n; r++)
        items += positive(counts[r]);
    return items;
}

size_t blocks_alike(int count, MPI_Comm comm)
{
    return positive(count) * (size_t)blocks_of(comm);
}

size_t blocks_total(const int counts[], MPI_Comm comm)
{
    return counts ? total(counts, blocks_of(comm)) : 0;
}

size_t blocks_scattered(const int counts[], int count, MPI_Comm comm)
{
    return counts ? total(counts, own_group(comm)) : positive(count) * (size_t)own_group(comm);
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
