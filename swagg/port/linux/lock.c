#include "port/linux/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/run_directory.h"

#define FILE_NAME RUN_DIRECTORY "/interfaces"

enum { OWN_MAX = SWAGG_MAX_PORTS + 1 /* one more is locked for a moment, by features.c */ };

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

enum {
    FIRST_PID_NAMESPACE = 0xEFFFFFFC /* its inode number: PROC_PID_INIT_INO of the kernel */,
    LINE_MAX_BYTES = 4096
};

/* 0: it cannot be told. */
static uint64_t inode_of(const char *path)
{
    struct stat inode;

    return stat(path, &inode) == 0 ? inode.st_ino : 0;
}

uint64_t linux_namespace_inode(void)
{
    return inode_of("/proc/self/ns/net");
}

uint64_t linux_namespace_cookie(void)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    uint64_t cookie = 0;
    socklen_t bytes = sizeof(cookie);

    if (fd >= 0) {
        getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &bytes);
        close(fd);
    }
    return cookie != 0 ? cookie : linux_namespace_inode();
}

/* Whether a process is, or may be, in it: with fewer privileges than another process has, nothing is told
 * about that. Names in /proc that are no processes have no such file. */
static bool is_inhabited(uint64_t inode)
{
    DIR *processes = opendir("/proc");
    const struct dirent *process;
    char path[sizeof(process->d_name) + sizeof("/proc//ns/net")];
    bool found = processes == NULL;

    while (!found && (process = readdir(processes)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%s/ns/net", process->d_name);
        errno = 0;
        found = inode_of(path) == inode || errno == EACCES;
    }
    if (processes != NULL)
        closedir(processes);
    return found;
}

/* Whether a mount keeps it: a line of the mounts of this process has "net:[INODE]". */
static bool is_mounted(uint64_t inode)
{
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    char line[LINE_MAX_BYTES], wanted[48];
    bool found = mounts == NULL;

    snprintf(wanted, sizeof(wanted), " net:[%llu] ", (unsigned long long)inode);
    while (!found && fgets(line, sizeof(line), mounts) != NULL)
        found = strstr(line, wanted) != NULL;
    if (mounts != NULL)
        fclose(mounts);
    return found;
}

bool linux_namespace_is_gone(uint64_t inode)
{
    return inode_of("/proc/self/ns/pid") == (uint64_t)FIRST_PID_NAMESPACE && !is_inhabited(inode) &&
           !is_mounted(inode);
}
