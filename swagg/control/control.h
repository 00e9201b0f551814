/* The main lcore's work while the others poll: control messages, timers, signals. It sleeps in between.
 *
 * Threads: everything here is the main lcore's.
 */
#pragma once

#include "bridge/sighting.h"
#include "control/registrar.h"
#include "operator/handoff.h"
#include "registry/registry_reload.h"

struct control;

/* What it works on; all of it outlives the control. */
struct control_parts {
    const struct lcores *lcores;
    struct port *port;
    const uint64_t *ports; /* atomic: bit p: there is a port p */
    struct bridge *bridge;
    const struct vlans *vlans;
    struct sighting *claim; /* of other stations to the switch's IP address */
    struct loops *loops;
    struct inbox *inbox; /* control messages for the main lcore */
    struct registrar *registrar;
    struct static_jobs *static_jobs;      /* open before control_run */
    struct handoff *operators;            /* what they have the main lcore do */
    const struct registry_reload *reload; /* what SIGHUP asks for */
};

/* *c is NULL on error, which was logged. Signals must be blocked (signals.h). */
int control_open(struct control **c, const struct control_parts *parts, const struct config *cfg);
void control_close(struct control *c);

/* Takes what another configuration says: timers.mac_age_s, limits.workers. */
void control_follow(struct control *c, const struct config *cfg);

/* These ports (bit p: port p) have come while it runs. */
void control_expect(struct control *c, uint64_t ports);

/* Runs until a signal comes that stops the daemon; returns its number, or -errno after logging. */
int control_run(struct control *c);
