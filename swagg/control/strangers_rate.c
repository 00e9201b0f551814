#include "control/strangers_rate.h"

/* All ranks of a host may join at once: a rank is a stranger for two JOINs, one to learn the switch's boot id
 * and one to get in. */
enum { AT_ONCE = 256, PER_SECOND = 64, JOINS_A_RANK = 2 };

struct throttle_rate strangers_rate(const struct config *cfg)
{
    const uint32_t joins = JOINS_A_RANK * cfg->limits.workers;

    return (struct throttle_rate){.burst = joins > AT_ONCE ? joins : AT_ONCE, .per_second = PER_SECOND};
}
