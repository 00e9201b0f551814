/* Totals of a job. A call that is in progress has the job's lock, maybe for minutes; so it shows its figures
 * now and then, under a lock of their own. */
#include <string.h>
#include <unistd.h>

#include "lanes.h"
#include "protocol/ranks.h"
#include "waited.h"

void job_show(struct swagg_job *job)
{
    struct xfer_stats s;
    parts_stats(job, &s);
    uint64_t resumed = 0;
    unsigned messages = 0;
    for (unsigned i = 0; i < job->part_count; i++) {
        resumed += job->parts[i].resumed;
        messages = job->parts[i].transport->message_packets; /* of the only one */
    }
    const struct swagg_stats now = {
        .calls = job->calls,
        .elements = job->elements,
        .bytes = job->bytes,
        .packets_sent = s.sent,
        .packets_received = s.results + s.duplicates + s.bad + s.damaged,
        .retransmitted = s.retransmitted,
        .probes = s.probes,
        .timeouts = s.timeouts,
        .duplicates = s.duplicates,
        .bad_packets = s.bad,
        .damaged_packets = s.damaged,
        .rtt_us = s.srtt_ns / 1000,
        .rto_us = s.rto_ns / 1000,
        .window = s.window,
        .slots = job->terms.slots,
        .elements_per_packet = job->terms.chunk_bytes / 4,
        .resumed = resumed,
        .call_ns = job->call_ns,
        .compressed_calls = job->compress.calls,
        .compressed_elements = job->compress.total,
        .compression_error2 = job->compress.error2,
        .compression_sum2 = job->compress.sum2,
        .missed_calls = job->compress.missed_calls,
        .missed_elements = job->terms.quorum ? job->missed : job->compress.missed_total,
        .feedback_bytes = job->compress.feedback.bytes,
        .feedback_forgotten = job->compress.feedback.forgotten,
        .partial_calls = job->partial_calls,
        .left_out_elements = job->left_out,
        .links_lost = (uint32_t)__builtin_popcount(job->links.lost),
        .message_packets = messages,
    };
    pthread_mutex_lock(&job->shown.lock);
    job->shown.stats = now;
    pthread_mutex_unlock(&job->shown.lock);
}

void job_note_waits(struct swagg_job *job, uint64_t now)
{
    uint16_t missing[AGG_MAX_WORKERS];
    if (!job->calling)
        return;
    const unsigned n = job->worker->missing(parts_slowest(job)->stream, missing, AGG_MAX_WORKERS);
    waits_note(&job->waits, parts_progress(job), missing, n, now);
}

void job_begin_waits(struct swagg_job *job, uint64_t now)
{
    struct xfer_stats s;
    parts_stats(job, &s);
    waits_begin(&job->waits, s.srtt_ns, parts_progress(job), now);
}

/* Without a quorum a sum has all ranks. */
static struct xfer_turnout everybody(const struct swagg_job *job, uint64_t elements)
{
    struct xfer_turnout t = {.least = job->options.size, .most = job->options.size, .elements = elements};
    for (unsigned i = 0; i < ranks_words(job->options.size); i++)
        t.in_all[i] = t.in_some[i] = ranks_below(job->options.size, i);
    return t;
}

