/* Who is in which job: the registry (registry/registry_host.h) of a Tofino. What it wants done to the switch
 * is asked of the helper, what it wants said goes to send. One thread; no sockets, no clock here.
 *
 * Running jobs outlive it: they are in a file before their workers are told of them, and in the switch. The
 * next life asks the helper which of them the switch still has, and goes on with these, under the same boot
 * id, so that their workers notice nothing.
 */
#pragma once

#include "numbers.h"
#include "registry/registry_host.h"
#include "saved.h"

struct membership_parts {
    const struct config *cfg; /* outlives it, as does the helper */
    struct helper *helper;
    const json_t *setup; /* what the helper is told at first (setup.h), and "mac" */
    unsigned elements;   /* of a packet, at most: 32, 64, 128 or 256 */
    void (*send)(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes);
    const char *state; /* the file; outlives it */
    void *context;
};

/* Its registry is NULL until the helper has said which jobs go on. */
struct membership {
    struct registry_host common; /* the first, for functions of its kind */
    struct membership_parts parts;
    struct numbers numbers;
    struct saved *before; /* until then: the jobs of the life before; NULL: there are none */
    uint64_t begun;       /* the request that says which go on */
    bool failed;          /* its answer was no; the log says why */
    uint64_t kept;        /* the fingerprint of what is in the file, or was to be */
    bool unwritten;       /* it could not be written, and is to be tried again */
};

/* Asks the helper which jobs go on. 0, or -errno after logging; membership_close follows in any case. */
int membership_open(struct membership *m, const struct membership_parts *parts, uint64_t now);
void membership_close(struct membership *m);

/* Until it has, by an answer of the helper's, nothing else may be asked of it. */
static inline bool membership_has_begun(const struct membership *m)
{
    return m->common.registry != NULL;
}

/* The helper's answer (helper_answered). */
void membership_answered(struct membership *m, uint64_t id, const json_t *answer, uint64_t now);

/* Another static job was added, or one deleted. False: the file could not be written. */
bool membership_follow(struct membership *m, uint64_t now);

/* To be called now and then, before the registry's tick: a file that could not be written is tried again. */
void membership_tick(struct membership *m);
