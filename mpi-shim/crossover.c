#include "crossover.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

const size_t crossover_sizes[CROSSOVER_SIZES] = {256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304};

const double crossover_seconds[CROSSOVER_SIZES] = {0.3, 0.3, 0.3, 0.3, 0.3, 0.4, 0.7, 1.5};

/* Of the library's time; the switch must take less, so that chance seldom decides. Where ways take turns both
 * find ranks on the CPUs where the other one has left them, for some tenths of a second. Calls that are about
 * as short as what it takes to wake a rank differ by a quarter for that alone (docs/mpi.md has a table). */
static const double CLEARLY = 0.95, CLEARLY_SHORT = 0.75;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_clearly_faster(const struct contest *c, const double seconds[WAYS])
{
    return seconds[WAY_SWITCH] < (c->is_short ? CLEARLY_SHORT : CLEARLY) * seconds[WAY_LIBRARY];
}

void contest_note(struct contest *c, const double seconds[WAYS])
{
    for (int way = 0; way < WAYS; way++)
        c->seconds[way][c->rounds] = seconds[way];
    c->rounds++;
    c->lead += is_clearly_faster(c, seconds) ? 1 : -1;
}

bool contest_is_decided(const struct contest *c)
{
    return abs(c->lead) >= CONTEST_LEAD || c->rounds == CONTEST_ROUNDS;
}

double contest_seconds(struct contest *c, enum way way)
{
    qsort(c->seconds[way], c->rounds, sizeof c->seconds[way][0], compare);
    return c->seconds[way][c->rounds / 2];
}

enum way contest_winner(struct contest *c)
{
    const double medians[WAYS] = {contest_seconds(c, WAY_LIBRARY), contest_seconds(c, WAY_SWITCH)};
    const bool is_switchs = c->lead > 0 && (c->lead >= CONTEST_LEAD || is_clearly_faster(c, medians));
    return is_switchs ? WAY_SWITCH : WAY_LIBRARY;
}

/* Where a range begins. */
static size_t range_from(unsigned range)
{
    if (range == 0)
        return 0;
    return range < CROSSOVER_SIZES ? crossover_sizes[range] / 2 : crossover_sizes[CROSSOVER_SIZES - 1] * 2;
}

