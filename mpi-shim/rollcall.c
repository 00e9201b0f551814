#include "rollcall.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

/* A tag that a program is unlikely to use; these messages are gone before the program regains control. */
#define TAG        0x53574147
#define DEADLINE_S 30
#define PAUSE_US   100

/* Both sides of a job must be of one build. */
static const char version[16] = "swagg-mpi 1";

static time_t now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* Waits for all requests. Returns -1 when the deadline passes first. */
static int wait_all(MPI_Request *requests, int count, int seconds)
{
    const time_t deadline = now_s() + seconds;
    int done = 0;
    for (;;) {
        PMPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (done)
            return 0;
        if (now_s() > deadline)
            return -1;
        usleep(PAUSE_US);
    }
}

static void give_up(const char *who)
{
    report(SWAGG_LOG_ERROR,
           "the shim is not loaded, or another version of it, in %s: start all ranks alike, with "
           "mpirun -x LD_PRELOAD=/path/to/libswagg-mpi.so -x SWAGG_SWITCH=ADDRESS",
           who);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    exit(EXIT_FAILURE);
}

static void call_roll(int size, int seconds)
{
    char(*answers)[sizeof version] = calloc((size_t)size, sizeof *answers);
    MPI_Request *requests = malloc((size_t)size * sizeof(MPI_Request));
    if (!answers || !requests)
        give_up("rank 0, which is out of memory");
    memcpy(answers[0], version, sizeof version);
    for (int r = 1; r < size; r++)
        PMPI_Irecv(answers[r], sizeof version, MPI_BYTE, r, TAG, MPI_COMM_WORLD, &requests[r - 1]);
    wait_all(requests, size - 1, seconds);
    for (int r = 1; r < size; r++)
        if (memcmp(answers[r], version, sizeof version) != 0) {
            char who[32];
            snprintf(who, sizeof who, "rank %d", r);
            give_up(who);
        }
    free(answers);
    free(requests);
}

void rollcall(struct settings *s, int rank, int size)
{
    const int seconds = s->join_timeout_ms ? (int)(s->join_timeout_ms + 999) / 1000 : DEADLINE_S;
    if (rank == 0) {
        call_roll(size, seconds);
        for (int r = 1; r < size; r++)
            PMPI_Send(s, sizeof *s, MPI_BYTE, r, TAG, MPI_COMM_WORLD);
        return;
    }
    MPI_Request requests[2];
    PMPI_Isend(version, sizeof version, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &requests[0]);
    PMPI_Irecv(s, sizeof *s, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &requests[1]);
    if (wait_all(requests, 2, seconds + 5) < 0) /* rank 0, who knows whom it misses, speaks first */
        give_up("rank 0");
}
