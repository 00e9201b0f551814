#include "world.h"

#include <stdlib.h>

#include "report.h"

int *world_ranks(MPI_Comm comm)
{
    MPI_Group group, world;
    int size;
    PMPI_Comm_size(comm, &size);
    int *ranks = allocate_or_abort(comm, 2 * (size_t)size * sizeof *ranks, "a list of ranks"),
        *own = ranks + size;
    for (int r = 0; r < size; r++)
        own[r] = r;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, size, own, world, ranks);
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return ranks;
}
