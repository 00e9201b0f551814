/* Derived types that are, in memory, nothing but elements of one named type, one behind the other:
 * duplicates, contiguous types, vectors without gaps, types resized to what they are, and these of one
 * another; also the types by precision that Fortran asks for (MPI_Type_create_f90_real, ...). */
#ifndef SHIM_CONTIGUOUS_H
#define SHIM_CONTIGUOUS_H

#include <mpi.h>
#include <stddef.h>

/* After MPI_Init and before MPI_Finalize. The first returns an MPI error code. */
int contiguous_init(void);
void contiguous_exit(void);

/* The named type, and in *count how many of it one item of `type` has; MPI_DATATYPE_NULL where there is no
 * such. Looked up once for each type, and kept as its attribute. Any thread. */
MPI_Datatype contiguous_of(MPI_Datatype type, size_t *count);

#endif
