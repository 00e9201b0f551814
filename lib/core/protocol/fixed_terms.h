/* Terms of jobs that only the switch's configuration makes: nobody joins them, and nothing about them is
 * agreed on. The functions of struct agg_protocol for such protocols. Pure and reentrant. */
#pragma once

#include "protocol/protocol.h"

bool agg_fixed_check(const struct agg_terms *wish, bool resumes, char why[AGG_TEXT_MAX]);
bool agg_fixed_differ(const struct agg_terms *wish, const struct agg_terms *other, struct agg_difference *d);
bool agg_fixed_grant(const struct agg_terms wish[], uint16_t n, const struct agg_limits *limits,
                     struct agg_terms *granted, struct agg_refusal *why);
bool agg_fixed_lower(struct agg_terms *granted);
