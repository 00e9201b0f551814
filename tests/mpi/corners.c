/* What MPI allows and few programs do: arguments that are ignored and are anything, groups of different
 * sizes, types that go backwards or lie at an address, no elements, no requests. All results are compared
 * with what they must be; what is wrong is printed. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_##name##_init
#else
#define PERSISTENT(name) MPI_##name##_init
#endif

enum { RANKS = 4, BLOCK = 1000, ALL = RANKS * BLOCK };

static int rank, size, wrong;
static int in[ALL], out[ALL];

static void expect(int is_right, const char *what)
{
    wrong += !is_right;
    if (!is_right)
        printf("corners: rank %d: %s: wrong\n", rank, what);
}

static int *start_of_nothing; /* behind it is memory that may not be looked at */

static void make_room(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + page, page, PROT_NONE);
    start_of_nothing = (int *)(void *)(pages + page);
}

/* What nobody may look at, as it is ignored. */
static MPI_Datatype any_type(void)
{
    return (MPI_Datatype)(intptr_t)start_of_nothing;
}

static void fill(int number)
{
    for (int i = 0; i < ALL; i++) {
        in[i] = rank * ALL + i + number;
        out[i] = -1;
    }
}

/* Every rank's block is where it belongs. */
static int has_blocks(const int *buffer, int number)
{
    int right = 1;
    for (int i = 0; i < ALL; i++)
        right &= buffer[i] == i / BLOCK * ALL + i % BLOCK + number;
    return right;
}

/* --- arguments that are ignored --- */

static void put_own_block(int number)
{
    fill(number);
    memcpy(out + (ptrdiff_t)rank * BLOCK, in, BLOCK * sizeof *in);
}

static void gather_in_place(void)
{
    static const int counts[RANKS] = {BLOCK, BLOCK, BLOCK, BLOCK},
                     places[RANKS] = {0, BLOCK, 2 * BLOCK, 3 * BLOCK};
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request;
    put_own_block(1);
    MPI_Allgather(MPI_IN_PLACE, -1, any_type(), out, BLOCK, MPI_INT, world);
    expect(has_blocks(out, 1), "an all-gather in place");
    put_own_block(2);
    MPI_Allgatherv(MPI_IN_PLACE, -1, any_type(), out, counts, places, MPI_INT, world);
    expect(has_blocks(out, 2), "an all-gather of blocks in place");
    put_own_block(3);
    MPI_Iallgather(MPI_IN_PLACE, -1, any_type(), out, BLOCK, MPI_INT, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(has_blocks(out, 3), "a posted all-gather in place");
    PERSISTENT(Allgather)(MPI_IN_PLACE, -1, any_type(), out, BLOCK, MPI_INT, world, MPI_INFO_NULL, &request);
    for (int start = 4; start < 6; start++) {
        put_own_block(start);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(has_blocks(out, start), "a persistent all-gather in place");
    }
    MPI_Request_free(&request);
}

static void to_one_and_back(void)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    const MPI_Datatype type = rank == 1 ? MPI_INT : any_type();
    fill(7);
    if (rank == 1)
        memcpy(out + BLOCK, in, BLOCK * sizeof *in);
    MPI_Gather(rank == 1 ? MPI_IN_PLACE : in, BLOCK, rank == 1 ? any_type() : MPI_INT, rank == 1 ? out : NULL,
               BLOCK, type, 1, world);
    expect(rank != 1 || has_blocks(out, 7), "a gather");
    if (rank == 1) {
        memcpy(in, out, sizeof in);
        MPI_Scatter(in, BLOCK, MPI_INT, MPI_IN_PLACE, -1, any_type(), 1, world);
    } else {
        MPI_Scatter(NULL, -1, type, out, BLOCK, MPI_INT, 1, world);
        expect(out[0] == rank * ALL + 7 && out[BLOCK - 1] == out[0] + BLOCK - 1, "a scatter");
    }
}

/* --- groups of different sizes: the first rank and the others --- */

/* An element for each rank of the larger group, and all of them for that of the other. */
static void expect_sums(const char *what)
{
    int right = 1;
    for (int i = 0; rank == 0 && i < size - 1; i++)
        right &= out[i] == ALL * size * (size - 1) / 2 + (size - 1) * i;
    expect(rank == 0 ? right : out[0] == rank - 1, what);
}

