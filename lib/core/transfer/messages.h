/* How many packets a NIC sends as one message (wire/roce.h): by measurement. What a packet costs whoever
 * hands it to the NIC, waits for room there included, is taken with messages of 1, 2, 4, ... packets in turn,
 * several times, while calls go on; the median of each counts, and messages are only as long as they gain by
 * it. After so many packets the same is done again. Only bursts that fill a message of any of these lengths
 * tell something.
 *
 * Pure; times in nanoseconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "transfer/stream.h"

enum {
    XFER_MESSAGE_MAX = 16, /* packets */
    XFER_MESSAGE_LENGTHS = 5,
    XFER_MESSAGE_ROUNDS = 5,
    XFER_MESSAGE_TRIAL = 256,     /* packets, at least */
    XFER_MESSAGE_AGAIN = 1 << 20, /* packets after which it is measured again */
};

struct xfer_messages {
    unsigned length;  /* of the next message, in packets, at most */
    unsigned chosen;  /* as measured last; 0: not yet */
    unsigned lengths; /* that the NIC takes: 1, 2, 4, ...; 1: there is nothing to measure */
    unsigned
        trial; /* which one this is: counted over lengths, and rounds; after the last nothing is measured */
    uint64_t packets, ns;                                     /* of this trial, or since the last */
    uint64_t cost[XFER_MESSAGE_LENGTHS][XFER_MESSAGE_ROUNDS]; /* ps a packet */
};

/* limit: packets that the NIC takes as a message. fixed: so many are a message, at most limit; 0: as
 * measured. */
void xfer_messages_init(struct xfer_messages *m, unsigned limit, unsigned fixed);

/* Whether it matters how long the next packets take. */
static inline bool xfer_messages_measure(const struct xfer_messages *m)
{
    return m->trial < m->lengths * XFER_MESSAGE_ROUNDS;
}

/* So many have been sent in messages of that length, of a burst that fills the longest. ns: only if it
 * matters. */
void xfer_messages_sent(struct xfer_messages *m, unsigned packets, uint64_t ns);

/* How many of these packets, n >= 1, are the next message, at most length: as each packet of a NIC's is to
 * begin with one of ours, all but the last are filled up (roce_fill) to the mtu bytes at which a NIC cuts. */
unsigned xfer_message_packets(const struct xfer_send packets[], unsigned n, size_t mtu, unsigned length);
