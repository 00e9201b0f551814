/* The switch's place in the network and its jobs that nobody joins, as the configuration has them and the
 * helper is told them.
 *
 * Ports of the chip are devices "chip:128,speed=100g,fec=rs,autoneg=off": the number is the chip's; where no
 * speed is given somebody else brings the port up. The one device of the kernel's leads to the chip's CPU
 * port.
 */
#pragma once

#include <jansson.h>

#include "config/reload.h"
#include "net/mac.h"

/* Of the kernel's. NULL, after logging what is wrong: there is none, or more than one. */
const char *setup_interface(const struct config *cfg);

/* {"ip", "ports", "static"}. NULL, after logging all of what this switch cannot do. */
json_t *setup_describe(const struct config *cfg);

/* One of "static". NULL, after logging the same. */
json_t *setup_describe_static(const struct config_static *s);

/* Has changes of what the helper is told at the start need a restart. */
void place_keep(struct settings_changes *list);

/* Whether the interface's MAC address is the configuration's, if that has one; it is logged if not. */
bool setup_has_mac(const struct config *cfg, const char *interface, const struct net_mac *mac);

/* Of a port of the chip's; UINT_MAX: its device names none. */
unsigned setup_port_number(const struct config_port *port);

/* Whether packets from this IP address (network order) and UDP port are those of a job of the configuration;
 * its place in static_job. -1: none. */
int setup_static_job(const struct config *cfg, uint32_t ip, uint16_t udp_port);
