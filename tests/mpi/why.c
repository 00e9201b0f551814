/* What the shim tells of a program that hangs: rank 1 comes to a reduction when rank 0, at SIGUSR1, has told
 * in the file WHY_FILE that it waits for rank 1. Then a few calls that stay with Open MPI.
 * "why own": the program has a handler of its own, which must get the signal. */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LATE = 1, COUNT = 5000, ATTEMPTS = 6000 };

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static bool says(const char *file, const char *text)
{
    static char content[1 << 20];
    FILE *f = fopen(file, "r");
    if (!f)
        return false;
    content[fread(content, 1, sizeof content - 1, f)] = '\0';
    fclose(f);
    return strstr(content, text) != NULL;
}

/* Until the file says that rank 0 waits for rank 1; false: it never did. */
static bool ask(int pid, const char *file)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        kill(pid, SIGUSR1);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        if (file && says(file, "\"in_progress\": 1") && says(file, "{\"rank\": 1, \"seconds\": "))
            return true;
    }
    return false;
}

/* The file's table on stderr may have been printed a moment before anybody was waited for: that of the next
 * one was not. */
static bool ask_twice(int pid, const char *file)
{
    return ask(pid, file) && unlink(file) == 0 && ask(pid, file);
}

static int hang(int rank)
{
    static int tensor[COUNT], sums[COUNT];
    int pid = (int)getpid(), wrong = 0;
    MPI_Comm backwards; /* in which the late rank has another number */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    MPI_Comm_set_name(backwards, "backwards");
    MPI_Allreduce(tensor, sums, COUNT, MPI_INT, MPI_SUM, backwards); /* joins the job */
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == LATE && !ask_twice(pid, getenv("WHY_FILE")))
        wrong++;
    for (int i = 0; i < COUNT; i++)
        tensor[i] = i;
    MPI_Allreduce(tensor, sums, COUNT, MPI_INT, MPI_SUM, backwards);
    for (int i = 0; i < COUNT; i++)
        wrong += sums[i] != 4 * i;
    for (int i = 0; i < 3; i++)
        MPI_Reduce(tensor, sums, 2, MPI_INT, MPI_MAX, 0, backwards);
    MPI_Comm_free(&backwards);
    return wrong;
}

int main(int argc, char **argv)
{
    struct sigaction after;
    const bool own = argc > 1;
    int rank, wrong = 0;
    if (own)
        signal(SIGUSR1, count_signal);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (own)
        raise(SIGUSR1);
    else
        wrong = hang(rank);
    MPI_Finalize();
    sigaction(SIGUSR1, NULL, &after);
    wrong += after.sa_handler != (own ? count_signal : SIG_DFL);
    printf("why: rank %d: %d wrong, %d signals\n", rank, wrong, (int)signals);
    return wrong != 0;
}
