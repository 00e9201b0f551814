/* What operators are shown of swagg-tofino: what it knows itself; what is in the chip the helper finds. */
#pragma once

#include "membership.h"
#include "net/mac.h"
#include "registry/reception.h"

struct shown {
    const struct config *cfg;
    const struct membership *membership;
    const struct reception_counts *counts;
    char name[CONFIG_NAME_MAX]; /* of this switch among others: its address */
    struct net_mac mac;
    uint64_t started, now; /* monotonic_ns */
};
