/* MPI_THREAD_MULTIPLE: two threads of every rank reduce at once, each on a communicator of its own; while one
 * call of a thread is waited for another is in flight. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TENSOR = 50000, ROUNDS = 20, THREADS = 2 };

struct work {
    pthread_t thread;
    MPI_Comm comm;
    int number, wrong;
};

static void *reduce_often(void *arg)
{
    struct work *w = arg;
    int rank, size;
    MPI_Comm_rank(w->comm, &rank);
    MPI_Comm_size(w->comm, &size);
    MPI_Request request;
    double *tensor = malloc(TENSOR * sizeof *tensor), *posted = malloc(TENSOR * sizeof *posted);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < TENSOR; i++)
            posted[i] = tensor[i] = rank + w->number + i % 5;
        MPI_Iallreduce(MPI_IN_PLACE, posted, TENSOR, MPI_DOUBLE, MPI_SUM, w->comm, &request);
        MPI_Allreduce(MPI_IN_PLACE, tensor, TENSOR, MPI_DOUBLE, MPI_SUM, w->comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < TENSOR; i++)
            w->wrong +=
                posted[i] != tensor[i] || tensor[i] != size * (size - 1) / 2 + size * (w->number + i % 5);
    }
    free(posted);
    free(tensor);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, wrong = 0;
    struct work works[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("threads: this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 77;
    }
    for (int t = 0; t < THREADS; t++) {
        works[t] = (struct work){.number = t};
        MPI_Comm_dup(MPI_COMM_WORLD, &works[t].comm);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_create(&works[t].thread, NULL, reduce_often, &works[t]);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(works[t].thread, NULL);
        wrong += works[t].wrong;
    }
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&works[t].comm);
    printf("threads: %d wrong\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
