/* What every switch of the simulator has: its jobs by their numbers, and answers to packets of none. */
#pragma once

#include "control/entry.h"
#include "protocol/protocol.h"
#include "star.h"

struct numbered_jobs {
    void *job[AGG_JOBS];      /* the caller's, by number on the wire; NULL: free */
    uint64_t freed[AGG_JOBS]; /* when the number became free; 0: never used */
    uint64_t frees;
};

/* Of the numbers 0 .. numbers - 1 that are free and that the job has not had, the one that was freed longest
 * ago; -1: there is none. */
int numbered_jobs_free_number(const struct numbered_jobs *jobs, int numbers, const struct ctl_entry *job);

/* Takes the job out, so that its number is free; returns it. */
void *numbered_jobs_take_out(struct numbered_jobs *jobs, unsigned number);

/* Takes all out, by this function, and forgets that there were any. */
void numbered_jobs_clear(struct numbered_jobs *jobs, void (*free_job)(void *ctx, unsigned number), void *ctx);

/* Answers a packet that locate has refused as strange, if its protocol has an answer. boot_id: the switch's.
 */
void switch_refuse(struct star *star, const struct agg_protocol *protocol, const struct frame *f,
                   const struct agg_packet *p, uint64_t boot_id);
