/* What the streams of protocols have in common, by which a worker sends tensors and receives their sums
 * (switchml/stream.h, atp/stream.h): how a stream stands, a packet that it sends, what one is that it has
 * received, and its counters. Pure and reentrant. */
#pragma once

#include "transfer/blocks.h"
#include "wire/auth.h"

/* REJECTED is not final: resuming the stream ends it, and so does any other answer, if the REJECT was a late
 * one. Until then only a rare probe is sent, and the tensors stay in use. */
enum xfer_status {
    XFER_RUNNING = 1,   /* in progress */
    XFER_DONE = 0,      /* no collective in progress; all have succeeded, except those that are buffered */
    XFER_MISMATCH = -1, /* the stream tells; only a new job helps */
    XFER_REJECTED = -2  /* the switch does not know us (any more); see below */
};

/* What a packet from the switch, or server, was. DOUBT: in a keyed job somebody says, as a switch that has
 * restarted would, that the job is not known. He cannot prove it, and nothing has changed: ask the switch, by
 * ctl_session_rejected. */
enum xfer_receive {
    XFER_RX_RESULT,
    XFER_RX_NEWS,
    XFER_RX_DUPLICATE,
    XFER_RX_BAD,
    XFER_RX_DAMAGED,
    XFER_RX_DOUBT
};

/* One packet to send: head, body, trailer. The body's elements lie in the caller's tensors or the stream's
 * memory, and stay valid until the next call of begin, receive or resume; so many packets may be polled and
 * then sent at once. Of numbers that have a scale the body is only made when it is asked for. */
enum { XFER_HEAD_MAX = 64 }; /* room for the headers of other protocols, too, whose packets carry tensors */

struct xfer_send {
    uint8_t head[XFER_HEAD_MAX];
    size_t head_bytes, body_bytes;
    struct xfer_pieces elements; /* of the body; not used if body_bytes is 0 */
    agg_convert_fn *convert;     /* from the host's order to that of the wire; NULL: they have a scale */
    bool swapped;                /* the two differ */
    struct xfer_scale scale;
    size_t elements_bytes; /* of the body, without what follows: names; else zeros that fill a published
                              packet up */
    const uint8_t *names;  /* of the ranks in a result, body_bytes - elements_bytes of them; NULL: none */
    uint16_t rank;         /* the sender */
    enum xfer_checksum checksum;
    const struct xfer_auth *auth; /* XFER_CHECKSUM_KEYED */
    uint32_t wraps;               /* ... of struct xfer_route */
    /* The protocol's: makes the trailer of a packet that has one. */
    void (*seal)(const struct xfer_send *send, const void *body, uint8_t trailer[XFER_TRAILER_MAX]);
};

/* The body in wire order, of body_bytes. It is in the caller's tensor; or in the buffer, which must have room
 * for it, if elements must be converted or gathered first. */
const void *xfer_send_body(const struct xfer_send *send, void *buffer);

/* The trailer, of xfer_trailer_bytes(send->checksum); body: as it travels. */
void xfer_send_trailer(const struct xfer_send *send, const void *body, uint8_t trailer[XFER_TRAILER_MAX]);

/* The whole packet's length. */
static inline size_t xfer_send_bytes(const struct xfer_send *send)
{
    return send->head_bytes + send->body_bytes + xfer_trailer_bytes(send->checksum);
}

/* The whole packet, one after the other; returns its length. */
size_t xfer_send_copy(const struct xfer_send *send, uint8_t *payload);

/* Running totals since init. */
struct xfer_stats {
    uint64_t sent, retransmitted, probes, results, duplicates, bad, timeouts;
    /* chunks that were copied, because others may still ask for them when their call has ended */
    uint64_t kept;
    uint64_t damaged; /* the agreed checksum was missing or wrong, or there was one though none was agreed; in
                         a keyed job: unproven, forged or damaged */
    uint64_t srtt_ns, rttvar_ns, rto_ns;
    uint32_t window;
    /* times that the timer has expired since the switch, or the server, was last heard */
    unsigned unanswered;
};
