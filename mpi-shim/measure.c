#include "measure.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "front.h"
#include "random/splitmix.h"
#include "report.h"

enum kind { ALLREDUCE, REDUCE, KINDS };
static const char *const functions[KINDS] = {"MPI_Allreduce", "MPI_Reduce"};
static const char *const ways[WAYS] = {MPI_LIBRARY, "the switch"};

/* --- one call --- */

struct bench {
    MPI_Comm comm;
    struct swagg_job *job;
    float *send, *recv; /* of the largest size; floats, since all of SWAGG_NUMBERS carry their sum */
    bool failed;        /* the switch did, on this rank */
};

static void call(struct bench *b, enum kind kind, enum way way, int count)
{
    int rc = 0;
    if (way == WAY_LIBRARY && kind == ALLREDUCE)
        front.native->Allreduce(b->send, b->recv, count, MPI_FLOAT, MPI_SUM, b->comm);
    else if (way == WAY_LIBRARY)
        front.native->Reduce(b->send, b->recv, count, MPI_FLOAT, MPI_SUM, 0, b->comm);
    else if (kind == ALLREDUCE)
        rc = swagg_allreduce(b->job, b->send, b->recv, (size_t)count, SWAGG_F32, SWAGG_SUM);
    else
        rc = swagg_reduce(b->job, b->send, b->recv, (size_t)count, SWAGG_F32, SWAGG_SUM, 0);
    b->failed |= rc < 0;
}

/* --- one round: each call once --- */

struct round {
    double seconds[KINDS][WAYS];
    double elapsed; /* since the measurement began */
    double failed;
};

/* Every rank gets the times of the slowest, so that all draw the same conclusions. Ranks begin a call
 * together: none is charged for one that was late. The ways take turns at being the first. */
static struct round run_round(struct bench *b, size_t bytes, bool switch_first, double began)
{
    struct round mine, slowest;
    for (int kind = 0; kind < KINDS; kind++)
        for (int turn = 0; turn < WAYS; turn++) {
            const enum way way = (turn == 0) == switch_first ? WAY_SWITCH : WAY_LIBRARY;
            front.native->Barrier(b->comm);
            const double start = PMPI_Wtime();
            call(b, (enum kind)kind, way, (int)(bytes / sizeof *b->send));
            mine.seconds[kind][way] = PMPI_Wtime() - start;
        }
    mine.elapsed = PMPI_Wtime() - began;
    mine.failed = b->failed;
    front.native->Allreduce(&mine, &slowest, sizeof mine / sizeof(double), MPI_DOUBLE, MPI_MAX, b->comm);
    return slowest;
}

/* --- all sizes --- */

struct result {
    enum way best[KINDS][CROSSOVER_SIZES];
    unsigned known; /* sizes */
    double elapsed;
    bool failed;
};

static void note_size(MPI_Comm comm, struct result *r, struct contest contests[KINDS])
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    for (int kind = 0; kind < KINDS; kind++) {
        struct contest *c = &contests[kind];
        const enum way best = contest_winner(c);
        r->best[kind][r->known] = best;
        if (rank == 0)
            report(SWAGG_LOG_DEBUG,
                   "%s of %zu bytes: %.0f us with " MPI_LIBRARY
                   ", %.0f us through the switch: better by %s, in %u "
                   "rounds",
                   functions[kind], crossover_sizes[r->known], contest_seconds(c, WAY_LIBRARY) * 1e6,
                   contest_seconds(c, WAY_SWITCH) * 1e6, ways[best], c->rounds);
    }
    r->known++;
}

static bool all_decided(const struct contest contests[KINDS])
{
    bool all = true;
    for (int kind = 0; kind < KINDS; kind++)
        all = all && contest_is_decided(&contests[kind]);
    return all;
}

static void note_round(struct contest contests[KINDS], const struct round *round)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (!contest_is_decided(&contests[kind]))
            contest_note(&contests[kind], round->seconds[kind]);
}

/* One round to warm up, and as many as it takes; false: time was up, or the switch failed. What was measured
 * till then counts, if it is enough for a way to have won. */
