/* How many ports, queues, lcores, shards and uplinks a switch can have: the sizes of its tables. */
#pragma once

enum {
    SWAGG_MAX_PORTS = 64,
    SWAGG_MAX_SHARDS = 64,
    SWAGG_MAX_LCORES = 64, /* polling lcores; the main lcore is not among them */
    SWAGG_MAX_QUEUES = 16, /* of a port, in each direction */
    SWAGG_MAX_UPLINKS = 4,
};
