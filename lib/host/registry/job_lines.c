#include "registry/job_lines.h"

#include <stdio.h>

/* The lines about the beginning and end of the largest job fit into the burst. */
enum { AT_ONCE = 1024, PER_SECOND = 16, LINES_A_RANK = 4 };

static struct throttle_rate rate_of(const struct config *cfg)
{
    const uint32_t largest = LINES_A_RANK * cfg->limits.workers;

    return (struct throttle_rate){.burst = largest > AT_ONCE ? largest : AT_ONCE, .per_second = PER_SECOND};
}

void job_lines_init(struct job_lines *l, const struct config *cfg, uint64_t seed)
{
    l->heard = 0;
    l->left_out = 0;
    throttle_init(&l->throttle, rate_of(cfg), seed);
}

void job_lines_follow(struct job_lines *l, const struct config *cfg)
{
    l->throttle.rate = rate_of(cfg);
}

bool job_lines_admit(struct job_lines *l, uint64_t now)
{
    if (throttle_admit(&l->throttle, l->heard, now))
        return true;
    l->left_out++;
    return false;
}

bool job_lines_left_out(struct job_lines *l, uint64_t now, char text[JOB_LINES_TEXT_MAX])
{
    if (l->left_out == 0 || !throttle_admit(&l->throttle, UINT32_MAX, now))
        return false;
    snprintf(text, JOB_LINES_TEXT_MAX,
             "%u lines about jobs are left out: more than %u a second on account of one address", l->left_out,
             l->throttle.rate.per_second);
    l->left_out = 0;
    return true;
}
