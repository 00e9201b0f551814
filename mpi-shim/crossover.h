/* Which sizes the switch reduces faster than the MPI library's own collectives, by the times that both took.
 * Pure: what is measured, measure.h.
 *
 * Sizes are divided into ranges; one size is measured for each but the last, when calls of about that size
 * have come. The MPI library is kept for a range unless the switch is clearly faster. A range that is not
 * measured yet, or that takes too long to measure, goes the way of the next smaller one that is: what made
 * one way faster there is likely to do so here. Not across CROSSOVER_USUAL: how long ranks take to wake up
 * says nothing of the links' rate. If there is none, it goes the way that is usual: to the switch from
 * CROSSOVER_USUAL on. The last range goes the way of the one before it, but to the switch where that takes
 * too long: on a network so slow the rate of the links counts, which the switch needs least of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below this a round trip through the switch was not reliably faster than the MPI library's few TCP messages.
 */
enum { CROSSOVER_USUAL = 8192 };

enum { CROSSOVER_SIZES = 8 };

/* The bytes that are measured, ascending. The range of each begins at the half of it, the first range at 0,
 * and each ends where the next one begins. */
extern const size_t crossover_sizes[CROSSOVER_SIZES];

/* Seconds in which each is measured, if not sooner: then it is given up, and so are the larger ones. */
extern const double crossover_seconds[CROSSOVER_SIZES];

/* The two ways that a collective can go. */
enum way { WAY_LIBRARY, WAY_SWITCH, WAYS };

/* What is measured by itself: each function, since the MPI library has algorithms of its own for each. Open
 * MPI's MPI_Reduce_scatter_block takes five to fourteen times as long as its MPI_Reduce_scatter of the same
 * blocks, from 256K on. The sizes of an all-gather and of a reduce-scatter are those of all blocks; a
 * barrier has one, no bytes. */
enum crossing {
    CROSSING_ALLREDUCE,
    CROSSING_REDUCE,
    CROSSING_BCAST,
    CROSSING_ALLGATHER,
    CROSSING_ALLGATHERV,
    CROSSING_REDUCE_SCATTER,
    CROSSING_REDUCE_SCATTER_BLOCK,
    CROSSING_BARRIER,
    CROSSINGS
};

/* "allreduce" */
extern const char *const crossing_words[CROSSINGS];

/* Whether not all jobs have it (swagg_has_exchanges). */
static inline bool crossing_is_exchange(enum crossing kind)
{
    return kind != CROSSING_ALLREDUCE && kind != CROSSING_REDUCE && kind != CROSSING_BARRIER;
}

/* What is known of one: bit i for range i. Zero: nothing. */
struct crossover {
    int64_t better[WAYS]; /* it is measured, and this way is the better one */
    int64_t given_up;     /* measuring it takes too long */
    int64_t kept;         /* that it is measured was so in an earlier run only */
};

/* What is known of one size: in each round both ways took their turn. A round is the switch's if that was
 * clearly faster. The way that leads by CONTEST_LEAD rounds is the better one; where both are about as fast
 * that may take long, and then the switch must have the most rounds of CONTEST_ROUNDS, and the clearly lower
 * median. So a few rounds that were held up decide nothing, and what is clear is known soon. All but is_short
 * is zero before the first round. */
enum { CONTEST_LEAD = 5, CONTEST_ROUNDS = 15 };
struct contest {
    bool is_short; /* its calls are: then clearly is a quarter, not a twentieth */
    unsigned rounds;
    int lead; /* the switch's, in rounds */
    double seconds[WAYS][CONTEST_ROUNDS];
};

/* Whether so many bytes take about as long as ranks take to wake up. */
static inline bool contest_is_short(size_t bytes)
{
    return bytes < CROSSOVER_USUAL;
}

/* Both times of a round, of the slowest rank each. Not after it is decided. */
void contest_note(struct contest *c, const double seconds[WAYS]);

bool contest_is_decided(const struct contest *c);

/* Of one that is decided. Sorts the times. */
enum way contest_winner(struct contest *c);

/* The median of a way's times, at least one. Sorts them. */
double contest_seconds(struct contest *c, enum way way);

/* The size that is measured for so many bytes: its place in crossover_sizes. */
unsigned crossover_size(size_t bytes);

/* What was measured of one of these sizes. */
void crossover_note(struct crossover *c, unsigned size, enum way best);

/* There was too little time for this size; larger ones would take longer still. */
void crossover_give_up(struct crossover *c, unsigned size);

/* Takes over what another one has as measured or given up of sizes that are not settled here. */
void crossover_add(struct crossover *c, const struct crossover *other);

/* Whether nothing is left to be found out of one of these sizes; whether it was measured. */
bool crossover_is_settled(const struct crossover *c, unsigned size);
bool crossover_is_measured(const struct crossover *c, unsigned size);

/* At which call of a size it is measured first: a program may make some at its start only. */
enum { CROSSOVER_FIRST = 4 };

/* At which call it is measured next, after this one. What is known is measured again at the thousandth, ten
 * thousandth...: that costs a fortieth of their time, or where one way is several times as slow as the other,
 * a little more. What was given up, at four times as many calls: a round takes too long also where the
 * machine has stood still for a moment; and if it really does, then the calls before took as long. UINT_MAX:
 * never. */
unsigned crossover_due_after(unsigned calls, bool is_measured);

/* Where so many bytes go. */
enum way crossover_way(const struct crossover *c, size_t bytes);

/* Which sizes go to the switch: "below 512 bytes and from 128K on", "always", "never (kept)", "always (partly
 * kept)", "not measured yet" */
enum { CROSSOVER_TEXT = 112 };
void crossover_write(const struct crossover *c, char text[CROSSOVER_TEXT]);
