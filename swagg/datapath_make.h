/* How the data path is made, in this order (datapath_open). Each step logs what is wrong and returns 0 or
 * -errno; datapath_close takes back what was made. The main lcore's, before the others start. */
#ifndef SWAGG_DATAPATH_MAKE_H
#define SWAGG_DATAPATH_MAKE_H

#include "datapath.h"

/* Kernels, buffers, the bridge, the inbox of the main lcore. */
int datapath_make_memory(struct datapath *dp, const struct config *cfg);

/* Opens the ports and chooses the switch's MAC address. */
int datapath_open_ports(struct datapath *dp, const struct config *cfg);

/* The placement's lcores are the EAL's worker lcores, in order. */
int datapath_make_lcores(struct datapath *dp, const struct placement *placement);

/* Whether what is left is enough for pool.megabytes: better told now than to the first job. */
int datapath_check_memory(const struct config *cfg);
size_t datapath_free_megabytes(void);

/* What one port of the kernel's has merged another one can cut again, if there are no others, and if no
 * impairment is to strike single frames. Does without where memory is short. */
void datapath_carry_merged(struct datapath *dp, const struct config *cfg);

#endif
