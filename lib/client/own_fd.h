/* A descriptor that belongs to the library, in the application's process. The application may close it
 * without knowing (daemons close all descriptors), and the next file that it opens gets the same number. So a
 * descriptor is kept together with the identity of its file, and is used and closed only as long as it still
 * refers to that file.
 *
 * This works for sockets and pipes, but not for eventfds, which all share one inode. Functions may be called
 * by any thread. Another thread of the application may still close a descriptor between the check and the
 * use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
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

/* Wakes a thread that sleeps in poll: a pipe that holds a byte as long as there is something to wake for. Any
 * thread may wake; one thread sleeps on `sleeper` and drains. A waker whose descriptors the application has
 * closed wakes nobody; waker_holds tells. */
struct waker {
    struct own_fd sleeper, bell;
};

#define WAKER_NONE ((struct waker){.sleeper = OWN_FD_NONE, .bell = OWN_FD_NONE})

/* 0 or -errno; after an error there is nothing to close. */
int waker_open(struct waker *w);
bool waker_holds(const struct waker *w);
void waker_wake(struct waker *w);
/* So that the next poll sleeps. */
void waker_drain(struct waker *w);
/* Sleeps until somebody wakes it, at most until then (monotonic, ns). */
void waker_wait(struct waker *w, uint64_t until);
void waker_close(struct waker *w);
