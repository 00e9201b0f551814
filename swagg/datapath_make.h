/* The steps in which the data path is made that have files of their own, in this order (datapath_open). Each
 * logs what is wrong and returns 0 or -errno; datapath_close frees what was made. Called by the main lcore,
 * before the others start; what says so, also while they run.
 */
#pragma once

#include "datapath.h"

/* Makes the classifier: which frames are the switch's own, and who takes them. The addresses are known. */
int datapath_make_classifier(struct datapath *dp, const struct config *cfg);

/* Makes the lcores. The placement's lcores are the EAL's worker lcores, in order. */
int datapath_make_lcores(struct datapath *dp);

/* Gives lcores their tasks, according to placement, ports and pace. Also while they run, one change at a
 * time. */
void datapath_assign(struct datapath *dp);

/* Returns when the lcores, which poll, have taken over what was assigned last. */
void datapath_settle(const struct datapath *dp);

/* Tells a port which lcore receives from which of its queues (port/steer.h). */
void datapath_steer(const struct datapath *dp, unsigned port);

/* Takes from the configuration what an lcore's tasks have of it, but for ports: idle, tx_delay_us,
 * switch.link_local. */
void datapath_set_pace(struct datapath *dp, const struct config *cfg);

/* The same for the running data path, the ports' storm included, and assigns it. */
void datapath_follow(struct datapath *dp, const struct config *cfg);

/* What is left of memory.megabytes. */
size_t datapath_free_megabytes(void);
