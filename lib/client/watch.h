/* What calls have to do in time: keep their deadlines, warn while they wait, update the progress that
 * heartbeats tell. Times are in monotonic ns. Called with the job's lock held. */
#pragma once

#include "job.h"

/* The first call begins. */
void watch_start(struct watch *w, const struct swagg_job *job, uint64_t now);

/* A thread drives again: that no tick came meanwhile does not say that the process stood still. */
void watch_go_on(struct watch *w, uint64_t now);

/* Whether the part's switch has answered lately what this rank has sent it, and all ranks are in the job
 * there if they were. */
bool watch_is_answered(struct job_part *part);

/* The earliest deadline of all calls in flight. */
uint64_t watch_deadline(const struct watch *w, struct swagg_job *job);

/* To be called at tick_at or after it. 0, or the status of a job in which a call's time is up. */
int watch_tick(struct watch *w, struct swagg_job *job, uint64_t now);
