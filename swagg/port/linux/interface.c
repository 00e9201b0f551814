#include "port/linux/interface.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>

/* Asks the kernel. 0, or -errno. argument: of requests that take one. */
static int ask_with(unsigned if_index, unsigned long what, struct ifreq *answer, void *argument)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;
    struct ifreq name = {.ifr_ifindex = (int)if_index};

    if (fd < 0)
        return -errno;
    *answer = (struct ifreq){.ifr_data = argument};
    if (ioctl(fd, SIOCGIFNAME, &name) < 0) {
        rc = -errno;
    } else {
        memcpy(answer->ifr_name, name.ifr_name, sizeof(answer->ifr_name));
        rc = ioctl(fd, what, answer) < 0 ? -errno : 0;
    }
    close(fd);
    return rc;
}

static int ask(unsigned if_index, unsigned long what, struct ifreq *answer)
{
    return ask_with(if_index, what, answer, NULL);
}

bool linux_interface_is_up(unsigned if_index)
{
    struct ifreq answer;

    return ask(if_index, SIOCGIFFLAGS, &answer) == 0 && answer.ifr_flags & IFF_UP &&
           answer.ifr_flags & IFF_RUNNING;
}

int linux_interface_mtu(unsigned if_index)
{
    struct ifreq answer;
    int rc = ask(if_index, SIOCGIFMTU, &answer);

    return rc < 0 ? rc : answer.ifr_mtu;
}

int linux_interface_mac(unsigned if_index, struct net_mac *mac)
{
    struct ifreq answer;
    int rc = ask(if_index, SIOCGIFHWADDR, &answer);

    if (rc == 0)
        memcpy(mac->addr_bytes, answer.ifr_hwaddr.sa_data, sizeof(mac->addr_bytes));
    return rc;
}

bool linux_interface_merges(unsigned if_index)
{
    struct ethtool_value flags = {.cmd = ETHTOOL_GFLAGS};
    struct ifreq request;

    return ask_with(if_index, SIOCETHTOOL, &request, &flags) == 0 && flags.data & ETH_FLAG_LRO;
}
