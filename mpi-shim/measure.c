#include "measure.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "front.h"
#include "report.h"
#include "rollcall.h"
#include "world.h"

/* --- one call --- */

struct bench {
    MPI_Comm comm;
    struct swagg_job *job;
    bool agreed; /* see measure_crossover */
    int ranks;
    float *send, *recv;   /* of the largest size; floats, since all of SWAGG_NUMBERS carry their sum */
    int *counts, *places; /* of blocks that are alike */
    bool failed;          /* the switch did, on this rank */
};

static void library_allreduce(struct bench *b, int count)
{
    front.native->Allreduce(b->send, b->recv, count, MPI_FLOAT, MPI_SUM, b->comm);
}

static int switch_allreduce(struct bench *b, int count)
{
    return swagg_allreduce(b->job, b->send, b->recv, (size_t)count, SWAGG_F32, SWAGG_SUM);
}

static void library_reduce(struct bench *b, int count)
{
    front.native->Reduce(b->send, b->recv, count, MPI_FLOAT, MPI_SUM, 0, b->comm);
}

static int switch_reduce(struct bench *b, int count)
{
    return swagg_reduce(b->job, b->send, b->recv, (size_t)count, SWAGG_F32, SWAGG_SUM, 0);
}

static void library_bcast(struct bench *b, int count)
{
    front.native->Bcast(b->recv, count, MPI_FLOAT, 0, b->comm);
}

static int switch_bcast(struct bench *b, int count)
{
    return swagg_broadcast(b->job, b->recv, (size_t)count * sizeof *b->recv, 0);
}

static int block_of(const struct bench *b, int count)
{
    return count > b->ranks ? count / b->ranks : 1;
}

static void lay_out(struct bench *b, int count)
{
    b->counts = allocate_or_abort(b->comm, (size_t)b->ranks * sizeof *b->counts, "a measurement");
    b->places = allocate_or_abort(b->comm, (size_t)b->ranks * sizeof *b->places, "a measurement");
    for (int r = 0; r < b->ranks; r++) {
        b->counts[r] = block_of(b, count);
        b->places[r] = r * b->counts[r];
    }
}

static void library_allgather(struct bench *b, int count)
{
    const int block = block_of(b, count);
    front.native->Allgather(b->send, block, MPI_FLOAT, b->recv, block, MPI_FLOAT, b->comm);
}

static void library_allgatherv(struct bench *b, int count)
{
    front.native->Allgatherv(b->send, block_of(b, count), MPI_FLOAT, b->recv, b->counts, b->places, MPI_FLOAT,
                             b->comm);
}

/* In the switch it is the same whether counts were given. */
static int switch_allgather(struct bench *b, int count)
{
    return swagg_allgather(b->job, b->send, b->recv, (size_t)block_of(b, count) * sizeof *b->send);
}

static void library_reduce_scatter(struct bench *b, int count)
{
    (void)count;
    front.native->Reduce_scatter(b->send, b->recv, b->counts, MPI_FLOAT, MPI_SUM, b->comm);
}

static void library_reduce_scatter_block(struct bench *b, int count)
{
    front.native->Reduce_scatter_block(b->send, b->recv, block_of(b, count), MPI_FLOAT, MPI_SUM, b->comm);
}

static int switch_reduce_scatter(struct bench *b, int count)
{
    return swagg_reduce_scatter_block(b->job, b->send, b->recv, (size_t)block_of(b, count), SWAGG_F32,
                                      SWAGG_SUM);
}

static void library_barrier(struct bench *b, int count)
{
    (void)count;
    front.native->Barrier(b->comm);
}

static int switch_barrier(struct bench *b, int count)
{
    (void)count;
    return swagg_barrier(b->job);
}

static const struct {
    enum offered function; /* that stands for it */
    void (*library)(struct bench *b, int count);
    int (*in_switch)(struct bench *b, int count);
} kinds[CROSSINGS] = {
    [CROSSING_ALLREDUCE] = {OFFERED_Allreduce, library_allreduce, switch_allreduce},
    [CROSSING_REDUCE] = {OFFERED_Reduce, library_reduce, switch_reduce},
    [CROSSING_BCAST] = {OFFERED_Bcast, library_bcast, switch_bcast},
    [CROSSING_ALLGATHER] = {OFFERED_Allgather, library_allgather, switch_allgather},
    [CROSSING_ALLGATHERV] = {OFFERED_Allgatherv, library_allgatherv, switch_allgather},
    [CROSSING_REDUCE_SCATTER] = {OFFERED_Reduce_scatter, library_reduce_scatter, switch_reduce_scatter},
    [CROSSING_REDUCE_SCATTER_BLOCK] = {OFFERED_Reduce_scatter_block, library_reduce_scatter_block,
                                       switch_reduce_scatter},
    [CROSSING_BARRIER] = {OFFERED_Barrier, library_barrier, switch_barrier},
};

