/* How swagg_open goes about it: the ranks of a host meet, the job is opened, and it gets its level within the
 * host (local/level.h), or lanes for its threads (lanes.h), if it is to have them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accord.h"
#include "local/level.h"
#include "local/meeting.h"
#include "monotonic.h"
#include "open.h"

/* Tells all ranks whose memory each has mapped, byte by byte: numbers so small travel exactly however floats
 * do. */
static int exchange(struct swagg_job *job, uint64_t mine, uint64_t ids[])
{
    enum { BYTES = sizeof(uint64_t) };
    const unsigned ranks = job->options.size;
    float *bytes = calloc((size_t)ranks * BYTES, sizeof *bytes);
    if (!bytes) {
        job_end(job, SWAGG_ERR_SYSTEM, "no memory for the ranks' hosts");
        return requests_failure(&job->requests);
    }
    for (unsigned i = 0; i < BYTES; i++)
        bytes[job->options.rank * BYTES + i] = (float)(mine >> 8 * i & 0xff);
    const int rc = accord_sum(job, bytes, (size_t)ranks * BYTES);
    for (unsigned rank = 0; rank < ranks; rank++) {
        ids[rank] = 0;
        for (unsigned i = 0; i < BYTES; i++)
            ids[rank] |= (uint64_t)bytes[rank * BYTES + i] << 8 * i;
    }
    free(bytes);
    return rc;
}

/* If some rank cannot. */
static const char flat[] = "ranks of one host are not summed first";

static void log_level(const struct level *l)
{
    const struct client_options *o = &l->job->options;
    const struct ctl_ranks here = local_plan_ranks(&l->plan, l->member.host);
    char ranks[CTL_RANKS_TEXT_MAX];
    logger_write(&o->log, SWAGG_LOG_INFO, "job '%s': rank %u: host %u of %u is that of %s; %u rails", o->job,
                 o->rank, l->member.host, l->plan.hosts, ctl_ranks_text(&here, ranks), l->plan.rails);
}

/* The rails' jobs are under way at once; each rank has one at most. */
static int open_rail(struct level *l, struct swagg_job **rail, uint64_t deadline)
{
    struct client_options options;
    enum ctl_reason reason;
    *rail = NULL;
    if (!level_has_rail(l))
        return SWAGG_OK;
    level_rail_options(l, &options);
    return open_job(rail, &options, options.protocol, deadline, &reason);
}

static int grow(struct swagg_job *job, struct level *l, uint64_t deadline)
{
    struct swagg_job *rail = NULL;
    char why[CTL_TEXT_MAX] = "";
    if (open_rail(l, &rail, deadline) < 0)
        snprintf(why, sizeof why, "%.*s", CTL_TEXT_MAX - 1, swagg_last_error());
    const int well = accord_all_well(job, why, flat);
    if (well == 1) {
        level_begin(l, rail);
        log_level(l);
        return SWAGG_OK;
    }
    swagg_close(rail);
    return well;
}

/* What ranks have agreed on; not where servers say different things. */
static bool is_agreed(const struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++)
        if (job->parts[i].terms.local != (job->options.local.wish | 1))
            return false;
    return true;
}

/* Gives a job that has just been opened its level within the host, if the ranks' terms say so; all ranks come
 * to the same. An error ends the job; that there is no level is none. */
static int open_level(struct swagg_job *job, struct meeting *meeting, uint64_t deadline)
{
    uint64_t ids[AGG_MAX_WORKERS];
    struct level *l = NULL;
    if (meeting->why[0])
        logger_write(&job->options.log, SWAGG_LOG_INFO, "job '%s': rank %u shares no memory: %s",
                     job->options.job, job->options.rank, meeting->why);
    if (!is_agreed(job))
        return SWAGG_OK;
    int rc = exchange(job, meeting->memory.board ? meeting->memory.board->id : 0, ids);
    if (rc < 0)
        return rc;
    const int made = level_make(&l, job, &meeting->memory, ids);
    if ((rc = accord_all_well(job, made < 0 ? strerror(-made) : "", flat)) == 1)
        rc = grow(job, l, deadline);
    if (!job->level)
        level_free(l);
    accord_forget(job);
    return rc < 0 ? rc : SWAGG_OK;
}

