/* NICs that carry data packets in the place of UDP (docs/protocol.md, "By RoCE"). A rank's posts what is to
 * be sent, as libswagg does (lib/client/verbs/data.c), in messages of as many packets as chance has it: a
 * body that lies in a tensor is read there, some time later, and the message is cut at the path's MTU.
 *
 * A NIC begins a message with any number, so of packets of one it takes all that are whole, in any order. */
#pragma once

#include "star.h"
#include "transfer/messages.h"

struct nic_send;

struct nic {
    struct sim *sim;
    struct star *star;
    unsigned host;
    uint32_t queue_pair; /* 0: the rank has no NIC */
    uint16_t port;       /* by which the switch knows the rank */
    size_t mtu;          /* bytes of a packet's body */
    unsigned longest;    /* packets of a message that the switch takes */
    uint64_t rng;
    uint32_t number;
    struct nic_send *first, *last; /* posted, in their order, and not sent */
};

void nic_open(struct nic *nic, struct sim *sim, struct star *star, unsigned host, uint16_t port);

/* Of a path that carries packets of so many bytes: no NIC cuts but where it can go on aligned. */
static inline size_t nic_mtu(size_t bytes)
{
    return bytes / 4 * 4 + 4;
}

/* in_tensors: whether the caller's tensors have these bytes, which stay until nic_settle. */
void nic_post(struct nic *nic, const struct xfer_send sends[], unsigned n,
              bool (*in_tensors)(const void *ctx, const uint8_t *at), const void *ctx);

/* Sends what is posted, so that nothing is read later; or forgets it. */
void nic_settle(struct nic *nic);
void nic_close(struct nic *nic);

/* A switch's end of a member's queue pair. */
struct nic_end {
    uint32_t queue_pair, number; /* 0: there is none; of the next packet to it */
};

/* Packets that a switch has heard. */
struct nic_heard {
    uint64_t sends, together; /* whole ones; of them in messages of several */
};

/* Those of a job, by contributor (control/tree.h): the caller's to free. */
struct nic_end *nic_ends(const struct ctl_entry *job);

void nic_send_down(struct star *star, unsigned host, struct nic_end *end, const uint8_t *payload,
                   size_t bytes);

/* Makes a frame that is a whole send to this end the datagram that it carries. False: it is none. */
bool nic_take(const struct nic *nic, struct frame *f);   /* at the rank */
bool nic_hear(struct nic_heard *heard, struct frame *f); /* at a switch */
