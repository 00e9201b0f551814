#include "samples/datagrams.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command_line.h"

enum { SOCKET_BUFFER = 4 << 20, PARCEL_MS = 1000 };

bool datagrams_address(const char *text, struct sockaddr_in *address)
{
    char ip[16], rest;
    unsigned port;

    *address = (struct sockaddr_in){.sin_family = AF_INET};
    if (sscanf(text, "%15[0-9.]:%u%c", ip, &port, &rest) != 2 || port == 0 || port > UINT16_MAX ||
        inet_pton(AF_INET, ip, &address->sin_addr) != 1)
        return complain("\"%s\" is no address and UDP port, as 10.0.0.1:5000 is", text);
    address->sin_port = htons((uint16_t)port);
    return true;
}

static bool set_up(int fd, uint16_t port, const struct sockaddr_in *to)
{
    const struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int whole = IP_PMTUDISC_DO, room = SOCKET_BUFFER;

    /* More room than usual needs privileges; without them the kernel grants what it allows. */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    if (setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof(whole)) < 0 ||
        bind(fd, (const struct sockaddr *)&here, sizeof(here)) < 0)
        return complain("UDP port %u: %s", port, strerror(errno));
    if (to == NULL || connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0)
        return true;
    return complain("no way to %s: %s", inet_ntoa(to->sin_addr), strerror(errno));
}

int datagrams_open(uint16_t port, const struct sockaddr_in *to)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        complain("no socket: %s", strerror(errno));
        return -1;
    }
    if (set_up(fd, port, to))
        return fd;
    close(fd);
    return -1;
}

void datagrams_init(struct datagrams *d, int fd)
{
    d->fd = fd;
    d->n = 0;
    for (unsigned i = 0; i < DATAGRAMS_BURST; i++) {
        d->part[i] = (struct iovec){.iov_base = d->payload[i]};
        d->message[i].msg_hdr = (struct msghdr){.msg_iov = &d->part[i], .msg_iovlen = 1};
    }
}

bool datagrams_put(struct datagrams *d, const struct sockaddr_in *to, size_t bytes)
{
    struct msghdr *header = &d->message[d->n].msg_hdr;

    d->part[d->n].iov_len = bytes;
    header->msg_name = to == NULL ? NULL : &d->address[d->n];
    header->msg_namelen = to == NULL ? 0 : sizeof(*to);
    if (to != NULL)
        d->address[d->n] = *to;
    return ++d->n < DATAGRAMS_BURST || datagrams_flush(d);
}

/* Whether to try again. Nobody listening at the other end is an answer to a datagram before. */
static bool may_go_on(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    if (errno == EAGAIN)
        poll(&p, 1, PARCEL_MS);
    return errno == EAGAIN || errno == EINTR || errno == ECONNREFUSED || errno == EHOSTUNREACH ||
           errno == ENOBUFS;
}

bool datagrams_flush(struct datagrams *d)
{
    for (unsigned done = 0; done < d->n;) {
        const int sent = sendmmsg(d->fd, d->message + done, d->n - done, 0);

        if (sent > 0) {
            done += (unsigned)sent;
        } else if (!may_go_on(d->fd)) {
            return complain("cannot send %zu bytes: %s%s", d->part[done].iov_len, strerror(errno),
                            errno == EMSGSIZE ? "; raise the interface's MTU, or lower --elements" : "");
        }
    }
    d->n = 0;
    return true;
}

unsigned datagrams_receive(struct datagrams *d)
{
    int n;

    for (unsigned i = 0; i < DATAGRAMS_BURST; i++) {
        d->part[i].iov_len = DATAGRAM_MAX;
        d->message[i].msg_hdr.msg_name = &d->address[i];
        d->message[i].msg_hdr.msg_namelen = sizeof(d->address[i]);
    }
    n = recvmmsg(d->fd, d->message, DATAGRAMS_BURST, MSG_DONTWAIT, NULL);
    d->n = n < 0 ? 0 : (unsigned)n;
    return d->n;
}

void datagrams_wait(int fd, uint64_t ns)
{
    const struct timespec limit = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    struct pollfd p = {.fd = fd, .events = POLLIN};

    ppoll(&p, 1, &limit, NULL);
}
