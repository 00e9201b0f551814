/* Wakes a thread that sleeps until somebody has left something for it, in a ring or a word. Nobody pays for a
 * system call while the thread is awake.
 *
 * The sleeper says that it waits, looks once more whether something is there, and sleeps until `fd` is
 * readable. Whoever leaves something does so first, and rings then. So either the sleeper sees what is there,
 * or the other sees that it waits.
 *
 * Threads: one waits, any may ring.
 */
#pragma once

#include <stdbool.h>

struct bell {
    int fd;       /* eventfd, readable once it was rung for the sleeper */
    bool awaited; /* atomic */
};

/* 0, or -errno; bell_close may follow in either case. */
int bell_open(struct bell *bell);
void bell_close(struct bell *bell);

/* After something was left. */
void bell_ring(struct bell *bell);

/* Before the sleeper's last look. */
void bell_await(struct bell *bell);

/* After it has slept, or seen that it need not. rung: fd was readable. */
void bell_answer(struct bell *bell, bool rung);
