#include "interface.h"
#include "base/nodes.h"
#include "base/sysfiles.h"

#include <ifaddrs.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "machine.h"

#define SYS_NET "/sys/class/net/%s/"

/* Asks the kernel: /sys may be that of another network namespace, as in a container. */
static bool ask(const char *name, unsigned long what, struct ifreq *request)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", name);
    const bool good = fd >= 0 && ioctl(fd, what, request) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

static bool ask_driver(const char *name, void *what)
{
    struct ifreq request = {.ifr_data = what};

    return ask(name, SIOCETHTOOL, &request);
}

static void rings(struct findings *f, const char *name)
{
    struct ethtool_ringparam ring = {.cmd = ETHTOOL_GRINGPARAM};

    if (!ask_driver(name, &ring) || ring.rx_max_pending == 0)
        found(f, FINDING_OK, "interface", name, "its driver has no rings to set");
    else if (ring.rx_pending < ring.rx_max_pending / 2)
        finding_type(found(f, FINDING_WARNING, "interface", name,
                           "%u places for received packets, of %u that there could be: a burst finds no room",
                           ring.rx_pending, ring.rx_max_pending),
                     "ethtool -G %s rx %u", name, ring.rx_max_pending);
    else
        found(f, FINDING_OK, "interface", name, "rings of %u and %u packets", ring.rx_pending,
              ring.tx_pending);
}

static bool has_flag(const char *name, uint32_t flag)
{
    struct ethtool_value value = {.cmd = ETHTOOL_GFLAGS};

    return ask_driver(name, &value) && (value.data & flag) != 0;
}

static void offloads(struct findings *f, const char *name, enum interface_use use)
{
    struct ethtool_value gro = {.cmd = ETHTOOL_GGRO};

    if (has_flag(name, ETH_FLAG_LRO))
        finding_type(found(f, use == INTERFACE_OF_A_SWITCH ? FINDING_FAULT : FINDING_WARNING, "interface",
                           name, "its device merges packets (lro), which cannot be cut again as they were"),
                     "ethtool -K %s lro off", name);
    else if (use == INTERFACE_OF_A_HOST && ask_driver(name, &gro) && gro.data == 0)
        found(f, FINDING_OK, "interface", name,
              "merging by the kernel (gro) is off; on, results cost less CPU "
              "(ethtool -K %s gro on)",
              name);
    else
        found(f, FINDING_OK, "interface", name, "no offload that is in the way");
}

static void losses(struct findings *f, const char *name)
{
    const long errors = sysfile_number(0, SYS_NET "statistics/rx_errors", name);
    const long missed = sysfile_number(0, SYS_NET "statistics/rx_missed_errors", name);
    const long packets = sysfile_number(0, SYS_NET "statistics/rx_packets", name);

    if ((errors + missed) * 10000 > packets && errors + missed > 5)
        finding_type(found(f, FINDING_WARNING, "interface", name,
                           "of %ld packets %ld came damaged and %ld found no room", packets, errors, missed),
                     "ethtool -S %s tells more; look at cable and transceiver, and at the rings", name);
}

/* What a port of a switch's must not have: the kernel goes on handling what it receives. */
static void of_a_switch(struct findings *f, const char *name)
{
    struct ifaddrs *all = NULL;
    char bridge[64];
    bool has_address = false;

    if (getifaddrs(&all) == 0)
        for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next)
            has_address |=
                a->ifa_addr != NULL && a->ifa_addr->sa_family == AF_INET && strcmp(a->ifa_name, name) == 0;
    freeifaddrs(all);
    if (has_address)
        finding_type(found(f, FINDING_WARNING, "interface", name,
                           "it has an IPv4 address: the kernel answers in the switch's place"),
                     "ip address flush dev %s (not if you are logged in through it)", name);
    if (sysfile_link(bridge, sizeof(bridge), SYS_NET "master", name))
        finding_type(found(f, FINDING_WARNING, "interface", name,
                           "it is in %s, which switches every frame a second time", bridge),
                     "ip link set %s nomaster", name);
}

static void link_and_mtu(struct findings *f, const char *name, unsigned has, unsigned wanted)
{
    struct ifreq request = {0};
    const long mbps = sysfile_number(-1, SYS_NET "speed", name);
    const bool known = ask(name, SIOCGIFFLAGS, &request);

    if (known && !(request.ifr_flags & IFF_RUNNING))
        finding_type(found(f, FINDING_FAULT, "interface", name, "no link: %s",
                           request.ifr_flags & IFF_UP ? "nothing is at the other end" : "it is down"),
                     "ip link set %s up, and look at the cable", name);
    else if (mbps > 0)
        found(f, FINDING_OK, "interface", name, "link up, %ld Mbit/s, mtu %u", mbps, has);
    else
        found(f, FINDING_OK, "interface", name, "link up, mtu %u", has);
    if (wanted > has)
        finding_type(found(f, FINDING_FAULT, "interface", name, "its mtu is %u, and packets are to have %u",
                           has, wanted),
                     "ip link set %s mtu %u", name, wanted);
}

unsigned interface_look(struct findings *f, const char *name, enum interface_use use, unsigned mtu)
{
    struct ifreq request = {0};

    if (!ask(name, SIOCGIFMTU, &request)) {
        finding_type(found(f, FINDING_FAULT, "interface", name, "there is no such interface"), "ip link");
        return 0;
    }
    const unsigned has = (unsigned)request.ifr_mtu;

    link_and_mtu(f, name, has, mtu);
    rings(f, name);
    offloads(f, name, use);
    losses(f, name);
    if (use == INTERFACE_OF_A_SWITCH)
        of_a_switch(f, name);
    machine_node(f, name, node_of_interface(name));
    return has;
}
