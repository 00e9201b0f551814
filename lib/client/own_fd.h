/* A descriptor of the library's in a process that is somebody else's. An application may close it without
 * knowing (daemons close all descriptors), and the next file that is opened gets its number. So a descriptor
 * is remembered together with what it stands for, and is only used and closed as long as it still stands for
 * that.
 *
 * Sockets and pipes can be told apart so; eventfds cannot, which all have one inode. Functions may be called
 * by any thread. Another thread of the application may still close a descriptor between the check and the
 * use.
 */
#ifndef SWAGG_CLIENT_OWN_FD_H
#define SWAGG_CLIENT_OWN_FD_H

#include <stdbool.h>
#include <sys/types.h>

struct own_fd {
    int fd; /* -1: none */
    dev_t device;
    ino_t inode;
};

#define OWN_FD_NONE ((struct own_fd){.fd = -1})

/* Takes over a socket or an end of a pipe, or -1. */
struct own_fd own_fd_of(int fd);

/* The number still stands for what was taken over. */
bool own_fd_holds(const struct own_fd *f);

/* Closes it, if it is still ours. */
void own_fd_close(struct own_fd *f);

#endif
