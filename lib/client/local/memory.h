/* Memory that the processes of a host share: a memfd, which has no name that could be left behind, sealed, so
 * that nobody can cut it short under the others. Each process holds a lock on the byte of its rank: the
 * kernel takes it back when the process ends, however it does, and whatever children it leaves, so others can
 * ask whether it lives.
 *
 * Functions return 0 or -errno. One thread at a time, but for memory_lives. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "local/board.h"
#include "own_fd.h"

struct memory {
    struct own_fd file;        /* not inherited by programs that this one starts */
    struct local_board *board; /* NULL: nothing is mapped */
    size_t mapped, bytes;      /* of the mapping; of the file, at most so many pages of which exist */
};

#define MEMORY_NONE ((struct memory){.file = OWN_FD_NONE})

/* Makes one with a random id, and maps so much of it. */
int memory_make(struct memory *m, size_t bytes, size_t mapped);

/* Takes over the descriptor of one that another process has made, also on errors, and maps so much of it. */
int memory_take(struct memory *m, int fd, size_t mapped);

/* Maps so much, in the place of what was mapped. */
int memory_map(struct memory *m, size_t mapped);

/* From now on this process lives as this rank. */
int memory_live_as(const struct memory *m, unsigned rank);

/* Whether another process lives as this rank. */
bool memory_lives(const struct memory *m, unsigned rank);

/* Sleeps as long as the word has this value, at most so many ns. Ends early at times. */
void memory_sleep(struct local_word *word, uint32_t value, uint64_t ns);
void memory_wake(struct local_word *word);
/* The same, which costs nothing where nobody sleeps. */
void memory_wake_sleepers(struct local_word *word);

/* The process no longer lives as any rank. */
void memory_close(struct memory *m);
