/* Sums in the path of MPI over TCP (the paper "DPDK aggregation switch", case 3; docs/mpi-tcp.md): whoever
 * stands between some ranks, the senders, and one that receives from all of them, the root, ends their TCP
 * connections, passes what they say, and sums long messages of one tag. Neither side knows.
 *
 * A sum begins when every sender has announced its message (RNDV), all alike, and the root has answered one
 * of them by a PUT of the usual form. Until then all was passed but that answer, so nothing is lost when it
 * does not come to a sum. Then every sender is told to send, its bytes end here and are added up in the order
 * in which Open MPI's linear reduce adds them, from the highest rank down, element by element as they come.
 * Towards the root
 *
 *   - the connection that it answered first carries the sum, in the place of that sender's message;
 *   - the second one carries neutral elements (x op neutral is x);
 *   - the others carry those, too, or (MTP_KEPT) the end of the message alone: what the receive's memory
 * holds stays. Open MPI's linear reduce receives them where it has received the second.
 *
 * Anything else makes connections relays for good, for a reason; if bytes of a sum were taken by then, the
 * connections end, and those of the same job with them, now and later: a sender takes its message for sent,
 * the root still waits for it, and Open MPI would connect anew and go on with what each of them believes.
 *
 * Pure: no clock, no sockets. The memory is the caller's. One thread.
 */
#pragma once

#include "kernels/kernels.h"
#include "mpitcp/neutral.h"
#include "wire/ob1.h"

enum {
    MTP_SENDERS_MAX = 64,
    MTP_BROKEN_MAX = 32,       /* jobs that are remembered as broken */
    MTP_ANNOUNCED_MAX = 16,    /* messages of a sender that wait for the root */
    MTP_OUT_BYTES = 256 << 10, /* that wait to be sent, in each direction of a connection */
    MTP_TAKE_BYTES = 64,       /* that must be offered at once, where so many have come: headers are whole */
    MTP_WINDOW_BYTES =
        1 << 20, /* of a sum, that its fastest sender may be ahead of what has gone to the root */
};

/* Why connections are relays, or end. */
enum mtp_reason {
    MTP_NO_REASON = 0,
    MTP_NO_OPEN_MPI,  /* the handshake or a frame is not Open MPI's */
    MTP_SECOND,       /* a second connection of this sender */
    MTP_DIFFERENT,    /* the senders' messages differ in length or communicator */
    MTP_NOT_ALL,      /* not all senders have announced a message in time */
    MTP_OTHER_ANSWER, /* the root does not answer by one PUT of the whole message */
    MTP_ENDED,        /* a connection has ended while others waited for it */
    MTP_CUT,          /* ends: the same in the midst of a sum */
    MTP_BROKEN,       /* ends: a sender or the root goes on otherwise than it must, in the midst of a sum */
    MTP_REASONS
};
const char *mtp_reason_text(enum mtp_reason reason);

enum mtp_others { MTP_NEUTRAL, MTP_KEPT };

struct mtp_config {
    unsigned senders; /* 2 .. MTP_SENDERS_MAX */
    int32_t tag;
    uint8_t type, op; /* a pair that mtp_neutral knows */
    enum mtp_others others;
    uint64_t wait_ns; /* that the root's answer waits for the last sender */
    const struct agg_kernels *kernels;
};

struct mtp_counts {
    uint64_t sums, summed_bytes;   /* of one message each */
    uint64_t relayed[MTP_REASONS]; /* connections, by reason */
};

/* Bytes that are to be sent, in a buffer that is emptied from the front. */
struct mtp_out {
    uint8_t at[MTP_OUT_BYTES];
    size_t begin, end;
};

enum mtp_side { MTP_UP, MTP_DOWN }; /* from the sender to the root, and back */

/* What has been read of one direction. Not for callers, as the rest of this file's structs. */
enum mtp_way_state { MTP_AT_HANDSHAKE, MTP_AT_FRAME, MTP_IN_FRAME, MTP_IN_SUM, MTP_RELAY };
struct mtp_way {
    enum mtp_way_state state;
    uint64_t left; /* of the frame */
    struct mtp_out out;
};

enum mtp_role { MTP_NO_ROLE, MTP_CARRIES, MTP_NEUTRALS, MTP_END_ALONE };

struct mtp_flow {
    struct mtp_group *group;
    unsigned sender;
    struct mtp_way way[2];
    bool attached, relay, dead; /* it is the sender's in the group; it becomes a relay; it is to be ended */
    uint32_t job;               /* 0: not known yet */
    struct ob1_rndv announced[MTP_ANNOUNCED_MAX];
    unsigned announcements;
    /* The root's answer to the first of them. */
    bool answered;
    struct ob1_put answer;
    uint8_t answer_bytes[OB1_PUT_BYTES];
    /* In a sum. */
    bool told, ended;     /* the sender is told to send; its FIN has come */
    uint64_t taken;       /* of its bytes */
    enum mtp_role role;   /* towards the root */
    bool begun, finished; /* what it sends in that role */
    uint64_t sent;
};

struct mtp_group {
    struct mtp_config cfg;
    struct agg_operation op;
    size_t element;
    struct mtp_flow *flow[MTP_SENDERS_MAX]; /* by sender */
    unsigned attached;
    uint64_t waits_since; /* an answer waits; UINT64_MAX: none */
    /* The sum that is being made. */
    bool summing;
    uint64_t length;
    unsigned answers;                        /* that the root has given */
    struct mtp_flow *order[MTP_SENDERS_MAX]; /* in which they are added */
    struct mtp_counts counts;
    uint32_t broken[MTP_BROKEN_MAX]; /* the latest jobs that were in a sum which could not end */
    unsigned breaks;
    uint8_t neutral[4096]; /* so many bytes of elements */
    uint8_t window[MTP_WINDOW_BYTES];
};

/* False: a number or the pair is out of range. */
bool mtp_group_init(struct mtp_group *g, const struct mtp_config *cfg);

/* A connection of this sender with the root. */
void mtp_flow_init(struct mtp_flow *f, struct mtp_group *g, unsigned sender);

/* Bytes that have come; returns how many were taken. The others are offered again, with more behind them,
 * when more have come or any flow of the group has moved. */
size_t mtp_take(struct mtp_flow *f, enum mtp_side from, const uint8_t *bytes, size_t n, uint64_t now);

/* Makes what the group has to send, as far as there is room; true: something has moved. */
bool mtp_give(struct mtp_flow *f);

/* What is to be sent on, and that so much of it was. */
const uint8_t *mtp_pending(const struct mtp_flow *f, enum mtp_side from, size_t *n);
void mtp_sent(struct mtp_flow *f, enum mtp_side from, size_t n);

/* The time of waiting is over. */
void mtp_tick(struct mtp_group *g, uint64_t now);

/* The connection has ended on one side, and all that came was taken, or cannot be. */
void mtp_end(struct mtp_flow *f);

/* The same, of this side: what is still there of it, if only half a header, is passed as it is. */
void mtp_over(struct mtp_flow *f, enum mtp_side from);
