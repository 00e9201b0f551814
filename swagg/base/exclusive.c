#include "base/exclusive.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* An abstract Unix address: it belongs to the network namespace, and vanishes with the process. */
static socklen_t name_of(struct sockaddr_un *address, unsigned if_index)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    return (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 +
           (socklen_t)snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "swagg/interface/%u",
                               if_index);
}

int exclusive_interface(unsigned if_index)
{
    struct sockaddr_un address;
    const socklen_t bytes = name_of(&address, if_index);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int error;

    /* It listens so that other processes can ask who has it (SO_PEERCRED). */
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, bytes) == 0 && listen(fd, 1) == 0)
        return fd;
    error = errno;
    if (fd >= 0)
        close(fd);
    return -error;
}

int exclusive_interface_holder(unsigned if_index)
{
    struct sockaddr_un address;
    const socklen_t bytes = name_of(&address, if_index);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct ucred holder = {0};
    socklen_t holder_bytes = sizeof(holder);

    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, bytes) == 0)
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &holder, &holder_bytes);
    if (fd >= 0)
        close(fd);
    return holder.pid;
}

int exclusive_directory(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error;

    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd < 0 ? -errno : fd;
    error = errno;
    close(fd);
    return -error;
}
