#include "port/linux/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

enum {
    WAITING_BYTES = 16 << 20, /* some 5,000 frames with the kernel's overhead: a thread that shares its CPU
                                 may pause for milliseconds */
    NO_LIMIT = INT_MAX / 2,
};

static int set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value));
}

/* More than net.core.rmem_max, or net.core.wmem_max, needs CAP_NET_ADMIN of the machine, which a container of
 * an ordinary user's has not. */
static int set_buffer(int fd, int forced, int plain, int bytes)
{
    const int rc = set_option(fd, SOL_SOCKET, forced, bytes);

    return rc < 0 && errno == EPERM ? set_option(fd, SOL_SOCKET, plain, bytes) : rc;
}

/* A socket, or -1 with errno set. */
static int packet_socket(void)
{
    return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* protocol 0: nothing before it is bound */
}

static int close_failed(int fd)
{
    const int error = errno;

    if (fd >= 0)
        close(fd);
    return -error;
}

static int open_receiving(unsigned if_index)
{
    const struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_index};
    const struct packet_mreq everything = {.mr_ifindex = (int)if_index, .mr_type = PACKET_MR_PROMISC};
    const int fd = packet_socket();

    if (fd < 0 || set_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1) < 0 ||
        set_option(fd, SOL_PACKET, PACKET_AUXDATA, 1) < 0 ||
        set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) < 0 ||
        set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, WAITING_BYTES) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &everything, sizeof(everything)) < 0)
        return close_failed(fd);
    return fd;
}

/* A socket that only sends. Frames that are too many for the link shall be dropped there, not wait in a
 * buffer of ours. */
static int open_sending(unsigned if_index)
{
    const struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_index};
    const int fd = packet_socket();

    if (fd < 0 || set_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1) < 0 ||
        set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, NO_LIMIT) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return close_failed(fd);
    return fd;
}

/* Sockets in a fanout group also receive what this machine sends: PACKET_IGNORE_OUTGOING works for single
 * sockets only. */
static int hear_incoming_only(int fd)
{
    struct sock_filter incoming_only[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    const struct sock_fprog program = {.len = sizeof(incoming_only) / sizeof(incoming_only[0]),
                                       .filter = incoming_only};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int share(const int fd[], unsigned n)
{
    int group = (PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
    socklen_t bytes = sizeof(group);

    for (unsigned i = 0; i < n; i++) {
        if (hear_incoming_only(fd[i]) < 0 || set_option(fd[i], SOL_PACKET, PACKET_FANOUT, group) < 0)
            return -errno;
        if (i > 0)
            continue;
        /* The kernel has chosen a number for it. */
        if (getsockopt(fd[0], SOL_PACKET, PACKET_FANOUT, &group, &bytes) < 0)
            return -errno;
        group = (group & UINT16_MAX) | PACKET_FANOUT_HASH << 16;
    }
    return 0;
}

static int open_all(int fd[], unsigned n, unsigned if_index, int (*open_one)(unsigned))
{
    for (unsigned q = 0; q < n; q++) {
        fd[q] = open_one(if_index);
        if (fd[q] >= 0)
            continue;
        for (unsigned done = 0; done < q; done++)
            close(fd[done]);
        return fd[q];
    }
    return 0;
}

static void close_all(const int fd[], unsigned n)
{
    for (unsigned q = 0; q < n; q++)
        close(fd[q]);
}

int linux_sockets_open(struct linux_sockets *s, unsigned if_index)
{
    int rc = open_all(s->rx, s->rx_queues, if_index, open_receiving);

    if (rc < 0)
        return rc;
    rc = s->rx_queues > 1 ? share(s->rx, s->rx_queues) : 0;
    if (rc == 0)
        rc = open_all(s->tx, s->tx_queues, if_index, open_sending);
    if (rc < 0)
        close_all(s->rx, s->rx_queues);
    return rc;
}

bool linux_socket_is_orphan(int fd)
{
    struct sockaddr_ll address;
    socklen_t bytes = sizeof(address);

    return getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 && address.sll_ifindex < 0;
}

/* A system call in progress ends on the old socket; the next one uses the new one. */
static void replace_all(const int fd[], const int by[], unsigned n)
{
    for (unsigned q = 0; q < n; q++)
        dup3(by[q], fd[q], O_CLOEXEC);
    close_all(by, n);
}

void linux_sockets_replace(const struct linux_sockets *s, const struct linux_sockets *by)
{
    replace_all(s->rx, by->rx, s->rx_queues);
    replace_all(s->tx, by->tx, s->tx_queues);
}
