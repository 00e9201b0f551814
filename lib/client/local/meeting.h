/* How the ranks of a job that run on one machine find one another, before they join the job: by a socket of
 * the machine. The first to come leads: it makes the memory (memory.h), and gives it to those who come after
 * it, who show that they have mapped it. Who belongs together is decided by that alone: processes of one user
 * that see the same sockets, which is to say, in one network namespace, or that have a directory in common.
 *
 * Who comes to no meeting (another user's process leads, the memory cannot be mapped, nobody answers) goes
 * alone, as a host of its own; why is in words. Ranks of one process do, too: they share its memory already,
 * and the lock by which others see that it lives.
 *
 * Caller's thread, but for the leader's one, which meets others from meeting_begin to meeting_end. */
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "local/memory.h"
#include "options.h"

enum { MEETING_WORDS = 200 };

struct meeting {
    struct memory memory; /* board NULL: this rank is alone */
    uint16_t rank, size, leader;
    bool leads;
    int listener;   /* -1: none */
    char path[108]; /* of the socket, to be removed; "": it has none */
    struct waker stop;
    pthread_t thread;
    bool thread_runs;
    pid_t
        *processes; /* of the leader, for its thread: by rank, those that have come; 0: none that is known */
    uint64_t job;   /* a hash of what makes it another one */
    char why[MEETING_WORDS]; /* why it is alone; "": nobody was there */
};

/* Finds the others, as far as they have come. Waits for answers of the leader only. */
void meeting_begin(struct meeting *m, const struct client_options *options);

/* No others are met any more. */
void meeting_end(struct meeting *m);

/* All of the job's ranks are to come: waits for them until then (monotonic ns). 0; or -ETIMEDOUT, and those
 * in *missing have not come; or -ESRCH, and the leader, who is in *missing, has ended. No others are met any
 * more. */
int meeting_of_all(struct meeting *m, uint64_t deadline, struct ctl_ranks *missing);

/* Gives up the memory, unless it was moved. */
void meeting_close(struct meeting *m);
