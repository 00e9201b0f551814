/* What a port is made on: a device of DPDK's, or an interface of the kernel's.
 *
 * `receive` and `send` are called by the lcore that owns the queue, `stats`, `is_up` and `is_gone` by
 * anybody, the rest by the main lcore: open, start, ..., close while no lcore polls, and meanwhile missed and
 * follow.
 */
#ifndef SWAGG_PORT_DEVICE_H
#define SWAGG_PORT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "config/config.h"
#include "net/mac.h"

struct port;

struct port_stats {
    uint64_t rx_frames, rx_bytes, rx_errors;
    uint64_t tx_frames, tx_bytes, tx_errors;
    /* Of the frames, how many came merged by the kernel, or passed through it in runs. */
    uint64_t rx_merged, tx_merged;
};

/* Frames that were not sent. */
struct port_refused {
    unsigned full; /* too many waited */
    unsigned down; /* the device is down, or gone */
};

struct port_device {
    /* name, device_name, max_frame, the numbers of queues, rx and tx of the port are there; the device has to
     * set mac, multi_segment and rx_checksums. 0, or -errno after logging what is wrong. */
    int (*open)(struct port *port, const struct config_port *cfg, struct rte_mempool *mbufs);
    /* 0, or -errno. NULL: it needs none. */
    int (*start)(struct port *port);
    uint16_t (*receive)(const struct port *port, uint16_t queue, struct rte_mbuf **frames, uint16_t max);
    /* Sends frames in order, and frees them. */
    struct port_refused (*send)(const struct port *port, uint16_t queue, struct rte_mbuf **frames,
                                uint16_t n);
    bool (*is_up)(const struct port *port); /* its link, as far as is known */
    void (*stats)(const struct port *port, struct port_stats *stats);
    /* Before start: frames that the kernel has merged may be passed on as they are, but for those to this
     * address; they continue in long buffers. NULL: it has and sends single frames only. */
    void (*carry)(struct port *port, const struct net_mac *local, struct rte_mempool *long_buffers);
    uint64_t (*missed)(struct port *port); /* frames lost since the last call as too many waited */
    /* Both NULL: such a device does not go. */
    bool (*is_gone)(const struct port *port);
    /* Looks whether the device is gone, and uses the one that has come in its place; says so in the log. True
     * if one has come. */
    bool (*follow)(struct port *port);
    /* Also after a failed open. */
    void (*close)(struct port *port);
};

extern const struct port_device port_dpdk, port_linux;

#endif
