#include "transfer/rtt.h"

static const uint64_t BASE_PERIOD_NS = 5000000000; /* the base is forgotten after one to two of these */

static const uint64_t RTO_FIRST_NS = 20000000, RTO_MIN_NS = 2000000, RTO_MAX_NS = 200000000;

enum { GROWTH = 8 }; /* as many times longer than the mean, or the base, is as much as a path becomes */

static uint64_t min64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t max64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void xfer_rtt_init(struct xfer_rtt *r, uint64_t rto_first_ns, uint64_t rto_min_ns, uint64_t rto_max_ns)
{
    *r = (struct xfer_rtt){.first = rto_first_ns ? rto_first_ns : RTO_FIRST_NS,
                           .min = rto_min_ns ? rto_min_ns : RTO_MIN_NS,
                           .max = rto_max_ns ? rto_max_ns : RTO_MAX_NS};
}

static void base_sample(struct xfer_rtt *r, uint64_t rtt, uint64_t now)
{
    if (r->base == 0) {
        r->base = r->base_next = rtt;
        r->base_since = now;
        return;
    }
    if (now - r->base_since >= BASE_PERIOD_NS) {
        r->base = r->base_next;
        r->base_next = rtt;
        r->base_since = now;
    }
    r->base = min64(r->base, rtt);
    r->base_next = min64(r->base_next, rtt);
}

static void bound_samples(struct xfer_rtt *r)
{
    r->bound = max64(GROWTH * r->srtt, r->min);
}

void xfer_rtt_answered(struct xfer_rtt *r, uint64_t rtt_ns)
{
    uint64_t rtt = max64(rtt_ns, 1); /* 0 stands for "no sample yet" */

    if (r->srtt == 0) {
        r->srtt = rtt;
        r->var = rtt / 2;
        bound_samples(r);
        return;
    }
    rtt = min64(rtt, r->bound); /* what another rank's timer held up says nothing about ours */
    uint64_t error = rtt > r->srtt ? rtt - r->srtt : r->srtt - rtt;
    r->var = r->var - r->var / 4 + error / 4;
    r->srtt = max64(r->srtt - r->srtt / 8 + rtt / 8, 1);
}

void xfer_rtt_sample(struct xfer_rtt *r, uint64_t rtt_ns, uint64_t now)
{
    if (now >= r->round_at + rtt_ns) {
        r->round_at = now;
        bound_samples(r);
    }
    xfer_rtt_answered(r, rtt_ns);
    base_sample(r, max64(rtt_ns, 1), now);
}

/* The longest timeout that the path explains. */
static uint64_t longest(const struct xfer_rtt *r)
{
    return r->base == 0 ? r->max : min64(max64(GROWTH * r->base, r->min), r->max);
}

uint64_t xfer_rtt_rto(const struct xfer_rtt *r)
{
    if (r->srtt == 0)
        return r->first;
    return min64(max64(r->srtt + 4 * r->var, r->min), longest(r));
}

uint64_t xfer_rtt_interval(const struct xfer_rtt *r, unsigned backoff)
{
    if (backoff == 0 && r->srtt != 0)
        return min64(r->srtt + max64(4 * r->var, r->srtt), longest(r));

    uint64_t interval = xfer_rtt_rto(r);
    while (backoff-- > 0 && interval < r->max)
        interval *= 2;
    return min64(interval, r->max);
}
