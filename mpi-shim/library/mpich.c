#include "library.h"

#include <stdlib.h>
#include <string.h>

bool library_is(const char *version)
{
    static const char *const beginnings[] = {"MPICH", "Intel(R) MPI", "MVAPICH"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(version, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

bool library_takes_one_buffer(enum offered function, int count)
{
    (void)function, (void)count;
    return false;
}

const char *library_other_launcher(bool *first)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    *first = rank && atoi(rank) == 0;
    return size && atoi(size) > 1 ? "Open MPI's mpirun" : NULL;
}

/* It tells texts of classes of its own only. */
int library_add_error(int *code)
{
    int class, rc = PMPI_Add_error_class(&class);
    return rc == MPI_SUCCESS ? PMPI_Add_error_code(class, code) : rc;
}

/* MPICH 4.0 compares unsigned numbers as if they were signed, and takes bytes for bits only. */
bool library_differs(MPI_Datatype type, enum swagg_op op)
{
    static const MPI_Datatype not_signed[] = {
        MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
        MPI_UINT8_T,       MPI_UINT16_T,       MPI_UINT32_T, MPI_UINT64_T,      MPI_CHARACTER,
    };
    if (type == MPI_BYTE)
        return op != SWAGG_BAND && op != SWAGG_BOR && op != SWAGG_BXOR;
    for (size_t i = 0; i < sizeof not_signed / sizeof not_signed[0]; i++)
        if (type == not_signed[i])
            return op == SWAGG_MIN || op == SWAGG_MAX;
    return false;
}
