#include "base/exclusive.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

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
