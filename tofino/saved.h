/* What the control process knows of running jobs, in a file, so that its next life goes on with them
 * (ctl_registry_restore). The file is replaced as a whole; it has the secrets of jobs, and is its owner's
 * alone. One thread.
 *
 * JSON: the boot id, lost_after, and for each RUNNING job and each of its members the fields that saved.c
 * lists, for each static job that an operator has added its settings: numbers up to 8 bytes as numbers,
 * anything longer in hexadecimal digits. Tenants stand there by name, and keys by their id, so that the
 * configuration may have changed.
 */
#pragma once

#include "config/reload.h"
#include "control/registry.h"
#include "terms.h"

enum { SAVED_WHY_MAX = 300 };

struct saved_job {
    struct ctl_entry entry; /* its members are these: */
    struct ctl_member member[TOFINO_MAX_WORKERS];
};

struct saved {
    uint64_t boot_id;
    unsigned jobs;
    unsigned left_out; /* that cannot go on, which the log says */
    struct saved_job job[];
};

/* cfg: of the registry; configuration: with the jobs that were added. It is on the disk, or what was there
 * before is. 0, or -errno. */
int saved_write(const char *path, const struct config *configuration, const struct ctl_registry_config *cfg,
                const struct ctl_registry *r);

/* Adds the jobs that an operator has added in the life before to the configuration, which is as the file has
 * it. What is no longer possible beside that is left out, and logged. */
void saved_take_added(const char *path, struct config *configuration);

/* To be freed with free(). NULL: there is nothing to go on with; why is "" if there is no such file. Jobs
 * whose tenant or key is no longer in cfg are left out, and logged. */
struct saved *saved_read(const char *path, const struct ctl_registry_config *cfg, char why[SAVED_WHY_MAX]);
