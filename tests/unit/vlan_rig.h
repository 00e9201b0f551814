/* The rig of lcore_rig.h with ports that carry VLANs: port 0 is in VLAN 10, port 1 carries 10 and 20 with
 * tags, port 2 carries 20 with a tag and is in 10. */
#pragma once

#include "lcore_rig.h"
#include "net/vlan.h"

enum { TEN = 0, TWENTY = 1, TAG = sizeof(struct net_tag) };

static struct vlans vlans;
static const uint32_t ip_in_20 = RTE_BE32(0x140000FE);

static const struct config vlan_config = {
    .ports = RIG_PORTS,
    .vlans = 2,
    .vlan = {{.id = 10, .ip = RTE_BE32(0x0A0000FE)}, {.id = 20, .ip = RTE_BE32(0x140000FE)}},
    .port = {
        {.vlan = 10}, {.trunk_count = 2, .trunk = {10, 20}}, {.vlan = 10, .trunk_count = 1, .trunk = {20}}}};

static inline void open_with_vlans(void)
{
    rig_open();
    free(rig_bridge);
    rig_bridge = aligned_alloc(64, bridge_tables_footprint(64, 2));
    rig.receive.bridge = bridge_tables_init(rig_bridge, 64, 2, 1);
    rig.engine.egress.bridge = rig_bridge;
    vlans_make(&vlans, &vlan_config);
    rig.receive.vlans = rig.send.vlans = rig.host.vlans = &vlans;
}
