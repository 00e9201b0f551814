/* The numbers that jobs have on the wire, and what the helper does about the jobs that have them. One thread.
 */
#pragma once

#include "control/registry.h"
#include "helper.h"
#include "protocol/jobs.h"

enum number_use {
    NUMBER_FREE,
    NUMBER_OPENING,  /* the helper is at it */
    NUMBER_UNWANTED, /* the same, but nobody waits for it any more */
    NUMBER_OPEN,
    NUMBER_CLOSING
};

struct number {
    enum number_use use;
    uint64_t asked; /* the request that is to be answered */
    uint64_t preparation;
    uint64_t freed_at; /* counts ends of jobs */
    struct agg_terms terms;
    json_t *workers; /* as the helper was told of them; NULL: the number is free */
};

struct numbers {
    struct helper *helper;
    uint64_t ends;
    struct number number[AGG_JOBS];
};

/* Of those that are free, and that the job has not had, the one that has been free for longest. -1: none. */
int numbers_choose(const struct numbers *n, const struct ctl_entry *job);

/* Has the helper make the job, under this free number and these terms. */
void numbers_open(struct numbers *n, unsigned number, const struct ctl_entry *job,
                  const struct agg_terms *terms);
/* Has it try with fewer slots, as there was no room for so many. False: they are as few as they may be. */
bool numbers_open_smaller(struct numbers *n, unsigned number);
void numbers_close(struct numbers *n, unsigned number);
void numbers_free(struct numbers *n, unsigned number);

/* The number that this request was about; -1: none. */
int numbers_asked(const struct numbers *n, uint64_t id);

/* Has results for the job of this number, which is open, go to those MAC addresses of its members that are
 * others now than the helper was told. */
void numbers_lead(struct numbers *n, const struct ctl_entry *job);
/* A job of an earlier life, which the helper has. */
void numbers_go_on(struct numbers *n, const struct ctl_entry *job);

/* What the helper is told of a job under these terms: number, elements, slots, first_tag, workers. */
json_t *numbers_describe(unsigned number, const struct ctl_entry *job, const struct agg_terms *terms);
