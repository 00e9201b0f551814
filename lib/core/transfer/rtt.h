/* Round trips to the switch: the estimator of RFC 6298, the smallest recent round trip, and the timer's
 * intervals.
 *
 * Only unambiguous samples belong here (Karn's rule): of a packet that was sent once. A result also waits for
 * the slowest rank, so a sample may be far longer than the path's round trip; that is why the base (the
 * smallest of the last seconds) is kept beside the mean, and why one sample counts for at most eight times
 * the mean, or the least timeout. Else, where many ranks lose packets, each would learn the others' timeouts,
 * and wait longer than they with its own question. Pure; all times in nanoseconds.
 */
#pragma once

#include <stdint.h>

struct xfer_rtt {
    /* the retransmission timeout before the first sample, and its bounds */
    uint64_t first, min, max;
    uint64_t srtt, var; /* 0 before the first sample */
    /* the smallest sample of this period and the last one, and of this period alone */
    uint64_t base, base_next;
    uint64_t base_since;
};

/* 0: the default, 20 ms, 2 ms, 200 ms. */
void xfer_rtt_init(struct xfer_rtt *r, uint64_t rto_first_ns, uint64_t rto_min_ns, uint64_t rto_max_ns);
void xfer_rtt_sample(struct xfer_rtt *r, uint64_t rtt_ns, uint64_t now);

/* RFC 6298's retransmission timeout, within its bounds. */
uint64_t xfer_rtt_rto(const struct xfer_rtt *r);

/* How long to wait before probe number backoff + 1 in a row. The first may come early: the minimum does not
 * apply to it. */
uint64_t xfer_rtt_interval(const struct xfer_rtt *r, unsigned backoff);
