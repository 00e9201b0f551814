/* Another configuration while the switch runs (registry/registry_reload.h): what changes with it here beside
 * the registry, which is ports, static jobs, impairments.
 *
 * Threads: the main lcore's. Whoever shows the switch meanwhile waits (show/views.h).
 */
#pragma once

#include "control/control.h"
#include "control/static_jobs.h"
#include "datapath.h"
#include "lcore/lcores.h"
#include "registry/registry_reload.h"
#include "show/parts.h"

/* What is changed; all of it outlives the struct. */
struct reload {
    struct registry_reload common;
    struct datapath *dp;
    struct registrar *registrar;
    struct control *control;
    struct static_jobs *static_jobs;
    const struct impairing *impairing;
    const struct show_parts *shown;

    /* Of a change on its way. */
    struct datapath_ports_next ports;
    struct static_jobs_next jobs;
};

/* r->common; the rest is set. */
void reload_init(struct reload *r, const char *file, struct config *running);

/* One more port, which was checked as the configuration's are, or one less, until the file is read again. 0,
 * or -errno after logging. */
int reload_add_port(struct reload *r, const struct config_port *port);
int reload_delete_port(struct reload *r, const char *name);

/* The job that was added in this configuration, which has it alone: of its list `static` or `roce`, and
 * checked but for what it has in common with others. It stays when the file is read again. 0, or -errno after
 * logging. */
int reload_add_job(struct reload *r, const struct config *alone, const char *name);
/* One less, whatever it is at: only those that were added. */
int reload_delete_job(struct reload *r, const char *name);
