/* What slows a job now, from two looks at what a switch or server counts anyway.
 *
 * Pure: what was asked comes in as it was answered, and the answer is a cause with its evidence in words, and
 * other causes that hold besides.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum { WHY_TEXT_MAX = 512, WHY_TODO_MAX = 256, WHY_MOST = 6 };

enum why_cause {
    WHY_NOTHING,   /* it runs, and nothing holds it up; or it has nothing to do */
    WHY_NOT_BEGUN, /* ranks have not joined */
    WHY_FAILED,
    WHY_RANK,  /* a rank comes late, or not at all */
    WHY_LINK,  /* packets of a rank are lost */
    WHY_CPU,   /* the switch's threads have no time */
    WHY_SHARE, /* other jobs have their part of the switch */
    WHY_SLOTS, /* all slots are on their way */
    WHY_MTU,   /* packets are small */
    WHY_CAUSES
};

/* Answers to requests, whose "view" counts; NULL: the host has no such view. */
struct why_look {
    json_t *job, *ranks, *lcores, *drops;
};

struct why {
    enum why_cause cause;
    int rank;                /* of WHY_RANK and WHY_LINK; else -1 */
    char text[WHY_TEXT_MAX]; /* what was seen, a sentence */
    char todo[WHY_TODO_MAX]; /* what to look at, or do; "": nothing */
};

/* "rank", "link", ...: the cause in a word. */
const char *why_word(enum why_cause cause);

/* What happened between two looks, so many seconds apart. How many causes: at least one, WHY_NOTHING, or the
 * one that counts most and those that would hold the job up without it. */
size_t why_decide(struct why whys[WHY_MOST], const struct why_look *before, const struct why_look *now,
                  double seconds);
