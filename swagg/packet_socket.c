#include "packet_socket.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <linux/filter.h>
#include <linux/if_packet.h>
#include <rte_common.h>
#include <sys/socket.h>

static bool is_on(int fd, unsigned if_index)
{
    struct sockaddr_ll address = {0};
    socklen_t bytes = sizeof(address);

    return getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 && address.sll_family == AF_PACKET &&
           address.sll_ifindex == (int)if_index;
}

unsigned packet_socket_find(unsigned if_index, int fds[], unsigned max)
{
    DIR *open_files = opendir("/proc/self/fd");
    const struct dirent *entry;
    unsigned found = 0;

    if (open_files == NULL)
        return 0;
    while (found < max && (entry = readdir(open_files)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]) && is_on(atoi(entry->d_name), if_index))
            fds[found++] = atoi(entry->d_name);
    closedir(open_files);
    return found;
}

int packet_socket_ignore_outgoing(int fd)
{
    /* PACKET_IGNORE_OUTGOING would be cheaper, but the driver's sockets are in a fanout group, which ignores
     * it. */
    struct sock_filter incoming_only[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    const struct sock_fprog program = {.len = RTE_DIM(incoming_only), .filter = incoming_only};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ? -errno : 0;
}

int packet_socket_never_wait(int fd)
{
    const int bytes = INT_MAX / 2;

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
