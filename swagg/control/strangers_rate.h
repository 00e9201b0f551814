/* How often a switch handles control messages of those who are in no job, by address (base/throttle.h). JOINs
 * beyond it are dropped; workers repeat them. Pure.
 */
#ifndef SWAGG_CONTROL_STRANGERS_RATE_H
#define SWAGG_CONTROL_STRANGERS_RATE_H

#include "base/throttle.h"
#include "config/config.h"

struct throttle_rate strangers_rate(const struct config *cfg);

#endif
