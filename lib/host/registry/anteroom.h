/* Why a control message is dropped before anybody has looked at it, wherever it comes in: by a socket
 * (registry/reception.h), or among a port's frames. */
#pragma once

#include "base/counters.h"
#include "control/intake.h"

/* Why what has this verdict is dropped; DROP_REASONS: it is let in. */
static inline enum drop anteroom_refusal(enum ctl_intake_verdict verdict)
{
    return verdict == CTL_INTAKE_MEMBER_RATE     ? DROP_CONTROL_MEMBER_RATE
           : verdict == CTL_INTAKE_STRANGER_RATE ? DROP_CONTROL_RATE
                                                 : DROP_REASONS;
}
