/* Stage one of a gradient packet's way (engine.h): whose packet is it, and which slot's? Only reads, so that
 * a burst's slots can be on their way into the cache before the first is added to.
 *
 * A member is known by the source IP, UDP port and MAC of its JOIN. All three have to be the same in its
 * packets: somebody else's are dropped, whatever they say.
 */
#ifndef SWAGG_AGGREGATE_LOCATE_H
#define SWAGG_AGGREGATE_LOCATE_H

#include <rte_mbuf.h>

#include "aggregate/jobs.h"

/* A packet between the two stages. */
struct work {
    struct rte_mbuf *m;
    const struct job *job;
    struct sml_slot *slot; /* NULL: the job has none of this number */
    uint16_t rank;
    rte_be16_t switch_port; /* that it was addressed to, and answers come from */
    struct sml_packet packet;
};

static inline const struct frame_udp *locate_frame(const struct rte_mbuf *m)
{
    return rte_pktmbuf_mtod(m, const struct frame_udp *);
}

/* Fills in the rest of w from w->m, a frame that passed the checks of frame.h. DROP_REASONS: it is a
 * member's. From DROP_SML_UNKNOWN_JOB on, w->packet is there. */
enum drop locate(const struct jobs *jobs, struct work *w);

#endif