/* Two ints of each rank of the other group, and one place between them. */
static void gather_between(MPI_Comm between)
{
    const int others = rank == 0 ? size - 1 : 1, first = rank == 0 ? 1 : 0;
    int *counts = start_of_nothing - others, places[RANKS], right = 1;
    for (int r = 0; r < others; r++) {
        counts[r] = 2;
        places[r] = 3 * r;
    }
    fill(0);
    MPI_Allgatherv(in, 2, MPI_INT, out, counts, places, MPI_INT, between);
    for (int i = 0; i < 3 * others; i++)
        right &= out[i] == (i % 3 == 2 ? -1 : (first + i / 3) * ALL + i % 3);
    expect(right, "an all-gather between groups");
}

/* The first rank comes last. */
static void merge(MPI_Comm between)
{
    MPI_Comm merged;
    int place, all;
    MPI_Intercomm_merge(between, rank == 0, &merged);
    MPI_Comm_rank(merged, &place);
    MPI_Comm_size(merged, &all);
    expect(all == size && place == (rank == 0 ? size : rank) - 1, "merged groups");
    MPI_Comm_free(&merged);
}

static void between_groups(void)
{
    const int others = size - 1, own = rank == 0 ? 1 : others, count = rank == 0 ? others : 1;
    int *counts = start_of_nothing - own;
    MPI_Comm half, between;
    MPI_Request request;
    for (int r = 0; r < own; r++)
        counts[r] = count;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0, 1, &between);
    fill(0);
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, between);
    expect_sums("a reduce-scatter between groups");
    fill(0);
    MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, between);
    expect_sums("a reduce-scatter of equal blocks between groups");
    fill(0);
    MPI_Ireduce_scatter(in, out, counts, MPI_INT, MPI_SUM, between, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_sums("a posted reduce-scatter between groups");
    gather_between(between);
    merge(between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* --- types --- */

/* The last of three comes first, with gaps between them. */
static MPI_Datatype backwards(void)
{
    MPI_Datatype type;
    MPI_Type_vector(3, 1, -2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* One item of 5 ints' extent, which begins at its last int, from rank r. */
static int is_item_of(const int *item, int r, int number)
{
    const int first = r * ALL + number;
    return item[4] == first && item[2] == first + 1 && item[0] == first + 2 && item[1] == -1 && item[3] == -1;
}

static void gather_backwards(void)
{
    MPI_Datatype type = backwards();
    int right = 1;
    fill(8);
    MPI_Allgather(in, 3, MPI_INT, out + 4, 1, type, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        right &= is_item_of(out + 5 * (ptrdiff_t)r, r, 8);
    expect(right && out[5 * (ptrdiff_t)size] == -1, "an all-gather of types that go backwards");
    fill(9);
    MPI_Bcast(rank == 2 ? in : out + 4, rank == 2 ? 3 : 1, rank == 2 ? MPI_INT : type, 2, MPI_COMM_WORLD);
    expect(rank == 2 || is_item_of(out, 2, 9), "a broadcast of a type that goes backwards");
    MPI_Type_free(&type);
}

static void broadcast_at_address(void)
{
    int lengths[] = {2, 3}, right = 1;
    MPI_Aint places[2];
    MPI_Datatype type;
    fill(10);
    MPI_Get_address(rank == 3 ? in : out, &places[0]);
    MPI_Get_address((rank == 3 ? in : out) + 5, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(MPI_BOTTOM, 1, type, 3, MPI_COMM_WORLD);
    for (int i = 0; i < 10; i++)
        right &= out[i] == (i < 2 || (i >= 5 && i < 8) ? 3 * ALL + 10 + i : -1);
    expect(rank == 3 || right, "a broadcast at an address");
    MPI_Type_free(&type);
}

static void not_committed(void)
{
    MPI_Datatype type;
    MPI_Request request;
    int class;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Bcast(out, BLOCK, type, 0, MPI_COMM_WORLD), &class);
    expect(class == MPI_ERR_TYPE, "a broadcast of a type that is not committed");
    MPI_Error_class(MPI_Ibcast(out, BLOCK, type, 0, MPI_COMM_WORLD, &request), &class);
    expect(class == MPI_ERR_TYPE, "a posted broadcast of a type that is not committed");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&type);
}

/* --- nothing --- */

/* Places of blocks of no elements are anything. */
static void gather_from_one(void)
{
    const int counts[RANKS] = {0, 0, BLOCK, 0}, places[RANKS] = {INT32_MAX, INT32_MIN, 1, -1};
    fill(11);
    MPI_Allgatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
    expect(out[0] == -1 && out[1] == 2 * ALL + 11 && out[BLOCK] == out[1] + BLOCK - 1 && out[BLOCK + 1] == -1,
           "an all-gather from one rank");
}

static void no_elements(void)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    static const int none[RANKS];
    int rc = MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, world);
    rc |= MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, world);
    rc |= MPI_Bcast(NULL, 0, MPI_INT, 0, world);
    rc |= MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, world);
    rc |= MPI_Allgatherv(NULL, 0, MPI_INT, NULL, none, none, MPI_INT, world);
    rc |= MPI_Reduce_scatter(NULL, NULL, none, MPI_INT, MPI_SUM, world);
    expect(rc == MPI_SUCCESS, "calls without elements");
}