static bool run_size(struct bench *b, double began, struct result *r)
{
    struct contest contests[KINDS] = {0};
    double took = 0; /* by the last round */
    bool in_time = true;
    for (unsigned i = 0; in_time && !all_decided(contests); i++) {
        const struct round round = run_round(b, crossover_sizes[r->known], i % 2 == 1, began);
        took = round.elapsed - r->elapsed;
        r->elapsed = round.elapsed;
        r->failed = round.failed != 0;
        if (r->failed)
            return false;
        if (i > 0)
            note_round(contests, &round);
        in_time = r->elapsed + took <= crossover_seconds[r->known];
    }
    if (in_time || contests[ALLREDUCE].rounds >= CONTEST_LEAD)
        note_size(b->comm, r, contests);
    return in_time;
}

/* What is known already, and none of the rest. */
static struct result result_of(const struct crossover *c)
{
    struct result r = {.known = (unsigned)c->sizes};
    for (unsigned i = 0; i < r.known; i++) {
        r.best[ALLREDUCE][i] = crossover_has(c->allreduce, crossover_sizes[i]) ? WAY_SWITCH : WAY_LIBRARY;
        r.best[REDUCE][i] = crossover_has(c->reduce, crossover_sizes[i]) ? WAY_SWITCH : WAY_LIBRARY;
    }
    return r;
}

static void run_sizes(MPI_Comm comm, struct swagg_job *job, unsigned sizes, struct result *r)
{
    const size_t room = crossover_sizes[sizes - 1];
    struct bench b = {.comm = comm,
                      .job = job,
                      .send = allocate_or_abort(comm, room, "a measurement"),
                      .recv = allocate_or_abort(comm, room, "a measurement")};
    const double began = PMPI_Wtime();
    while (r->known < sizes && run_size(&b, began, r))
        ;
    free(b.send);
    free(b.recv);
}

static void say_result(MPI_Comm comm, const struct result *r, unsigned sizes, const struct crossover *c)
{
    char name[MPI_MAX_OBJECT_NAME], allreduce[CROSSOVER_TEXT], reduce[CROSSOVER_TEXT];
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    crossover_write(c->allreduce, allreduce);
    crossover_write(c->reduce, reduce);
    if (rank == 0)
        report(SWAGG_LOG_INFO,
               "%s of %d ranks: MPI_Allreduce goes to the switch %s, MPI_Reduce %s: measured in %.0f ms, %u "
               "of %d sizes%s (SWAGG_MIN_BYTES sets it without measuring)",
               comm_name(comm, name), size, allreduce, reduce, r->elapsed * 1e3, r->known, (int)sizes,
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

static struct crossover known[SIZE_CLASSES][2]; /* [size_class][on_one_host], under the mutex */
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

/* Finds out what kind of communicator it is, and whether all its ranks know the crossover of such ones, by
 * one allreduce. They may have it from different communicators: then the lowest number
 * counts, which is as good as any. */
static struct crossover ask_all(MPI_Comm comm, struct like *like)
{
    struct {
        struct crossover here[2];
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
    return least.here[like->on_one_host];
}

static void keep(const struct like *like, struct crossover c)
{
    pthread_mutex_lock(&mutex);
    known[like->size_class][like->on_one_host] = c;
    pthread_mutex_unlock(&mutex);
}

struct crossover measure_crossover(MPI_Comm comm, struct swagg_job *job, size_t bytes)
{
    const unsigned sizes = crossover_needs(bytes);
    struct like like;
    struct crossover c = ask_all(comm, &like);
    if (c.sizes >= sizes)
        return c;
    struct result r = result_of(&c);
    run_sizes(comm, job, sizes, &r);
    const bool time_was_up = r.known < sizes;
    c.allreduce = crossover_ranges(r.best[ALLREDUCE], r.known, time_was_up);
    c.reduce = crossover_ranges(r.best[REDUCE], r.known, time_was_up);
    c.measured = r.known;
    c.sizes = time_was_up ? CROSSOVER_SIZES : sizes; /* larger ones would take longer still */
    say_result(comm, &r, sizes, &c);
    if (!r.failed)
        keep(&like, c);
    return c;
}