static struct xfer_turnout of_call(const struct swagg_job *job, const struct xfer_call *call,
                                   const struct xfer_turnout *in)
{
    if (!xfer_gives(call->collective, call->root, job->options.rank))
        return (struct xfer_turnout){0};
    return in ? *in : everybody(job, call->count);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_packets(struct swagg_stats *to, const struct swagg_stats *of)
{
    to->packets_sent += of->packets_sent;
    to->packets_received += of->packets_received;
    to->retransmitted += of->retransmitted;
    to->probes += of->probes;
    to->timeouts += of->timeouts;
    to->duplicates += of->duplicates;
    to->bad_packets += of->bad_packets;
    to->damaged_packets += of->damaged_packets;
    to->unproven_messages += of->unproven_messages;
    to->resumed = larger(to->resumed, of->resumed); /* of the same switches */
    to->links_lost = larger(to->links_lost, of->links_lost);
}

/* What has gone by the job's rail is the job's; but its calls are parts of the job's calls. */
static void add_rail(const struct swagg_job *job, struct swagg_stats *to)
{
    struct swagg_stats rail = SWAGG_STATS_INIT;
    if (!job->rail)
        return;
    swagg_get_stats(job->rail, &rail);
    add_packets(to, &rail);
    to->rtt_us = rail.rtt_us;
    to->rto_us = rail.rto_us;
    to->window = rail.window;
    to->message_packets = rail.message_packets;
    to->slots += rail.slots;
}

/* What has gone by other threads. */
static void add_lanes(const struct swagg_job *job, struct swagg_stats *to)
{
    for (unsigned i = 0; job->lanes && i < job->lanes->n; i++) {
        struct swagg_stats lane = SWAGG_STATS_INIT;
        swagg_get_stats(job->lanes->lane[i], &lane);
        add_packets(to, &lane);
        to->rtt_us = larger(to->rtt_us, lane.rtt_us);
        to->rto_us = larger(to->rto_us, lane.rto_us);
        to->window += lane.window;
    }
}

/* Those of other threads are for the same ranks. */
uint64_t job_waited(struct swagg_job *job)
{
    uint64_t ns = waits_total(&job->waits) + waits_total(&job->local_waits);
    if (job->rail)
        ns += job_waited(job->rail);
    for (unsigned i = 0; job->lanes && i < job->lanes->n; i++)
        ns = larger(ns, job_waited(job->lanes->lane[i]));
    return ns;
}

void job_count(struct swagg_job *job, const struct xfer_call *call, uint64_t ns)
{
    pthread_mutex_lock(&job->shown.lock);
    job->shown.calls++;
    job->shown.elements += call->count;
    job->shown.bytes += call->count * agg_element_size(call->type, call->op);
    job->shown.call_ns += ns;
    job->shown.by_level = *call;
    job->shown.is_by_level = true;
    pthread_mutex_unlock(&job->shown.lock);
}

int swagg_reaches_gpus(struct swagg_job *job)
{
    struct gpu_driver usual = {.library = GPU_DRIVER, .lock = PTHREAD_MUTEX_INITIALIZER};
    if (job && job->owner != getpid())
        return client_fail(SWAGG_ERR_ARGUMENT, "the job is another process's");
    return gpu_is_reached(job ? &job->gpu.driver : &usual);
}

int swagg_get_stats(struct swagg_job *job, struct swagg_stats *stats)
{
    if (!job || !stats || stats->struct_size < sizeof stats->struct_size)
        return client_fail(SWAGG_ERR_ARGUMENT, "%s",
                           job && stats ? "stats.struct_size is not set: begin with SWAGG_STATS_INIT"
                                        : "job or stats is NULL");
    const int rc = job_check_own(job);
    if (rc < 0)
        return rc;
    const size_t size = stats->struct_size;
    struct swagg_stats known;
    if (pthread_mutex_trylock(&job->lock) == 0) {
        job_show(job);
        pthread_mutex_unlock(&job->lock);
    }
    pthread_mutex_lock(&job->shown.lock);
    known = job->shown.stats;
    known.calls += job->shown.calls;
    known.elements += job->shown.elements;
    known.bytes += job->shown.bytes;
    known.call_ns += job->shown.call_ns;
    pthread_mutex_unlock(&job->shown.lock);
    add_rail(job, &known);
    add_lanes(job, &known);
    for (unsigned i = 0; i < job->part_count; i++)
        known.unproven_messages += membership_unproven(&job->parts[i].membership);
    known.waited_ns = job_waited(job);
    known.struct_size = size;
    memset(stats, 0, size);
    memcpy(stats, &known, size < sizeof known ? size : sizeof known);
    return SWAGG_OK;
}

int swagg_get_waits(struct swagg_job *job, uint64_t waited_ns[], int ranks)
{
    if (!job || ranks < 0 || (ranks > 0 && !waited_ns))
        return client_fail(SWAGG_ERR_ARGUMENT, "%s", job ? "no room for the ranks' times" : "job is NULL");
    const int rc = job_check_own(job);
    if (rc < 0)
        return rc;
    uint64_t here[AGG_MAX_WORKERS];
    const unsigned known = ranks < AGG_MAX_WORKERS ? (unsigned)ranks : AGG_MAX_WORKERS;
    waits_read(&job->waits, waited_ns, (unsigned)ranks);
    waits_read(&job->local_waits, here, known);
    for (unsigned rank = 0; rank < known; rank++)
        waited_ns[rank] += here[rank];
    return SWAGG_OK;
}

void job_note_turnout(struct swagg_job *job, const struct xfer_call *call, const struct xfer_turnout *in)
{
    struct xfer_turnout t = of_call(job, call, in);
    if (t.elements == 0) /* then nobody is in them */
        t = (struct xfer_turnout){.missed = t.missed};
    job->partial_calls += t.partial > 0 || t.missed > 0;
    job->left_out += t.left_out;
    job->missed += t.missed;
    pthread_mutex_lock(&job->shown.lock);
    job->shown.turnout = t;
    job->shown.is_by_level = false;
    pthread_mutex_unlock(&job->shown.lock);
}

int swagg_get_turnout(struct swagg_job *job, struct swagg_turnout *turnout)
{
    if (!job || !turnout || turnout->struct_size < sizeof turnout->struct_size)
        return client_fail(SWAGG_ERR_ARGUMENT, "%s",
                           job && turnout ? "turnout.struct_size is not set: begin with SWAGG_TURNOUT_INIT"
                                          : "job or turnout is NULL");
    const int rc = job_check_own(job);
    if (rc < 0)
        return rc;
    const size_t size = turnout->struct_size;
    pthread_mutex_lock(&job->shown.lock);
    const struct xfer_turnout t =
        job->shown.is_by_level ? of_call(job, &job->shown.by_level, NULL) : job->shown.turnout;
    pthread_mutex_unlock(&job->shown.lock);
    struct swagg_turnout known = {.struct_size = size,
                                  .least = t.least,
                                  .most = t.most,
                                  .elements = t.elements,
                                  .partial = t.partial,
                                  .left_out = t.left_out,
                                  .missed = t.missed};
    memcpy(known.in_all, t.in_all, sizeof known.in_all);
    memcpy(known.in_some, t.in_some, sizeof known.in_some);
    memset(turnout, 0, size);
    memcpy(turnout, &known, size < sizeof known ? size : sizeof known);
    return SWAGG_OK;
}
