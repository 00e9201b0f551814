/* A job's level within the host: its ranks of one host sum in shared memory (lib/core/local), and over the
 * hosts by rails, each of which is a job of the switch. The job itself, with all ranks at the switch, stays
 * for calls that the level does not take, and by it every rank hears why the job has ended; but a job whose
 * ranks are all on one host needs no switch, and has no parts.
 *
 * One thread at a time, without the job's lock, unless a function says otherwise. */
#pragma once

#include "job.h"
#include "local/memory.h"
#include "local/turns.h"

struct level {
    struct swagg_job *job; /* whose it is */
    struct memory memory;
    struct local_plan plan;
    struct local_member member;
    struct swagg_job *rail;          /* this rank's; NULL: it has none */
    struct swagg_request railing[2]; /* what the rail sums, the shares of an even and an odd one */
    unsigned railed, begun;          /* so many were summed, of so many that were begun */
    bool attends;                    /* what is under way there goes on by this thread alone */
    struct spin spin;
    uint64_t progress_at; /* options.progress is due */
    atomic_bool told;     /* the rail's members know why the job has ended */
    struct turns turns;   /* of calls */
    bool in_thread;       /* the present one is made by a thread of the library's */
    struct logger rail_log;
};

/* Makes it of memory that these ranks have met by, which is its own from here on, whatever comes of it. 0 or
 * -errno. */
int level_make(struct level **level, struct swagg_job *job, struct memory *memory, const uint64_t ids[]);

/* Whether this rank has a rail, and the options of its job, which refer to the level. */
bool level_has_rail(const struct level *level);
void level_rail_options(struct level *level, struct client_options *options);

/* From here on the job's calls go by the level; all ranks do this. rail: the job closes it. */
void level_begin(struct level *level, struct swagg_job *rail);

/* Whether the job's level takes this call; all ranks say the same. */
bool level_takes(const struct swagg_job *job, const struct xfer_call *call, bool compressed);

/* Makes the call of a request that is in no queue: SWAGG_OK, or its status, with the text set. Any thread. */
int level_call(struct swagg_job *job, struct swagg_request *request);

/* Has a posted one made, behind those that were made before: SWAGG_OK, and its end is told by the job's
 * requests; or why it is not, with the text set. Any thread. */
int level_post(struct swagg_job *job, struct swagg_request *request);

/* A call is made that does not go by the level, if the job has one; before it is. Who waits in the level for
 * this rank, in a call that is another one in the same place, hears of it. Any thread. */
void level_pass(struct swagg_job *job, const struct swagg_request *request);

/* Gives up what is posted and not complete, of which the others hear; says that this rank has left, if the
 * job has a level, and hears no more of the job. In a child that
 * inherited it by fork nobody is told. */
void level_leave(struct swagg_job *job);

/* Once its rail is closed; NULL is fine. */
void level_free(struct level *level);
