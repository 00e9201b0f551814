/* Ports that come and go while the lcores poll, and queues that go from one lcore to another, in two steps:
 * the first makes all that it takes, and may fail; the second puts it to use, and cannot.
 *
 * Threads: the main lcore's. Whoever shows ports waits during the second step (show/views.h).
 */
#ifndef SWAGG_DATAPATH_HOTPLUG_H
#define SWAGG_DATAPATH_HOTPLUG_H

#include "datapath.h"

struct datapath_ports_next {
    uint64_t come, gone; /* bit p: port p */
    struct placement placement;
};

/* Opens and starts the ports of cfg that there are not yet; its ports have the numbers that they have until
 * now (config/reload.h). Queues that no lcore of its list has are dealt out, and the list says so then. 0, or
 * -errno after logging, and nothing has changed. */
int datapath_prepare_ports(struct datapath *dp, struct config *cfg, struct datapath_ports_next *next);

/* Closes the ports that are in cfg no more, and has the lcores poll those that it opened. */
void datapath_commit_ports(struct datapath *dp, const struct datapath_ports_next *next,
                           const struct config *cfg);

/* Or closes what the first step has opened. */
void datapath_forget_ports(struct datapath *dp, struct datapath_ports_next *next);

#endif
