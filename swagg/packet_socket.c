#include "packet_socket.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <linux/if_packet.h>
#include <sys/socket.h>

static bool is_on(int fd, unsigned if_index)
{
    struct sockaddr_ll address = {0};
    socklen_t bytes = sizeof(address);

    return getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 && address.sll_family == AF_PACKET &&
           address.sll_ifindex == (int)if_index;
}

int packet_socket_find(unsigned if_index)
{
    DIR *fds = opendir("/proc/self/fd");
    const struct dirent *entry;
    int found = -1;

    if (fds == NULL)
        return -1;
    while (found < 0 && (entry = readdir(fds)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]) && is_on(atoi(entry->d_name), if_index))
            found = atoi(entry->d_name);
    closedir(fds);
    return found;
}

int packet_socket_never_wait(int fd)
{
    const int bytes = INT_MAX / 2; /* of ring memory that is there anyway: nothing more is allocated */

    return setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0 ? -errno : 0;
}

uint32_t packet_socket_missed(int fd)
{
    struct tpacket_stats stats = {0};
    socklen_t bytes = sizeof(stats);

    if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) < 0)
        return 0;
    return stats.tp_drops;
}
