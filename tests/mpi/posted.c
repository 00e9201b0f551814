/* Non-blocking collectives: more in flight than libswagg takes at once, on two communicators, which the ranks
 * do not post to in one order, beside blocking calls and messages; completed by each of MPI's functions, in
 * any order; of types that are freed at once. Prints a digest of all that was received: natively and through
 * the switch it must be the same.
 *
 * With an argument: a communicator is freed while its calls are in flight, which Open MPI's own may not
 * outlive ("freed"); or only one rank waits for the end before MPI_Finalize ("unfinished"); or one rank does
 * not post ("missing"), or another thing than the others ("mismatch"): what statuses, error codes and the
 * communicator's own error handler say is looked at, and the first error is printed. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"

enum { KINDS = 9, EACH = 5 * KINDS, CALLS = 2 * EACH, MESSAGES = 2, REQUESTS = CALLS + MESSAGES };
enum { ITEMS_MAX = 3000, INTS = 4 * 2 * ITEMS_MAX };

static struct call {
    int32_t in[INTS], out[INTS];
    int counts[4], places[4]; /* in use until the end */
} calls[REQUESTS];
static MPI_Request requests[REQUESTS];
static int rank, size, errors;

static void prepare(struct call *c, int number)
{
    fill(c->in, c->out, INTS, rank, number);
    for (int r = 0; r < 4; r++) {
        c->counts[r] = r == 1 ? 0 : ITEMS_MAX / (r + 1);
        c->places[r] = r * ITEMS_MAX;
    }
}

