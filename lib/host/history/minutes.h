/* Minutes of a host and of its jobs, made of what its views show at each look. Threads: minutes_look is one
 * thread's; it takes the lock itself. The rest under the lock.
 */
#pragma once

#include <pthread.h>

#include "history/ring.h"
#include "views/declared.h"
#include "views/listed.h"

/* What came in a minute. */
struct minute {
    uint64_t begin; /* s since 1970 */
    uint64_t seconds;
    bool is_job;                        /* else all jobs' together, and: */
    char job[LISTED_NAME_BYTES];        /* its name */
    char tenant[LISTED_NAME_BYTES];     /* and whose it is */
    char latest_job[LISTED_CALL_BYTES]; /* whose rank was latest; "": nobody was */
    char lossy_job[LISTED_CALL_BYTES];  /* whose rank lost most; "": nothing was lost */
    uint64_t jobs, bytes, lost_up, lost_down, dropped;
    bool drops; /* dropped is known */
    uint64_t latest_rank, late_us, late_us_mean, lossy_rank, lost_most;
};

struct watched;

struct minutes {
    pthread_mutex_t *lock;
    struct ring host, jobs; /* of struct minute */
    uint64_t begin;         /* of the minute that goes on */
    uint64_t now;           /* at the last look, s since 1970; 0: there was none */
    uint64_t dropped, dropped_before;
    bool drops;
    struct watched *watched; /* jobs that were there in this minute */
};

/* False: no memory; minutes_close follows in any case. */
bool minutes_open(struct minutes *m, pthread_mutex_t *lock, unsigned of_host, unsigned of_jobs);
void minutes_close(struct minutes *m);

void minutes_look(struct minutes *m, const struct view_source *host, uint64_t now);

/* Calls visit for each minute in which something came, the one that goes on last: of the host (job NULL), or
 * of jobs that are called so. Returns how many there were. */
typedef void minute_visitor(void *context, const struct minute *minute);
unsigned minutes_visit(const struct minutes *m, const char *job, minute_visitor *visit, void *context);
