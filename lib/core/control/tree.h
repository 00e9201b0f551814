/* Which members of a job send for themselves, and which come by a switch that sends one sum for several.
 * Pure. */
#ifndef SWAGG_CORE_CONTROL_TREE_H
#define SWAGG_CORE_CONTROL_TREE_H

#include "control/entry.h"

/* Fills in contributor[rank] for each member that is JOINED, as in struct agg_tree, and AGG_NOBODY for the
 * others. Returns how many contributors there are. first: by contributor, its lowest rank, whose endpoint and
 * data port are the contributor's; NULL: not wanted. */
uint16_t ctl_tree_contributors(const struct ctl_entry *job, uint16_t contributor[], uint16_t first[]);

/* Whether a switch sends for some member, so that the job's pool is one in a tree. */
bool ctl_tree_has_switches(const struct ctl_entry *job);

/* The members that come by the same switch as this one, itself and those that have left included; none, if it
 * sends for itself. */
struct ctl_ranks ctl_tree_bundle(const struct ctl_entry *job, unsigned rank);

#endif
