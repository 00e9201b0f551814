/* The steps in which the data path is made, in this order (datapath_open). Each logs what is wrong and
 * returns 0 or -errno; datapath_close frees what was made. Called by the main lcore, before the others start;
 * what says so, also while they run.
 */
#ifndef SWAGG_DATAPATH_MAKE_H
#define SWAGG_DATAPATH_MAKE_H

#include "datapath.h"

enum {
    DATAPATH_MBUF_CACHE = 256,
    /* A port's queues hold up to two rings of descriptors, what is handed over waits in its ring, and an
     * impairment may hold some back. */
    DATAPATH_MBUFS_A_PORT = 4096,
};

/* Kernels, buffers, the bridge, the inbox of the main lcore. */
int datapath_make_memory(struct datapath *dp, const struct config *cfg);

/* A pool of n packet buffers, each with so many bytes, of which every lcore may set some aside (cache). NULL:
 * no memory. datapath_buffers_bytes: what it takes. */
struct rte_mempool *datapath_make_buffers(const char *name, unsigned n, unsigned cache, uint16_t bytes);
size_t datapath_buffers_bytes(unsigned n, uint16_t bytes);

/* Opens the ports and chooses the switch's MAC address. */
int datapath_open_ports(struct datapath *dp, const struct config *cfg);

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

/* Checks that enough memory is left for pool.megabytes, so that the operator learns of it now and not from
 * the first job. */
int datapath_check_memory(const struct config *cfg);
size_t datapath_free_megabytes(void);

/* Has merged frames carried as they are (port_carry_merged), if all ports are on interfaces of the kernel's,
 * which can cut them again. Does without if memory is short. */
void datapath_carry_merged(struct datapath *dp, const struct config *cfg);

#endif
