/* The pools that a switch prepares for jobs: which of a few numbers are in use, and by whom. In every second
 * world (slow) pools take until it is said that they are there. */
#pragma once

#include "control/actions.h"
#include "control/entry.h"
#include "fuzz.h"

enum { PREPARED_NUMBERS_MAX = 3 };

struct prepared {
    uint8_t numbers; /* that there are */
    bool slow;
    bool used[PREPARED_NUMBERS_MAX];
    uint64_t held[PREPARED_NUMBERS_MAX]; /* for which preparation */
    unsigned pools;
    uint64_t asked; /* what was put off last; 0: nothing, or it is answered */
    struct ctl_prepared answer;
};

static inline int prepared_take_number(struct prepared *d, const struct ctl_entry *job, uint8_t *number,
                                       char text[CTL_TEXT_MAX])
{
    for (uint8_t i = 0; i < d->numbers; i++) {
        if (d->used[i] || ctl_entry_had_number(job, i))
            continue;
        d->used[i] = true;
        d->pools++;
        *number = i;
        return 0;
    }
    snprintf(text, CTL_TEXT_MAX, "no number is free");
    return -1;
}

/* ctl_actions.prepare, if the terms are as they are to be. */
static inline int prepared_prepare(struct prepared *d, const struct ctl_entry *job,
                                   const struct agg_terms *terms, uint8_t *number, char text[CTL_TEXT_MAX])
{
    const int rc = prepared_take_number(d, job, number, text);
    if (!d->slow)
        return rc;
    d->asked = job->preparation;
    d->answer = (struct ctl_prepared){.result = rc, .terms = *terms, .number = rc < 0 ? 0 : *number};
    if (rc == 0)
        d->held[*number] = d->asked;
    return CTL_LATER;
}

/* ctl_actions.release */
static inline void prepared_release(struct prepared *d, const struct ctl_entry *job)
{
    uint8_t number = job->number;
    if (job->state == CTL_ENTRY_PREPARING) {
        for (number = 0; number < d->numbers && d->held[number] != job->preparation;)
            number++;
        if (number == d->numbers)
            return; /* there was none */
        d->held[number] = 0;
    }
    REQUIRE(number < d->numbers && d->used[number]);
    d->used[number] = false;
    d->pools--;
}

/* What was put off is there now, or is not to be had: its preparation, of which answer tells; 0: nothing was
 * put off. */
static inline uint64_t prepared_late(struct prepared *d)
{
    const uint64_t asked = d->asked;
    d->asked = 0;
    for (unsigned i = 0; asked != 0 && i < d->numbers; i++)
        if (d->held[i] == asked)
            d->held[i] = 0; /* the job's from now on */
    return asked;
}

/* How many of the pools are this job's. */
static inline unsigned prepared_for(const struct prepared *d, const struct ctl_entry *job)
{
    unsigned pools = job->state == CTL_ENTRY_RUNNING;
    for (unsigned i = 0; job->state == CTL_ENTRY_PREPARING && i < d->numbers; i++)
        pools += d->held[i] == job->preparation;
    return pools;
}
