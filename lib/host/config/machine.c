#include "config/machine.h"

#include <errno.h>
#include <grp.h>
#include <unistd.h>

#include "base/log.h"

static bool has_memory(const char *key, uint32_t megabytes)
{
    const uint64_t here = ((uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE)) >> 20;

    if (megabytes <= here)
        return true;
    log_error("%s: %u is more than this machine's memory, which is %llu MB", key, megabytes,
              (unsigned long long)here);
    return false;
}

bool machine_suits(const struct config *cfg)
{
    const bool memory = cfg->ports > 0 ? has_memory("memory.megabytes", cfg->memory.megabytes)
                                       : has_memory("pool.megabytes", cfg->pool.megabytes);
    gid_t group;

    return machine_group(&group, cfg->control.off ? "" : cfg->control.group) == 0 && memory;
}

int machine_group(gid_t *group, const char *name)
{
    const struct group *found = name[0] == '\0' ? NULL : getgrnam(name);

    *group = found == NULL ? (gid_t)-1 : found->gr_gid;
    if (name[0] == '\0' || found != NULL)
        return 0;
    log_error("control.group: there is no group %s on this machine: groupadd %s, or name another", name,
              name);
    return -ENOENT;
}
