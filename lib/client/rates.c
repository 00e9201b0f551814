#include "rates.h"

#include "links.h"
#include "monotonic.h"
#include "standby.h"
#include "switchml/stream.h"

enum {
    LONG_BYTES = 256 << 10, /* of a call that is measured */
    LONG_PACKETS = 32,      /* at a link, ... */
    WEIGHT = 64,            /* of a long call; others count once */
    FIRST = 3 * WEIGHT,     /* behind which ranks agree at first; then behind ... */
    TIMES = 3,              /* so many times as much, ... */
    EVERY = 64 * WEIGHT,    /* and at last behind every so much */
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

/* What this rank says of a place. */
static void say(struct swagg_job *job, unsigned i)
{
    struct rates *r = &job->rates;
    const uint32_t name = standby_name(job, i);
    r->mine[i][RATES_SPEED] = measured(&job->parts[i]);
    r->mine[i][RATES_STANDBY] = name;
    r->mine[i][RATES_STANDBY_TURNED] = ~name;
    for (unsigned bit = 0; bit < RATES_BITS; bit++)
        r->bits[i][bit] = (float)(name >> bit & 1);
    job->parts[i].rate.all_packets = job->parts[i].rate.all_ns = 0;
}

static struct swagg_request request_of(struct swagg_job *job)
{
    struct rates *r = &job->rates;
    struct swagg_request q = {.call = {.collective = XFER_ALLREDUCE}};
    if (xfer_has_exponents(job->options.format)) {
        q.call.type = AGG_F32;
        q.call.op = AGG_SUM;
        q.only = (struct xfer_segment){.in = r->bits, .out = r->sums, .count = RATES_BITS};
    } else {
        q.call.type = AGG_U32;
        q.call.op = AGG_MIN;
        q.only = (struct xfer_segment){.in = r->mine, .out = r->least, .count = RATES_WORDS};
    }
    q.call.count = q.only.count *= job->part_count;
    return q;
}

struct swagg_request *rates_due(struct swagg_job *job, const struct xfer_call *call)
{
    struct rates *r = &job->rates;
    if (!r->on || (r->calls += is_long(call) ? WEIGHT : 1) < r->next)
        return NULL;
    r->next = r->next * TIMES < EVERY ? r->next * TIMES : r->next + EVERY;
    for (unsigned i = 0; i < job->part_count; i++)
        say(job, i);
    r->request = request_of(job);
    r->agreeing = true;
    r->known = false;
    return &r->request;
}

void rates_spread(struct swagg_job *job, bool whole)
{
    const struct rates *r = &job->rates;
    for (unsigned i = 0; i < job->part_count; i++)
        job->worker->share(job->parts[i].stream, whole ? 0 : r->at[i],
                           whole ? SML_SHARE_WHOLE : r->at[i + 1]);
}

/* Of a bit that all ranks have the sum is their number, of one that none has 0, but for rounding. */
static uint32_t common_bits(const struct swagg_job *job, const float sums[RATES_BITS])
{
    uint32_t name = 0;
    for (unsigned bit = 0; bit < RATES_BITS; bit++)
        if (sums[bit] > (float)job->options.size - 0.5F)
            name |= 1u << bit;
        else if (!(sums[bit] < 0.5F))
            return 0;
    return name;
}

/* The standby that all ranks have at this node; 0: they have none in common. */
static uint32_t common_standby(const struct swagg_job *job, unsigned i)
{
    const struct rates *r = &job->rates;
    if (xfer_has_exponents(job->options.format))
        return common_bits(job, r->sums[i]);
    const uint32_t name = r->least[i][RATES_STANDBY];
    return name == ~r->least[i][RATES_STANDBY_TURNED] ? name : 0;
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
        if (r->least[i][RATES_SPEED] == 0)
            return false;
        all += r->least[i][RATES_SPEED];
    }
    for (unsigned i = 0; i < n; i++) {
        const uint32_t least = SML_SHARE_WHOLE / n / LEAST, now = r->share[i];
        share[i] = (uint32_t)(SML_SHARE_WHOLE * (uint64_t)r->least[i][RATES_SPEED] / all);
        share[i] = share[i] < least ? least : share[i];
        differs |= (share[i] > now ? share[i] - now : now - share[i]) > now / HARDLY;
    }
    return differs;
}

static void take(struct swagg_job *job)
{
    struct rates *r = &job->rates;
    uint32_t share[SWAGG_SERVERS_MAX], sum = 0, whole = 0;
    if (!divide(job, share))
        return;
    r->at[0] = 0;
    for (unsigned i = 0; i < job->part_count; i++)
        whole += share[i];
    for (unsigned i = 0; i < job->part_count; i++) {
        r->share[i] = share[i];
        sum += share[i];
        r->at[i + 1] = (uint32_t)((uint64_t)sum * SML_SHARE_WHOLE / whole);
        logger_write(&job->options.log, SWAGG_LOG_INFO,
                     "job '%s': rank %u: %.1f%% of each call go by the switch %s", job->options.job,
                     job->options.rank, (double)(r->at[i + 1] - r->at[i]) * PERCENT / SML_SHARE_WHOLE,
                     job->parts[i].node->text);
    }
    rates_spread(job, false);
}

/* What is back is measured soon: until then it has the share that its place had elsewhere. */
static int take_standbys(struct swagg_job *job)
{
    struct rates *r = &job->rates;
    uint32_t common[SWAGG_SERVERS_MAX];
    for (unsigned i = 0; i < job->part_count; i++) {
        common[i] = common_standby(job, i);
        if (common[i] != 0)
            r->next = r->calls + FIRST;
    }
    r->known = true;
    return links_agreed(job, common);
}

static bool is_known(const struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++)
        if ((int32_t)(job->worker->ended(job->parts[i].stream) - job->rates.request.number) > 0)
            return true;
    return false;
}

int rates_step(struct swagg_job *job)
{
    struct rates *r = &job->rates;
    if (!r->agreeing || !is_known(job))
        return SWAGG_OK;
    const int rc = r->known ? SWAGG_OK : take_standbys(job);
    if (rc < 0 || (int32_t)(parts_ended(job) - r->request.number) <= 0)
        return rc;
    r->agreeing = false;
    take(job);
    job_report(job, monotonic_ns()); /* the ranks may have no later call (drive_to_the_end) */
    return SWAGG_OK;
}
