/* What the files of flow.h share. */
#pragma once

#include "mpitcp/flow.h"

static inline size_t mtp_room(const struct mtp_out *out)
{
    return MTP_OUT_BYTES - (out->end - out->begin);
}

/* By which senders write, and which their FIN names. */
static inline uint64_t mtp_place(const struct mtp_flow *f)
{
    return UINT64_C(0x7377616767000000) | f->sender << 8;
}

/* The sender has announced a message of the group's tag; false: the flow has become a relay. */
void mtp_announced(struct mtp_flow *f, const struct ob1_rndv *r);

/* The root has answered the first announcement; the frame is kept. */
void mtp_answered(struct mtp_flow *f, const uint8_t bytes[OB1_PUT_BYTES], uint64_t now);

/* How many bytes of the sender's message may be added now. */
uint64_t mtp_may_add(const struct mtp_flow *f);
void mtp_add(struct mtp_flow *f, const uint8_t *bytes, size_t n);

/* The flow's job cannot go on: the flow ends, and with it all of the group, if it is one of them. */
void mtp_break(struct mtp_flow *f, enum mtp_reason reason);
bool mtp_is_broken(const struct mtp_flow *f);

/* Something that does not fit: the flow's group ends if it is in the midst of a sum, else all of it become
 * relays. */
void mtp_unexpected(struct mtp_flow *f, enum mtp_reason reason);

/* The flow's part in the sum is over when all have. */
void mtp_look_for_end(struct mtp_group *g);
