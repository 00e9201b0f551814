/* How a call is posted, and waited for; for those who make calls. A call's segments are an array of n if n >
 * 1, to be freed with the request, else the request's own. */
#pragma once

#include "job.h"

/* How a call is posted, and where its request goes. NULL in its place: the call is waited for. */
struct posting {
    const struct swagg_post *how; /* NULL: as usual */
    struct swagg_request **request;
};

/* As job_check_own; and how it is posted. The caller has no request from here on, until there is one. */
int collective_check(const struct swagg_job *job, const struct posting *posting);

/* SWAGG_ERR_ARGUMENT, with a text: there is no such rank in the job. */
int collective_check_root(const struct swagg_job *job, int root);

/* A request with room for n segments: of one that is waited for it is what *request has, zeroed.
 * SWAGG_ERR_FULL: as many are posted as may be; SWAGG_ERR_SYSTEM: the job cannot go on. */
int collective_begin(struct swagg_job *job, const struct posting *posting, size_t n,
                     struct swagg_request **request);

/* Puts a call whose call and segments are filled in behind those in flight; and unless it is posted waits for
 * its end, and frees what the request has. Any status. */
int collective_run(struct swagg_job *job, const struct posting *posting, struct swagg_request *request);

/* An allreduce of no elements. */
int collective_of_nothing(struct swagg_job *job, enum swagg_type type, enum swagg_op op,
                          const struct posting *posting);
