/* Explicit congestion notification (RFC 3168) on UDP sockets: packets say that they can be marked, and
 * whoever receives them learns whether they were. Any thread. */
#pragma once

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ECN_MASK = 3, ECN_CAPABLE = 2, ECN_CE = 3 /* congestion experienced */ };

/* What the kernel says beside a message; NULL: it does not say this. */
static inline const void *ecn_told(struct msghdr *m, int level, int type)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        if (c->cmsg_level == level && c->cmsg_type == type)
            return CMSG_DATA(c);
    return NULL;
}

/* From now on the socket's packets can be marked, and the kernel tells of those that it receives. 0, or
 * -errno. */
static inline int ecn_notice(int fd)
{
    const int capable = ECN_CAPABLE, on = 1;
    if (setsockopt(fd, IPPROTO_IP, IP_TOS, &capable, sizeof capable) < 0 ||
        setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof on) < 0)
        return -errno;
    return 0;
}

/* Whether a message has met a congested queue; if the kernel has merged it, all that it was made of. */
static inline bool ecn_is_marked(struct msghdr *m)
{
    const uint8_t *tos = ecn_told(m, IPPROTO_IP, IP_TOS);
    return tos && (*tos & ECN_MASK) == ECN_CE;
}