static void call(struct bench *b, enum crossing kind, enum way way, int count)
{
    if (way == WAY_LIBRARY) {
        kinds[kind].library(b, count);
        return;
    }
    b->failed |= kinds[kind].in_switch(b, count) < 0;
    if (b->agreed)
        agree(b->comm, &(struct outcome){.status = SWAGG_OK});
}

/* --- rounds: each way once --- */

static size_t bytes_of(enum crossing kind, unsigned size)
{
    return kind == CROSSING_BARRIER ? 0 : crossover_sizes[size];
}

/* Ranks begin a call together: none is charged for one that was late. Not by a barrier, whose root leaves it
 * before the others: a broadcast of that root's would be there when they come. */
static void begin_together(struct bench *b)
{
    const int64_t mine = 0;
    int64_t all;
    front.native->Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, b->comm);
}

static double seconds_of(struct bench *b, enum crossing kind, enum way way, size_t bytes)
{
    begin_together(b);
    const double start = PMPI_Wtime();
    call(b, kind, way, (int)(bytes / sizeof *b->send));
    return PMPI_Wtime() - start;
}

/* Rounds that are run before ranks tell one another how long they took. */
struct rounds {
    double seconds[CONTEST_LEAD][WAYS];
    double elapsed; /* since the measurement began */
    double failed;
};

/* Short calls take turns one by one: in a row the switch's find ranks awake, as they are not when a program
 * has made some thousand of them. Others take turns n at a time: a link with a limit lets some bytes pass at
 * once after a pause, so one way would wait for what the other has sent, and be taken for the slower one.
 * Every rank gets the times of the slowest, so that all draw the same conclusions. */
static struct rounds run_rounds(struct bench *b, enum crossing kind, size_t bytes, unsigned n,
                                bool switch_first, double began)
{
    struct rounds mine = {0}, slowest;
    const unsigned in_a_row = contest_is_short(bytes) ? 1 : n;
    unsigned done[WAYS] = {0};
    for (unsigned i = 0; i < n * WAYS; i++) {
        const bool is_first = (i / in_a_row + 1) / 2 % 2 == 0; /* first, second, second, first, first, ... */
        const enum way way = is_first == switch_first ? WAY_SWITCH : WAY_LIBRARY;
        mine.seconds[done[way]++][way] = seconds_of(b, kind, way, bytes);
    }
    mine.elapsed = PMPI_Wtime() - began;
    mine.failed = b->failed;
    front.native->Allreduce(&mine, &slowest, sizeof mine / sizeof(double), MPI_DOUBLE, MPI_MAX, b->comm);
    return slowest;
}

/* --- one size --- */

struct result {
    struct contest contest;
    double elapsed;
    bool in_time, failed;
};

/* One round to warm up, and as many as it takes: at a time as many as may decide it from the start, or where
 * these might take too long, one. Ends when time is up, or the switch failed. */
static struct result run_size(struct bench *b, enum crossing kind, unsigned size)
{
    const size_t bytes = bytes_of(kind, size);
    const double began = PMPI_Wtime();
    struct result r = {.in_time = true, .contest.is_short = contest_is_short(bytes)};
    bool warm = false, switch_first = true;
    for (unsigned n = 1; r.in_time && !r.failed && !contest_is_decided(&r.contest); warm = true) {
        const struct rounds rounds = run_rounds(b, kind, bytes, n, switch_first = !switch_first, began);
        const double took = (rounds.elapsed - r.elapsed) / n;
        r.elapsed = rounds.elapsed;
        r.failed = rounds.failed != 0;
        for (unsigned i = 0; warm && i < n && !contest_is_decided(&r.contest); i++)
            contest_note(&r.contest, rounds.seconds[i]);
        n = CONTEST_LEAD;
        if (r.elapsed + n * took > crossover_seconds[size])
            n = 1;
        r.in_time = r.elapsed + took <= crossover_seconds[size];
    }
    return r;
}

static struct result run_bench(MPI_Comm comm, struct swagg_job *job, bool agreed, enum crossing kind,
                               unsigned size)
{
    const size_t room = crossover_sizes[size];
    struct bench b = {.comm = comm, .job = job, .agreed = agreed};
    PMPI_Comm_size(comm, &b.ranks);
    lay_out(&b, (int)(bytes_of(kind, size) / sizeof *b.send));
    /* Of few bytes each of an all-gather's blocks has one element. */
    const size_t blocks = (size_t)b.ranks * sizeof *b.recv;
    b.send = allocate_or_abort(comm, room > blocks ? room : blocks, "a measurement");
    b.recv = allocate_or_abort(comm, room > blocks ? room : blocks, "a measurement");
    const struct result r = run_size(&b, kind, size);
    free(b.counts);
    free(b.places);
    free(b.send);
    free(b.recv);
    return r;
}

