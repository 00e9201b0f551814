/* A descriptor that belongs to the library, in the application's process. The application may close it
 * without knowing (daemons close all descriptors), and the next file that it opens gets the same number. So a
 * descriptor is kept together with the identity of its file, and is used and closed only as long as it still
 * refers to that file.
 *
 * This works for sockets and pipes, but not for eventfds, which all share one inode. Functions may be called
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

/* Whether the number still refers to the file that was taken over. */
bool own_fd_holds(const struct own_fd *f);

/* Closes it, if it is still ours. */
void own_fd_close(struct own_fd *f);

#endif
