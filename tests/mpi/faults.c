/* Reduces, while rank 0 kills the switch in the middle of a call, by SIGUSR1 to SWITCH_PID of the
 * environment: as soon as it sees the first part of the sum in the buffer of an in-place call. Prints for
 * every rank how many calls failed and how many sums were wrong. Errors are returned, not fatal. With an
 * argument the buffer is named twice in place of MPI_IN_PLACE. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { TENSOR = 1000003, CALLS = 20, KILL_IN = 11 };

static atomic_bool
    over; /* the call in which the switch is to die: a sum that has not come by then does not come */

static void *kill_switch_at_change(void *buffer)
{
    const volatile int *first = buffer;
    const char *pid = getenv("SWITCH_PID");
    for (int before = *first; pid && *first == before && !atomic_load(&over);)
        ;
    if (pid)
        kill((pid_t)atoi(pid), SIGUSR1);
    return NULL;
}

static int count_wrong(const int *sums, int size, int call)
{
    int wrong = 0;
    for (int i = 0; i < TENSOR; i++)
        wrong += sums[i] != size * (size - 1) / 2 + size * (call + i);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, errors = 0, wrong = 0, length;
    pthread_t killer;
    char text[MPI_MAX_ERROR_STRING] = "none";
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *mine = malloc(TENSOR * sizeof *mine), *sums = malloc(TENSOR * sizeof *sums);
    for (int call = 0; call < CALLS; call++) {
        int *input = call % 2 ? sums : mine; /* every other call is in place */
        const void *send = call % 2 && argc == 1 ? MPI_IN_PLACE : input;
        for (int i = 0; i < TENSOR; i++)
            input[i] = rank + call + i;
        if (call == KILL_IN && rank == 0)
            pthread_create(&killer, NULL, kill_switch_at_change, sums);
        int rc = MPI_Allreduce(send, sums, TENSOR, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (call == KILL_IN && rank == 0) { /* on a busy machine the thread may come late */
            atomic_store(&over, true);
            pthread_join(killer, NULL);
        }
        if (rc == MPI_SUCCESS)
            wrong += count_wrong(sums, size, call) != 0;
        else if (errors++ == 0)
            MPI_Error_string(rc, text, &length);
    }
    printf("faults: rank %d: %d of %d calls failed, %d sums wrong; first error: %s\n", rank, errors, CALLS,
           wrong, text);
    free(mine);
    free(sums);
    MPI_Finalize();
    return wrong != 0;
}
