/* Who is in which job, by the core's registry (control/registry.h): what it wants done to the switch is asked
 * of the helper, what it wants said goes to send. One thread; no sockets here.
 *
 * Running jobs outlive it: they are in a file before their workers are told of them, and in the switch. The
 * next life asks the helper which of them the switch still has, and goes on with these, under the same boot
 * id, so that their workers notice nothing.
 */
#ifndef SWAGG_TOFINO_MEMBERSHIP_H
#define SWAGG_TOFINO_MEMBERSHIP_H

#include "config/config.h"
#include "control/registry.h"
#include "helper.h"
#include "registry/keyring.h"
#include "views/registry_views.h"

struct membership;

struct membership_parts {
    const struct config *cfg; /* outlives it, as do the keys and the helper */
    const struct keyring *keys;
    struct helper *helper;
    const json_t *place; /* what the helper is told at first (place.h), and "mac" */
    unsigned elements;   /* of a packet, at most: 32, 64, 128 or 256 */
    void (*send)(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes);
    void (*log)(const char *job, const char *what); /* job: NULL: it is about none */
    const char *state;                              /* the file; outlives it */
    void *context;
};

/* Asks the helper which jobs go on. NULL: no memory, or the configuration is out of the registry's range. */
struct membership *membership_open(const struct membership_parts *parts);
void membership_close(struct membership *m);

/* Until it has, by an answer of the helper's, nothing else may be asked of it. */
bool membership_has_begun(const struct membership *m);
/* The answer was no; log says why. */
bool membership_has_failed(const struct membership *m);

/* As ctl_registry_receive. */
enum ctl_parse_error membership_receive(struct membership *m, const struct ctl_endpoint *from,
                                        const uint8_t *payload, size_t bytes, uint64_t now);
/* At least every lost_after / 10. */
void membership_tick(struct membership *m, uint64_t now);
/* The helper's answer (helper_answered). */
void membership_answered(struct membership *m, uint64_t id, const json_t *answer, uint64_t now);

/* As ctl_registry_end and ctl_registry_drain. */
typedef bool membership_change(struct membership *m, int tenant, const char *name, uint64_t now);
membership_change membership_end, membership_drain;

/* To be looked at. */
struct registry_shown membership_shown(const struct membership *m, uint64_t now);

#endif
