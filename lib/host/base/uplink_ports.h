/* The switch's own UDP ports toward the switches above it (docs/protocol.md, "Trees of switches"). */
#pragma once

#include "base/limits.h"

enum {
    UPLINK_CONTROL_PORT = 0xBEDE, /* control messages and path probes, of all uplinks */
    UPLINK_DATA_PORT = 0xBEF0,    /* data packets of the first uplink; the others' follow */
    UPLINK_DATA_PORT_LAST = UPLINK_DATA_PORT + SWAGG_MAX_UPLINKS - 1,
};
