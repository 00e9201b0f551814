#include "control/intake.h"

#include <string.h>

#include "random/splitmix.h"

/* A member sends a HEARTBEAT five times in lost_after, which is 100 ms at least, and one more each 50 ms if
 * it is told that its packets are of no job. */
static const struct throttle_rate members_rate = {.burst = 64, .per_second = 128};

/* All ranks of a host may join at once: a rank is a stranger for two JOINs, one to learn the switch's boot id
 * and one to get in. */
enum { AT_ONCE = 256, PER_SECOND = 64, JOINS_A_RANK = 2 };

static struct throttle_rate strangers_rate(unsigned workers)
{
    unsigned joins = JOINS_A_RANK * workers;
    return (struct throttle_rate){.burst = joins > AT_ONCE ? joins : AT_ONCE, .per_second = PER_SECOND};
}

void ctl_intake_rules_init(struct ctl_intake_rules *rules, unsigned workers, uint64_t seed)
{
    rules->seed = seed;
    ctl_known_init(&rules->members, ~seed);
    ctl_intake_rules_follow(rules, workers);
}

void ctl_intake_rules_follow(struct ctl_intake_rules *rules, unsigned workers)
{
    struct throttle_rate rate = strangers_rate(workers);
    __atomic_store(&rules->strangers, &rate, __ATOMIC_RELAXED);
}

void ctl_intake_init(struct ctl_intake *in, const struct ctl_intake_rules *rules)
{
    in->rules = rules;
    throttle_init(&in->members, members_rate, rules->seed);
    throttle_init(&in->strangers, rules->strangers, ~rules->seed);
}

uint64_t ctl_intake_source(const struct ctl_intake_rules *rules, const struct ctl_endpoint *from)
{
    uint64_t station = (uint64_t)from->network << 56 | (uint64_t)from->port << 48;
    for (unsigned i = 0; i < sizeof from->mac; i++)
        station |= (uint64_t)from->mac[i] << 8 * i;
    return splitmix_hash(splitmix_hash(station ^ rules->seed) ^ from->ip);
}

enum ctl_intake_verdict ctl_intake_admit(struct ctl_intake *in, const struct ctl_endpoint *from, bool above,
                                         const uint8_t *payload, size_t bytes, uint64_t now)
{
    uint64_t incarnation = ctl_peek_incarnation(payload, bytes);
    uint64_t member = ctl_known_find(&in->rules->members, incarnation, above ? NULL : from);
    if (member != 0) /* the port is what nobody can forge */
        return throttle_admit(&in->members, splitmix_hash(member ^ from->port), now) ? CTL_INTAKE_MEMBER
                                                                                     : CTL_INTAKE_MEMBER_RATE;
    __atomic_load(&in->rules->strangers, &in->strangers.rate, __ATOMIC_RELAXED);
    return throttle_admit(&in->strangers, ctl_intake_source(in->rules, from), now) ? CTL_INTAKE_STRANGER
                                                                                   : CTL_INTAKE_STRANGER_RATE;
}