static void alone(void)
{
    MPI_Request request;
    fill(12);
    MPI_Allreduce(in, out, BLOCK, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    MPI_Iallgather(in + BLOCK, BLOCK, MPI_INT, out + BLOCK, BLOCK, MPI_INT, MPI_COMM_SELF, &request);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(memcmp(in, out, 2 * BLOCK * sizeof *in) == 0, "calls of a rank alone");
}

/* --- requests --- */

static int is_empty(const MPI_Status *s)
{
    return s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG;
}

/* What is said of none while a call is in flight. */
static void no_requests(void)
{
    MPI_Request call, none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[3];
    int flag = 0, index = 0, ended = 0, indices[3];
    fill(13);
    MPI_Iallreduce(in, out, ALL, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &call);
    for (int n = 0; n <= 3; n += 3) {
        MPI_Waitany(n, none, &index, statuses);
        expect(index == MPI_UNDEFINED && is_empty(statuses), "to wait for any of none");
        MPI_Testany(n, none, &index, &flag, statuses);
        expect(flag && index == MPI_UNDEFINED && is_empty(statuses), "to test any of none");
        MPI_Waitsome(n, none, &ended, indices, statuses);
        expect(ended == MPI_UNDEFINED, "to wait for some of none");
        MPI_Testsome(n, none, &ended, indices, statuses);
        expect(ended == MPI_UNDEFINED, "to test some of none");
        MPI_Testall(n, none, &flag, statuses);
        expect(flag && (n == 0 || is_empty(&statuses[2])), "to test all of none");
        expect(MPI_Waitall(n, none, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "to wait for all of none");
    }
    MPI_Wait(&none[0], statuses);
    expect(is_empty(statuses), "to wait for none");
    MPI_Test(&none[0], &flag, statuses);
    expect(flag && is_empty(statuses), "to test none");
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, statuses);
    expect(flag && is_empty(statuses), "to ask about none");
    MPI_Wait(&call, MPI_STATUS_IGNORE);
    expect(out[1] == ALL * size * (size - 1) / 2 + size * (1 + 13), "a sum meanwhile");
}

static int tell(void *unused, MPI_Status *status)
{
    (void)unused;
    MPI_Status_set_elements(status, MPI_INT, 5);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 1;
    status->MPI_TAG = 77;
    return MPI_SUCCESS;
}

static int forget(void *freed)
{
    ++*(int *)freed;
    return MPI_SUCCESS;
}

static int cancel(void *unused, int complete)
{
    (void)unused, (void)complete;
    return MPI_SUCCESS;
}

/* A request of the program's own beside a call's. */
static void own_request(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int freed = 0, count = 0;
    fill(14);
    MPI_Grequest_start(tell, forget, cancel, &freed, &requests[0]);
    MPI_Iallreduce(in, out, ALL, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Grequest_complete(requests[0]);
    MPI_Waitall(2, requests, statuses);
    MPI_Get_count(&statuses[0], MPI_INT, &count);
    expect(statuses[0].MPI_SOURCE == 1 && statuses[0].MPI_TAG == 77 && count == 5 && freed == 1,
           "a request of the program's own");
    expect(out[0] == ALL * size * (size - 1) / 2 + size * 14, "a call beside it");
}

/* --- a communicator that is no more. Of Open MPI's its handle is the address of freed memory --- */

static void no_communicator(void)
{
#ifndef OPEN_MPI
    MPI_Comm freed;
    int class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    const MPI_Comm copy = freed;
    MPI_Comm_free(&freed);
    MPI_Error_class(MPI_Allreduce(in, out, BLOCK, MPI_INT, MPI_SUM, copy), &class);
    expect(class == MPI_ERR_COMM, "a sum on a communicator that was freed");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
#endif
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_room();
    for (int round = 0; round < 2; round++) { /* before there is a job for posted calls, and after */
        gather_in_place();
        to_one_and_back();
        between_groups();
        gather_backwards();
        broadcast_at_address();
        not_committed();
        gather_from_one();
        no_elements();
        alone();
        no_requests();
        own_request();
        no_communicator();
    }
    printf("corners: rank %d: %d wrong\n", rank, wrong);
    MPI_Finalize();
    return wrong != 0;
}
