/* Keys at the switch: whose a sealed message is, whether it is from now, and sealing what is answered.
 *
 * A message is fresh if it repeats the challenge that the switch gave to its process. The challenge is a
 * keyed hash of the process's incarnation and of how many processes have gone, so the switch remembers
 * nothing of those that only ask; and once a process of this incarnation has gone, what it sent can never be
 * fresh again. */
#pragma once

#include "control/actions.h"

enum { CTL_GUARD_LANES = 64 /* so that one that goes makes few others ask again */ };

/* What challenges are made of. */
struct ctl_challenges {
    uint8_t secret[KEYS_SECRET_BYTES]; /* random at the start */
    uint32_t gone[CTL_GUARD_LANES];    /* processes that are in no job any more, by incarnation */
};

struct ctl_guard {
    const struct keys_library *library; /* NULL: there are no keys */
    const struct ctl_tenant_key *key;   /* [keys], as in struct ctl_registry_config */
    unsigned keys;
    const struct ctl_lasting *lasting; /* NULL: there are no tickets */
    struct ctl_challenges challenges;  /* its secret is whoever's has the guard to make, if there are keys */
};

/* random: as in struct ctl_registry_actions. */
void ctl_guard_make_secret(uint8_t secret[KEYS_SECRET_BYTES], uint64_t (*random)(void *ctx), void *ctx);

/* The boot id that the switch shows to this address, which is to repeat it: made of the switch's own, which
 * it shows to nobody, and the address. Whoever sends in the name of another address cannot know that one's.
 * Without a library it is the switch's own. */
uint64_t ctl_guard_boot_id(const struct ctl_guard *g, uint64_t boot_id, const struct ctl_endpoint *e);

/* CTL_PARSED, with from->key and *challenge filled in, if the message has no seal (0, 0), or a right one;
 * else what is wrong with it. */
enum ctl_parse_error ctl_guard_check(const struct ctl_guard *g, const struct ctl_head *head,
                                     const uint8_t *message, size_t bytes, struct ctl_endpoint *from,
                                     uint64_t *challenge);

/* Whose key that is, or CTL_NO_KEY. */
int ctl_guard_tenant(const struct ctl_guard *g, const struct ctl_endpoint *from);

/* Whether a JOIN of a process that is in no job was sent just for this. Without a key it counts as such. */
bool ctl_guard_is_fresh(const struct ctl_guard *g, const struct ctl_endpoint *from, uint64_t incarnation,
                        uint64_t challenge);

/* Whether it has a key that is retired; then *why says so. */
bool ctl_guard_is_retired(const struct ctl_guard *g, const struct ctl_endpoint *from,
                          struct ctl_failure *why);

/* What this rank is given with READY, and repeats after a restart of the switch. Whoever was not in the job
 * can neither make it nor find it by trying. Never 0, but where there are none. */
uint64_t ctl_guard_ticket(const struct ctl_guard *g, const struct ctl_entry *job, unsigned rank);

/* Whether a JOIN that resumes is believed: it has the rank's ticket, or this switch cannot tell. */
bool ctl_guard_believes(const struct ctl_guard *g, const struct ctl_message *join);

/* The process of this incarnation is in no job any more. */
void ctl_guard_note_gone(struct ctl_guard *g, uint64_t incarnation);

/* Builds a message to this endpoint, sealed if it has a key; returns its length. above: what the process is
 * to repeat to the switch above; a process that hears another challenge JOINs again at once. 0: there is
 * none. */
size_t ctl_guard_build(const struct ctl_guard *g, const struct ctl_endpoint *to, uint64_t above,
                       struct ctl_message *m, uint8_t out[CTL_MESSAGE_MAX]);
