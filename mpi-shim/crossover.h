/* Which sizes the switch reduces faster than the MPI library's own collectives, by the times that both took.
 * Pure: what is measured, measure.h.
 *
 * Sizes are divided into ranges; one size is measured for each but the last, the first CROSSOVER_AT_ONCE of
 * them together, the others when they are needed. The MPI library is kept for a range unless the switch is
 * clearly faster. A range that is not measured yet, or for which there was too little time, goes the way of
 * the largest size that is known: what made one way faster there is likely to do so here. If none is known,
 * it goes the way that is usual: to the switch from CROSSOVER_USUAL on. The last range goes to the switch
 * where there was too little time: on a network so slow the rate of the links counts, which the switch needs
 * least of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below this a round trip through the switch was not reliably faster than the MPI library's few TCP messages.
 */
enum { CROSSOVER_USUAL = 8192 };

enum { CROSSOVER_SIZES = 8, CROSSOVER_AT_ONCE = 5 };

/* The bytes that are measured, ascending. The range of each begins at the half of it, the first range at 0,
 * and each ends where the next one begins. */
extern const size_t crossover_sizes[CROSSOVER_SIZES];

/* Seconds since a measurement began, until when each size must be measured. Later than that it is given up,
 * and so are the larger ones. A size for which calls take longer has longer. */
extern const double crossover_seconds[CROSSOVER_SIZES];

/* The two ways that a collective can go. */
enum way { WAY_LIBRARY, WAY_SWITCH, WAYS };

/* What is measured by itself. The sizes of an all-gather and of a reduce-scatter are those of all blocks; a
 * barrier has one, no bytes. */
enum crossing {
    CROSSING_ALLREDUCE,
    CROSSING_REDUCE,
    CROSSING_BCAST,
    CROSSING_ALLGATHER,
    CROSSING_REDUCE_SCATTER,
    CROSSING_BARRIER,
    CROSSINGS
};

/* "allreduce" */
extern const char *const crossing_words[CROSSINGS];

/* What is known of one. Zero: nothing. */
struct crossover {
    int64_t ranges;   /* of sizes that go to the switch: bit i for range i */
    int64_t sizes;    /* the smallest ones that are measured, or were given up for want of time */
    int64_t measured; /* of these, the smallest ones that are measured */
};

/* What is known of one size: in each round both ways took their turn. A round is the switch's if that was
 * clearly faster. The way that leads by CONTEST_LEAD rounds is the better one; where both are about as fast
 * that may take long, and then the most rounds of CONTEST_ROUNDS count. So a few rounds that were held up
 * decide nothing, and what is clear is known soon. Zero before the first round. */
enum { CONTEST_LEAD = 5, CONTEST_ROUNDS = 15 };
struct contest {
    unsigned rounds;
    int lead; /* the switch's, in rounds */
    double seconds[WAYS][CONTEST_ROUNDS];
};

/* Both times of a round, of the slowest rank each. Not after it is decided. */
void contest_note(struct contest *c, const double seconds[WAYS]);

bool contest_is_decided(const struct contest *c);

/* Of one that is decided. */
enum way contest_winner(const struct contest *c);

/* The median of a way's times, at least one. Sorts them. */
double contest_seconds(struct contest *c, enum way way);

/* The ranges for the switch, by what is best for the `known` smallest of crossover_sizes; time_was_up: the
 * others are given up, and not only left for later. */
int64_t crossover_ranges(const enum way best[], unsigned known, bool time_was_up);

/* How many sizes must be measured before a call of so many bytes, those that are included. */
unsigned crossover_needs(size_t bytes);

/* Whether so many bytes are in one of these ranges. */
bool crossover_has(int64_t ranges, size_t bytes);

/* Whether the way of so many bytes is what was measured for their range, or for the largest size. */
bool crossover_is_measured(const struct crossover *c, size_t bytes);

/* "below 512 bytes and from 128K on", "always", "never" */
enum { CROSSOVER_TEXT = 96 };
void crossover_write(int64_t ranges, char text[CROSSOVER_TEXT]);
