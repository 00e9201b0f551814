#include "own_fd.h"

#include <sys/stat.h>
#include <unistd.h>

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
