/* Which processes are in jobs, for threads that only receive: what tells a member's message from a stranger's
 * before anything else is done about it. A member is known by its incarnation, which nobody can guess, and by
 * the address that it speaks from; a process below, in what the switch above says of it, by its incarnation.
 *
 * One thread makes the set, anew each time: others look into the one before meanwhile. It is a Bloom filter,
 * so that its size is fixed: of 10,000 members it takes one stranger in 2,700 for one of them. What is found
 * decides only how soon a message is handled, and how many of them are; so a look that meets a change of sets
 * does no harm.
 *
 * Pure: memory is the caller's.
 */
#pragma once

#include <stdint.h>

#include "control/entry.h"

enum { CTL_KNOWN_BITS = 1 << 20, CTL_KNOWN_WORDS = CTL_KNOWN_BITS / 64 };

struct ctl_known {
    uint64_t seed;                    /* random, so that nobody can choose who is taken for whom */
    unsigned shown;                   /* atomic: which of the sets is looked into */
    uint64_t set[2][CTL_KNOWN_WORDS]; /* atomic words */
};

/* Nobody is known. */
void ctl_known_init(struct ctl_known *k, uint64_t seed);

/* The thread that makes the set: begins with an empty one, adds all, and shows it. from: NULL for what the
 * switch above says of the process. */
void ctl_known_begin(struct ctl_known *k);
void ctl_known_add(struct ctl_known *k, uint64_t incarnation, const struct ctl_endpoint *from);
void ctl_known_show(struct ctl_known *k);

/* A number that stands for this process, the same each time; 0: it is not known. Any thread. */
uint64_t ctl_known_find(const struct ctl_known *k, uint64_t incarnation, const struct ctl_endpoint *from);
