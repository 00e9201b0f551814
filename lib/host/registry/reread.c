#include "registry/reread.h"

#include <errno.h>

#include "base/log.h"
#include "config/config_align.h"

int reread_keep_tenants(const char *file, struct config *next, const struct config *running,
                        uint64_t with_jobs, int number[CONFIG_TENANTS_MAX])
{
    if (config_keep_tenants(next, running, with_jobs, number))
        return 0;
    log_error("%s: tenants: there are no more than %d, with those that are gone but whose jobs go on", file,
              CONFIG_TENANTS_MAX);
    return -ENOSPC;
}

int reread_check(const char *file, const struct config_changes *changes)
{
    for (unsigned i = 0; i < changes->n; i++) {
        const struct config_change *change = &changes->change[i];

        if (change->reload == CONFIG_RESTART)
            log_error("%s: %s: %s -> %s needs a restart", file, change->key, change->from, change->to);
    }
    return changes->of[CONFIG_RESTART] > 0 ? -EPERM : 0;
}

void reread_tell(const char *file, const struct config_changes *changes, int rc)
{
    static const char *const when[CONFIG_RELOADS] = {[CONFIG_NEW_JOBS] = ", for jobs that begin from now on"};

    if (rc < 0) {
        log_error("reload: %s is not good for what runs, and nothing has changed", file);
        return;
    }
    for (unsigned i = 0; i < changes->n; i++) {
        const struct config_change *change = &changes->change[i];

        log_notice("reload: %s: %s -> %s%s", change->key, change->from, change->to,
                   when[change->reload] == NULL ? "" : when[change->reload]);
    }
    log_notice("reload: %s: %s", file, changes->n == 0 ? "nothing has changed" : "done");
}
