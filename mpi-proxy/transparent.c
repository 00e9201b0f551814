#include "transparent.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 64 };

/* The errno of what has failed with the socket, which is closed. */
static int fail(int fd)
{
    const int rc = -errno;

    if (fd >= 0)
        close(fd);
    return rc;
}

static int open_socket(const struct sockaddr_in *at)
{
    const int on = 1;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_IP, IP_TRANSPARENT, &on, sizeof(on)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
        bind(fd, (const struct sockaddr *)at, sizeof(*at)) < 0)
        return fail(fd);
    return fd;
}

int transparent_listen(const struct sockaddr_in *at)
{
    const int fd = open_socket(at);

    if (fd >= 0 && listen(fd, BACKLOG) < 0)
        return fail(fd);
    return fd;
}

int transparent_connect(const struct sockaddr_in *from, const struct sockaddr_in *to)
{
    const int fd = open_socket(from);

    if (fd >= 0 && connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 && errno != EINPROGRESS)
        return fail(fd);
    return fd;
}

int transparent_accept(int listening, struct sockaddr_in *from, struct sockaddr_in *to)
{
    const int on = 1;
    socklen_t length = sizeof(*from);
    const int fd = accept4(listening, (struct sockaddr *)from, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);

    length = sizeof(*to);
    if (fd < 0 || getsockname(fd, (struct sockaddr *)to, &length) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
        return fail(fd);
    return fd;
}
