/* What can happen to a copy of a frame that passes by; cln_reasons has names and meanings. */
#pragma once

#include "protocol/protocol.h"

enum cln_reason {
    /* With these, something is to be sent: */
    CLN_SEND_SUM,
    CLN_SEND_MISSING,
    CLN_SEND_GIVEN_UP,
    /* The same where there is no collector: */
    CLN_SUMMED,
    CLN_MISSING,
    CLN_GIVEN_UP,
    CLN_HELD,
    CLN_DROP_DUPLICATE,
    CLN_DROP_STALE,
    /* Not of a worker's gradients: only the frame itself goes on. */
    CLN_IGNORED_NO_MATCH,
    CLN_IGNORED_TOO_SHORT,
    CLN_IGNORED_SENDER,
    CLN_REASONS
};

extern const struct agg_reason cln_reasons[CLN_REASONS];
