#include "interface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"

bool interface_mac(const char *name, uint8_t mac[6])
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq ask = {0};
    bool found;

    snprintf(ask.ifr_name, sizeof(ask.ifr_name), "%s", name);
    found = fd >= 0 && ioctl(fd, SIOCGIFHWADDR, &ask) == 0;
    if (!found)
        log_error("interface %s: %s", name, strerror(errno));
    if (fd >= 0)
        close(fd);
    memcpy(mac, ask.ifr_hwaddr.sa_data, 6);
    return found;
}

int interface_socket(uint32_t ip, uint16_t port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = ip, .sin_port = htons(port)};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char text[INET_ADDRSTRLEN];

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return fd;
    log_error("no UDP port %u of %s: %s; the interface that leads to the chip must have switch.ip", port,
              inet_ntop(AF_INET, &at.sin_addr, text, sizeof(text)), strerror(errno));
    return -1;
}

bool interface_neighbour(int fd, const char *name, const struct sockaddr_in *of, uint8_t mac[6])
{
    struct arpreq ask = {0};

    memcpy(&ask.arp_pa, of, sizeof(*of));
    ((struct sockaddr_in *)&ask.arp_pa)->sin_port = 0;
    snprintf(ask.arp_dev, sizeof(ask.arp_dev), "%s", name);
    if (ioctl(fd, SIOCGARP, &ask) < 0 || !(ask.arp_flags & ATF_COM))
        return false;
    memcpy(mac, ask.arp_ha.sa_data, 6);
    return true;
}
