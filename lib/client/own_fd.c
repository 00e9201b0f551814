#include "own_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <sys/stat.h>

#include "monotonic.h"

struct own_fd own_fd_of(int fd)
{
    struct stat s;
    if (fd < 0 || fstat(fd, &s) < 0)
        return OWN_FD_NONE;
    return (struct own_fd){.fd = fd, .device = s.st_dev, .inode = s.st_ino};
}

bool own_fd_holds(const struct own_fd *f)
{
    struct stat s;
    return f->fd >= 0 && fstat(f->fd, &s) == 0 && s.st_dev == f->device && s.st_ino == f->inode;
}

void own_fd_close(struct own_fd *f)
{
    if (own_fd_holds(f))
        close(f->fd);
    *f = OWN_FD_NONE;
}

enum { CLOSED_MS = 10 }; /* between looks, once the application has closed the descriptors */

int waker_open(struct waker *w)
{
    int fd[2];
    *w = WAKER_NONE;
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    *w = (struct waker){.sleeper = own_fd_of(fd[0]), .bell = own_fd_of(fd[1])};
    return 0;
}

bool waker_holds(const struct waker *w)
{
    return own_fd_holds(&w->sleeper) && own_fd_holds(&w->bell);
}

void waker_wake(struct waker *w)
{
    if (!own_fd_holds(&w->bell))
        return;
    while (write(w->bell.fd, "", 1) < 0 && errno == EINTR)
        ; /* a full pipe wakes, too */
}

void waker_drain(struct waker *w)
{
    char bytes[64];
    if (!own_fd_holds(&w->sleeper))
        return;
    ssize_t n;
    do
        n = read(w->sleeper.fd, bytes, sizeof bytes);
    while (n == (ssize_t)sizeof bytes || (n < 0 && errno == EINTR));
}

void waker_wait(struct waker *w, uint64_t until)
{
    const uint64_t now = monotonic_ns(), soon = now + CLOSED_MS * NS_PER_MS;
    struct timespec timeout = timespec_until(until, now);
    struct pollfd fd = {.fd = w->sleeper.fd, .events = POLLIN};
    if (ppoll(&fd, 1, &timeout, NULL) <= 0)
        return;
    waker_drain(w);
    if (!waker_holds(w)) { /* it would wake for ever */
        timeout = timespec_until(until < soon ? until : soon, now);
        nanosleep(&timeout, NULL);
    }
}

void waker_close(struct waker *w)
{
    own_fd_close(&w->sleeper);
    own_fd_close(&w->bell);
}
