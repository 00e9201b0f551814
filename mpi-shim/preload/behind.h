/* The functions that the preload's own hide. Found once, when the library is loaded. */
#pragma once

#include <stdbool.h>

#include "native.h"

struct behind {
    int (*init)(int *argc, char ***argv);
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*finalize)(void);
    struct native collectives;
};

extern struct behind behind_mpi;  /* behind MPI_X: a tracer's, if one is loaded after the preload */
extern struct behind behind_pmpi; /* behind PMPI_X: the MPI library's own */

/* What all of Open MPI's functions call an error handler by, the predefined ones, too; NULL where there is
 * none. */
extern int (*behind_invoke_handler)(void *handler, void *object, int type, int error, const char *message);

/* Whether the program's MPI library is Open MPI: the preload brings that in, but a program may come with
 * another whose functions are found first. */
bool behind_is_open_mpi(void);

/* Whether Open MPI checks arguments: MCA parameter mpi_param_check. After MPI_Init. */
bool behind_checks_arguments(void);
