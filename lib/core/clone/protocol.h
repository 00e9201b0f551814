/* Sums of frames that pass by, as one of the protocols that a switch speaks (protocol/protocol.h). Its
 * packets are whole frames. */
#pragma once

#include "protocol/protocol.h"

extern const struct agg_protocol cln_protocol;
