/* A library to preload behind the shim: it counts how often functions of Open MPI's own are called that do
 * nearly the same. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#define COUNTED(name, parameters, arguments)                                                                 \
    static int count_##name;                                                                                 \
    int PMPI_##name parameters                                                                               \
    {                                                                                                        \
        int(*own) parameters;                                                                                \
        *(void **)&own = dlsym(RTLD_NEXT, "PMPI_" #name);                                                    \
        count_##name++;                                                                                      \
        return own arguments;                                                                                \
    }

COUNTED(Allgather,
        (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count, MPI_Datatype type,
         MPI_Comm comm),
        (send, send_count, send_type, recv, count, type, comm))
COUNTED(Allgatherv,
        (const void *send, int send_count, MPI_Datatype send_type, void *recv, const int counts[],
         const int places[], MPI_Datatype type, MPI_Comm comm),
        (send, send_count, send_type, recv, counts, places, type, comm))
COUNTED(Reduce_scatter,
        (const void *send, void *recv, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (send, recv, counts, type, op, comm))
COUNTED(Reduce_scatter_block,
        (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (send, recv, count, type, op, comm))

int MPI_Finalize(void)
{
    printf("own functions: %d MPI_Allgather, %d MPI_Allgatherv, %d MPI_Reduce_scatter, "
           "%d MPI_Reduce_scatter_block\n",
           count_Allgather, count_Allgatherv, count_Reduce_scatter, count_Reduce_scatter_block);
    return PMPI_Finalize();
}
