/* The ranks of a host as threads, under the thread sanitizer: what one copies in another adds only after it
 * has been told so. */
#include "local/board.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { RANKS = 4, BLOCK = 4096, CALLS = 400, COUNT_MAX = 6000 };

static struct local_plan plan;
static struct local_board *board;
static atomic_int wrong;

struct thread {
    pthread_t id;
    unsigned rank;
};

static uint64_t count_of(unsigned call)
{
    return call % 3 == 0 ? call % 50 : call * 37 % COUNT_MAX;
}

static void make_call(struct local_member *m, unsigned number, int32_t *send, int32_t *recv)
{
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = count_of(number)};
    struct xfer_segment only = {.in = send, .out = recv, .count = call.count};
    struct local_step step;
    uint64_t count;

    for (uint64_t i = 0; i < call.count; i++)
        send[i] = (int32_t)(i + number) * (m->me + 1);
    xfer_segments_measure(&only, 1, sizeof *send, &count);
    local_begin(m, &call, &only, 1);
    for (enum local_next next = LOCAL_ON; next != LOCAL_DONE; next = local_go(m, &step)) {
        if (next == LOCAL_WAIT)
            sched_yield();
        else if (next != LOCAL_ON)
            abort();
    }
    for (uint64_t i = 0; i < call.count; i++)
        if (recv[i] != (int32_t)(i + number) * RANKS * (RANKS + 1) / 2)
            atomic_fetch_add(&wrong, 1);
}

static void *run(void *arg)
{
    const struct thread *t = arg;
    static _Thread_local int32_t send[COUNT_MAX], recv[COUNT_MAX];
    struct local_member *m = malloc(sizeof *m);

    local_member_init(m, &plan, t->rank, board, BLOCK, &agg_kernels_scalar);
    for (unsigned call = 0; call < CALLS; call++)
        make_call(m, call, send, recv);
    free(m);
    return NULL;
}

TEST(no_step_races_another)
{
    const uint64_t ids[RANKS] = {1, 1, 1, 1};
    const size_t bytes = local_board_bytes(RANKS, BLOCK);
    struct thread threads[RANKS];

    local_plan_make(&plan, ids, RANKS);
    board = aligned_alloc(4096, bytes);
    memset(board, 0, bytes);
    for (unsigned rank = 0; rank < RANKS; rank++) {
        threads[rank].rank = rank;
        pthread_create(&threads[rank].id, NULL, run, &threads[rank]);
    }
    for (unsigned rank = 0; rank < RANKS; rank++)
        pthread_join(threads[rank].id, NULL);
    CU_ASSERT_EQUAL(atomic_load(&wrong), 0);
    free(board);
}
