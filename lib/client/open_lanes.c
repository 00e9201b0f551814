/* How a job comes to its lanes (lanes.h). */
#include <stdio.h>
#include <stdlib.h>

#include "accord.h"
#include "lanes.h"
#include "local/plan.h"
#include "open.h"

enum { SLOTS_LEAST = 128 }; /* of a lane, unless the job has fewer */

/* The job's slots are divided. */
static uint16_t slots_each(unsigned slots, unsigned threads)
{
    const unsigned least = slots < SLOTS_LEAST ? slots : SLOTS_LEAST;
    unsigned each = slots;
    while (each * threads > slots && each > 2)
        each /= 2;
    return (uint16_t)(each > least ? each : least);
}

static void lane_options(const struct swagg_job *job, unsigned thread, unsigned threads,
                         struct client_options *o)
{
    *o = job->options;
    local_job_name(job->options.job, "thread", thread, o->job);
    o->slots = slots_each(o->slots, threads);
    o->local = (struct client_local){0};
    o->instead = NULL;
    o->compression = (struct client_compression){0};
    o->progress = NULL;
    o->progress_thread = true;
    o->threads = 1;
}

static struct lanes *make(const struct swagg_job *job, unsigned threads, uint64_t deadline,
                          char why[CTL_TEXT_MAX])
{
    struct lanes *l = calloc(1, sizeof *l);
    struct client_options options;
    enum ctl_reason reason;
    if (!l) {
        snprintf(why, CTL_TEXT_MAX, "no memory for them");
        return NULL;
    }
    pthread_mutex_init(&l->order, NULL);
    while (l->n + 1 < threads && !why[0]) {
        lane_options(job, l->n + 1, threads, &options);
        if (open_job(&l->lane[l->n], &options, options.protocol, deadline, &reason) < 0)
            snprintf(why, CTL_TEXT_MAX, "%.*s", CTL_TEXT_MAX - 1, swagg_last_error());
        else
            l->n++;
    }
    return l;
}

int open_lanes(struct swagg_job *job, uint64_t deadline)
{
    char why[CTL_TEXT_MAX] = "";
    const unsigned threads = job->part_count > 0 && !job->level ? lanes_agreed(job) : 1;
    if (threads < 2)
        return SWAGG_OK;
    struct lanes *l = make(job, threads, deadline, why);
    const int well = accord_all_well(job, why, "no threads share its calls");
    accord_forget(job);
    if (well == 1) {
        lanes_begin(job, l);
        logger_write(&job->options.log, SWAGG_LOG_INFO, "job '%s': rank %u: %u threads share its calls",
                     job->options.job, job->options.rank, threads);
        return SWAGG_OK;
    }
    if (l)
        open_close_lanes(l);
    return well;
}
