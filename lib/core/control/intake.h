/* What is let in of control messages, before anything is kept or done about them: whoever sends too many
 * loses his own, and nobody else's. All programs with a registry have it where their messages arrive.
 *
 * A member of a job (known.h) may send as many as it ever has reason to, several times over. All others have
 * a rate for each address; and where theirs wait, they wait apart from members', since they may be as many as
 * there are addresses to forge.
 *
 * Who has the incarnation of a member, for he has seen its messages, and sends from its address through the
 * same port, can use up that member's rate, and no other's.
 *
 * Pure: no clock (now in ns, monotonic), memory is the caller's.
 */
#pragma once

#include "control/known.h"
#include "share/throttle.h"

/* Of all threads that receive; changed by one, which handles the messages. */
struct ctl_intake_rules {
    _Alignas(uint64_t) struct throttle_rate strangers; /* of an address; atomic */
    uint64_t seed;                                     /* as in struct ctl_known */
    struct ctl_known members;
};

/* workers: of the largest job. */
void ctl_intake_rules_init(struct ctl_intake_rules *rules, unsigned workers, uint64_t seed);
void ctl_intake_rules_follow(struct ctl_intake_rules *rules, unsigned workers);

/* Of one thread. */
struct ctl_intake {
    const struct ctl_intake_rules *rules;
    struct throttle members, strangers;
};

void ctl_intake_init(struct ctl_intake *in, const struct ctl_intake_rules *rules);

enum ctl_intake_verdict {
    CTL_INTAKE_MEMBER,        /* let in, to be handled at once */
    CTL_INTAKE_STRANGER,      /* let in, to be handled once members' are */
    CTL_INTAKE_MEMBER_RATE,   /* not let in: more than a member has reason to send */
    CTL_INTAKE_STRANGER_RATE, /* not let in: too many of an address that is no member's */
};

/* from: where it came from. above: it came from a switch above, for a process below. */
enum ctl_intake_verdict ctl_intake_admit(struct ctl_intake *in, const struct ctl_endpoint *from, bool above,
                                         const uint8_t *payload, size_t bytes, uint64_t now);

/* A number of whoever sends from there: his place, where strangers' messages wait. */
uint64_t ctl_intake_source(const struct ctl_intake_rules *rules, const struct ctl_endpoint *from);
