/* How a call is posted, and waited for; for those who make calls. A call's segments are an array of n if n >
 * 1, to be freed with the request, else the request's own. */
#pragma once

#include "job.h"

/* SWAGG_OK, or SWAGG_ERR_ARGUMENT: job is NULL, or another process's. */
int collective_check_job(const struct swagg_job *job);

/* SWAGG_ERR_ARGUMENT, with a text: there is no such rank in the job. */
int collective_check_root(const struct swagg_job *job, int root);

/* Room for n segments; SWAGG_ERR_SYSTEM: the job cannot go on. */
int collective_make_room(struct swagg_job *job, struct swagg_request *request, size_t n);

/* Puts a call whose call and segments are filled in behind those in flight, waits for its end, and frees what
 * the request has. Any status. */
int collective_run(struct swagg_job *job, struct swagg_request *request);
