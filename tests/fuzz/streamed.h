/* A worker's stream by SwitchML, for the targets that give it packets. */
#pragma once

#include "fuzz.h"
#include "placed.h"

/* The next of what it has to send now, if there is one, the n-th since n was 0. */
static inline bool streamed_sends(struct sml_stream *s, unsigned slots, uint64_t now, unsigned *n,
                                  struct xfer_send *send)
{
    if (!sml_stream_poll(s, now, send)) {
        REQUIRE(sml_stream_timer(s) > now);
        return false;
    }
    REQUIRE(++*n <= 4 * slots + 16);
    return true;
}

/* What a switch that has no result puts behind the header. Returns how many bytes. */
static inline size_t streamed_word(const struct sml_packet *p, uint16_t rank, uint8_t fill, uint8_t *body)
{
    switch (p->kind) {
    case SML_WAIT:
        body[0] = fill;
        return 1;
    case SML_MISMATCH:
        xfer_build_mismatch(
            body, &(struct xfer_mismatch){.your_rank = rank, .your_tag = p->tag, .peer_rank = fill});
        return XFER_MISMATCH_BYTES;
    case SML_REJECT:
        memset(body, fill, 8);
        return 8;
    default:
        return 0;
    }
}

/* The slot that belongs to its tag; with odd another kind, or job. */
static inline void streamed_place(struct input *in, uint8_t odd, uint16_t slots, struct sml_packet *p)
{
    p->slot = sml_tag_slot(p->tag, slots);
    p->ver = sml_tag_ver(p->tag, slots);
    if (odd & 2)
        p->kind = take8(in) & 15;
    if (odd & 4)
        p->job = take8(in);
}

/* Makes a packet longer than it should be; returns its length. */
static inline size_t streamed_longer(struct input *in, uint8_t fill, uint8_t *payload, size_t bytes)
{
    memset(payload + bytes, fill, 16);
    return bytes + 4 * (1 + take8(in) % 4);
}
