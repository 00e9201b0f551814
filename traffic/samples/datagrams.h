/* A UDP socket whose datagrams are sent and received several with a system call. They never leave in
 * fragments, which a switch would not look into. Errors are complained of. One thread. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "hostagg/pool.h"

enum { DATAGRAMS_BURST = 64, DATAGRAM_MAX = HAG_HEADER_BYTES + HAG_MAX_CHUNK_BYTES };

struct datagrams {
    int fd;
    unsigned n; /* filled in, to be sent; or received */
    struct mmsghdr message[DATAGRAMS_BURST];
    struct iovec part[DATAGRAMS_BURST];
    struct sockaddr_in address[DATAGRAMS_BURST]; /* of the other end */
    uint8_t payload[DATAGRAMS_BURST][DATAGRAM_MAX];
};

/* Reads "10.0.0.1:5000". */
bool datagrams_address(const char *text, struct sockaddr_in *address);

/* A socket at this UDP port (host order) of all addresses; to: NULL, or the only other end that it sends to
 * and receives from. -1: an error. */
int datagrams_open(uint16_t port, const struct sockaddr_in *to);

void datagrams_init(struct datagrams *d, int fd);

/* Where the next datagram to be sent is to be put; datagrams_put sends it, perhaps with later ones. to: NULL
 * on a socket with one other end. False: an error. */
static inline uint8_t *datagrams_payload(struct datagrams *d)
{
    return d->payload[d->n];
}
bool datagrams_put(struct datagrams *d, const struct sockaddr_in *to, size_t bytes);

/* Sends all that have been put. False: an error. */
bool datagrams_flush(struct datagrams *d);

/* Receives as many as there are, at most a burst; returns how many, d->n. */
unsigned datagrams_receive(struct datagrams *d);
static inline size_t datagrams_bytes(const struct datagrams *d, unsigned i)
{
    return d->message[i].msg_len;
}

/* Waits until something can be received, at most so long. */
void datagrams_wait(int fd, uint64_t ns);
