/* Host-addressed aggregation as one of the protocols that a switch speaks (protocol/protocol.h). */
#ifndef SWAGG_CORE_HOSTAGG_PROTOCOL_H
#define SWAGG_CORE_HOSTAGG_PROTOCOL_H

#include "protocol/protocol.h"

extern const struct agg_protocol hag_protocol;

#endif
