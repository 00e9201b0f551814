/* What can happen to a packet of SwitchML's RDMA clients; rce_reasons has names and meanings. */
#pragma once

#include "protocol/protocol.h"

enum rce_reason {
    /* Verdicts of its slot. With these, something is to be sent: */
    RCE_SEND_ALL,
    RCE_SEND_ONE,
    /* From here on nothing is to be sent: */
    RCE_HELD,
    RCE_DROP_DUPLICATE,
    RCE_DROP_STALE,
    RCE_DROP_OUT_OF_ORDER,
    RCE_DROP_BAD_LENGTH,
    RCE_DROP_BAD_SLOT,
    RCE_DROP_BAD_ICRC,
    RCE_VERDICTS,

    /* Of a member, but refused before it has come to a slot. */
    RCE_DROP_BAD_QUEUE_PAIR = RCE_VERDICTS,
    /* Not of a job here. */
    RCE_REFUSED_TOO_SHORT,
    RCE_REFUSED_NO_WRITE,
    RCE_REFUSED_BAD_SEND,
    RCE_REFUSED_BAD_HEADER,
    RCE_REFUSED_FOREIGN_SENDER,
    RCE_REFUSED_FOREIGN_MAC,
    RCE_REASONS
};

extern const struct agg_reason rce_reasons[RCE_REASONS];
extern const uint8_t rce_amiss[RCE_REASONS]; /* enum agg_amiss */
