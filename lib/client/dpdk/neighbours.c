#include "dpdk/neighbours.h"

#include <stddef.h>

#include "monotonic.h"

enum {
    ASK_MS = 200,     /* while there is no answer */
    RENEW_MS = 10000, /* an answer is as old */
};

static struct neighbour *find(struct neighbours *n, uint32_t ip)
{
    for (unsigned i = 0; i < NEIGHBOURS_MAX; i++)
        if (n->at[i].ip == ip)
            return &n->at[i];
    return NULL;
}

/* A place that is free, or that of the one who was used longest ago. */
static struct neighbour *make(struct neighbours *n, uint32_t ip)
{
    struct neighbour *oldest = &n->at[0];
    for (unsigned i = 1; i < NEIGHBOURS_MAX; i++)
        if (n->at[i].used_at < oldest->used_at)
            oldest = &n->at[i];
    *oldest = (struct neighbour){.ip = ip};
    return oldest;
}

static bool question_is_due(const struct neighbour *one, uint64_t now)
{
    const bool wanted = !one->known || now - one->heard_at >= RENEW_MS * NS_PER_MS;
    return wanted && (one->asked_at == 0 || now - one->asked_at >= ASK_MS * NS_PER_MS);
}

const struct net_mac *neighbours_find(struct neighbours *n, uint32_t ip, uint64_t now, bool *ask)
{
    struct neighbour *one = find(n, ip);
    if (!one)
        one = make(n, ip);
    one->used_at = now;
    *ask = question_is_due(one, now);
    if (*ask)
        one->asked_at = now;
    return one->known ? &one->mac : NULL;
}

void neighbours_hear(struct neighbours *n, uint32_t ip, const struct net_mac *mac, uint64_t now)
{
    struct neighbour *one = ip != 0 && !net_is_group(mac) ? find(n, ip) : NULL;
    if (!one)
        return;
    one->mac = *mac;
    one->known = true;
    one->heard_at = now;
}
