/* Seeded impairments of one port in one direction: which frames are lost, doubled, held back, damaged.
 *
 * Pure decisions, apart from mbufs: impair_decide says what happens to the next frame, the adapter
 * (impair_mbuf.h) does it. The same seed, configuration and number of frames give the same decisions; each
 * kind draws from its own random stream, so switching one on does not change the others. `now` is in any
 * monotonic unit, the same as hold_for.
 *
 * One owner: the lcore that polls the port in this direction; others may read the statistics at any time, by
 * counter_read (base/counter.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum impair_kind { IMPAIR_DROP, IMPAIR_DUPLICATE, IMPAIR_REORDER, IMPAIR_CORRUPT, IMPAIR_KINDS };

enum { IMPAIR_HELD_MAX = 64 }; /* frames held back at once; a frame that finds no room passes */

/* Which frames are hit: each with this probability, and all whose number is a multiple of `every` (0: none).
 */
struct impair_rate {
    double probability; /* 0..1 */
    uint32_t every;
};

struct impair_config {
    struct impair_rate rate[IMPAIR_KINDS];
    uint32_t hold_frames; /* reorder: held back until this many later frames have passed, 1.. */
    uint64_t hold_for; /* ... or until this much time has passed, whichever is first; 0: no bound in time */
};

bool impair_active(const struct impair_config *cfg); /* false: nothing would ever happen */

struct impair_held {
    void *frame;
    uint64_t until_frame, until_time;
};

struct impair_stats {
    uint64_t frames;
    uint64_t hit[IMPAIR_KINDS];
    uint64_t hold_full; /* were to be held back, but IMPAIR_HELD_MAX were already */
};

/* Private but for stats. */
struct impair {
    uint64_t threshold[IMPAIR_KINDS]; /* probability * 2^53 */
    uint32_t every[IMPAIR_KINDS];
    uint64_t random[IMPAIR_KINDS];
    uint64_t hold_frames, hold_for;
    struct impair_stats stats;
    unsigned held, oldest;
    /* a ring, in the order of arrival, which is that of release too */
    struct impair_held hold[IMPAIR_HELD_MAX];
};

/* stream: a number for this port and direction, so that one seed serves all (port * 2 + direction). */
void impair_init(struct impair *im, const struct impair_config *cfg, uint64_t seed, uint64_t stream);

/* What is to be done with a frame. drop excludes the others; hold excludes duplicate; corrupt goes with
 * either. */
struct impair_decision {
    bool drop, duplicate, hold, corrupt;
    uint32_t corrupt_bit; /* bit number within the frame */
};

/* The next frame, of this many bytes. One of none, as a capture file may hold it, has no bit to damage. */
struct impair_decision impair_decide(struct impair *im, uint32_t bytes);

/* Takes a frame that impair_decide said to hold; it is the caller's again once impair_release returns it. */
void impair_hold(struct impair *im, void *frame, uint64_t now);

/* A held frame that is due, to be sent after the frames decided so far; NULL: none. To be called after each
 * frame and in each idle round, until it returns NULL. */
void *impair_release(struct impair *im, uint64_t now);

/* When impair_release has one, though no further frame comes; UINT64_MAX: never. */
uint64_t impair_due_at(const struct impair *im);

/* Held frames whatever their time, for stopping; NULL: none left. */
void *impair_flush(struct impair *im);

const char *impair_kind_name(enum impair_kind kind); /* "drop", "duplicate", "reorder", "corrupt" */