/* Ints with gaps between them; the caller's, committed. */
static MPI_Datatype with_gaps(void)
{
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static int gather_with_gaps(struct call *c, int n, MPI_Comm comm, MPI_Request *r)
{
    MPI_Datatype type = with_gaps();
    const int rc = MPI_Iallgather(c->in, n / 2, MPI_INT, c->out, n / 4, type, comm, r);
    MPI_Type_free(&type);
    return rc;
}

static int broadcast_with_gaps(struct call *c, int n, int root, MPI_Comm comm, MPI_Request *r)
{
    MPI_Datatype type = with_gaps();
    const int rc = MPI_Ibcast(c->in, n / 2, type, root, comm, r);
    MPI_Type_free(&type);
    return rc;
}

static int post(struct call *c, int number, MPI_Comm comm, MPI_Request *r)
{
    static const int sizes[] = {4, 1500, ITEMS_MAX, 600};
    const int n = sizes[number % 4], root = number % size;
    prepare(c, number);
    switch (number % KINDS) {
    case 0:
        return MPI_Iallreduce(c->in, c->out, n, MPI_INT, MPI_SUM, comm, r);
    case 1:
        return MPI_Ireduce(c->in, c->out, n, MPI_INT, MPI_MAX, root, comm, r);
    case 2:
        return MPI_Ibcast(c->in, n, MPI_INT, root, comm, r);
    case 3:
        return MPI_Iallgatherv(c->in, c->counts[rank], MPI_INT, c->out, c->counts, c->places, MPI_INT, comm,
                               r);
    case 4:
        return MPI_Ireduce_scatter(c->in, c->out, c->counts, MPI_INT, MPI_BXOR, comm, r);
    case 5:
        return MPI_Ireduce_scatter_block(MPI_IN_PLACE, c->in, n, MPI_INT, MPI_SUM, comm, r);
    case 6:
        return gather_with_gaps(c, n, comm, r);
    case 7:
        return broadcast_with_gaps(c, n, root, comm, r);
    default:
        return MPI_Ibarrier(comm, r);
    }
}

/* Two ranks exchange some ints, which are requests as others are. */
static void post_messages(void)
{
    struct call *c = &calls[CALLS];
    const int other = rank ^ 1;
    prepare(c, 1);
    errors += MPI_Irecv(c->out, INTS, MPI_INT, other, 5, MPI_COMM_WORLD, &requests[CALLS]) != MPI_SUCCESS;
    errors += MPI_Isend(c->in, INTS, MPI_INT, other, 5, MPI_COMM_WORLD, &requests[CALLS + 1]) != MPI_SUCCESS;
}

/* --- all ways to wait: each ends all requests --- */

static void by_waiting_for_each(void)
{
    for (int i = REQUESTS; i-- > 0;)
        errors += MPI_Wait(&requests[i], MPI_STATUS_IGNORE) != MPI_SUCCESS;
}

static void by_testing_each(void)
{
    for (int i = REQUESTS, flag; i-- > 0;)
        do
            errors += MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        while (!flag);
}

static void by_any(void)
{
    int index, ended = 0;
    for (; ended <= REQUESTS; ended++) {
        errors += MPI_Waitany(REQUESTS, requests, &index, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        if (index == MPI_UNDEFINED)
            break;
    }
    errors += ended != REQUESTS;
}

static void by_testing_any(void)
{
    int index = 0, flag, ended = -1;
    while (index != MPI_UNDEFINED) {
        errors += MPI_Testany(REQUESTS, requests, &index, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        ended += flag;
        index = flag ? index : 0;
    }
    errors += ended != REQUESTS;
}

static void by_some(int test)
{
    static int indices[REQUESTS];
    int n = 0, ended = 0;
    while (n != MPI_UNDEFINED) {
        ended += n;
        errors += (test ? MPI_Testsome : MPI_Waitsome)(REQUESTS, requests, &n, indices,
                                                       MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    }
    errors += ended != REQUESTS;
}

static void by_all(int test)
{
    int flag = 0;
    while (test && !flag)
        errors += MPI_Testall(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    if (!test)
        errors += MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
}

enum { WAYS = 8 };

static void complete(int way)
{
    switch (way) {
    case 0:
        by_waiting_for_each();
        break;
    case 1:
        by_testing_each();
        break;
    case 2:
        by_any();
        break;
    case 3:
        by_testing_any();
        break;
    case 4:
    case 5:
        by_some(way == 5);
        break;
    default:
        by_all(way == 7);
        break;
    }
    for (int i = 0; i < REQUESTS; i++) {
        note(calls[i].in, sizeof calls[i].in);
        note(calls[i].out, sizeof calls[i].out);
    }
}

/* Ranks with odd numbers post to the two communicators in another order, and make the blocking call between
 * them where others have posted everything. */
static void round_of(int way, MPI_Comm one, MPI_Comm other)
{
    static int32_t sum[INTS];
    const int swapped = rank % 2;
    for (int half = 0; half < 2; half++) {
        const int second = half ^ swapped;
        for (int i = 0; i < EACH; i++) {
            const int at = second * EACH + i;
            errors += post(&calls[at], 7 * way + i, second ? other : one, &requests[at]) != MPI_SUCCESS;
        }
        if (second == 0)
            errors += MPI_Allreduce(calls[0].counts, sum, 4, MPI_INT, MPI_SUM, one) != MPI_SUCCESS;
    }
    note(sum, sizeof sum);
    post_messages();
    complete(way);
}

/* The communicator is freed before its calls have ended, or when they have. */
static void free_it(int early)
{
    MPI_Comm comm;
    for (int i = 0; i < REQUESTS; i++)
        requests[i] = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    errors += MPI_Bcast(calls[0].in, INTS, MPI_INT, 0, comm) != MPI_SUCCESS;
    for (int turn = 0; turn < 2; turn++) { /* the first is what the barrier joins a job for */
        for (int i = 0; i < CALLS; i++)
            errors += post(&calls[i], i, comm, &requests[i]) != MPI_SUCCESS;
        if (turn == 0) {
            MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
            MPI_Barrier(comm);
        }
    }
    if (early)
        MPI_Comm_free(&comm);
    post_messages();
    complete(0);
    if (!early)
        MPI_Comm_free(&comm);
}

/* More than libswagg takes, while a rank waits for what another sends when it has them all. MPICH has no
 * place where its preload could go on with them. */
static void wait_elsewhere(MPI_Comm comm)
{
    int message = 0;
    for (int i = 0; i < CALLS; i++)
        errors += MPI_Ibarrier(comm, &requests[i]) != MPI_SUCCESS;
#ifdef OPEN_MPI
    if (rank == 0)
        errors += MPI_Recv(&message, 1, MPI_INT, 1, 6, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS;
#endif
    errors += MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
#ifdef OPEN_MPI
    if (rank == 1)
        errors += MPI_Send(&message, 1, MPI_INT, 0, 6, comm) != MPI_SUCCESS;
#endif
    (void)message;
}

static void all(int early)
{
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int way = 0; way < WAYS; way++) {
        round_of(way, MPI_COMM_WORLD, other);
        if (way == 0) /* a blocking call on each joins its job */
            errors += MPI_Barrier(other) != MPI_SUCCESS;
    }
    free_it(early);
    wait_elsewhere(other);
    MPI_Comm_free(&other);
    printf("posted: rank %d: %d errors, digest %016llx\n", rank, errors, (unsigned long long)digest);
}

/* Of so much memory that it is given back to the kernel when it is freed. */
static void leave_unfinished(void)
{
    enum { PAIRS = 1 << 20, WITH_GAPS = 3 * PAIRS };
    static int32_t buffer[WITH_GAPS];
    MPI_Datatype type = with_gaps();
    for (int turn = 0; turn < 2; turn++) { /* the barrier joins a job */
        for (int i = 0; i < WITH_GAPS; i++)
            buffer[i] = rank == 0 ? i : -1;
        errors +=
            MPI_Ibcast(buffer, turn == 0 ? 3000 : PAIRS, type, 0, MPI_COMM_WORLD, requests) != MPI_SUCCESS;
        if (turn == 0 || rank == size - 1)
            errors += MPI_Wait(requests, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        if (turn == 0)
            errors += MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS;
    }
    for (int i = 0; rank == size - 1 && i < WITH_GAPS; i++)
        errors += buffer[i] != (i % 3 == 1 ? -1 : i);
    MPI_Type_free(&type);
    printf("posted: rank %d: %d errors\n", rank, errors);
}

static int handled, by_world; /* errors that a handler heard of; of these, MPI_COMM_WORLD's */

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    handled++;
    by_world += *comm == MPI_COMM_WORLD;
}

static MPI_Comm with_handler(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* with the same handler */
    MPI_Comm_set_name(comm, "apart");
    return comm;
}

static int is_empty(MPI_Status *status)
{
    int count, cancelled;
    MPI_Get_count(status, MPI_INT, &count);
    MPI_Test_cancelled(status, &cancelled);
    return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0 && !cancelled;
}

static void sum(struct call *c, int n, MPI_Comm comm, MPI_Request *r)
{
    errors += MPI_Iallreduce(c->in, c->out, n, MPI_INT, MPI_SUM, comm, r) != MPI_SUCCESS;
}

/* Some that succeed: what is said of them. */
static void succeed(MPI_Comm comm)
{
    MPI_Status status;
    int flag = 0;
    for (int turn = 0; turn < 2; turn++) {
        sum(&calls[0], 3000, comm, requests);
        if (turn == 1)
            MPI_Cancel(requests); /* it cannot be */
        while (turn == 1 && !flag)
            errors += MPI_Request_get_status(requests[0], &flag, &status) != MPI_SUCCESS;
        errors += MPI_Wait(requests, &status) != MPI_SUCCESS || requests[0] != MPI_REQUEST_NULL;
        MPI_Barrier(comm); /* joins a job at the first turn */
    }
    errors += !is_empty(&status);
}

/* Two that fail, together with a message that does not, then one alone. Returns the first's error. */
static int fail(int n, MPI_Comm comm)
{
    MPI_Status statuses[4];
    int in = 1, out = 0;
    sum(&calls[0], n, comm, &requests[0]);
    sum(&calls[1], n, comm, &requests[1]);
    MPI_Irecv(&in, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&out, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &requests[3]);
    errors += MPI_Waitall(4, requests, statuses) != MPI_ERR_IN_STATUS;
    errors += statuses[2].MPI_ERROR != MPI_SUCCESS || statuses[2].MPI_SOURCE != rank || in != 0;
    errors += statuses[3].MPI_ERROR != MPI_SUCCESS || statuses[1].MPI_ERROR == MPI_SUCCESS;
    errors += !is_empty(&statuses[0]) || handled != 1;
    sum(&calls[0], n, comm, &requests[0]);
    errors += MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == MPI_SUCCESS || handled != 2;
    return statuses[0].MPI_ERROR;
}

static void err(int is_mismatch)
{
    char text[MPI_MAX_ERROR_STRING] = "none";
    int length;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm comm = with_handler();
    succeed(comm);
    if (is_mismatch || rank != 2)
        MPI_Error_string(fail(is_mismatch && rank == 1 ? 2500 : 3000, comm), text, &length);
    printf("posted: rank %d: %d errors, %d heard by MPI_COMM_WORLD's handler, first error: %s\n", rank,
           errors, by_world, text);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc == 1 || strcmp(argv[1], "freed") == 0)
        all(argc > 1);
    else if (strcmp(argv[1], "unfinished") == 0)
        leave_unfinished();
    else
        err(strcmp(argv[1], "mismatch") == 0);
    MPI_Finalize();
    return errors > 0;
}
