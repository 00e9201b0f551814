/* Checks a configuration beyond keys and types, and fills in defaults. */
#ifndef SWAGG_CONFIG_CONFIG_CHECK_H
#define SWAGG_CONFIG_CONFIG_CHECK_H

#include "config/config_schema.h"
#include "config/config_text.h"

/* Fills in raw->config: the defaults of keys that are absent in t, and what its texts mean. Reports
 * everything that is wrong. */
void config_check(struct config_text *t, struct config_raw *raw);

/* The same for a server's file (config_server.c). */
void config_check_server(struct config_text *t, struct config_raw *raw);

/* The same for the list of ports alone (config_ports.c); the MTU must be set. */
void config_check_ports(struct config_text *t, struct config *c);

/* The same for VLANs alone (config_vlans.c): of ports, and switch.vlans. Sets has_ip, ip and prefix if ports
 * carry any. */
void config_check_vlans(struct config_text *t, struct config_raw *raw);

/* Finds the network of a VLAN that the key at this path names, if it is there; else *network is 0.
 * with_address: the switch must have an address in it. */
void config_check_job_vlan(struct config_text *t, const char *path, const struct config *c, uint32_t id,
                           bool with_address, uint8_t *network);

/* The same for the list of lcores alone (config_lcores.c); the ports must have their names. */
void config_check_lcores(struct config_text *t, struct config_raw *raw);

/* The same for the list of tenants alone (config_tenants.c). */
void config_check_tenants(struct config_text *t, struct config_raw *raw);

/* The number of the tenant that the key at this path names; -1: the key is absent, or names none, which is
 * reported. The tenants must be checked. */
int config_check_tenant_name(struct config_text *t, const char *path, const struct config *c,
                             const char *name);

/* The same for the list of uplinks alone (config_uplink.c); switch.ip and tenants must be set. */
void config_check_uplinks(struct config_text *t, struct config_raw *raw);

/* The same for operators' socket alone (config_control.c). */
void config_check_control(struct config_text *t, struct config_raw *raw);

/* The same for the list of jobs of passing frames alone (config_clone.c); MTU, switch.mac, switch.ip,
 * VLANs, timers and tenants must be set. */
void config_check_clone(struct config_text *t, struct config_raw *raw);

/* The same for the list of replayed jobs alone (config_replay.c); MTU and switch.ip must be set. */
void config_check_replay(struct config_text *t, struct config_raw *raw);

/* The same for the list of static jobs alone (config_static.c); MTU, switch.mac, switch.ip and timers must be
 * set. */
void config_check_static(struct config_text *t, struct config_raw *raw);

/* The same for the list of host-addressed jobs alone (config_hostagg.c); MTU, switch.mac and switch.ip must
 * be set. */
void config_check_hostagg(struct config_text *t, struct config_raw *raw);

#endif
