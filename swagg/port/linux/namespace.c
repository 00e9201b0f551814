#include "port/linux/namespace.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Whether a process is in it. Names in /proc that are no processes have no such file. */
static bool is_inhabited(uint64_t inode)
{
    DIR *processes = opendir("/proc");
    const struct dirent *process;
    char path[sizeof(process->d_name) + sizeof("/proc//ns/net")];
    bool found = processes == NULL;

    while (!found && (process = readdir(processes)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%s/ns/net", process->d_name);
        found = inode_of(path) == inode;
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
