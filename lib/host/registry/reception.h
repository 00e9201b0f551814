/* Control messages to a registry that come by a socket of the kernel's, within bounds, since their senders
 * may be forged. What is let in (control/intake.h) of members is handled at once. What is of strangers waits
 * until members' was, each in the lane of who sends it, so that who sends much delays no other.
 *
 * Threads: the one that changes the registry. The counts are anybody's to read. now: ns, monotonic.
 */
#pragma once

#include "base/counters.h"
#include "control/intake.h"
#include "registry/fair_queue.h"
#include "registry/registry_host.h"

/* What has become of messages, under the daemon's names. Atomic. */
struct reception_counts {
    uint64_t event[EVENTS];
    uint64_t drop[DROP_REASONS];
};

struct reception {
    struct registry_host *host; /* which has begun whenever a message comes */
    /* Fills in the MAC address of an IP address. False: it is not known yet. Then the message is dropped, and
     * comes again. NULL: nobody's is needed. */
    bool (*neighbour)(void *context, struct ctl_endpoint *of);
    void *context;

    struct ctl_intake_rules rules; /* members: who is in a job now, since the registry last changed */
    struct ctl_intake intake;
    struct fair_queue strangers;
    struct reception_counts counts;
};

/* The fields above were set, and the rest is 0. */
void reception_init(struct reception *r, const struct config *cfg);
/* Another configuration. */
void reception_follow(struct reception *r, const struct config *cfg);
void reception_free(struct reception *r);

/* Handles messages that have come to this socket: a bounded number, as others have their turn, too. */
void reception_take(struct reception *r, int fd, uint64_t now);

/* A payload that came to CTL_PORT; the sender's MAC address is not known yet. */
void reception_message(struct reception *r, const struct ctl_endpoint *from, const uint8_t *payload,
                       size_t bytes, uint64_t now);

/* Handles some of the strangers' messages. True: more wait. */
bool reception_serve(struct reception *r, uint64_t now);

/* To be called at least every listening_ask_every_ms: the registry's tick. */
void reception_tick(struct reception *r, uint64_t now);
