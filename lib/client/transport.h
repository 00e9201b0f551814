/* How a job's data packets reach the switch and come back: the functions that the collective loop needs of a
 * transport. One thread at a time: the one that runs the job's collectives. Functions return 0 or more, or
 * -errno for errors that no change of the network can mend. Lost packets are no error: the stream sends them
 * again. Nor are errors of a path that is closed or down for now (routes, packet filters, ICMP from anybody):
 * the last is kept in `trouble`, for the text of a call that runs into its deadline.
 */
#pragma once

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "own_fd.h"
#include "protocol/protocol.h"
#include "switchml/stream.h"

enum { TRANSPORT_BATCH = 64 }; /* packets sent or received at once, at most */

struct transport_packet {
    uint8_t *payload;
    size_t bytes;
};

struct transport;

struct transport_config {
    struct in_addr switch_ip;
    uint16_t port;            /* of the switch, the first for data */
    struct agg_key_field key; /* by which packets are dealt to its ports */
    /* Notes in a packet that it has met a congested queue (struct agg_protocol); then packets say that they
     * can be marked (ECN). NULL: neither. */
    void (*mark)(uint8_t *payload, size_t bytes);
    void (*note_group)(uint8_t *payload, size_t bytes); /* the same of one that came by a group */
    unsigned mtu;                                       /* at least CLIENT_MTU_MIN */
    size_t packet_max;                                  /* bytes of the longest payload */
    /* of the packets that will be sent: those that have one are sent without UDP's */
    enum xfer_checksum checksum;
};

struct transport_ops {
    /* Sends the packets, in order; their memory is read during the call only, but for what is shown (below).
     * n <= TRANSPORT_BATCH. */
    int (*send)(struct transport *t, const struct xfer_send packets[], unsigned n);
    /* What has arrived, without waiting; returns how many; 0: nothing is left. The payloads are valid until
     * the next call of receive. */
    int (*receive)(struct transport *t, struct transport_packet packets[TRANSPORT_BATCH]);
    /* The switch's UDP ports from now on: slot i goes to port first + i % n. 1 <= n <= CTL_DATA_PORTS_MAX.
     * The local port stays. */
    int (*set_ports)(struct transport *t, uint16_t first, unsigned n);
    /* From now on what the switch sends to this IPv4 group and UDP port is received, too, and noted as such
     * (struct agg_protocol, note_group). -errno: this host cannot hear it. Not twice. NULL: it hears none. */
    int (*join)(struct transport *t, struct in_addr group, uint16_t port);
    /* From now on bodies that lie in this memory may be read by a NIC, without a copy, also after send has
     * returned; until hide. It stays where it is so long. -EEXIST: what begins there is shown already;
     * -ENOSPC: as much is as can be. hide: -ENOENT: it is not shown. NULL: all is read by send. */
    int (*show)(struct transport *t, const void *memory, size_t bytes);
    int (*hide)(struct transport *t, const void *memory);
    /* Returns when nothing that was sent is still to be read from memory that is shown; an error ends
     * sending, and that, too. NULL: as above. */
    int (*settle)(struct transport *t);
    void (*close)(struct transport *t);
};

struct transport {
    const struct transport_ops *ops;
    struct own_fd socket; /* once nothing is left: readable when packets have arrived */
    struct own_fd group;  /* the same of what comes by a group, once one is joined */
    uint16_t local_port;  /* that data packets leave from */
    uint32_t queue_pair;  /* of the NIC that carries them in UDP's place (struct ctl_join); 0: none does */
    unsigned mtu;         /* bytes of an IP packet, at most */
    bool takes_messages;  /* set from outside: the switch takes a NIC's messages of several packets */
    unsigned
        message_packets; /* ... which have so many at most; 0: there is no NIC, or it is being measured */
    bool polled; /* whoever waits for packets is to look often: the socket wakes him later than they come */
    int trouble; /* errno of the newest failure to send or receive since a packet last came in, or 0 */
};
