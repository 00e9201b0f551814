/* Where a received frame goes: to the switch itself, or through the bridge. */
#ifndef SWAGG_LCORE_INPUT_H
#define SWAGG_LCORE_INPUT_H

struct lcore;

/* Receives a burst from each of this lcore's receive queues and deals with it; returns how many frames. */
unsigned input_poll(struct lcore *lc);

#endif
