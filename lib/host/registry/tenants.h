/* The tenants of a configuration, as a registry has them: who they are, and whose a process is.
 *
 * Pure, any thread.
 */
#ifndef SWAGG_CONTROL_TENANTS_H
#define SWAGG_CONTROL_TENANTS_H

#include "config/config.h"
#include "control/registry.h"

/* Those of the configuration by their numbers, with those that are leaving, and how many jobs of theirs are
 * in the file. The names stay cfg's. */
void tenants_list(const struct config *cfg, struct ctl_tenant tenant[CONFIG_TENANTS_MAX]);

/* What struct ctl_registry_actions has tenant_of for: the number of the tenant whose job of this name the
 * process may join; -1: it may not, and text says why and what to do. */
int tenants_admit(const struct config *cfg, const struct ctl_endpoint *from, int key, const char *name,
                  char text[CTL_TEXT_MAX]);

#endif
