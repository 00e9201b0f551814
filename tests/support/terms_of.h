/* SwitchML's terms as values, for tests that make many of them. */
#pragma once

#include "switchml/terms.h"

static inline struct agg_terms terms_of(struct sml_terms t)
{
    struct agg_terms out;
    sml_terms_build(&out, &t);
    return out;
}

/* All zero: they are not SwitchML's. */
static inline struct sml_terms terms_in(const struct agg_terms *t)
{
    struct sml_terms out = {0};
    sml_terms_parse(&out, t);
    return out;
}
