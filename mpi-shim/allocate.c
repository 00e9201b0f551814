#include "allocate.h"

#include <stdlib.h>

#include "report.h"

void *allocate_or_abort(MPI_Comm comm, size_t bytes, const char *what)
{
    void *memory = calloc(1, bytes);
    if (memory)
        return memory;
    report(SWAGG_LOG_ERROR, "no memory for %s (%zu bytes): the program cannot go on", what, bytes);
    PMPI_Abort(comm, EXIT_FAILURE);
    exit(EXIT_FAILURE);
}
