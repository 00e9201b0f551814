#include "base/cpu_claims.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { GATE_TRIES = 200, GATE_PAUSE_MS = 10 /* 2 s in all */ };

/* The first byte is the gate; those of a CPU's claims follow. */
static struct flock byte_of(int cpu, unsigned i, short type)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = 1 + (off_t)cpu * CPU_CLAIMS_A_CPU + i, .l_len = 1};
}

/* type: F_WRLCK closes it behind this process, if nobody else has, F_UNLCK opens it. */
static int move_gate(int fd, short type)
{
    struct flock gate = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(fd, F_SETLK, &gate) < 0 ? -errno : 0;
}

/* A process that has closed it may have been stopped, or mean no good: that is no reason not to start. */
static int pass_gate(int fd)
{
    static const struct timespec pause = {.tv_nsec = GATE_PAUSE_MS * 1000000};
    int rc = move_gate(fd, F_WRLCK);

    for (unsigned i = 1; i < GATE_TRIES && (rc == -EAGAIN || rc == -EACCES); i++) {
        nanosleep(&pause, NULL);
        rc = move_gate(fd, F_WRLCK);
    }
    return rc == -EAGAIN || rc == -EACCES ? -EBUSY : rc;
}

int cpu_claims_open(const char *path)
{
    char directory[PATH_MAX];
    int fd, rc;

    snprintf(directory, sizeof(directory), "%s", path);
    mkdir(dirname(directory), 0755);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600); /* who may read a file may lock it */
    if (fd < 0)
        return -errno;
    rc = fchmod(fd, 0600) < 0 ? -errno : pass_gate(fd);
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

unsigned cpu_claims_of_others(int fd, int cpu, pid_t *holder)
{
    unsigned n = 0;

    *holder = 0;
    for (unsigned i = 0; i < CPU_CLAIMS_A_CPU; i++) {
        struct flock byte = byte_of(cpu, i, F_WRLCK);

        if (fcntl(fd, F_GETLK, &byte) < 0 || byte.l_type == F_UNLCK)
            continue;
        *holder = byte.l_pid > 0 ? byte.l_pid : 0;
        n++;
    }
    return n;
}

/* Locks of this process do not meet each other, so those that it has are passed over by their number. */
void cpu_claims_take(int fd, int cpu, unsigned before)
{
    for (unsigned i = 0; i < CPU_CLAIMS_A_CPU; i++) {
        struct flock byte = byte_of(cpu, i, F_WRLCK);

        if (fcntl(fd, F_SETLK, &byte) == 0 && before-- == 0)
            return;
    }
}

void cpu_claims_settle(int fd)
{
    move_gate(fd, F_UNLCK);
}
