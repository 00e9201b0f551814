/* Who gets one of the registry's places for jobs. */
#ifndef SWAGG_CORE_CONTROL_PLACES_H
#define SWAGG_CORE_CONTROL_PLACES_H

#include "control/state.h"

/* An empty place for a job of this JOIN's; NULL, and why: there is none for it. */
struct ctl_entry *ctl_place_find(struct ctl_registry *r, const struct ctl_endpoint *from,
                                 const struct ctl_message *join, struct ctl_failure *why);

#endif
