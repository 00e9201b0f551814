#include "measure.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "front.h"
#include "random/splitmix.h"
#include "report.h"

static const char *const ways[WAYS] = {MPI_LIBRARY, "the switch"};

/* --- one call --- */

struct bench {
    MPI_Comm comm;
    struct swagg_job *job;
    bool agreed; /* see measure_crossover */
    int ranks;
    float *send, *recv; /* of the largest size; floats, since all of SWAGG_NUMBERS carry their sum */
    bool failed;        /* the switch did, on this rank */
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

static void library_allgather(struct bench *b, int count)
{
    const int block = block_of(b, count);
    front.native->Allgather(b->send, block, MPI_FLOAT, b->recv, block, MPI_FLOAT, b->comm);
}

static int switch_allgather(struct bench *b, int count)
{
    return swagg_allgather(b->job, b->send, b->recv, (size_t)block_of(b, count) * sizeof *b->send);
}

static void library_reduce_scatter(struct bench *b, int count)
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
    [CROSSING_REDUCE_SCATTER] = {OFFERED_Reduce_scatter, library_reduce_scatter, switch_reduce_scatter},
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

/* --- what is measured together: kinds from `first` on, before `end` --- */

struct together {
    int first, end;
};

static struct together measured_with(enum crossing kind)
{
    if (kind <= CROSSING_REDUCE)
        return (struct together){CROSSING_ALLREDUCE, CROSSING_REDUCE + 1};
    return (struct together){(int)kind, (int)kind + 1};
}

static size_t bytes_of(enum crossing kind, unsigned size)
{
    return kind == CROSSING_BARRIER ? 0 : crossover_sizes[size];
}

/* --- one round: each call once --- */

struct round {
    double seconds[CROSSINGS][WAYS];
    double elapsed; /* since the measurement began */
    double failed;
};

/* Every rank gets the times of the slowest, so that all draw the same conclusions. Ranks begin a call
 * together: none is charged for one that was late. The ways take turns at being the first. */
static struct round run_round(struct bench *b, struct together these, unsigned size, bool switch_first,
                              double began)
{
    struct round mine = {0}, slowest;
    for (int kind = these.first; kind < these.end; kind++)
        for (int turn = 0; turn < WAYS; turn++) {
            const enum way way = (turn == 0) == switch_first ? WAY_SWITCH : WAY_LIBRARY;
            front.native->Barrier(b->comm);
            const double start = PMPI_Wtime();
            call(b, (enum crossing)kind, way, (int)(bytes_of((enum crossing)kind, size) / sizeof *b->send));
            mine.seconds[kind][way] = PMPI_Wtime() - start;
        }
    mine.elapsed = PMPI_Wtime() - began;
    mine.failed = b->failed;
    front.native->Allreduce(&mine, &slowest, sizeof mine / sizeof(double), MPI_DOUBLE, MPI_MAX, b->comm);
    return slowest;
}

/* --- all sizes --- */

struct result {
    struct together these;
    enum way best[CROSSINGS][CROSSOVER_SIZES];
    unsigned known; /* sizes */
    double elapsed;
    bool failed;
};

static void note_size(MPI_Comm comm, struct result *r, struct contest contests[CROSSINGS])
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    for (int kind = r->these.first; kind < r->these.end; kind++) {
        struct contest *c = &contests[kind];
        const enum way best = contest_winner(c);
        r->best[kind][r->known] = best;
        if (rank == 0)
            report(SWAGG_LOG_DEBUG,
                   "%s of %zu bytes: %.0f us with " MPI_LIBRARY
                   ", %.0f us through the switch: better by %s, in %u "
                   "rounds",
                   offered_functions[BLOCKING][kinds[kind].function], bytes_of((enum crossing)kind, r->known),
                   contest_seconds(c, WAY_LIBRARY) * 1e6, contest_seconds(c, WAY_SWITCH) * 1e6, ways[best],
                   c->rounds);
    }
    r->known++;
}

static bool all_decided(struct together these, const struct contest contests[CROSSINGS])
{
    bool all = true;
    for (int kind = these.first; kind < these.end; kind++)
        all = all && contest_is_decided(&contests[kind]);
    return all;
}

static void note_round(struct together these, struct contest contests[CROSSINGS], const struct round *round)
{
    for (int kind = these.first; kind < these.end; kind++)
        if (!contest_is_decided(&contests[kind]))
            contest_note(&contests[kind], round->seconds[kind]);
}

/* One round to warm up, and as many as it takes; false: time was up, or the switch failed. What was measured
 * till then counts, if it is enough for a way to have won. */
static bool run_size(struct bench *b, double began, struct result *r)
{
    struct contest contests[CROSSINGS] = {0};
    double took = 0; /* by the last round */
    bool in_time = true;
    for (unsigned i = 0; in_time && !all_decided(r->these, contests); i++) {
        const struct round round = run_round(b, r->these, r->known, i % 2 == 1, began);
        took = round.elapsed - r->elapsed;
        r->elapsed = round.elapsed;
        r->failed = round.failed != 0;
        if (r->failed)
            return false;
        if (i > 0)
            note_round(r->these, contests, &round);
        in_time = r->elapsed + took <= crossover_seconds[r->known];
    }
    if (in_time || contests[r->these.first].rounds >= CONTEST_LEAD)
        note_size(b->comm, r, contests);
    return in_time;
}

