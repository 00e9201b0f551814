/* A step of training, replayed in virtual time: by a switch that sums, and by a ring of the workers.
 * docs/simulation.md, "Training". */
#pragma once

#include <stdint.h>

#include "schedule.h"

struct play_config {
    const struct schedule *schedule; /* the same on all workers */
    unsigned workers;                /* 2 at least */
    uint64_t bits_per_s, delay_ns;   /* of every link, to the switch and from it; they lose nothing */
    uint16_t slots;                  /* of the switch's */
};

struct played {
    double step_s; /* until the last worker has all sums and has computed */
    struct schedule_shares shares;
};

enum { PLAY_CHUNK_BYTES = 1460 }; /* of gradients in a frame of 1500 bytes, on either way */

/* Our stream and pool: calls are posted as gradients become ready. Sums are checked: a wrong one ends the
 * program. */
struct played play_switch(const struct play_config *cfg);

/* The best ring that there can be: frames are full segments of TCP, sent on as soon as they are received and
 * added up, which takes no time; nobody waits for whole parts, and acknowledgements take nothing of the
 * links.
 */
struct played play_ring(const struct play_config *cfg);
