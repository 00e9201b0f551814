#include "base/standard_fds.h"

#include <fcntl.h>
#include <unistd.h>

void standard_fds_fill(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR); /* the lowest number that is free */
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}
