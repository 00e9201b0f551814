/* Keys at the switch: whose a sealed message is, whether it is from now, and sealing what is answered.
 *
 * A message is fresh if it repeats the challenge that the switch gave to its process. The challenge is a
 * keyed hash of the process's incarnation and of how many processes have gone, so the switch remembers
 * nothing of those that only ask; and once a process of this incarnation has gone, what it sent can never be
 * fresh again. */
#ifndef SWAGG_CORE_CONTROL_GUARD_H
#define SWAGG_CORE_CONTROL_GUARD_H

#include "control/state.h"

/* To be called once, after the configuration is set. */
void ctl_guard_init(struct ctl_registry *r);

void ctl_guard_make_secret(const struct ctl_registry *r, uint8_t secret[KEYS_SECRET_BYTES]);

/* CTL_PARSED, with from->key and *challenge filled in, if the message has no seal (0, 0), or a right one;
 * else what is wrong with it. */
enum ctl_parse_error ctl_guard_check(const struct ctl_registry *r, const struct ctl_head *head,
                                     const uint8_t *message, size_t bytes, struct ctl_endpoint *from,
                                     uint64_t *challenge);

/* Whose key that is, or CTL_NO_KEY. */
int ctl_guard_tenant(const struct ctl_registry *r, const struct ctl_endpoint *from);

/* Whether a JOIN of a process that is in no job was sent just for this. Without a key it counts as such. */
bool ctl_guard_is_fresh(const struct ctl_registry *r, const struct ctl_endpoint *from, uint64_t incarnation,
                        uint64_t challenge);

/* Whether it has a key that is retired. */
bool ctl_guard_is_retired(const struct ctl_registry *r, const struct ctl_endpoint *from);

/* The process of this incarnation is in no job any more. */
void ctl_guard_note_gone(struct ctl_registry *r, uint64_t incarnation);

/* Builds a message to this endpoint, sealed if it has a key; returns its length. */
size_t ctl_guard_build(const struct ctl_registry *r, const struct ctl_endpoint *to, struct ctl_message *m,
                       uint8_t out[CTL_MESSAGE_MAX]);

#endif
