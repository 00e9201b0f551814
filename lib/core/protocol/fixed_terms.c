#include "protocol/fixed_terms.h"

#include <stdio.h>
#include <string.h>

bool agg_fixed_check(const struct agg_terms *wish, bool resumes, char why[AGG_TEXT_MAX])
{
    (void)wish;
    (void)resumes;
    snprintf(why, AGG_TEXT_MAX,
             "nobody joins a job of this protocol: the switch's configuration names its workers");
    return false;
}

bool agg_fixed_differ(const struct agg_terms *wish, const struct agg_terms *other, struct agg_difference *d)
{
    *d = (struct agg_difference){"some terms", "other terms"};
    return memcmp(wish, other, sizeof *wish) != 0;
}

bool agg_fixed_grant(const struct agg_terms wish[], uint16_t n, const struct agg_limits *limits,
                     struct agg_terms *granted, struct agg_refusal *why)
{
    (void)n;
    (void)limits;
    (void)granted;
    why->rank = UINT16_MAX;
    return agg_fixed_check(&wish[0], false, why->text);
}

bool agg_fixed_lower(struct agg_terms *granted)
{
    (void)granted;
    return false; /* they are the configuration's */
}
