/* Sealed control messages: the 32 bytes behind a message by which its sender shows that it has a key
 * (docs/protocol.md, "Keys"). Pure and reentrant.
 *
 *   0..7    which key: struct keys_key.id
 *   8..15   challenge: from the switch, what this worker is to say next; from a worker, what it heard last,
 *           0 if nothing
 *   16..31  tag: the first half of the keyed hash of "swagg", the worker's IP address and control port, and
 *           all bytes of the message before the tag
 *
 * The address does not travel: a message that comes from elsewhere, or goes elsewhere, has no right tag.
 */
#pragma once

#include "wire/control.h"

/* The worker's end of the control messages, also of those that the switch sends. */
struct ctl_address {
    uint32_t ip;       /* network order */
    uint16_t udp_port; /* host order */
};

struct ctl_seal {
    uint64_t key_id, challenge;
};

/* Appends the seal to a message that ctl_build has made with head.sealed, and which has room for it. Returns
 * the length of both. */
size_t ctl_seal_append(uint8_t *message, size_t bytes, const struct keys_library *library,
                       const struct keys_key *key, const struct ctl_address *worker, uint64_t challenge);

/* What a sealed message claims; false: it is too short for a seal. */
bool ctl_seal_parse(struct ctl_seal *seal, const uint8_t *message, size_t bytes);

/* Whether its tag is right; the key is that of seal.key_id. */
bool ctl_seal_holds(const uint8_t *message, size_t bytes, const struct keys_library *library,
                    const struct keys_key *key, const struct ctl_address *worker);
