/* The switch's operator, who now and then ends a job or lets it come to its end. */
#pragma once

#include "oracle.h"
#include "scenario.h"

struct operator_config {
    struct sim *sim;
    const struct scenario *scenario;
    struct switch_node *node;
    struct oracle *oracle;
    uint64_t seed;
};

struct operator
{
    struct operator_config cfg;
    uint64_t rng;
    uint64_t ended, drained;
    bool gone; /* sent away, by its owner */
};

/* Acts from now until the scenario is calm, if it has one. */
void operator_start(struct operator* o, const struct operator_config *cfg);