const char *const crossing_words[CROSSINGS] = {
    [CROSSING_ALLREDUCE] = "allreduce",
    [CROSSING_REDUCE] = "reduce",
    [CROSSING_BCAST] = "bcast",
    [CROSSING_ALLGATHER] = "allgather",
    [CROSSING_ALLGATHERV] = "allgatherv",
    [CROSSING_REDUCE_SCATTER] = "reduce_scatter",
    [CROSSING_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
    [CROSSING_BARRIER] = "barrier",
};

static unsigned range_of(size_t bytes)
{
    unsigned range = CROSSOVER_SIZES;
    while (bytes < range_from(range))
        range--;
    return range;
}

unsigned crossover_size(size_t bytes)
{
    const unsigned range = range_of(bytes);
    return range < CROSSOVER_SIZES ? range : CROSSOVER_SIZES - 1;
}

static bool has(int64_t sizes, unsigned size)
{
    return sizes >> size & 1;
}

void crossover_note(struct crossover *c, unsigned size, enum way best)
{
    for (int way = 0; way < WAYS; way++)
        c->better[way] &= ~(INT64_C(1) << size);
    c->better[best] |= INT64_C(1) << size;
    c->kept &= ~(INT64_C(1) << size);
}

void crossover_give_up(struct crossover *c, unsigned size)
{
    for (; size < CROSSOVER_SIZES; size++)
        c->given_up |= INT64_C(1) << size;
}

void crossover_add(struct crossover *c, const struct crossover *other)
{
    const int64_t here = c->better[WAY_LIBRARY] | c->better[WAY_SWITCH] | c->given_up;
    for (int way = 0; way < WAYS; way++)
        c->better[way] |= other->better[way] & ~here;
    c->given_up |= other->given_up & ~here;
    c->kept |= other->kept & ~here;
}

bool crossover_is_measured(const struct crossover *c, unsigned size)
{
    return has(c->better[WAY_LIBRARY] | c->better[WAY_SWITCH], size);
}

bool crossover_is_settled(const struct crossover *c, unsigned size)
{
    return has(c->given_up, size) || crossover_is_measured(c, size);
}

unsigned crossover_due_after(unsigned calls, bool is_measured)
{
    enum { AGAIN = 1000, GROWS = 10, GIVEN_UP_GROWS = 4 };
    unsigned due = AGAIN;
    if (!is_measured)
        return calls < UINT_MAX / GIVEN_UP_GROWS ? calls * GIVEN_UP_GROWS : UINT_MAX;
    while (due <= calls)
        due = due < UINT_MAX / GROWS ? due * GROWS : UINT_MAX;
    return due;
}

static bool is_short(unsigned range)
{
    return contest_is_short(range_from(range));
}

static enum way usual_way(unsigned range)
{
    return is_short(range) ? WAY_LIBRARY : WAY_SWITCH;
}

static enum way way_of(const struct crossover *c, unsigned range)
{
    const unsigned last = CROSSOVER_SIZES - 1;
    if (range > last && !crossover_is_measured(c, last) && has(c->given_up, last))
        return WAY_SWITCH;
    for (unsigned known = range > last ? last + 1 : range + 1;
         known-- > 0 && is_short(known) == is_short(range);)
        if (crossover_is_measured(c, known))
            return has(c->better[WAY_SWITCH], known) ? WAY_SWITCH : WAY_LIBRARY;
    return usual_way(range);
}

enum way crossover_way(const struct crossover *c, size_t bytes)
{
    return way_of(c, range_of(bytes));
}

/* Bytes in words. */
struct size_text {
    char text[32];
};

static struct size_text in_words(size_t bytes)
{
    struct size_text t;
    if (bytes < 1024)
        snprintf(t.text, sizeof t.text, "%zu bytes", bytes);
    else if (bytes < 1 << 20)
        snprintf(t.text, sizeof t.text, "%zuK", bytes >> 10);
    else
        snprintf(t.text, sizeof t.text, "%zuM", bytes >> 20);
    return t;
}

/* Sizes from one range up to where another begins, that one not included. */
static int write_run(unsigned first, unsigned end, char *text, size_t room)
{
    if (first == 0 && end > CROSSOVER_SIZES)
        return snprintf(text, room, "always");
    if (first == 0)
        return snprintf(text, room, "below %s", in_words(range_from(end)).text);
    if (end > CROSSOVER_SIZES)
        return snprintf(text, room, "from %s on", in_words(range_from(first)).text);
    return snprintf(text, room, "from %s to %s", in_words(range_from(first)).text,
                    in_words(range_from(end)).text);
}

static size_t write_ways(const struct crossover *c, char *text, size_t room)
{
    size_t used = 0;
    unsigned first = 0, end;
    while (first <= CROSSOVER_SIZES) {
        for (end = first; end <= CROSSOVER_SIZES && way_of(c, end) == WAY_SWITCH; end++)
            ;
        if (end > first) {
            used += (size_t)snprintf(text + used, room - used, "%s", used > 0 ? " and " : "");
            used += (size_t)write_run(first, end, text + used, room - used);
        }
        first = end + 1;
    }
    return used > 0 ? used : (size_t)snprintf(text, room, "never");
}

void crossover_write(const struct crossover *c, char text[CROSSOVER_TEXT])
{
    const int64_t measured = c->better[WAY_LIBRARY] | c->better[WAY_SWITCH];
    if (!measured && !c->given_up) {
        snprintf(text, CROSSOVER_TEXT, "not measured yet");
        return;
    }
    const size_t used = write_ways(c, text, CROSSOVER_TEXT);
    if (c->kept)
        snprintf(text + used, CROSSOVER_TEXT - used, " (%skept)", c->kept == measured ? "" : "partly ");
}
