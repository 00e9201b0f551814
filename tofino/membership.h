/* Who is in which job, by the core's registry (control/registry.h): what it wants done to the switch is asked
 * of the helper, what it wants said goes to send. One thread; no sockets here.
 */
#ifndef SWAGG_TOFINO_MEMBERSHIP_H
#define SWAGG_TOFINO_MEMBERSHIP_H

#include "config/config.h"
#include "control/registry.h"
#include "helper.h"

struct membership;

struct membership_parts {
    const struct config *cfg; /* outlives it, as does the helper */
    struct helper *helper;
    unsigned elements; /* of a packet, at most: 32, 64, 128 or 256 */
    void (*send)(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes);
    void (*log)(const char *job, const char *what);
    void *context;
};

/* NULL: no memory, or the configuration is out of the registry's range. */
struct membership *membership_open(const struct membership_parts *parts);
void membership_close(struct membership *m);

void membership_receive(struct membership *m, const struct ctl_endpoint *from, const uint8_t *payload,
                        size_t bytes, uint64_t now);
/* At least every lost_after / 10. */
void membership_tick(struct membership *m, uint64_t now);
/* The helper's answer (helper_answered). */
void membership_answered(struct membership *m, uint64_t id, const char *error, uint64_t now);

#endif
