/* The mode of a ring that many lcores put into and one takes from. */
#pragma once

#include <rte_ring.h>

/* Relaxed tail sync: if a producer loses its CPU in the middle of an enqueue, the others need not spin until
 * it runs again. This costs some 50 cycles a burst. */
enum { MANY_TO_ONE = RING_F_MP_RTS_ENQ | RING_F_SC_DEQ };
