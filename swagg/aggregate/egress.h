/* What leaves the engine: answers to members, results, and packets that go on to where they were addressed.
 *
 * Threads: a struct egress is one lcore's.
 */
#pragma once

#include "aggregate/jobs.h"
#include "bridge/bridge.h"
#include "port/send.h"

struct egress {
    /* Set before the start, then only read. */
    const struct bridge *bridge;
    struct send *send;
    struct counters *counters;
    struct rte_mempool *mbufs;
    agg_ones_sum_fn *ones_sum; /* for checksums */
    bool multi_segment;        /* every port sends frames of several segments */
    uint64_t mergeable;        /* mark of the frames that are built here (port/linux/tx.h) */
    uint8_t data_ports;        /* to how many UDP ports workers deal their slots; 0: to one */

    /* Where the ranks of one job are, so that the bridge is asked once for all results of a burst. */
    const struct job_member *found; /* whose: the first rank; NULL: nobody was looked for yet */
    int8_t port[AGG_MAX_WORKERS];   /* by rank; negative: unknown */
};
static_assert(SWAGG_MAX_PORTS <= INT8_MAX, "a port's number has room");

/* A round begins, or a burst: what the bridge has learned and forgotten by now counts. */
static inline void egress_begin(struct egress *e)
{
    e->found = NULL;
}

/* A frame that passed the checks of base/frame.h. */
static inline const struct frame_udp *egress_frame(const struct rte_mbuf *m)
{
    return rte_pktmbuf_mtod(m, const struct frame_udp *);
}

/* Carries out a verdict of AGG_REPLY: sends its payload to the sender of packet p, which came in frame m. */
void egress_reply(struct egress *e, const struct agg_packet *p, const struct rte_mbuf *m,
                  const struct agg_verdict *v);

/* Carries out a verdict of AGG_TO_ALL: sends to this thread of every rank of the job, from this UDP port of
 * the switch. */
void egress_to_all(struct egress *e, const struct agg_job *job, unsigned thread, rte_be16_t from_port,
                   const struct agg_verdict *v);

/* Carries out a verdict of AGG_TO_PARENT on packet p, which came in frame m: sends to the switch above, and
 * answers the sender, if there is an answer. The job has a parent. */
void egress_to_parent(struct egress *e, const struct agg_packet *p, const struct rte_mbuf *m,
                      const struct agg_verdict *v);

/* The UDP port of ours that members expect a packet of this slot from. */
rte_be16_t egress_data_port(const struct egress *e, const struct agg_protocol *protocol,
                            const uint8_t *payload, size_t bytes);

/* Carries out a verdict of AGG_PASS_ON: sends its payload in the place of the packet that came in frame m,
 * from its sender to its receiver. */
void egress_pass_on(struct egress *e, const struct rte_mbuf *m, const struct agg_verdict *v);

/* Carries out a verdict of AGG_SEND_AS: sends its payload from one of two others to the other. It can be
 * marked where queues are long, if the protocol notices that. */
void egress_send_as(struct egress *e, const struct agg_protocol *protocol, const struct agg_verdict *v);

/* Sends the frame on as it came, taking another reference to it. */
void egress_pass(struct egress *e, struct rte_mbuf *m);

/* Sends a payload back to the sender of frame m, member or not. */
void egress_back(struct egress *e, const struct rte_mbuf *m, const void *payload, size_t bytes,
                 enum event event);