static int fail_meeting(const struct client_options *o, const struct meeting *m, int error,
                        const struct ctl_ranks *missing)
{
    char ranks[CTL_RANKS_TEXT_MAX];
    if (!m->memory.board)
        return client_fail(SWAGG_ERR_SYSTEM,
                           "job '%s': rank %u shares no memory with the others of this host: %s", o->job,
                           o->rank, m->why);
    ctl_ranks_text(missing, ranks);
    if (error == -ESRCH)
        return client_fail(SWAGG_ERR_LOST, "job '%s': %s, by whom the others meet, has died", o->job, ranks);
    return client_fail(
        SWAGG_ERR_DEADLINE,
        "job '%s': %s did not come to the shared memory of this host within %.1f s: without "
        "options.switch_ip, or if options.local_ranks is options.size, all ranks must run here",
        o->job, ranks, (double)o->join_timeout_ns / NS_PER_SECOND);
}

static int begin_on_one_host(struct swagg_job *job, struct meeting *m)
{
    uint64_t ids[AGG_MAX_WORKERS];
    struct level *l;
    for (unsigned rank = 0; rank < job->options.size; rank++)
        ids[rank] = 1;
    const int rc = level_make(&l, job, &m->memory, ids);
    if (rc < 0)
        return client_fail(SWAGG_ERR_SYSTEM,
                           "job '%s': rank %u cannot map the memory that its host's ranks share: %s",
                           job->options.job, job->options.rank, strerror(-rc));
    level_begin(l, NULL);
    log_level(l);
    return SWAGG_OK;
}

static int open_on_one_host(struct swagg_job **out, const struct client_options *o, uint64_t deadline)
{
    struct client_options here = *o;
    struct ctl_ranks missing;
    enum ctl_reason reason;
    struct meeting m;
    here.in_switch.n = here.in_servers.n = 0;
    int rc = open_job(out, &here, here.protocol, deadline, &reason);
    if (rc < 0)
        return rc;
    meeting_begin(&m, o);
    rc = m.memory.board ? meeting_of_all(&m, deadline, &missing) : -EPERM;
    rc = rc < 0 ? fail_meeting(o, &m, rc, &missing) : begin_on_one_host(*out, &m);
    meeting_close(&m);
    if (rc < 0) {
        swagg_close(*out);
        *out = NULL;
    }
    return rc;
}

/* The switch had no slots when all ranks were there, and has told all of them so: they all go on by ATP. */
static int open_instead(struct swagg_job **out, const struct client_options *o, uint64_t deadline)
{
    enum ctl_reason reason;
    logger_write(&o->log, SWAGG_LOG_INFO, "job '%s': goes by ATP, parameter server %s%s: %s", o->job,
                 o->in_servers.at[0].text, o->in_servers.n > 1 ? " and others" : "", swagg_last_error());
    return open_job(out, o, o->instead, deadline, &reason);
}

/* At the switch, or at the servers. */
static int open_at_nodes(struct swagg_job **out, const struct client_options *o, uint64_t deadline)
{
    enum ctl_reason reason;
    int rc = open_job(out, o, o->protocol, deadline, &reason);
    /* A rank whose time is over, while the switch still looked for slots, has not been told anything. */
    if (rc == SWAGG_ERR_REFUSED && o->instead && reason == CTL_NO_SLOTS && monotonic_ns() < deadline)
        rc = open_instead(out, o, deadline);
    return rc;
}

/* Ranks of one host meet before they join. So all have met once all have joined. */
static int open_and_level(struct swagg_job **out, struct client_options *o, uint64_t deadline)
{
    struct meeting meeting;
    meeting_begin(&meeting, o);
    if (meeting.memory.board && !meeting.leads)
        o->local.wish |= 1;
    int rc = open_at_nodes(out, o, deadline);
    meeting_end(&meeting);
    if (rc == SWAGG_OK)
        rc = open_level(*out, &meeting, deadline);
    meeting_close(&meeting);
    if (rc < 0) {
        swagg_close(*out);
        *out = NULL;
    }
    return rc;
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
    if (resolved.local.only)
        return open_on_one_host(out, &resolved, deadline);
    rc = resolved.local.wish ? open_and_level(out, &resolved, deadline)
                             : open_at_nodes(out, &resolved, deadline);
    if (rc == SWAGG_OK && (rc = open_lanes(*out, deadline)) < 0) {
        swagg_close(*out);
        *out = NULL;
    }
    return rc;
}
