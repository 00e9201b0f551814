/* On which CPUs the threads run: as the configuration says, else where no other swagg of this machine polls.
 */
#pragma once

#include <stdbool.h>

#include "config/config.h"

/* Whether the configuration's CPUs are such as this process may use, which the log says if not. lcores: how
 * many there will be. */
bool pin_check(const struct config *cfg, unsigned *lcores);

/* Fills in the placement, the configuration's or a default one, with CPUs that this process may use, claims
 * these (base/cpu_claims.h) until it ends, and logs where it has to share them. After pin_check. alone: the
 * lcores are placed by EAL arguments, so nothing is claimed. Returns the main lcore's CPU. */
int pin_lcores(struct placement *placement, const struct config *cfg, bool alone);
