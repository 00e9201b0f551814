/* Whose turn it is, of several flows that wait to be served: deficit round robin (Shreedhar and Varghese,
 * "Efficient Fair Queueing Using Deficit Round Robin", section 3). In each of its turns a flow is served for
 * a number of bytes, its quantum; what it cannot use, since its next packet is longer, it keeps for its next
 * turn. So flows that always wait are served in proportion to their quanta, whatever the length of their
 * packets. A flow that stops waiting keeps nothing.
 *
 * Pure; the queues themselves are the caller's. One thread.
 */
#ifndef SWAGG_CORE_SHARE_TURNS_H
#define SWAGG_CORE_SHARE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

enum { SHARE_FLOWS = 1024, SHARE_NOBODY = UINT16_MAX };

struct share_turns {
    uint16_t first, last; /* of those that wait, in the order of their turns; SHARE_NOBODY: nobody waits */
    struct {
        uint16_t next;
        bool waits, in_turn;
        uint32_t left; /* bytes that it may be served still */
    } flow[SHARE_FLOWS];
};

void share_turns_init(struct share_turns *t);

/* The flow (0 .. SHARE_FLOWS - 1) has a packet that waits. */
void share_turns_wait(struct share_turns *t, unsigned flow);

/* The flow whose turn it is; SHARE_NOBODY: nobody waits. */
static inline unsigned share_turns_first(const struct share_turns *t)
{
    return t->first;
}

/* How many bytes the first flow may be served now. quantum: for a whole turn, at least 1. */
uint32_t share_turns_left(struct share_turns *t, uint32_t quantum);

/* The first flow was served so many bytes, at most what was left. next: the bytes of its next packet; 0: none
 * waits. Its turn goes on if that fits. */
void share_turns_served(struct share_turns *t, uint32_t bytes, uint32_t next);

#endif
