/* Persistent collectives, which MPICH 4.0 has as MPI-4 does and Open MPI 4.1 as an extension: each is started
 * several times, with other numbers in its buffers, alone or with all the others, beside blocking calls, and
 * completed by MPI's functions in turn. Prints a digest of all that was received: natively and through the
 * switch it must be the same. */
#include <mpi.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_##name##_init
#else
#define PERSISTENT(name) MPI_##name##_init
#endif
#include <stdint.h>
#include <stdio.h>

#include "digest.h"

enum { KINDS = 8, ROUNDS = 6, ITEMS = 3000, INTS = 4 * ITEMS };

static struct call {
    int32_t in[INTS], out[INTS];
    int counts[4], places[4];
} calls[KINDS];
static MPI_Request requests[KINDS];
static int rank, size, errors;

/* Of ints two by two; it is freed before the call is started. */
static int make_of_pairs(struct call *c, MPI_Request *r)
{
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    const int rc = PERSISTENT(Allgather)(c->in, ITEMS / 2, pair, c->out, ITEMS / 2, pair, MPI_COMM_WORLD,
                                         MPI_INFO_NULL, r);
    MPI_Type_free(&pair);
    return rc;
}

static int make(struct call *c, int kind, MPI_Request *r)
{
    const MPI_Comm comm = MPI_COMM_WORLD;
    for (int i = 0; i < size; i++) {
        c->counts[i] = i == 1 ? 0 : ITEMS / (i + 1);
        c->places[i] = i * ITEMS;
    }
    switch (kind) {
    case 0:
        return PERSISTENT(Allreduce)(c->in, c->out, ITEMS, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, r);
    case 1:
        return PERSISTENT(Reduce)(c->in, c->out, ITEMS, MPI_INT, MPI_MAX, 2, comm, MPI_INFO_NULL, r);
    case 2:
        return PERSISTENT(Bcast)(c->in, ITEMS, MPI_INT, 1, comm, MPI_INFO_NULL, r);
    case 3:
        return make_of_pairs(c, r);
    case 4:
        return PERSISTENT(Allgatherv)(c->in, c->counts[rank], MPI_INT, c->out, c->counts, c->places, MPI_INT,
                                      comm, MPI_INFO_NULL, r);
    case 5:
        return PERSISTENT(Reduce_scatter)(c->in, c->out, c->counts, MPI_INT, MPI_BXOR, comm, MPI_INFO_NULL,
                                          r);
    case 6:
        return PERSISTENT(Reduce_scatter_block)(MPI_IN_PLACE, c->in, ITEMS, MPI_INT, MPI_SUM, comm,
                                                MPI_INFO_NULL, r);
    default:
        return PERSISTENT(Barrier)(comm, MPI_INFO_NULL, r);
    }
}

static void complete(int round)
{
    int index, flag = 0;
    switch (round % 3) {
    case 0:
        errors += MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
        break;
    case 1:
        for (int i = 0; i < KINDS; i++)
            errors += MPI_Waitany(KINDS, requests, &index, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
                      index == MPI_UNDEFINED;
        break;
    default:
        while (!flag)
            errors += MPI_Testall(KINDS, requests, &flag, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    }
}

static void run(int round)
{
    for (int k = 0; k < KINDS; k++)
        fill(calls[k].in, calls[k].out, INTS, rank, round * KINDS + k);
    if (round % 2 == 0)
        errors += MPI_Startall(KINDS, requests) != MPI_SUCCESS;
    for (int k = 0; round % 2 != 0 && k < KINDS; k++)
        errors += MPI_Start(&requests[k]) != MPI_SUCCESS;
    if (round == 1)
        MPI_Barrier(MPI_COMM_WORLD);
    complete(round);
    for (int k = 0; k < KINDS; k++) {
        note(calls[k].in, sizeof calls[k].in);
        note(calls[k].out, sizeof calls[k].out);
    }
}

int main(int argc, char **argv)
{
    int32_t one = 1, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* ranks join in a blocking one */
    for (int k = 0; k < KINDS; k++)
        errors += make(&calls[k], k, &requests[k]) != MPI_SUCCESS;
    errors += MPI_Wait(&requests[0], MPI_STATUS_IGNORE) != MPI_SUCCESS; /* not started: at once */
    for (int round = 0; round < ROUNDS; round++)
        run(round);
    for (int k = 0; k < KINDS; k++)
        errors += MPI_Request_free(&requests[k]) != MPI_SUCCESS;
    printf("persistent: rank %d: digest %016llx, errors %d\n", rank, (unsigned long long)digest, errors);
    MPI_Finalize();
    return errors != 0 || all != size;
}
