#include "jobs.h"

#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front.h"
#include "report.h"

/* What compressed sums (SWAGG_COMPRESSION) have cost in exactness. */
struct compressed {
    uint64_t calls;
    double error2; /* the square of what the rank's contributions left out or added */
    double sum2;   /* the square of the sums, this rank's part: divided by the ranks that have the same */
};

static struct record {
    struct swagg_job *job;
    struct job_facts facts;
    uint64_t *before; /* [ranks]: waits that are not counted */
    struct compressed compressed_before;
    struct record *next;
} * list;
static int world;                                         /* ranks */
static uint64_t *past;                                    /* [world]: waits in jobs that are gone */
static struct compressed past_compressed;                 /* of these */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* for all of the above */

void jobs_init(int ranks)
{
    world = ranks;
    past = allocate_or_abort(MPI_COMM_WORLD, (size_t)world * sizeof *past, "times of waiting");
}

/* Of the job's calls so far. */
static struct compressed compressed_of(const struct record *r)
{
    struct swagg_stats stats = SWAGG_STATS_INIT;
    swagg_get_stats(r->job, &stats);
    return (struct compressed){.calls = stats.compressed_calls,
                               .error2 = stats.compression_error2,
                               .sum2 = stats.compression_sum2 / r->facts.ranks};
}

void jobs_enter(struct swagg_job *job, const struct job_facts *facts)
{
    struct record *r = allocate_or_abort(MPI_COMM_WORLD, sizeof *r, "the record of a job");
    *r = (struct record){.job = job, .facts = *facts};
    r->before =
        allocate_or_abort(MPI_COMM_WORLD, (size_t)facts->ranks * sizeof *r->before, "times of waiting");
    swagg_get_waits(job, r->before, facts->ranks);
    r->compressed_before = compressed_of(r);
    pthread_mutex_lock(&mutex);
    r->next = list;
    list = r;
    pthread_mutex_unlock(&mutex);
}

/* Adds what is counted of a job to the ranks of MPI_COMM_WORLD. */
static void add_waits(const struct record *r, uint64_t in_world[])
{
    uint64_t *ns = calloc((size_t)r->facts.ranks, sizeof *ns);
    if (!ns)
        return;
    swagg_get_waits(r->job, ns, r->facts.ranks);
    for (int i = 0; i < r->facts.ranks; i++)
        in_world[r->facts.in_world[i]] += ns[i] - r->before[i];
    free(ns);
}

static void add_compressed(const struct record *r, struct compressed *all)
{
    const struct compressed now = compressed_of(r), *before = &r->compressed_before;
    all->calls += now.calls - before->calls;
    all->error2 += now.error2 - before->error2;
    all->sum2 += now.sum2 - before->sum2;
}

static struct compressed compressed_of_all(void)
{
    pthread_mutex_lock(&mutex);
    struct compressed all = past_compressed;
    for (const struct record *r = list; r; r = r->next)
        add_compressed(r, &all);
    pthread_mutex_unlock(&mutex);
    return all;
}

void jobs_compressed(char *text, size_t size)
{
    const struct compressed mine = compressed_of_all();
    double squares[2] = {mine.error2, mine.sum2}, all[2] = {0, 0};
    uint64_t most = 0;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    front.native->Reduce(squares, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    front.native->Reduce(&mine.calls, &most, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    *text = '\0';
    if (rank == 0 && most > 0)
        snprintf(text, size,
                 "SWAGG_COMPRESSION=thc: the sums of %" PRIu64
                 " calls were approximate: they erred by %.3g of their own "
                 "square (NMSE), on average",
                 most, all[1] > 0 ? all[0] / all[1] : 0);
}

void jobs_leave(struct swagg_job *job)
{
    pthread_mutex_lock(&mutex);
    struct record **at = &list, *r;
    while (*at && (*at)->job != job)
        at = &(*at)->next;
    if ((r = *at)) {
        *at = r->next;
        add_waits(r, past);
        add_compressed(r, &past_compressed);
        free(r->before);
        free(r);
    }
    pthread_mutex_unlock(&mutex);
}

void jobs_each(void (*see)(void *ctx, const struct job_facts *facts, const struct swagg_stats *stats),
               void *ctx)
{
    pthread_mutex_lock(&mutex);
    for (const struct record *r = list; r; r = r->next) {
        struct swagg_stats stats = SWAGG_STATS_INIT;
        swagg_get_stats(r->job, &stats);
        see(ctx, &r->facts, &stats);
    }
    pthread_mutex_unlock(&mutex);
}

uint64_t *jobs_waits(int *ranks)
{
    pthread_mutex_lock(&mutex);
    uint64_t *ns = calloc((size_t)world + 1, sizeof *ns);
    if (ns && world)
        memcpy(ns, past, (size_t)world * sizeof *ns);
    for (const struct record *r = list; ns && r; r = r->next)
        add_waits(r, ns);
    *ranks = world;
    pthread_mutex_unlock(&mutex);
    return ns;
}
