/* The registry (lib/core/control/registry.h) in the daemon: receives and sends its messages as frames, and
 * makes pools for its running jobs. Threads: the main lcore's.
 */
#pragma once

#include "aggregate/jobs.h"
#include "control/uplinks.h"
#include "lcore/lcores.h"
#include "registry/registry_host.h"

/* What it works with; all of it outlives the registrar. */
struct registrar_parts {
    struct registry_host_parts common; /* but for kind and hears_nics */
    const struct lcores *lcores;       /* the main one is the host that its messages come from */
    const struct bridge *bridge;
    struct jobs *jobs;
    struct uplinks *uplinks; /* the configuration's; not used where it has none */
};

struct registrar {
    struct registry_host common; /* the first, for functions of its kind */
    struct registrar_parts parts;
    const struct host *host; /* the main lcore's: the switch as a host */
};

/* *r is NULL on error, which was logged. */
int registrar_open(struct registrar **r, const struct registrar_parts *parts);
void registrar_close(struct registrar *r);

/* Another configuration (registry_reload.h): to be called instead of registry_change_take. */
struct registry_change;
void registrar_take(struct registrar *r, struct registry_change *c);

/* The port is about to go: its jobs' members are told that their jobs end, and so are all others in these.
 * What is to be sent leaves at once. */
void registrar_cut(struct registrar *r, unsigned port, const char *name);

/* Takes over a checked frame to CTL_PORT. What is to be sent waits for send_flush. */
void registrar_receive(struct registrar *r, struct rte_mbuf *m);

/* To be called at least every lost_after / 10. Returns the time by the clock of the jobs' times. */
uint64_t registrar_tick(struct registrar *r);
