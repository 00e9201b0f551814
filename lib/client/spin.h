/* Whether a call that is not large looks for its results again and again before it sleeps: waking up takes
 * about as long as the way to the switch and back, and results come in several bursts. It does so for a
 * moment only, and only while no other program wants the CPU: it offers the CPU each time, and if another
 * takes it, that may be the rank that everybody waits for. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct spin {
    uint64_t until;        /* of this call; ns */
    uint64_t wanted_until; /* the CPU has been wanted by others: no call spins before */
};

/* chunks: of the call that begins now. */
void spin_begin(struct spin *s, uint64_t chunks, uint64_t now);

static inline bool spin_may(const struct spin *s, uint64_t now)
{
    return now < s->until && now >= s->wanted_until;
}

/* The CPU was offered, and this thread had it again then. */
void spin_offered(struct spin *s, uint64_t before, uint64_t after);
