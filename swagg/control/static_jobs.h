/* Jobs in the configuration, which run as long as they are in it: nobody joins or leaves them, and their
 * workers are never considered lost. Those of `static` are published clients', those of `hostagg` sum what
 * workers send to a host, those of `clone` what only passes by, those of `replay` are for captures that are
 * played over and over.
 *
 * A published client does not say that it has started anew. So a static job starts over when it has been
 * quiet: when for its quiet_ms no packet came that belongs to what its slots are doing, they forget
 * everything (docs/correctness.md, "Static jobs"). So does a job of passing frames. The others never do:
 * host-addressed workers number their runs.
 *
 * Threads: the main lcore's; telemetry may read, and finds what changes as the last tick left it. While a job
 * starts over nobody may look into its pool.
 */
#pragma once

#include <pthread.h>

#include "aggregate/jobs.h"
#include "config/reload.h"
#include "registry/registry_host.h"

struct static_job {
    char name[CONFIG_JOB_MAX]; /* by default static[0], ..., replay[0], ..., as in messages */
    const char *list;          /* of the configuration, that it is in */
    uint8_t number;
    struct jobs_plan plan;
    uint64_t quiet_ns;           /* 0: it never starts over */
    bool worked;                 /* something was heard since it started over */
    uint64_t known[AGG_AMISSES]; /* packets that are amiss (jobs_amiss) and were told, or need not be */
    uint64_t told_at;            /* of the log's last line about such; 0: there is none */
    /* Atomic; times in ns, by the clock of static_jobs_tick. */
    uint64_t since;    /* it started, or started over */
    uint64_t heard_at; /* some packet came that belongs to the job's work */
    uint64_t runs;     /* how many times it has started over */
};

struct static_jobs {
    struct jobs *jobs; /* of the data path */
    struct jobs_identity us;
    pthread_mutex_t *shown; /* whoever shows the jobs holds it (show/parts.h) */
    unsigned n;
    struct static_job *job;
    uint64_t now; /* atomic: at the last tick */
};

/* s: all zero, but for jobs, us and shown. To be called before any other job is opened, so that the numbers
 * of replayed jobs on the wire are 0, 1, ... in the configuration's order. now: of the clock of the ticks. 0,
 * or -errno after logging; static_jobs_close follows in any case. */
int static_jobs_open(struct static_jobs *s, const struct config *cfg, uint64_t now);
/* Frees the descriptions; the jobs themselves end with jobs_free. */
void static_jobs_close(struct static_jobs *s);

/* Another configuration, in two steps. Its jobs are those until now, but for those of `static` and `roce`. */
struct static_jobs_change {
    const struct config *running, *next;
    const int *tenant; /* by the number until now: that in next (config/reload.h) */
};

/* Whether new jobs leave ranks that have joined, or are about to, the addresses that they send from. 0, or
 * -EBUSY after logging which they do not. */
int static_jobs_check_senders(struct registry_host *h, const struct static_jobs_change *change);

struct static_jobs_next {
    unsigned n;
    struct static_job *job;            /* of those that are new, or others than they were */
    int was[CONFIG_FIXED_JOBS_MAX];    /* where a job was until now; -1: it is one of those */
    bool stays[CONFIG_FIXED_JOBS_MAX]; /* by its place until now */
};

/* Opens the jobs that are new, or other than they were, within the limits of the next configuration, which
 * count until it returns: nobody may read them meanwhile. 0, or -errno after logging, and nothing has
 * changed: -EBUSY, a job that would be changed or closed is at work; or as jobs_open. */
int static_jobs_prepare(struct static_jobs *s, const struct static_jobs_change *change,
                        struct static_jobs_next *next);
/* After jobs_follow: closes those that they take the place of, or that are in the configuration no more. */
void static_jobs_commit(struct static_jobs *s, struct static_jobs_next *next, const struct config *cfg);
/* Or closes what static_jobs_prepare has opened. */
void static_jobs_forget(struct static_jobs *s, struct static_jobs_next *next);

/* Lets jobs that have been quiet start over. now: by a clock that runs only while the switch can hear its
 * workers (listening.h). To be called several times in the shortest quiet_ms, and like static_jobs_reset
 * without the lock. */
void static_jobs_tick(struct static_jobs *s, uint64_t now);

/* The operator has one of them, of any kind, start over now. */
void static_jobs_reset(struct static_jobs *s, const struct static_job *job);
