/* The registrar's private state. */
#ifndef SWAGG_CONTROL_REGISTRAR_STATE_H
#define SWAGG_CONTROL_REGISTRAR_STATE_H

#include <pthread.h>

#include "bridge/host.h"
#include "control/pools.h"
#include "control/registrar.h"
#include "control/relays.h"
#include "registry/job_lines.h"
#include "registry/keyring.h"
#include "registry/listening.h"

struct registrar {
    struct registrar_parts parts;
    const struct host *host; /* the main lcore's: the switch as a host */
    const struct config *cfg;
    struct pools pools;
    struct ctl_tenant tenant[CONFIG_TENANTS_MAX];
    struct job_lines lines; /* in the log */
    struct listening listening;
    pthread_mutex_t lock; /* protects what follows: the main lcore changes it, telemetry reads it */
    uint64_t now;         /* of the registry's clock, when it was last called */
    struct ctl_registry *registry;
    struct keyring keyring;
    struct relays *relays; /* NULL: all jobs have their root here */
};

/* Takes from r->cfg what is not the registry's: the tenants' names and quotas, the rate of lines in the log,
 * and which pauses count as time. */
void registrar_follow(struct registrar *r);

/* For the registry: what cfg says, with these keys. */
struct ctl_registry_config registrar_config(struct registrar *r, const struct config *cfg,
                                            const struct keyring *keys);

#endif
