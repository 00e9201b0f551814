/* A communicator's module: its collectives as Open MPI calls them. It keeps the functions that the modules of
 * lower priority have, and hands on to them what does not go to the switch. */
#pragma once

#include "ompi/mca/coll/coll.h"

/* Before all others. */
void module_init(void);

/* For an intracommunicator of several ranks; NULL: no memory. Until it is enabled it has nothing to hand on
 * to. Freed by OBJ_RELEASE. */
mca_coll_base_module_t *module_create(void);
