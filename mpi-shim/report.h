/* The shim's messages: lines on stderr that begin with "swagg[RANK]: ". Any thread may call. */
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "swagg.h"

/* Lines above `level` are dropped from now on. Until then: rank 0, warnings and errors. */
void report_init(int rank, enum swagg_log_level level);

void report(enum swagg_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Its name for messages. */
const char *comm_name(MPI_Comm comm, char name[MPI_MAX_OBJECT_NAME]);

/* A communicator in words: its name and how many ranks it has. */
enum { COMM_LABEL_MAX = MPI_MAX_OBJECT_NAME + 32 };

struct comm_label {
    char text[COMM_LABEL_MAX]; /* "MPI_COMM_WORLD of 4 ranks" */
    uint64_t hash;             /* of the text, not 0 */
};

void comm_label_of(MPI_Comm comm, struct comm_label *label);

/* Zeroed bytes; never NULL. Without them this rank could not take part in what the other ranks of comm are
 * about to agree on, so the program ends with a message that says what they were for. The caller's, to be
 * given to free(). */
void *allocate_or_abort(MPI_Comm comm, size_t bytes, const char *what);
