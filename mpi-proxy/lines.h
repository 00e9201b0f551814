/* Connections between senders and the root that end here (core: mpitcp/flow.h): a socket on either side, each
 * with the other host's address, and what has been read of it. One thread. */
#pragma once

#include <netinet/in.h>
#include <poll.h>

#include "mpitcp/flow.h"

enum { LINES_MAX = 4 * MTP_SENDERS_MAX, LINE_IN_BYTES = 256 << 10 };

struct line_in {
    size_t begin, end;
    uint8_t bytes[LINE_IN_BYTES];
};

struct line {
    struct mtp_flow flow;
    int fd[2];       /* by the side that is read there: MTP_UP, the sender's; MTP_DOWN, the root's */
    bool connecting; /* the second one */
    unsigned second; /* which that is */
    bool over[2];    /* nothing more is read; it was told to the other side, too */
    bool told[2];
    struct line_in in[2];
};

struct lines {
    unsigned n;
    struct line *line[LINES_MAX];
    struct mtp_group group;
};

/* A connection that was accepted, from and to these addresses. accepted: the side that it is. The descriptor
 * is taken over. 0, or -errno. */
int lines_add(struct lines *l, unsigned sender, enum mtp_side accepted, int fd,
              const struct sockaddr_in *from, const struct sockaddr_in *to);

/* Writes what poll(2) is to wait for: two entries of each line. */
void lines_expect(const struct lines *l, struct pollfd poll[2 * LINES_MAX]);
/* Reads and writes what is possible; closes lines that have ended. poll: of the lines that lines_expect saw.
 */
void lines_move(struct lines *l, const struct pollfd poll[], unsigned polled, uint64_t now);

/* Resets all connections. */
void lines_close(struct lines *l);
