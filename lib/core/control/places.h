/* Who gets one of the registry's entries. */
#ifndef SWAGG_CORE_CONTROL_PLACES_H
#define SWAGG_CORE_CONTROL_PLACES_H

#include "control/state.h"

/* A free entry for the tenant's job that this JOIN founds; NULL if there is none for it, with the reason in
 * *why. */
struct ctl_entry *ctl_place_find(struct ctl_registry *r, int tenant, const struct ctl_endpoint *from,
                                 const struct ctl_message *join, uint64_t now, struct ctl_failure *why);

#endif
