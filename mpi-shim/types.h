/* Which MPI data types the switch can add. */
#ifndef SHIM_TYPES_H
#define SHIM_TYPES_H

#include <mpi.h>

#include "swagg.h"

/* The type that libswagg calls it; 0 where it has none. Only named types count: a derived type, even
 * MPI_Type_dup's, may have holes and stays with Open MPI. */
enum swagg_type type_in_switch(MPI_Datatype type);

#endif
