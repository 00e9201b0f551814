/* The kinds of devices that a port can be on: a device of DPDK's, or an interface of the kernel's
 * (docs/architecture.md has each kind's file). A kind is a constant table of functions. Its data is in
 * port->state and in each queue's `state`, which nobody else reads.
 *
 * `receive` and `send` are called by the lcore that owns the queue, `stats`, `is_up`, `describe` and
 * `is_gone` by anybody, the rest by the main lcore: open, start, steer, deal, carry, ..., close while no
 * lcore polls, and meanwhile missed and follow. Those that may be NULL say so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "config/config.h"
#include "net/mac.h"
#include "net/sum.h"

struct port;

struct port_stats {
    uint64_t rx_frames, rx_bytes, rx_errors;
    uint64_t tx_frames, tx_bytes, tx_errors;
    /* Of the frames, how many the kernel had merged on receiving, or took in runs for sending. */
    uint64_t rx_merged, tx_merged;
    uint64_t returns; /* how often a device that was gone has come back */
};

/* What a port gets from the switch. */
struct port_resources {
    struct rte_mempool *mbufs; /* to receive into */
    agg_ones_sum_fn *ones_sum; /* what checksums are made with */
    uint16_t elements_at;      /* offset in a frame of the elements that are summed in place, and best begin a
                                  cache line */
};

/* How a device can bring packets to the queue that their UDP port is to come to. */
enum port_steering {
    PORT_STEERS_NOT,
    PORT_STEERS_BY_RULES, /* steer */
    PORT_STEERS_BY_HASH,  /* deal */
};

/* UDP ports that a device can tell apart by its hash alone: by their lowest four bits. */
enum { PORT_DEALS = 16 };

/* What a device is and can, for people. */
struct port_description {
    const char *driver;
    int node;                  /* NUMA; negative: unknown, or it is no hardware */
    unsigned mbps;             /* of its link; 0: it is down, or its speed unknown */
    uint16_t rx_most, tx_most; /* queues */
    unsigned mtu_most;         /* as it says */
    enum port_steering steering;
};

/* Frames that were not sent. */
struct port_refused {
    unsigned full;     /* too many waited */
    unsigned down;     /* the device is down, or gone */
    unsigned too_long; /* for the device's MTU, which somebody has lowered */
};

struct port_device {
    size_t state_bytes; /* of port->state: zero before open, freed after close */
    /* name, device_name, max_frame, the numbers of queues, rx, tx and state of the port are there; the device
     * has to set mac, multi_segment, hashes and rx_checksums. After logging what is wrong: -ENODEV, there is
     * no such device; -EADDRINUSE, another process has it; -EMSGSIZE, its MTU is too little; -EINVAL, too
     * many queues; -ENOMEM; or what a driver or a system call has returned. close follows in any case. */
    int (*open)(struct port *port, const struct config_port *cfg, const struct port_resources *resources);
    /* Frames are received from here on. 0, or -errno of the driver. NULL: they are received from open on. */
    int (*start)(struct port *port);
    /* Receives up to max frames, which are the caller's from here on; 0 also while the device is down. */
    uint16_t (*receive)(const struct port *port, uint16_t queue, struct rte_mbuf **frames, uint16_t max);
    /* Readable, for poll, when frames wait to be received; from start to close. NULL: only receive tells. */
    int (*receive_fd)(const struct port *port, uint16_t queue);
    /* Sends frames in order, and takes all of them over, also those that it refuses. */
    struct port_refused (*send)(const struct port *port, uint16_t queue, struct rte_mbuf **frames,
                                uint16_t n);
    /* Bytes of memory that frames take which wait to leave by this queue, those that are leaving included. By
     * its owner. NULL: the kind does not tell; then ecn_above is 0. */
    uint64_t (*waiting)(const struct port *port, uint16_t queue);
    bool (*is_up)(const struct port *port); /* its link, as far as is known */
    void (*stats)(const struct port *port, struct port_stats *stats);
    /* From open on. NULL: there is nothing to say but that it is the kernel's. */
    void (*describe)(const struct port *port, struct port_description *d);
    /* After start: adds a rule that UDP packets to udp_port are received by this queue. 0, or -errno:
     * -ENOTSUP if the device takes no such rule, else the driver's; then *why (static) says more, or is NULL.
     * The function is NULL if the kind takes no rules. */
    int (*steer)(const struct port *port, uint16_t udp_port, uint16_t queue, const char **why);
    void (*steer_no_more)(const struct port *port); /* drops all rules; NULL where steer is */
    /* After start, for devices without rules: has the hash be the lowest four bits of the port that a packet
     * is sent to, and nothing else, where it is of UDP or TCP over IPv4; queue: by those. 0, or -errno: it
     * hashes as before; *why as steer. NULL: the kind cannot. */
    int (*deal)(const struct port *port, const uint16_t queue[PORT_DEALS], const char **why);
    /* From then on frames that the kernel has merged are handed over as they are, except those to this
     * address; they continue in long buffers. long_buffers NULL: no more of that. At any time, by any thread.
     * NULL: the kind has single frames only. */
    void (*carry)(struct port *port, const struct net_mac *local, struct rte_mempool *long_buffers);
    uint64_t (*missed)(struct port *port); /* frames lost since the last call, because too many waited */
    /* Both NULL: such a device cannot disappear. */
    bool (*is_gone)(const struct port *port);
    /* Looks whether the device is gone, and if another has come in its place, uses that; logs both. True if
     * another has come. */
    bool (*follow)(struct port *port);
    /* Frees what the device holds. Also after a failed open. */
    void (*close)(struct port *port);
};

extern const struct port_device port_dpdk, port_linux;
