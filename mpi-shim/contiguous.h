/* Derived types that are, in memory, only elements of one named type, one after another: duplicates,
 * contiguous types, vectors without gaps, types resized to the size that they have, and such types of one
 * another; also Fortran's types by precision (MPI_Type_create_f90_real, ...). */
#pragma once

#include <mpi.h>
#include <stddef.h>

/* Before MPI_Finalize. */
void contiguous_exit(void);

/* The named type, and in *count how many of its elements one item of `type` has; MPI_DATATYPE_NULL: there is
 * no such type. Looked up once for each type, and kept as the type's attribute. Any thread. */
MPI_Datatype contiguous_of(MPI_Datatype type, size_t *count);
