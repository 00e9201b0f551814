/* Room that an operator keeps for jobs which are not there yet (`swaggctl job reserve`): a place among the
 * jobs, slots and their memory. A reservation is for jobs of one tenant whose names fit its pattern. What
 * such jobs hold they have taken from it; what they have left of it nobody else gets. Jobs that fit several
 * reservations take from all of them, the oldest first.
 *
 * Pure: no clock. One thread.
 */
#pragma once

#include "config/room.h"

enum { RESERVED_MAX = 64 };

struct reservation {
    char name[CONFIG_JOB_MAX];    /* its own */
    char pattern[CONFIG_JOB_MAX]; /* of the jobs' names, as in fnmatch(3) */
    int tenant;                   /* by number */
    uint32_t ranks, slots;
    uint64_t bytes; /* of the slots' memory */
    uint64_t until; /* ns, by the clock of reserved_expire */
};

/* In the order in which they were made. All zero: none. */
struct reserved {
    unsigned n;
    struct reservation at[RESERVED_MAX];
};

/* What an ordinary job of so many ranks and slots takes: typed numbers, summed in order, in the longest
 * packets of the MTU. Fills in slots (the next power of two) and bytes. False: no job has so many. */
bool reserved_measure(const struct config *cfg, struct reservation *r);

/* 0; -EEXIST: there is one of this name; -ENOSPC: there are too many. */
int reserved_add(struct reserved *r, const struct reservation *more);
/* False: there is none of this name. */
bool reserved_drop(struct reserved *r, const char *name);
/* Drops one whose time is over, and fills in what it was. False: there is none. */
bool reserved_expire(struct reserved *r, uint64_t now, struct reservation *gone);
/* Tenant t has the number tenant[t] now; -1: it is gone, and so are its reservations. */
void reserved_follow(struct reserved *r, const int tenant[]);

/* job->name NULL: it is for none. */
bool reserved_is_for(const struct reservation *r, const struct room_job *job);

/* Adds to the jobs (job[*jobs] and on, RESERVED_MAX at most) what is kept from this one: rests of
 * reservations that are not for it. asked->name NULL: none is. Returns their bytes. */
uint64_t reserved_append(const struct reserved *r, const struct room_job *asked, struct room_job job[],
                         unsigned *jobs);

/* How many places are kept from a job of this tenant and name (NULL: of none) beside these jobs; of: by
 * reservations of this tenant alone; -1: of all. */
unsigned reserved_places(const struct reserved *r, const struct room_job *asked, int of,
                         const struct room_job job[], unsigned jobs);
