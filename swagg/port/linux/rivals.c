#include "port/linux/rivals.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>

#include "base/log.h"

enum { ANSWER_BYTES = 16 << 10 };

struct link_request {
    struct nlmsghdr header;
    struct ifinfomsg link;
};

/* Asks the kernel (netlink) about an interface; the bytes of the answer, or -1. */
static ssize_t ask_link(unsigned if_index, void *answer)
{
    const struct link_request request = {
        .header = {.nlmsg_len = sizeof(request), .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST},
        .link = {.ifi_family = AF_UNSPEC, .ifi_index = (int)if_index},
    };
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    ssize_t n = -1;

    if (fd >= 0 && send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request))
        n = recv(fd, answer, ANSWER_BYTES, 0);
    if (fd >= 0)
        close(fd);
    return n;
}

/* The bridge, bond or the like that an interface is part of; 0: none. */
static unsigned master_of(unsigned if_index)
{
    _Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
    const ssize_t n = ask_link(if_index, answer);
    const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
    struct ifinfomsg *link;
    int left;

    if (n < 0 || !NLMSG_OK(header, n) || header->nlmsg_type != RTM_NEWLINK)
        return 0;
    link = NLMSG_DATA(header);
    left = (int)IFLA_PAYLOAD(header);
    for (struct rtattr *a = IFLA_RTA(link); RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == IFLA_MASTER)
            return *(const unsigned *)RTA_DATA(a);
    return 0;
}

/* The address as text; NULL: the kernel would not answer hosts that ask for it. */
static const char *address_of(const struct ifaddrs *i, char text[INET6_ADDRSTRLEN])
{
    if (i->ifa_addr == NULL)
        return NULL;
    if (i->ifa_addr->sa_family == AF_INET)
        return inet_ntop(AF_INET, &((const struct sockaddr_in *)i->ifa_addr)->sin_addr, text,
                         INET6_ADDRSTRLEN);
    if (i->ifa_addr->sa_family == AF_INET6) {
        const struct in6_addr *address = &((const struct sockaddr_in6 *)i->ifa_addr)->sin6_addr;

        return IN6_IS_ADDR_LINKLOCAL(address) ? NULL : inet_ntop(AF_INET6, address, text, INET6_ADDRSTRLEN);
    }
    return NULL;
}

void linux_rivals_warn(const char *port, const char *interface, unsigned if_index)
{
    char text[INET6_ADDRSTRLEN], master[IF_NAMESIZE];
    struct ifaddrs *all = NULL;

    if (if_indextoname(master_of(if_index), master) != NULL)
        log_warning(
            "port %s: interface %s is part of %s, which handles its frames too, so that hosts may get them "
            "twice: ip link set %s nomaster",
            port, interface, master, interface);
    getifaddrs(&all);
    for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next)
        if (strcmp(i->ifa_name, interface) == 0 && address_of(i, text) != NULL)
            log_warning(
                "port %s: interface %s has the address %s, for which the kernel answers as if there were no "
                "switch: ip addr flush dev %s",
                port, interface, text, interface);
    freeifaddrs(all);
}

static bool has(const struct ifaddrs *i, rte_be32_t ip)
{
    return i->ifa_addr != NULL && i->ifa_addr->sa_family == AF_INET &&
           ((const struct sockaddr_in *)i->ifa_addr)->sin_addr.s_addr == ip;
}

int linux_rivals_check_ip(rte_be32_t ip, bool from_kernel)
{
    struct ifaddrs *all = NULL;
    char text[INET6_ADDRSTRLEN];
    int rc = 0;

    getifaddrs(&all);
    for (const struct ifaddrs *i = all; i != NULL && ip != 0; i = i->ifa_next) {
        if (!has(i, ip))
            continue;
        log_line(from_kernel ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
                 "switch.ip %s is an address of this machine, on %s, so that its kernel takes what is for "
                 "the switch: ip addr del %s dev %s, or choose another switch.ip",
                 address_of(i, text), i->ifa_name, text, i->ifa_name);
        rc = from_kernel ? -EADDRINUSE : 0;
    }
    freeifaddrs(all);
    return rc;
}
