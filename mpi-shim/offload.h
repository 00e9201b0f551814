/* One collective: to the switch or to the MPI library. */
#pragma once

#include <stdbool.h>

#include "collective.h"
#include "env.h"

/* Before offload_init, every collective goes to the MPI library. In all ranks, with the settings that they
 * agreed on, which must outlive all calls; MPI may not be called yet. `world` is how many ranks
 * MPI_COMM_WORLD has; threads: more than one may call MPI at once. */
void offload_init(const struct settings *s, int world, bool threads);

/* Before MPI_Finalize, collective over MPI_COMM_WORLD. */
void offload_exit(void);

/* Whether collectives may go to the switch; the same on all ranks. */
bool offload_is_on(void);

/* These return what the function returns. */
int offload_run(const struct collective *c);
int offload_native(const struct collective *c);
