#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "network.h"
#include "transport_udp.h"

/* Closes a socket that is of no use; returns -errno of before. */
static int give_up(int fd)
{
    const int error = errno;
    close(fd);
    return -error;
}

static int kernel_connect(struct network *n, const struct sockaddr_in *to, struct sockaddr_in *local)
{
    (void)n;
    socklen_t bytes = sizeof *local;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)to, sizeof *to) < 0 ||
        getsockname(fd, (struct sockaddr *)local, &bytes) < 0)
        return give_up(fd);
    return fd;
}

static int kernel_open(struct network *n, bool without_checksum)
{
    (void)n;
    const int discover = IP_PMTUDISC_PROBE, without = without_checksum;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &without, sizeof without) < 0)
        return give_up(fd);
    return fd;
}

static int kernel_send_to(struct network *n, int fd, const struct sockaddr_in *to, const void *payload,
                          size_t bytes)
{
    (void)n;
    return sendto(fd, payload, bytes, MSG_DONTWAIT, (const struct sockaddr *)to, sizeof *to) < 0 ? -errno : 0;
}

static ssize_t kernel_receive_from(struct network *n, int fd, struct sockaddr_in *from, void *payload,
                                   size_t room)
{
    (void)n;
    socklen_t length = sizeof *from;
    const ssize_t bytes = recvfrom(fd, payload, room, MSG_DONTWAIT, (struct sockaddr *)from, &length);
    return bytes < 0 ? -errno : bytes;
}

static unsigned kernel_mtu(struct network *n, int fd)
{
    (void)n;
    int mtu = 0;
    socklen_t bytes = sizeof mtu;
    return getsockopt(fd, IPPROTO_IP, IP_MTU, &mtu, &bytes) == 0 && mtu > 0 ? (unsigned)mtu : 0;
}

static int kernel_transport(struct network *n, struct transport **out, const struct transport_config *config,
                            char why[NETWORK_WORDS])
{
    (void)n;
    (void)why;
    return transport_udp_open(out, config);
}

static void kernel_close(struct network *n)
{
    (void)n;
}

const struct network_ops network_kernel_ops = {.connect = kernel_connect,
                                               .open = kernel_open,
                                               .send_to = kernel_send_to,
                                               .receive_from = kernel_receive_from,
                                               .mtu = kernel_mtu,
                                               .transport = kernel_transport,
                                               .close = kernel_close};
