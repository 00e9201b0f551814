/* What operators are shown of swagg-tofino: what it knows itself; what is in the chip the helper finds. */
#ifndef SWAGG_TOFINO_SHOWN_H
#define SWAGG_TOFINO_SHOWN_H

#include "base/counters.h"
#include "membership.h"

/* What has become of messages that came to this process, under the daemon's names. */
struct tofino_counts {
    uint64_t event[EVENTS];
    uint64_t drop[DROP_REASONS];
};

struct shown {
    const struct config *cfg;
    const struct membership *membership;
    const struct tofino_counts *counts;
    char name[CONFIG_NAME_MAX]; /* of this switch among others: its address */
    struct net_mac mac;
    uint64_t started, now; /* by the clock of membership.h */
};

#endif
