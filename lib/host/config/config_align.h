/* Another configuration, made to follow the one that runs: what is in both keeps its number, where running
 * jobs and the data path have it. Pure, any thread.
 */
#ifndef SWAGG_CONFIG_CONFIG_ALIGN_H
#define SWAGG_CONFIG_CONFIG_ALIGN_H

#include "config/config.h"

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

#endif
