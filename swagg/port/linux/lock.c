#include "port/linux/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/run_directory.h"
#include "port/linux/namespace.h"

#define FILE_NAME RUN_DIRECTORY "/interfaces"

enum { OWN_MAX = SWAGG_MAX_PORTS + 1 /* one more is locked for a moment, by record.c */ };

/* Open to the end: closing any descriptor of the file would end the process's locks. */
static int file = -1;

/* The interfaces that this process has locked, which its locks in the file do not keep apart; 0: none. */
static unsigned own[OWN_MAX];

static unsigned *place_of(unsigned if_index)
{
    unsigned *at = own;

    while (at < own + OWN_MAX && *at != if_index)
        at++;
    return at < own + OWN_MAX ? at : NULL;
}

bool linux_lock_can(void)
{
    static bool said;

    if (file >= 0)
        return true;
    if (mkdir(RUN_DIRECTORY, 0755) == 0 || errno == EEXIST) /* who may open it may lock it */
        file = open(FILE_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0 && !said)
        log_warning("no locks in " FILE_NAME ": %s; nothing keeps another swagg from the same interfaces",
                    strerror(errno));
    said = true;
    return file >= 0;
}

static struct flock byte_of(unsigned if_index, short type)
{
    const uint64_t space = linux_namespace_cookie() & INT32_MAX;

    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)(space << 32 | if_index), .l_len = 1};
}

/* Against other processes. */
static int lock_in_file(unsigned if_index)
{
    struct flock byte = byte_of(if_index, F_WRLCK);

    if (!linux_lock_can() || fcntl(file, F_SETLK, &byte) == 0)
        return 0;
    return errno == EAGAIN || errno == EACCES ? -EADDRINUSE : -errno;
}

int linux_lock(unsigned if_index)
{
    const int rc = place_of(if_index) != NULL ? -EALREADY : lock_in_file(if_index);

    if (rc == 0)
        *place_of(0) = if_index;
    return rc;
}

void linux_unlock(unsigned if_index)
{
    struct flock byte = byte_of(if_index, F_UNLCK);

    *place_of(if_index) = 0;
    if (file >= 0)
        fcntl(file, F_SETLK, &byte);
}

pid_t linux_lock_holder(unsigned if_index)
{
    struct flock byte = byte_of(if_index, F_WRLCK);

    if (file < 0 || fcntl(file, F_GETLK, &byte) < 0 || byte.l_type == F_UNLCK)
        return 0;
    return byte.l_pid > 0 ? byte.l_pid : 0;
}
