/* Makes pools for jobs whose ranks are all there, as the registry or the relay knows them. The main lcore's.
 */
#pragma once

#include "aggregate/jobs.h"
#include "bridge/host.h"
#include "config/config.h"
#include "relay/proxy.h"

struct pools {
    struct jobs *jobs;
    const struct host *host; /* the main lcore's: the switch as a host */
    const struct config *cfg;
};

/* Of a job whose root this switch is: ctl_registry_actions.prepare. */
int pools_open(const struct pools *p, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
               char text[CTL_TEXT_MAX]);

/* Of a job that goes on to a switch above: relay_actions.prepare. */
int pools_open_relayed(const struct pools *p, const struct relay_job *job, uint8_t *number,
                       char text[CTL_TEXT_MAX]);

/* ctl_registry_actions.heard. */
bool pools_heard(const struct pools *p, const struct ctl_entry *job, unsigned rank);

/* A member has another MAC address: ctl_registry_actions.moved. -ENOMEM: nothing has changed. */
int pools_move(const struct pools *p, const struct ctl_entry *job, unsigned rank);

/* The switch above has: relay_actions.parent_moved. */
int pools_move_parent(const struct pools *p, const struct relay_job *job);

void pools_close(const struct pools *p, const struct ctl_entry *job);
