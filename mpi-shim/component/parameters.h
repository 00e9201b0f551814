/* MCA parameters of the component: coll_swagg_priority, and one for each variable of the environment (env.h):
 * coll_swagg_min_bytes is SWAGG_MIN_BYTES. */
#pragma once

#include <stdbool.h>

#include "ompi/mca/coll/coll.h"

/* Where Open MPI registers parameters. Returns its error code. */
int parameters_register(const mca_base_component_t *component);

int parameters_priority(void);

/* The environment with the parameters in it; where both have a value the parameter counts. NULL-terminated,
 * this file's. */
char *const *parameters_environment(void);

/* Whether there is anything of swagg's in that. */
bool parameters_are_given(void);
