/* Control messages that come by a socket, for programs whose registry's thread receives them itself. What is
 * let in (control/intake.h) of members is handled at once. What is of strangers waits until members' was,
 * each in the lane of who sends it, so that who sends much delays no other.
 *
 * No sockets, no clock (now in ns, monotonic). One thread.
 */
#pragma once

#include "base/counters.h"
#include "config/config.h"
#include "control/intake.h"
#include "control/registry.h"
#include "registry/fair_queue.h"

/* Handles a message. */
typedef void anteroom_handle(void *context, const struct ctl_endpoint *from, const uint8_t *payload,
                             size_t bytes, uint64_t now);

struct anteroom {
    struct ctl_intake_rules rules; /* members: who is in a job now, since the registry last changed */
    struct ctl_intake intake;
    struct fair_queue strangers;
    anteroom_handle *handle;
    void *context;
};

/* seed: random. */
void anteroom_init(struct anteroom *a, const struct config *cfg, uint64_t seed, anteroom_handle *handle,
                   void *context);
void anteroom_free(struct anteroom *a);

/* Why what has this verdict is dropped; DROP_REASONS: it is let in. */
static inline enum drop anteroom_refusal(enum ctl_intake_verdict verdict)
{
    return verdict == CTL_INTAKE_MEMBER_RATE     ? DROP_CONTROL_MEMBER_RATE
           : verdict == CTL_INTAKE_STRANGER_RATE ? DROP_CONTROL_RATE
                                                 : DROP_REASONS;
}

/* A payload that came to CTL_PORT. DROP_REASONS: it was handled, or waits; else why it was dropped. */
enum drop anteroom_take(struct anteroom *a, const struct ctl_endpoint *from, const uint8_t *payload,
                        size_t bytes, uint64_t now);

/* Handles some of the strangers' messages; returns how many. */
unsigned anteroom_serve(struct anteroom *a, uint64_t now);

/* Whether more wait. */
static inline bool anteroom_has_waiting(const struct anteroom *a)
{
    return a->strangers.items > 0;
}