/* --- what is known of communicators that are alike --- */

static struct choices known; /* by this run; under the mutex */
static struct choices kept;  /* of earlier ones */
static bool has_kept;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool is_on_one_host(MPI_Comm comm, int size)
{
    int *in_world = world_ranks(comm);
    bool one = true;
    for (int r = 1; r < size; r++)
        one = one && rollcall_host(in_world[r]) == rollcall_host(in_world[0]);
    free(in_world);
    return one;
}

static struct like like_of(MPI_Comm comm)
{
    struct like like = {0};
    int size;
    PMPI_Comm_size(comm, &size);
    while (1 << like.size_class < size)
        like.size_class++;
    like.on_one_host = is_on_one_host(comm, size);
    return like;
}

/* What all ranks know of communicators like this one, by one allreduce. They may know it from different
 * communicators: what they differ in, none of them knows. */
static struct crossover ask_all(MPI_Comm comm, const struct like *like, enum crossing kind)
{
    struct crossover mine, all;
    pthread_mutex_lock(&mutex);
    mine = known.of[like->size_class][like->on_one_host][kind];
    pthread_mutex_unlock(&mutex);
    front.native->Allreduce(&mine, &all, sizeof mine / sizeof(int64_t), MPI_INT64_T, MPI_BAND, comm);
    return all;
}

static bool is_empty(const struct choices *c)
{
    static const struct choices nothing;
    return memcmp(c, &nothing, sizeof nothing) == 0;
}

void measure_remember(const struct choices *c)
{
    kept = *c;
    has_kept = !is_empty(c);
}

bool measure_remembers(void)
{
    return has_kept;
}

void measure_recall(MPI_Comm comm, struct crossover all[CROSSINGS])
{
    if (!has_kept)
        return;
    const struct like like = like_of(comm);
    for (int kind = 0; kind < CROSSINGS; kind++)
        crossover_add(&all[kind], &kept.of[like.size_class][like.on_one_host][kind]);
}

bool measure_choices(struct choices *c)
{
    pthread_mutex_lock(&mutex);
    *c = known;
    pthread_mutex_unlock(&mutex);
    return !is_empty(c);
}

/* --- all of it --- */

static void say_result(MPI_Comm comm, enum crossing kind, unsigned size, struct result *r,
                       const struct crossover *c)
{
    char name[MPI_MAX_OBJECT_NAME], ranges[CROSSOVER_TEXT], times[120] = "";
    int rank, ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    crossover_write(c, ranges);
    if (r->contest.rounds > 0)
        snprintf(times, sizeof times,
                 ": %zu bytes took %.0f us with " MPI_LIBRARY ", %.0f us through the switch, in %u rounds",
                 bytes_of(kind, size), contest_seconds(&r->contest, WAY_LIBRARY) * 1e6,
                 contest_seconds(&r->contest, WAY_SWITCH) * 1e6, r->contest.rounds);
    if (rank == 0)
        report(SWAGG_LOG_INFO,
               "%s of %d ranks: %s goes to the switch %s: measured in %.1f ms%s%s (SWAGG_MIN_BYTES sets it "
               "without measuring)",
               comm_name(comm, name), ranks, offered_functions[BLOCKING][kinds[kind].function], ranges,
               r->elapsed * 1e3, times,
               r->failed    ? ", then the switch failed"
               : r->in_time ? ""
                            : ", then time was up");
}

/* Of what was measured until time was up counts what is enough for a way to have won. */
static void draw_conclusions(struct result *r, unsigned size, struct crossover *c)
{
    if (r->contest.rounds >= CONTEST_LEAD)
        crossover_note(c, size, contest_winner(&r->contest));
    else
        crossover_give_up(c, size);
}

void measure_crossover(MPI_Comm comm, struct swagg_job *job, bool agreed, enum crossing kind, unsigned size,
                       bool again, struct crossover *c)
{
    const struct like like = like_of(comm);
    const struct crossover asked = ask_all(comm, &like, kind);
    crossover_add(c, &asked);
    if (!again && crossover_is_settled(c, size))
        return;
    struct result r = run_bench(comm, job, agreed, kind, size);
    if (!r.failed) {
        draw_conclusions(&r, size, c);
        pthread_mutex_lock(&mutex);
        draw_conclusions(&r, size, &known.of[like.size_class][like.on_one_host][kind]);
        pthread_mutex_unlock(&mutex);
    }
    say_result(comm, kind, size, &r, c);
}
