/* NICs that carry data packets in the place of UDP (docs/protocol.md, "By RoCE"): each datagram is a send of
 * one packet. A rank's posts what is to be sent, as libswagg does (lib/client/verbs/data.c): a body that lies
 * in a tensor is read there, some time later.
 *
 * A NIC begins a message with any number, so of packets of one it takes all that are whole, in any order. */
#ifndef SWAGG_SIM_NIC_H
#define SWAGG_SIM_NIC_H

#include "star.h"
#include "transfer/stream.h"

struct nic_send;

struct nic {
    struct sim *sim;
    struct star *star;
    unsigned host;
    uint32_t queue_pair; /* 0: the rank has no NIC */
    uint16_t port;       /* by which the switch knows the rank */
    uint64_t rng;
    uint32_t number;
    struct nic_send *first, *last; /* posted, in their order, and not sent */
};

void nic_open(struct nic *nic, struct sim *sim, struct star *star, unsigned host, uint16_t port);

/* in_tensors: whether the caller's tensors have these bytes, which stay until nic_settle. */
void nic_post(struct nic *nic, const struct xfer_send *send,
              bool (*in_tensors)(const void *ctx, const uint8_t *at), const void *ctx);

/* Sends what is posted, so that nothing is read later; or forgets it. */
void nic_settle(struct nic *nic);
void nic_close(struct nic *nic);

/* What the switch has for a rank with this queue pair; number: counts its packets. */
void nic_send_down(struct star *star, unsigned host, uint32_t queue_pair, uint32_t *number,
                   const uint8_t *payload, size_t bytes);

/* Makes a frame that is a whole send to this end the datagram that it carries. False: it is none. */
bool nic_take(const struct nic *nic, struct frame *f); /* at the rank */
bool nic_uncover(struct frame *f, uint16_t switch_port);

#endif
