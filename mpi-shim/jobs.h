/* The jobs that this rank has in the switch, for whoever tells about them, and for whom it has waited in all
 * of its jobs. Any thread may call. */
#pragma once

#include "crossover.h"
#include "report.h"
#include "swagg.h"

enum { JOB_NAME_MAX = 64 };

/* What is told of a job beside its totals. */
struct job_facts {
    char name[JOB_NAME_MAX]; /* in the switch */
    struct comm_label label; /* the communicator that it was made for; others may share it */
    bool posted;             /* it is for non-blocking calls, of that communicator alone */
    int ranks;
    int *in_world;                        /* [ranks]: which ranks of MPI_COMM_WORLD they are */
    char ways[CROSSINGS][CROSSOVER_TEXT]; /* which sizes go to the switch */
};

/* `ranks` is how many MPI_COMM_WORLD has. */
void jobs_init(int ranks);

/* The job is there; its waits and compressed calls until now are not counted. facts->in_world must live until
 * jobs_leave, which must come before swagg_close; the rest is copied. */
void jobs_enter(struct swagg_job *job, const struct job_facts *facts);
void jobs_leave(struct swagg_job *job);

/* see is called for each job that is there. It must not call anything here. */
void jobs_each(void (*see)(void *ctx, const struct job_facts *facts, const struct swagg_stats *stats),
               void *ctx);

/* For the summary: that sums were compressed, and so approximate, and by how much; an empty text if none was.
 * Collective over MPI_COMM_WORLD; rank 0 gets the text, the others an empty one. */
void jobs_compressed(char *text, size_t size);

/* Nanoseconds for which this rank has waited for each rank of MPI_COMM_WORLD: an array of *ranks, to be given
 * to free(); NULL: no memory. */
uint64_t *jobs_waits(int *ranks);
