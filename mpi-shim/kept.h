/* Choices between the ways (crossover.h) that are kept from one run to the next, in a file of text:
 *
 *     swagg choices 1
 *     2026-11-28T15:30:05Z allreduce 256 bytes 4 ranks several-hosts switch 10.77.0.254/0.1.0+5284b6fa/...
 *     end 1
 *
 * A row is: when it was measured, kind and size, the communicator (up to so many ranks, on one host or on
 * several), the better way, and the network in the words of whoever measured it: what must be the same for
 * the row to count. A file whose end does not say how many rows it has is damaged, and none of it counts.
 * Pure but for the file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "crossover.h"

enum { KEPT_CLASSES = 11, KEPT_DAYS = 30, KEPT_NETWORK_MAX = 600, KEPT_PACKED_MAX = 500 };

/* Of communicators that are alike: how many ranks they have, to the next power of two, up to COMM_RANKS_MAX,
 * and whether all are on one host. */
struct like {
    unsigned size_class;
    bool on_one_host;
};

/* What is known of each. Zero: nothing. */
struct choices {
    struct crossover of[KEPT_CLASSES][2][CROSSINGS];
};

/* Adds to *c the file's rows that count: of this network, and not KEPT_DAYS old. Returns how many; a file
 * that is not there has none. -errno; -EBADMSG: it is damaged. */
int kept_read(const char *file, const char *network, time_t now, struct choices *c);

/* Puts into the file, as rows of now, what *c has as measured, in the place of rows of the same; others stay,
 * but for those that are too old. What is damaged is replaced. The file is whole at all times, and the old
 * one if this fails; of two that write at once the last one's rows are there, and what the other one has
 * measured may be missing. Returns 0 or -errno. */
int kept_write(const char *file, const char *network, time_t now, const struct choices *c);

/* As words for other ranks, without blanks; what has no room is left out. Unpacked it counts as kept. */
void kept_pack(const struct choices *c, char text[KEPT_PACKED_MAX]);
void kept_unpack(const char *text, struct choices *c);
