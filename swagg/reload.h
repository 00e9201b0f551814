/* Another configuration while the switch runs (docs/configuration.md, "Changing it while it runs"): the file
 * is read anew and checked as at the start, all that it takes is made, and only then is anything changed. If
 * anything is wrong, or a key is different that cannot be changed, nothing is, and the log says why.
 *
 * Threads: the main lcore's. Whoever shows the switch meanwhile waits (show/views.h).
 */
#ifndef SWAGG_RELOAD_H
#define SWAGG_RELOAD_H

#include "config/config_changes.h"
#include "control/control.h"
#include "datapath.h"
#include "lcore/impairing.h"
#include "show/parts.h"

/* What is changed; all of it outlives the struct. */
struct reload {
    const char *file;
    struct config *running; /* as it is now; at one place, since others have pointers to it */
    struct datapath *dp;
    struct registrar *registrar;
    struct control *control;
    struct static_jobs *static_jobs;
    const struct impairing *impairing;
    const struct show_parts *shown;
};

/* Makes the switch what its file says now, and logs what has changed, or what is wrong. 0, or -errno: nothing
 * has changed. */
int reload_run(const struct reload *r, struct config_changes *changes);

/* One more port, which was checked as the configuration's are, or one less, until the file is read again. 0,
 * or -errno after logging. */
int reload_add_port(const struct reload *r, const struct config_port *port);
int reload_delete_port(const struct reload *r, const char *name);

#endif
