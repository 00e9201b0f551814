/* The switch's own address: different from every port's, no group address, and the same after a restart. */
#include <string.h>

#include "bridge/switch_mac.h"
#include "random.h"
#include "unit.h"

enum { PORTS = 4 };

static void make_ports(struct net_mac port[PORTS], uint64_t *rng)
{
    for (unsigned p = 0; p < PORTS; p++) {
        for (unsigned i = 0; i < sizeof(struct net_mac); i++)
            port[p].addr_bytes[i] = (uint8_t)rng_next(rng);
        port[p].addr_bytes[0] =
            (uint8_t)((port[p].addr_bytes[0] & ~1) | 2); /* as veths and most VMs have them */
    }
}

TEST(a_derived_address_is_a_stations_of_its_own)
{
    struct net_mac port[PORTS], mac;
    uint64_t rng = 12;

    for (unsigned round = 0; round < 10000; round++) {
        make_ports(port, &rng);
        switch_mac_derive(&mac, port, PORTS);
        CU_ASSERT((mac.addr_bytes[0] & 3) == 2);
        CU_ASSERT_EQUAL(switch_mac_find(&mac, port, PORTS), -1);
    }
}

TEST(it_follows_from_the_first_port_alone)
{
    struct net_mac port[PORTS], first, again, other;
    uint64_t rng = 13;

    make_ports(port, &rng);
    switch_mac_derive(&first, port, PORTS);
    switch_mac_derive(&again, port, 1);
    CU_ASSERT(net_same_mac(&first, &again));
    switch_mac_derive(&other, port + 1, PORTS - 1);
    CU_ASSERT(!net_same_mac(&first, &other));
}

TEST(a_port_that_has_it_already_makes_it_another)
{
    struct net_mac port[PORTS], taken, mac;
    uint64_t rng = 14;

    make_ports(port, &rng);
    switch_mac_derive(&taken, port, PORTS);
    port[2] = taken;
    switch_mac_derive(&mac, port, PORTS);
    CU_ASSERT_EQUAL(switch_mac_find(&taken, port, PORTS), 2);
    CU_ASSERT_EQUAL(switch_mac_find(&mac, port, PORTS), -1);
}
