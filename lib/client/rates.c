#include "rates.h"

#include "links.h"
#include "monotonic.h"
#include "switchml/stream.h"

enum { PERCENT = 100 };

void rates_open(struct swagg_job *job)
{
    bool all = job->part_count > 1 && job->worker->share;
    for (unsigned i = 0; i < job->part_count; i++)
        all &= job->parts[i].terms.rated;
    shares_init(&job->shares, job->part_count, job->options.size, job->options.format, all);
}

void rates_note_begin(struct job_part *part, const struct xfer_call *call, uint64_t now)
{
    const struct agg_worker *worker = part->job->worker;
    if (!part->job->shares.on)
        return;
    shares_note_begin(&part->job->shares, part->index, worker->packets(part->stream, call),
                      worker->status(part->stream) == XFER_DONE, now);
}

void rates_note_results(struct job_part *part)
{
    const struct agg_worker *worker = part->job->worker;
    if (!part->job->shares.on)
        return;
    shares_note_results(&part->job->shares, part->index, worker->progress(part->stream),
                        worker->status(part->stream) == XFER_DONE);
}

struct swagg_request *rates_due(struct swagg_job *job, const struct xfer_call *call)
{
    struct swagg_request *r = &job->agreement.request;
    struct links_seen seen[LINKS_MAX];
    uint16_t chunk_bytes[LINKS_MAX];
    if (!shares_due(&job->shares, call))
        return NULL;
    links_see(job, seen);
    for (unsigned i = 0; i < job->part_count; i++)
        chunk_bytes[i] = job->parts[i].terms.chunk_bytes;
    *r = (struct swagg_request){0};
    shares_ask(&job->shares, seen, chunk_bytes, &r->call, &r->only);
    return r;
}

void rates_spread(struct swagg_job *job, bool whole)
{
    const struct shares *s = &job->shares;
    for (unsigned i = 0; i < job->part_count; i++)
        job->worker->share(job->parts[i].stream, whole ? 0 : s->at[i],
                           whole ? SML_SHARE_WHOLE : s->at[i + 1]);
}

static void tell_shares(const struct swagg_job *job)
{
    const struct shares *s = &job->shares;
    for (unsigned i = 0; i < job->part_count; i++)
        logger_write(&job->options.log, SWAGG_LOG_INFO,
                     "job '%s': rank %u: %.1f%% of each call go by the switch %s", job->options.job,
                     job->options.rank, (double)(s->at[i + 1] - s->at[i]) * PERCENT / SML_SHARE_WHOLE,
                     job->parts[i].node->text);
}

/* At how many places the agreement's call is over. */
static unsigned places_through(const struct swagg_job *job)
{
    unsigned n = 0;
    for (unsigned i = 0; i < job->part_count; i++)
        n += (int32_t)(job->worker->ended(job->parts[i].stream) - job->agreement.request.number) > 0;
    return n;
}

int rates_step(struct swagg_job *job)
{
    struct shares *s = &job->shares;
    uint32_t standby[LINKS_MAX];
    int rc = SWAGG_OK;
    const unsigned through = s->agreeing ? places_through(job) : 0;
    if (through > 0 && !s->known) {
        shares_hear(s, standby);
        rc = links_agreed(job, standby);
    }
    if (rc < 0 || !s->agreeing || through < job->part_count)
        return rc;
    if (shares_end(s)) {
        rates_spread(job, false);
        tell_shares(job);
    }
    job_report(job, monotonic_ns()); /* the ranks may have no later call (drive_to_the_end) */
    return SWAGG_OK;
}
