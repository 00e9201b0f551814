/* What can happen to a packet of host-addressed aggregation; hag_reasons has names and meanings. */
#pragma once

#include "protocol/protocol.h"

enum hag_reason {
    /* Verdicts of its slot. With these, something is to be sent: */
    HAG_SEND_ALL,
    HAG_SEND_SUM,
    HAG_SEND_ANSWER,
    HAG_SEND_DIFFERS,
    /* From here on nothing is to be sent: */
    HAG_HELD,
    HAG_DROP_DUPLICATE,
    HAG_DROP_STALE,
    HAG_DROP_AHEAD,
    HAG_DROP_OLD_RUN,
    HAG_DROP_BAD_LENGTH,
    HAG_DROP_BAD_KIND,
    HAG_DROP_BAD_WORKER,
    HAG_VERDICTS,

    /* Not of a flow that is aggregated: it passes to the host as any other frame. */
    HAG_PASSED_NOT_OURS = HAG_VERDICTS,
    HAG_PASSED_FOREIGN_SENDER,
    HAG_PASSED_FOREIGN_MAC,
    HAG_REASONS
};

extern const struct agg_reason hag_reasons[HAG_REASONS];
