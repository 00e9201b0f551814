/* How many lines about jobs the log gets, so that nobody can fill it by joining: those that are due to one
 * address have a rate, and so have those that are due to time or an operator. For all programs with a
 * registry.
 *
 * Pure: no clock (now in ns, monotonic). One thread at a time.
 */
#pragma once

#include "config/config.h"
#include "share/throttle.h"

struct job_lines {
    uint32_t heard; /* the address whose message is being handled; 0: none is. The caller's to set */
    uint32_t left_out;
    struct throttle throttle;
};

/* seed: random. */
void job_lines_init(struct job_lines *l, const struct config *cfg, uint64_t seed);

/* Another configuration. */
void job_lines_follow(struct job_lines *l, const struct config *cfg);

/* Whether a line may be written now; if not, it is counted. */
bool job_lines_admit(struct job_lines *l, uint64_t now);

/* To be called now and then: whether there is something to say, how many lines were left out, which is then
 * in text. */
enum { JOB_LINES_TEXT_MAX = 128 };
bool job_lines_left_out(struct job_lines *l, uint64_t now, char text[JOB_LINES_TEXT_MAX]);
