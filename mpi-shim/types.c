#include "types.h"

#include <stdbool.h>
#include <stddef.h>

static bool any_of(MPI_Datatype type, const MPI_Datatype *list, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (list[i] == type)
            return true;
    return false;
}

enum swagg_type type_in_switch(MPI_Datatype type)
{
    /* The size says which width: Fortran's INTEGER and REAL are 4 or 8 bytes, as Open MPI was built. */
    const MPI_Datatype integers[] = {
        MPI_INT,     MPI_LONG,    MPI_LONG_LONG_INT, MPI_INT32_T,
        MPI_INT64_T, MPI_INTEGER, MPI_INTEGER4,      MPI_INTEGER8,
    };
    const MPI_Datatype reals[] = {
        MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_DOUBLE_PRECISION,
    };
    bool integer = any_of(type, integers, sizeof integers / sizeof integers[0]);
    int size;
    if (!integer && !any_of(type, reals, sizeof reals / sizeof reals[0]))
        return 0;
    PMPI_Type_size(type, &size);
    switch (size) {
    case 4:
        return integer ? SWAGG_I32 : SWAGG_F32;
    case 8:
        return integer ? SWAGG_I64 : SWAGG_F64;
    default:
        return 0;
    }
}
