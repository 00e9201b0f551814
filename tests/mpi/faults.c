/* Makes collective calls, while rank 0 kills the switch in the middle of one, by SIGUSR1 to SWITCH_PID of the
 * environment: as soon as it sees the first part of the result in the buffer of an in-place call. That the
 * switch is dead it sees at SWAGG_SWITCH, and makes its next call. Prints for every rank how many calls
 * failed and how many results were wrong. Errors are returned, not fatal. Without an argument it reduces;
 * "one-buffer": the buffer is named twice in place of MPI_IN_PLACE; "exchanges N": broadcasts, all-gathers
 * and reduce-scatters take turns, and by N in 0 to 2 is chosen which is hit. */
#include <arpa/inet.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONTROL_PORT = 0xBEDF /* of a switch */ };
enum { TENSOR = 1000003, CALLS = 20, KILL_IN = 11, BLOCK = TENSOR / 4, ROOT = 1 };
static int mine[TENSOR], all[TENSOR], rank, size; /* []: what a call brings and gets, if it is not in place */
static bool one_buffer;

static atomic_bool
    over; /* the call in which the switch is to die: a result that has not come by then does not come */

/* Until the switch's host says that the port is closed: on a busy machine the signal may come late, and the
 * calls that are to fail would be over. */
static void await_death(void)
{
    const char *ip = getenv("SWAGG_SWITCH");
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(CONTROL_PORT)};
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (ip && inet_pton(AF_INET, ip, &at.sin_addr) == 1 &&
        connect(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        while (send(fd, "?", 1, 0) >= 0 || errno != ECONNREFUSED)
            usleep(1000);
    close(fd);
}

static void *kill_switch_at_change(void *buffer)
{
    const volatile int *first = buffer;
    const char *pid = getenv("SWITCH_PID");
    for (int before = *first; pid && *first == before && !atomic_load(&over);)
        ;
    if (!pid)
        return NULL;
    kill((pid_t)atoi(pid), SIGUSR1);
    await_death();
    return NULL;
}

/* Element i of rank r is r + call + i. Whether there are n of the sums over `ranks` ranks at all[at], of the
 * elements from `from` on; of one rank: rank `first`. */
static bool is_right(int at, int n, int ranks, int first, int from, int call)
{
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += all[at + i] != ranks * (first + call + from + i) + ranks * (ranks - 1) / 2;
    return wrong == 0;
}

/* --- the kinds of calls: the call, and whether its result is right --- */

static int allreduce(int call)
{
    const void *send = call % 2 == 0 ? mine : one_buffer ? all : MPI_IN_PLACE;
    return MPI_Allreduce(send, all, TENSOR, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static bool is_allreduced(int call)
{
    return is_right(0, TENSOR, size, 0, 0, call);
}

static int broadcast(int call)
{
    (void)call;
    return MPI_Bcast(all, TENSOR, MPI_INT, ROOT, MPI_COMM_WORLD);
}

static bool is_broadcast(int call)
{
    return is_right(0, TENSOR, 1, ROOT, 0, call);
}

static int gather(int call)
{
    (void)call;
    return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, BLOCK, MPI_INT, MPI_COMM_WORLD);
}

static bool is_gathered(int call)
{
    bool right = true;
    for (int r = 0; r < size; r++)
        right = right && is_right(r * BLOCK, BLOCK, 1, r, r * BLOCK, call);
    return right;
}

static int scatter_sums(int call)
{
    (void)call;
    return MPI_Reduce_scatter_block(MPI_IN_PLACE, all, BLOCK, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static bool is_scattered(int call)
{
    return is_right(0, BLOCK, size, 0, rank * BLOCK, call);
}

static const struct kind {
    int (*make)(int call);
    bool (*is_right)(int call);
    int changes; /* on rank 0, this element of all[] */
} reducing = {allreduce, is_allreduced, 0}, exchanges[] = {{broadcast, is_broadcast, 0},
                                                           {gather, is_gathered, 3 * BLOCK},
                                                           {scatter_sums, is_scattered, 0}};

static int make_and_kill(const struct kind *kind, int call)
{
    pthread_t killer;
    pthread_create(&killer, NULL, kill_switch_at_change, &all[kind->changes]);
    int rc = kind->make(call);
    atomic_store(&over, true); /* on a busy machine the thread may come late */
    pthread_join(killer, NULL);
    return rc;
}

int main(int argc, char **argv)
{
    const int turn = argc > 2 ? atoi(argv[2]) : 0;
    int errors = 0, wrong = 0, length;
    char text[MPI_MAX_ERROR_STRING] = "none";
    one_buffer = argc == 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int call = 0; call < CALLS; call++) {
        const struct kind *kind = argc > 2 ? &exchanges[(call + turn) % 3] : &reducing;
        for (int i = 0; i < TENSOR; i++)
            mine[i] = all[i] = rank + call + i;
        int rc = call == KILL_IN && rank == 0 ? make_and_kill(kind, call) : kind->make(call);
        if (rc == MPI_SUCCESS)
            wrong += !kind->is_right(call);
        else if (errors++ == 0)
            MPI_Error_string(rc, text, &length);
    }
    printf("faults: rank %d: %d of %d calls failed, %d sums wrong; first error: %s\n", rank, errors, CALLS,
           wrong, text);
    MPI_Finalize();
    return wrong != 0;
}
