/* The functions that the preload's own hide. Found once, when the library is loaded. */
#pragma once

#include "native.h"

struct behind {
    int (*init)(int *argc, char ***argv);
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*finalize)(void);
    struct native collectives;
};

extern struct behind behind_mpi;  /* behind MPI_X: a tracer's, if one is loaded after the preload */
extern struct behind behind_pmpi; /* behind PMPI_X: the MPI library's own */

/* The version of the program's MPI library, in its own words: not that of the one which the preload brings
 * in, if the program comes with another whose functions are found first. Empty: it says nothing. */
const char *behind_version(void);
