/* A port of the switch: a device with one or more queues each way, and its impairments.
 *
 * Opened, started and closed by the main lcore while no lcore polls. In between, the lcore that receives from
 * queue q owns `rx[q]`, the one that sends to it `tx[q]`; the rest does not change.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_dev.h>
#include <rte_ring.h>

#include "base/bell.h"
#include "base/counters.h"
#include "config/config.h"
#include "impair/impair.h"
#include "net/mac.h"
#include "port/device.h"

enum {
    PORT_RING_SIZE = 1024,
    PORT_QUEUE_NAME_MAX = CONFIG_NAME_MAX + 8,
    PORT_QUEUES_MAX = SWAGG_MAX_PORTS * SWAGG_MAX_QUEUES /* of all ports, in one direction */
};

/* A queue by its numbers. */
struct port_queue_id {
    uint8_t port, queue;
};

/* One direction of a queue. */
struct port_queue {
    struct impair *impair; /* atomic: one of copy, the queue's owner's; NULL: no impairments */
    void *state;           /* for the device alone */
    struct impair copy[2]; /* those in use, and room for the next */
} __rte_cache_aligned;

struct port {
    char name[CONFIG_NAME_MAX]; /* the configuration's */
    const struct port_device *device;
    void *state;                         /* device->state_bytes, for the device alone */
    char device_name[CONFIG_DEVICE_MAX]; /* without arguments */
    uint16_t max_frame;
    uint16_t rx_queues, tx_queues;
    uint32_t ecn_above;        /* the configuration's; 0: nothing is marked */
    struct config_storm storm; /* the configuration's */
    bool multi_segment;        /* it sends frames of several segments */
    bool hashes;               /* it chooses a frame's receive queue by a hash of its flow */
    uint64_t rx_checksums;     /* mbuf flags: of the checksums that the device compares */
    struct net_mac mac;        /* when it was opened */
    unsigned locked;           /* the kernel's interface that it is made on (linux/lock.h); 0: none */
    /* Frames from lcores that have no TX queue of this port; many producers, one consumer: the owner of
     * tx[0]. */
    struct rte_ring *to_send;
    struct bell *sender; /* that one's; atomic; NULL: nobody sends what others have */
    struct port_queue *rx, *tx;
    uint8_t closed;                      /* why, enum port_closed; atomic; 0, nearly always: it is open */
    uint64_t dropped_before[DROP_KINDS]; /* counted under its number when it came */
    struct tap *tap; /* for a capture (capture/tap.h); atomic; NULL: nobody captures here */
};

/* Why a port is closed; several may hold at once. */
enum port_closed {
    PORT_DISABLED = 1, /* by the operator */
    PORT_BLOCKED = 2,  /* there is a loop behind it (control/loop_guard.h) */
};

/* What comes in by a closed port, and what is to leave by it, is dropped. By the main lcore; others see it
 * soon. */
static inline void port_close_for(struct port *port, enum port_closed why, bool closed)
{
    const uint8_t others = port->closed & (uint8_t)~why;

    __atomic_store_n(&port->closed, closed ? others | why : others, __ATOMIC_RELAXED);
}

/* Any thread. */
static inline bool port_is_closed_for(const struct port *port, enum port_closed why)
{
    return __atomic_load_n(&port->closed, __ATOMIC_RELAXED) & why;
}

/* Drops of a closed port count as this; DROP_REASONS: it is open. */
static inline enum drop port_drops_as(const struct port *port)
{
    const uint8_t closed = __atomic_load_n(&port->closed, __ATOMIC_RELAXED);

    if (__builtin_expect(closed == 0, 1))
        return DROP_REASONS;
    return closed & PORT_DISABLED ? DROP_PORT_DISABLED : DROP_PORT_BLOCKED;
}

/* Whether frames are impaired in a direction. Any thread. */
static inline struct impair *port_impairments(const struct port_queue *queue)
{
    return __atomic_load_n(&queue->impair, __ATOMIC_ACQUIRE);
}

/* When a frame that its impairments hold back is to go on, TSC; UINT64_MAX: none waits for that. The owner.
 */
static inline uint64_t port_queue_due_at(const struct port_queue *queue)
{
    const struct impair *impair = port_impairments(queue);

    return impair == NULL ? UINT64_MAX : impair_due_at(impair);
}

/* After something was put into to_send. */
static inline void port_wake_sender(const struct port *port)
{
    struct bell *sender = __atomic_load_n(&port->sender, __ATOMIC_ACQUIRE);

    if (sender != NULL)
        bell_ring(sender);
}

/* Which random numbers impairments are drawn from. */
struct port_impair_seed {
    uint64_t seed;   /* the configuration's */
    unsigned stream; /* of the port and direction: its number * 2, and 1 for sending */
};

/* From their next burst on, the owners of these queues use these impairments (hold_for in microseconds;
 * inactive: none). By one thread, which calls port_settle before the next change, once all owners have ended
 * a round: drops what the old ones held back. */
void port_impair(struct port_queue *queue, unsigned queues, const struct impair_config *cfg,
                 const struct port_impair_seed *from);
void port_settle(struct port_queue *queue, unsigned queues);

/* Has these ports (bit p: port p), all of the switch, hand over merged frames as they came (port/device.h),
 * if long_buffers is not NULL, every device can and no port has impairments, which are decided frame by
 * frame; else cut all. At any time, by one thread at a time. local and long_buffers outlive the ports. */
void port_carry_merged(struct port port[], uint64_t ports, const struct net_mac *local,
                       struct rte_mempool *long_buffers);

/* The tap that frames are to be shown to; NULL, nearly always: none. By the lcores that receive and send. */
static inline struct tap *port_tap(const struct port *port)
{
    return __atomic_load_n(&port->tap, __ATOMIC_ACQUIRE);
}

/* Whether it carries frames, as far as is known. Any thread. */
static inline bool port_is_up(const struct port *port)
{
    return !port_is_closed_for(port, PORT_DISABLED) && port->device->is_up(port);
}

/* Which ports of an array there are: bit p stands for port p. Any thread. */
static inline uint64_t ports_there(const uint64_t *ports)
{
    return __atomic_load_n(ports, __ATOMIC_RELAXED);
}

/* The data room that packet buffers need if ports have this MTU. */
uint16_t port_buffer_bytes(uint16_t mtu);

/* Opens the device, sets it up to receive. index: the port's number in the configuration. 0, or -errno after
 * logging what is wrong with which port. */
int port_open(struct port *port, unsigned index, const struct config *cfg,
              const struct port_resources *resources);
int port_start(struct port *port);

/* Takes the kernel's interface that the port is on for this process alone (linux/lock.h). 0, or -errno. */
int port_lock(struct port *port, unsigned if_index);
void port_unlock(struct port *port);

/* Why an interface cannot be used, for the log. rc: of port_lock or another -errno. */
void port_say_refused(const struct port *port, const char *interface, unsigned if_index, int rc);

/* A queue's name, as in the configuration's lcores: "NAME:QUEUE", or NAME alone if there is one queue only.
 */
const char *port_queue_name(char name[PORT_QUEUE_NAME_MAX], const struct port *port, unsigned queues,
                            unsigned queue);

/* Stops the device, frees what its queues and impairments hold, closes it. Also after a failed port_open. */
void port_close(struct port *port);
