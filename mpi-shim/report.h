/* The shim's messages: lines on stderr that begin with "swagg[RANK]: ". Any thread may call. */
#ifndef SHIM_REPORT_H
#define SHIM_REPORT_H

#include <mpi.h>

#include "swagg.h"

/* Lines above `level` are dropped from now on. Until then: rank 0, warnings and errors. */
void report_init(int rank, enum swagg_log_level level);

void report(enum swagg_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Its name for messages. */
const char *comm_name(MPI_Comm comm, char name[MPI_MAX_OBJECT_NAME]);

#endif
