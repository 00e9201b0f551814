#include "rates.h"

#include "monotonic.h"
#include "switchml/stream.h"

enum {
    LONG_BYTES = 256 << 10, /* of a call that is measured */
    LONG_PACKETS = 32,      /* at a link, ... */
    FIRST = 3,              /* long calls, behind which ranks agree at first; then behind ... */
    TIMES = 3,              /* so many times as many, ... */
    EVERY = 64,             /* and at last behind every so many */
    LEAST = 64,             /* a link has at least this part of its even share */
    HARDLY = 32,            /* shares stay if none changes by more than this part of it */
    KIB = 1024,
    PERCENT = 100,
    RATE_MAX = INT32_MAX, /* so many links' do not overflow */
};

void rates_open(struct swagg_job *job)
{
    bool all = job->part_count > 1 && job->worker->share;
    for (unsigned i = 0; i < job->part_count; i++)
        all &= job->parts[i].terms.rated;
    job->rates = (struct rates){.on = all, .next = FIRST};
    for (unsigned i = 0; i < job->part_count; i++)
        job->rates.share[i] = SML_SHARE_WHOLE / job->part_count;
}

void rates_note_begin(struct job_part *part, const struct xfer_call *call, uint64_t now)
{
    const struct agg_worker *worker = part->job->worker;
    struct rate *r = &part->rate;
    if (!part->job->rates.on)
        return;
    if (worker->status(part->stream) == XFER_DONE) {
        r->began = now;
        r->first = r->packets = 0;
    }
    r->packets += worker->packets(part->stream, call);
}

/* From the first result of a stretch of calls to its last: that others are late to begin is not the link's
 * fault. */
void rates_note_results(struct job_part *part)
{
    const struct agg_worker *worker = part->job->worker;
    struct rate *r = &part->rate;
    if (r->packets == 0)
        return;
    const uint64_t newest = worker->progress(part->stream);
    if (r->first == 0 && newest > r->began)
        r->first = newest;
    if (worker->status(part->stream) != XFER_DONE)
        return;
    if (r->packets >= LONG_PACKETS && newest > r->first) {
        r->all_packets += r->packets;
        r->all_ns += newest - r->first;
    }
    r->packets = 0;
}

static bool is_long(const struct xfer_call *c)
{
    return (c->collective == XFER_ALLREDUCE || c->collective == XFER_REDUCE) &&
           c->count * agg_element_size(c->type, c->op) >= LONG_BYTES;
}

/* KiB a second; 0: nothing was measured. */
static uint32_t measured(const struct job_part *part)
{
    const struct rate *r = &part->rate;
    const double kib = (double)r->all_packets * part->terms.chunk_bytes / KIB;
    const double rate = r->all_ns > 0 ? kib * NS_PER_SECOND / (double)r->all_ns : 0;
    return rate < RATE_MAX ? (uint32_t)rate : RATE_MAX;
}

struct swagg_request *rates_due(struct swagg_job *job, const struct xfer_call *call)
{
    struct rates *r = &job->rates;
    if (!r->on || !is_long(call) || ++r->calls < r->next)
        return NULL;
    r->next = r->next * TIMES < EVERY ? r->next * TIMES : r->next + EVERY;
    for (unsigned i = 0; i < job->part_count; i++) {
        r->least[i] = measured(&job->parts[i]);
        job->parts[i].rate.all_packets = job->parts[i].rate.all_ns = 0;
    }
    r->request = (struct swagg_request){
        .call = {.collective = XFER_ALLREDUCE, .type = AGG_U32, .op = AGG_MIN, .count = job->part_count},
        .only = {.in = r->least, .out = r->least, .count = job->part_count}};
    r->agreeing = true;
    return &r->request;
}

/* By what all ranks have, so that all come to the same. False: some rank has not measured some link, or
 * nothing is to change. */
static bool divide(const struct swagg_job *job, uint32_t share[])
{
    const struct rates *r = &job->rates;
    const unsigned n = job->part_count;
    uint64_t all = 0;
    bool differs = false;
    for (unsigned i = 0; i < n; i++) {
        if (r->least[i] == 0)
            return false;
        all += r->least[i];
    }
    for (unsigned i = 0; i < n; i++) {
        const uint32_t least = SML_SHARE_WHOLE / n / LEAST, now = r->share[i];
        share[i] = (uint32_t)(SML_SHARE_WHOLE * (uint64_t)r->least[i] / all);
        share[i] = share[i] < least ? least : share[i];
        differs |= (share[i] > now ? share[i] - now : now - share[i]) > now / HARDLY;
    }
    return differs;
}

static void take(struct swagg_job *job)
{
    struct rates *r = &job->rates;
    uint32_t share[SWAGG_SERVERS_MAX], from = 0, sum = 0, whole = 0;
    if (!divide(job, share))
        return;
    for (unsigned i = 0; i < job->part_count; i++)
        whole += share[i];
    for (unsigned i = 0; i < job->part_count; i++) {
        r->share[i] = share[i];
        sum += share[i];
        const uint32_t to = (uint32_t)((uint64_t)sum * SML_SHARE_WHOLE / whole);
        job->worker->share(job->parts[i].stream, from, to);
        logger_write(&job->options.log, SWAGG_LOG_INFO,
                     "job '%s': rank %u: %.1f%% of each call go by the switch %s", job->options.job,
                     job->options.rank, (double)(to - from) * PERCENT / SML_SHARE_WHOLE,
                     job->parts[i].node->text);
        from = to;
    }
}

bool rates_are_open(struct swagg_job *job)
{
    struct rates *r = &job->rates;
    if (r->agreeing && (int32_t)(parts_ended(job) - r->request.number) > 0) {
        r->agreeing = false;
        take(job);
    }
    return r->agreeing;
}
