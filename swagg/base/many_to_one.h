/* The mode of a ring that many lcores put into and one takes from. */
#ifndef SWAGG_BASE_MANY_TO_ONE_H
#define SWAGG_BASE_MANY_TO_ONE_H

#include <rte_ring.h>

/* Relaxed tail: who loses its CPU in the middle of putting does not keep the others from it, who would spin
 * until it is back. It costs some 50 cycles a burst. */
enum { MANY_TO_ONE = RING_F_MP_RTS_ENQ | RING_F_SC_DEQ };

#endif
