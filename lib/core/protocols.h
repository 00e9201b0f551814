/* The protocols that are built in. */
#pragma once

#include "protocol/protocol.h"

/* All of them; *n: how many. */
const struct agg_protocol *const *agg_protocols(unsigned *n);

/* The protocol of this number (enum agg_protocol_id); NULL: none that is known. */
const struct agg_protocol *agg_protocol_find(unsigned id);
