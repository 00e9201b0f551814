/* Round trips to the switch: the estimator of RFC 6298, the smallest recent round trip, and the timer's
 * intervals.
 *
 * Only unambiguous samples belong here (Karn's rule): of a packet that was sent once. A result also waits for
 * the slowest rank, so a sample may be far longer than the path's round trip; that is why the base (the
 * smallest of the last seconds) is kept beside the mean, and why a sample counts for at most eight times what
 * the mean was when the round trip began, or the least timeout. Else, where many ranks lose packets, each
 * would learn the others' timeouts, and wait longer than they with its own question: what holds one chunk up
 * holds up the whole window, and each of its chunks is a sample. And that is why no timeout is longer at
 * first than eight times the base, or the least: who waits for a slow rank asks a little more often, which
 * costs little; who does not ask for what it has lost itself holds up all. Pure; all times in nanoseconds.
 */
#pragma once

#include <stdint.h>

struct xfer_rtt {
    /* the retransmission timeout before the first sample, and its bounds */
    uint64_t first, min, max;
    uint64_t srtt, var; /* 0 before the first sample */
    uint64_t round_at;  /* the round trip ends with the sample of a packet that is sent from here on */
    uint64_t bound;     /* a sample of it counts for so much at most; 0 before the first */
    /* the smallest sample of this period and the last one, and of this period alone */
    uint64_t base, base_next;
    uint64_t base_since;
};

/* 0: the default, 20 ms, 2 ms, 200 ms. */
void xfer_rtt_init(struct xfer_rtt *r, uint64_t rto_first_ns, uint64_t rto_min_ns, uint64_t rto_max_ns);
void xfer_rtt_sample(struct xfer_rtt *r, uint64_t rtt_ns, uint64_t now);

/* A question was answered so soon. It counts for the timer, but not for the base: in a tree the nearest
 * switch answers. */
void xfer_rtt_answered(struct xfer_rtt *r, uint64_t rtt_ns);

/* RFC 6298's retransmission timeout, within its bounds and the path's. */
uint64_t xfer_rtt_rto(const struct xfer_rtt *r);

/* How long to wait before probe number backoff + 1 in a row. The first may come early: the minimum does not
 * apply to it. */
uint64_t xfer_rtt_interval(const struct xfer_rtt *r, unsigned backoff);
