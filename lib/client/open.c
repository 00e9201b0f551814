#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "join.h"
#include "monotonic.h"
#include "sodium_keys.h"

static int for_all_parts(struct swagg_job *job, int (*step)(struct job_part *part, uint64_t deadline),
                         uint64_t deadline)
{
    int rc = SWAGG_OK;
    for (unsigned i = 0; i < job->part_count && rc == SWAGG_OK; i++)
        rc = step(&job->parts[i], deadline);
    return rc;
}

/* What follows once all ranks have joined. */
static int open_streams(struct swagg_job *job, const struct ctl_session sessions[])
{
    int rc = SWAGG_OK;
    for (unsigned i = 0; i < job->part_count && rc == SWAGG_OK; i++)
        rc = job_adopt_terms(&job->parts[i], &sessions[i]);
    for (unsigned i = 0; i < job->part_count && rc == SWAGG_OK; i++)
        rc = join_finish(&job->parts[i], &sessions[i]);
    return rc;
}

static int open_all(struct swagg_job *job, uint64_t deadline)
{
    const size_t bytes = job->part_count * sizeof(struct ctl_session);
    struct ctl_session *sessions = malloc(bytes);
    int rc;
    if (!sessions)
        return job_fail(job, SWAGG_ERR_SYSTEM, "no memory: %zu bytes", bytes);
    if ((rc = for_all_parts(job, join_find, deadline)) == SWAGG_OK &&
        (rc = for_all_parts(job, join_begin, deadline)) == SWAGG_OK &&
        (rc = join_wait(job, sessions)) == SWAGG_OK && (rc = open_streams(job, sessions)) == SWAGG_OK)
        job_show(job);
    keys_erase(sessions, bytes);
    free(sessions);
    return rc;
}

/* The job with its parts, of which none is open; NULL: there is no memory. */
static struct swagg_job *make_job(const struct client_options *options, bool by_atp)
{
    struct swagg_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->options = *options;
    job->flow = by_atp ? &flow_atp : &flow_switchml;
    const struct client_places *places = by_atp ? &job->options.in_servers : &job->options.in_switch;
    job->part_count = places->n;
    job->parts = calloc(places->n, sizeof *job->parts);
    if (!job->parts || waits_open(&job->waits, options->size) < 0) {
        free(job->parts);
        free(job);
        return NULL;
    }
    for (unsigned i = 0; i < job->part_count; i++)
        job->parts[i] = (struct job_part){.job = job, .index = i, .place = &places->at[i]};
    job->kernels = agg_kernels_best();
    job->owner = getpid();
    job->waker = WAKER_NONE;
    compress_open(&job->compress, &job->options, job->kernels);
    pthread_mutex_init(&job->lock, NULL);
    pthread_mutex_init(&job->between, NULL);
    pthread_mutex_init(&job->shown.lock, NULL);
    return job;
}

/* Opens the job by one protocol. *reason: why the switch has refused it. */
static int open_job(struct swagg_job **out, const struct client_options *options, bool by_atp,
                    uint64_t deadline, enum ctl_reason *reason)
{
    struct swagg_job *job = make_job(options, by_atp);
    *reason = CTL_OK;
    if (!job)
        return client_fail(SWAGG_ERR_SYSTEM, "no memory for a job");
    pthread_mutex_lock(&job->lock);
    atomic_store(&job->busy, true);
    int rc = waker_open(&job->waker);
    rc = rc < 0 ? job_fail(job, SWAGG_ERR_SYSTEM, "no pipe: %s", strerror(-rc)) : open_all(job, deadline);
    *reason = job->reason; /* the membership thread may set it from here on */
    atomic_store(&job->busy, false);
    pthread_mutex_unlock(&job->lock);
    if (rc == 0)
        *out = job;
    else
        swagg_close(job);
    return rc;
}

/* The switch had no slots when all ranks were there, and has told all of them so: they all go on by ATP. */
static int open_instead(struct swagg_job **out, const struct client_options *o, uint64_t deadline)
{
    enum ctl_reason reason;
    logger_write(&o->log, SWAGG_LOG_INFO, "job '%s': goes by ATP, parameter server %s%s: %s", o->job,
                 o->in_servers.at[0].text, o->in_servers.n > 1 ? " and others" : "", swagg_last_error());
    return open_job(out, o, true, deadline, &reason);
}

int swagg_open(struct swagg_job **out, const struct swagg_options *options)
{
    if (!out)
        return client_fail(SWAGG_ERR_ARGUMENT, "job is NULL");
    *out = NULL;
    struct client_options resolved;
    int rc = client_options_resolve(&resolved, options);
    if (rc < 0)
        return rc;
    const uint64_t deadline = monotonic_ns() + resolved.join_timeout_ns;
    enum ctl_reason reason;
    rc = open_job(out, &resolved, resolved.protocol == SWAGG_PROTOCOL_ATP, deadline, &reason);
    /* A rank whose time is over, while the switch still looked for slots, has not been told anything. */
    if (rc == SWAGG_ERR_REFUSED && resolved.protocol == SWAGG_PROTOCOL_AUTO && reason == CTL_NO_SLOTS &&
        monotonic_ns() < deadline)
        rc = open_instead(out, &resolved, deadline);
    return rc;
}
