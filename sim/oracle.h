/* What must be true of every run, whatever happened in it:
 *
 *   - a call that succeeds has the exact sum, and no two ranks have different ones;
 *   - no rank gets further than a call that another rank has at least begun; so an error on one rank reaches
 * all others, at the latest in their next call. A rank that buffers reduces may get further by these;
 *   - ranks that call different things all get an error, if only in a later call or in closing where reduces
 * are buffered;
 *   - of a job with a quorum, a sum may lack ranks (attendance.h), and so many ranks have begun a call when
 * one gets further;
 *   - every call, join and close returns by its deadline (process.c tells when one did not).
 */
#pragma once

#include "program.h"
#include "sim.h"

enum { ORACLE_TEXT_MAX = 240 };

/* How far a rank came in one life of a job. */
struct oracle_life {
    bool ready;       /* it learned that all were there */
    bool ended, well; /* well: all its calls succeeded */
    unsigned begun, succeeded;
    bool killed;
    bool left_behind; /* it failed, since a switch restarted that others had left: nobody promises more */
    unsigned proved;  /* of the calls that succeeded, those that all ranks must have begun */
};

/* A job as it was formed once: the ranks that learned of the same epoch. */
struct formation {
    struct formation *next;
    struct program *program;
    uint64_t key;
    uint64_t digest[PROGRAM_CALLS_MAX]; /* of the sum that the first rank got; 0: none has */
    /* With a quorum, by chunk: the same; and who is in it: by its result, by what ranks were told that could
     * not have it, and who is not by what these were told. Made when first needed. */
    uint64_t *parts[PROGRAM_CALLS_MAX];
    uint8_t *maps[PROGRAM_CALLS_MAX];
    bool resumed; /* the switch has restarted, and does not know who was in what it closed before */
    struct oracle_life rank[]; /* as many as the program has */
};

/* All fields are uint64_t: see struct world_counts. */
struct oracle_counts {
    uint64_t calls_succeeded, formations_well, formations_failed;
    uint64_t parts, parts_partial, parts_missed,
        parts_missed_in; /* chunks of calls with a quorum, by rank that has the sum, or was to */
};

struct oracle {
    const struct sim *sim;
    struct formation *formations;
    bool failed;
    char text[ORACLE_TEXT_MAX];               /* the first failure */
    uint64_t succeeded_first, succeeded_last; /* ns */
    struct oracle_counts n;
};

void oracle_init(struct oracle *o, const struct sim *sim);
void oracle_fini(struct oracle *o);

__attribute__((format(printf, 2, 3))) void oracle_fail(struct oracle *o, const char *format, ...);

/* The formation in which the rank has become ready. key: the same for all its ranks, and different for every
 * other formation. */
struct formation *oracle_ready(struct oracle *o, struct program *program, unsigned rank, uint64_t key);
void oracle_begun(struct formation *f, unsigned rank);
/* tensor: what the rank got; NULL: it wanted no sum. buffered: the call may not be complete yet. */
void oracle_succeeded(struct oracle *o, struct formation *f, unsigned rank, const uint8_t *tensor,
                      bool buffered);
/* With a quorum: what a rank has as the result of a chunk, of so many in the call, with the names that came
 * behind it. False: another rank has other bits, or was told otherwise. */
struct oracle_part {
    unsigned call;
    uint64_t chunk, chunks;
    const uint8_t *names, *sums;
    size_t names_bytes, bytes;
};
bool oracle_has_part(struct formation *f, const struct oracle_part *part);
/* The rank cannot have it, and was told that it is in it, or was not. */
bool oracle_misses_part(struct formation *f, const struct oracle_part *part, unsigned rank, bool is_in);

/* It is not to be waited for. */
void oracle_killed(struct formation *f, unsigned rank);

/* well: all its calls succeeded and are complete */
void oracle_ended(struct formation *f, unsigned rank, bool well);
void oracle_left_behind(struct formation *f, unsigned rank);

/* All is over. must_succeed: nothing happened that could keep a job from its end. */
void oracle_finish(struct oracle *o, bool must_succeed);
