/* Another configuration in the place of the one that runs: what is in both keeps its number, where running
 * jobs and the data path have it; and what is different. Pure, any thread.
 */
#pragma once

#include "config/config.h"
#include "settings/changes.h"

/* The numbers of the ports that have names, a bit each. */
uint64_t config_ports_there(const struct config *c);

/* Gives ports of next that are in running, too, the numbers that they have there, and the others numbers that
 * running does not use; between them may be ports without a name, which are none. False: there are not enough
 * numbers. */
bool config_align_ports(struct config *next, const struct config *running);

/* Gives VLANs of next the numbers that they have in running, if it has them all, and the same addresses;
 * those of running that next has not become VLANs of next that no port carries. Otherwise nothing changes,
 * and config_compare finds what is different. */
void config_align_vlans(struct config *next, const struct config *running);

/* Tenants of running whose jobs go on (bit t of with_jobs: tenant t has some) but which are not in next
 * become the last of next, as tenants that are leaving. number[t]: that of tenant t in next; -1: it is gone.
 * False: there are too many. */
bool config_keep_tenants(struct config *next, const struct config *running, uint64_t with_jobs,
                         int number[CONFIG_TENANTS_MAX]);

/* The n-th of the lists of jobs to which an operator can add one, as `static`; NULL: there are no more. */
const char *config_open_list(unsigned n);
/* The jobs of a configuration that has nothing else are such as an operator adds to the running one. */
void config_mark_added(struct config *alone, const struct config *running);
/* Jobs of `from` that an operator has added, whatever their list, become next's, too:
 * those of the running configuration, or one that was just checked by itself. Their names and their workers'
 * UDP ports, or addresses, must be no other's. After config_align_vlans. 0, or after logging -ENOSPC,
 * -EEXIST, -EADDRINUSE; -EBUSY: next has their tenant no more. */
int config_take_added(struct config *next, const struct config *from);
/* One less, that of this name. 0, or -EPERM after logging: no operator has added such a one. */
int config_delete_added(struct config *c, const char *name);
/* Whether one has: the same answer, and nothing changes. */
int config_check_added(const struct config *c, const char *name);

/* Lists what is different. The ports of next have the numbers that they have in running. */
void config_compare(struct settings_changes *changes, const struct config *running,
                    const struct config *next);

/* The number of the item of this name in a list of them: "ports", "tenants", one of jobs; -1: there is
 * none. */
int config_find(const struct config *c, const char *list, const char *name);
