/* The registry's clock: it runs only while the switch can hear its members. That a member was not heard means
 * something only if the switch listened. So the clock stands while a receiving lcore makes no rounds (other
 * programs had its CPU, or it was stopped). It also stands while nobody asks it: then the main lcore stood
 * still. Naps between rounds are no pauses.
 *
 * Pure: the machine's time is the caller's. One thread.
 */
#pragma once

#include <stdint.h>

#include "config/placement.h"

enum {
    LISTENING_PAUSE_MS = 200, /* so much of a pause counts at most */
    LISTENING_ASK_MS = 100,   /* and it is asked that often at least */
};

struct listening {
    uint64_t pause_ns; /* so much of a pause counts as time all the same: the switch may just be slow */
    uint64_t time;     /* by this clock */
    uint64_t asked_at; /* by the machine's clock */
    struct {
        uint64_t rounds;   /* when last looked at */
        uint64_t moved_at; /* when this number was first seen, by the machine's clock */
    } receiver[SWAGG_MAX_LCORES];
};

/* now: the machine's clock, ns, monotonic; this clock starts with the same value. */
void listening_init(struct listening *l, uint64_t pause_ns, uint64_t now);

/* How often to ask, and to have the registry tick, where members are lost after so long: ten times as often
 * as the registry has to, and so often that no time is lost if a question comes a little late. */
uint32_t listening_ask_every_ms(uint32_t lost_after_ms);

/* The time by this clock: ns, monotonic. To be called much more often than every pause_ns. rounds: how many
 * rounds each receiving lcore has made; always the same lcores. */
uint64_t listening_time(struct listening *l, const uint64_t rounds[], unsigned receivers, uint64_t now);
