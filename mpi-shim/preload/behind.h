/* The functions that the preload's own hide. Found once, when the library is loaded. */
#pragma once

#include "native.h"

/* What starts requests, completes them and tells about them: names and parameters. */
/* clang-format off */
#define REQUESTS(X)                                                                                          \
    X(Wait, (MPI_Request *request, MPI_Status *status))                                                      \
    X(Test, (MPI_Request *request, int *flag, MPI_Status *status))                                           \
    X(Waitany, (int n, MPI_Request requests[], int *index, MPI_Status *status))                              \
    X(Testany, (int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status))                   \
    X(Waitsome, (int n, MPI_Request requests[], int *ended, int indices[], MPI_Status statuses[]))           \
    X(Testsome, (int n, MPI_Request requests[], int *ended, int indices[], MPI_Status statuses[]))           \
    X(Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]))                                       \
    X(Testall, (int n, MPI_Request requests[], int *flag, MPI_Status statuses[]))                            \
    X(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status))                              \
    X(Request_free, (MPI_Request *request))                                                                  \
    X(Start, (MPI_Request *request))                                                                         \
    X(Startall, (int n, MPI_Request requests[]))
/* clang-format on */

struct behind {
    int (*init)(int *argc, char ***argv);
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*finalize)(void);
    struct native collectives;
#define FUNCTION_POINTER(name, parameters) int(*name) parameters;
    REQUESTS(FUNCTION_POINTER)
#undef FUNCTION_POINTER
    struct {
#define FUNCTION_POINTER(name, small, parameters, ...)                                                       \
    int (*name)(UNWRAP parameters, MPI_Info info, MPI_Request * request);
        OFFERED_COLLECTIVES(FUNCTION_POINTER)
#undef FUNCTION_POINTER
    } persistent; /* NULL: the library has it not */
};

/* Each function under both its names, with the native one behind that. */
#define BOTH(X, ...) X(MPI, behind_mpi, __VA_ARGS__) X(PMPI, behind_pmpi, __VA_ARGS__)

/* The same of persistent ones: the build sets PERSISTENT to what their names begin with, MPIX or MPI. */
#define EXPANDED(X, ...)   X(__VA_ARGS__)
#define JOINED(one, other) one##other
#define BOTH_PERSISTENT(X, ...)                                                                              \
    EXPANDED(X, PERSISTENT, behind_mpi, __VA_ARGS__)                                                         \
    EXPANDED(X, EXPANDED(JOINED, P, PERSISTENT), behind_pmpi, __VA_ARGS__)

extern struct behind behind_mpi;  /* behind MPI_X: a tracer's, if one is loaded after the preload */
extern struct behind behind_pmpi; /* behind PMPI_X: the MPI library's own */

/* The version of the program's MPI library, in its own words: not that of the one which the preload brings
 * in, if the program comes with another whose functions are found first. Empty: it says nothing. */
const char *behind_version(void);
