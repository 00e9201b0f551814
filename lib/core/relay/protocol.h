/* Protocols in trees of switches: for a job that has other switches above or below this one, the maker of its
 * pool takes the table from here in place of the protocol's own (protocol/protocol.h), and fills in
 * agg_pool_config.tree. Its packets are located and applied as ever: the pool knows its role. view and
 * view_rank are by ranks of the whole job. */
#pragma once

#include "protocol/protocol.h"

/* NULL: jobs of this protocol have one switch only. */
const struct agg_protocol *relay_protocol_of(const struct agg_protocol *protocol);

/* Whether a job of these terms, wished or granted, may be in a tree; else why not, and how to mend it. */
bool relay_takes(const struct agg_protocol *protocol, const struct agg_terms *terms, char why[AGG_TEXT_MAX]);