/* What is known already, and none of the rest. All that are measured together are known for as many sizes. */
static struct result result_of(struct together these, const struct crossover all[CROSSINGS])
{
    struct result r = {.these = these, .known = (unsigned)all[these.first].sizes};
    for (int kind = these.first; kind < these.end; kind++)
        for (unsigned i = 0; i < r.known; i++)
            r.best[kind][i] = crossover_has(all[kind].ranges, crossover_sizes[i]) ? WAY_SWITCH : WAY_LIBRARY;
    return r;
}

static void run_sizes(MPI_Comm comm, struct swagg_job *job, bool agreed, unsigned sizes, struct result *r)
{
    const size_t room = crossover_sizes[sizes - 1];
    struct bench b = {.comm = comm,
                      .job = job,
                      .agreed = agreed,
                      .send = allocate_or_abort(comm, room, "a measurement"),
                      .recv = allocate_or_abort(comm, room, "a measurement")};
    const double began = PMPI_Wtime();
    PMPI_Comm_size(comm, &b.ranks);
    while (r->known < sizes && run_size(&b, began, r))
        ;
    free(b.send);
    free(b.recv);
}

static void say_result(MPI_Comm comm, const struct result *r, unsigned sizes,
                       const struct crossover all[CROSSINGS])
{
    char name[MPI_MAX_OBJECT_NAME], ranges[CROSSOVER_TEXT], told[2 * (CROSSOVER_TEXT + 40)];
    int rank, size, used = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int kind = r->these.first; kind < r->these.end; kind++) {
        crossover_write(all[kind].ranges, ranges);
        used += snprintf(told + used, sizeof told - (size_t)used, "%s%s %s%s", used ? ", " : "",
                         offered_functions[BLOCKING][kinds[kind].function], used ? "" : "goes to the switch ",
                         ranges);
    }
    if (rank == 0)
        report(SWAGG_LOG_INFO,
               "%s of %d ranks: %s: measured in %.0f ms, %u of %d sizes%s (SWAGG_MIN_BYTES sets it without "
               "measuring)",
               comm_name(comm, name), size, told, r->elapsed * 1e3, r->known, (int)sizes,
               r->failed          ? ", then the switch failed"
               : r->known < sizes ? ", then time was up"
                                  : "");
}

/* --- what is known of communicators that are alike --- */

enum { SIZE_CLASSES = 32 };

/* Of a communicator's kind: how many ranks it has, to the next power of two, and whether all are on one host.
 */
struct like {
    unsigned size_class;
    bool on_one_host;
};

/* [size_class][on_one_host], under the mutex */
static struct crossover known[SIZE_CLASSES][2][CROSSINGS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned size_class_of(MPI_Comm comm)
{
    unsigned class = 0;
    int size;
    PMPI_Comm_size(comm, &size);
    while (1 << class < size)
        class ++;
    return class;
}

/* A number that stands for the host, not below 0. */
static int64_t host_number(void)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    uint64_t hash = 0;
    PMPI_Get_processor_name(name, &length);
    for (int i = 0; i < length; i++)
        hash = splitmix_hash(hash ^ (unsigned char)name[i]);
    return (int64_t)(hash >> 1);
}

/* Finds out what kind of communicator it is, and whether all its ranks know the crossovers of such ones, by
 * one allreduce. They may have them from different communicators: then the lowest number counts, which is as
 * good as any. */
static void ask_all(MPI_Comm comm, struct like *like, struct crossover all[CROSSINGS])
{
    struct {
        struct crossover here[2][CROSSINGS];
        int64_t host, minus_host;
    } mine, least;
    like->size_class = size_class_of(comm);
    pthread_mutex_lock(&mutex);
    memcpy(mine.here, known[like->size_class], sizeof mine.here);
    pthread_mutex_unlock(&mutex);
    mine.host = host_number();
    mine.minus_host = -mine.host;
    front.native->Allreduce(&mine, &least, sizeof mine / sizeof(int64_t), MPI_INT64_T, MPI_MIN, comm);
    like->on_one_host = least.host == -least.minus_host;
    memcpy(all, least.here[like->on_one_host], sizeof least.here[0]);
}

static void keep(const struct like *like, struct together these, const struct crossover all[CROSSINGS])
{
    pthread_mutex_lock(&mutex);
    for (int kind = these.first; kind < these.end; kind++)
        known[like->size_class][like->on_one_host][kind] = all[kind];
    pthread_mutex_unlock(&mutex);
}

void measure_crossover(MPI_Comm comm, struct swagg_job *job, bool agreed, enum crossing kind, size_t bytes,
                       struct crossover all[CROSSINGS])
{
    const struct together these = measured_with(kind);
    const unsigned sizes = kind == CROSSING_BARRIER ? 1 : crossover_needs(bytes);
    struct like like;
    struct crossover asked[CROSSINGS];
    ask_all(comm, &like, asked);
    const bool is_known = asked[kind].sizes >= sizes;
    struct result r = result_of(these, asked);
    if (!is_known)
        run_sizes(comm, job, agreed, sizes, &r);
    const bool time_was_up = r.known < sizes;
    for (int k = these.first; k < these.end; k++) {
        all[k] = asked[k];
        if (!is_known)
            all[k] = (struct crossover){
                .ranges = crossover_ranges(r.best[k], r.known, time_was_up),
                .measured = r.known,
                /* larger ones would take longer still; there are none of a barrier */
                .sizes = time_was_up || k == CROSSING_BARRIER ? CROSSOVER_SIZES : sizes,
            };
    }
    if (is_known)
        return;
    say_result(comm, &r, sizes, all);
    if (!r.failed)
        keep(&like, these, all);
}
