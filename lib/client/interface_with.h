/* Which interface of the kernel's has an address. */
#pragma once

#include <ifaddrs.h>
#include <stdbool.h>
#include <stdio.h>

#include <net/if.h>
#include <netinet/in.h>

/* False, and no name: none has it. */
static inline bool interface_with(struct in_addr ip, char name[IF_NAMESIZE])
{
    struct ifaddrs *all = NULL;

    name[0] = '\0';
    if (getifaddrs(&all) < 0)
        return false;
    for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next)
        if (a->ifa_addr != NULL && a->ifa_addr->sa_family == AF_INET &&
            ((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr.s_addr == ip.s_addr)
            snprintf(name, IF_NAMESIZE, "%s", a->ifa_name);
    freeifaddrs(all);
    return name[0] != '\0';
}
