/* Wakes a thread that sleeps in poll: a pipe that holds a byte as long as there is something to wake for. Any
 * thread may wake; one thread sleeps on `sleeper` and drains. A waker whose descriptors the application has
 * closed wakes nobody; waker_holds tells. */
#ifndef SWAGG_CLIENT_WAKER_H
#define SWAGG_CLIENT_WAKER_H

#include <stdint.h>

#include "own_fd.h"

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

#endif
