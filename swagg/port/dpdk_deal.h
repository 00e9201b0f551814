/* A device of DPDK's that takes no flow rules, but says by which key it hashes, deals packets to its queues
 * by the UDP port that they are sent to (device.h, deal). Main lcore.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "port/device.h"

struct rte_eth_dev_info;

/* Whether it can. */
bool dpdk_can_deal(const struct rte_eth_dev_info *info);

/* Sets key and table of a device, which was configured to hash. 0; or -errno and *why, all is as before then.
 */
int dpdk_deal(uint16_t id, const uint16_t queue[PORT_DEALS], const char **why);
