/* Whether an lcore goes before the other programs of its CPU.
 *
 * It does while it has nothing to do, while it switches frames between others, and where somebody computes on
 * its CPU. It goes beside them while it only sums: then hosts wait for it, and it for them; and if hosts run
 * on this machine, they may want its CPU. The kernel's balancer sees a thread of nice -10 that polls as nine
 * programs, and keeps them off its CPU, also while it waits for them: four ranks that shared two CPUs with an
 * lcore were all on the other one. Beside them it has a program's weight, and an offer of its CPU (idle.h) is
 * worth a turn.
 *
 * Pure but for the first and the last; times are the caller's, in TSC cycles.
 *
 * Threads: a struct standing is one lcore's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { FIRST_NICE = -10 }; /* of who goes before other programs */

struct standing {
    uint64_t cycles_per_ms;
    uint64_t worked_at;   /* when it had something to do last; 0: never */
    uint64_t first_until; /* until then it goes first, whatever it does */
    uint64_t switched;    /* frames between others, so far */
    int first, beside;    /* nice values; the same: it may not change it, or need not */
    int now;              /* that it has */
};

/* The calling thread goes first from here on. 0, or -errno: it may not. A higher priority that the operator
 * has set is left alone. */
int standing_init(struct standing *s, uint64_t cycles_per_ms);

/* A round with work is over. switched: frames between others, in all rounds. */
void standing_note_work(struct standing *s, uint64_t switched, uint64_t began, uint64_t now);

/* Somebody computes on its CPU. */
void standing_note_contended(struct standing *s, uint64_t now);

/* The nice value that it is to have. */
int standing_nice(const struct standing *s, uint64_t now);

/* The calling thread gets it, if it has another. */
void standing_take(struct standing *s, uint64_t now);
