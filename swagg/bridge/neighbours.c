#include "bridge/neighbours.h"

#define ASK_NS   UINT64_C(1000000000)
#define AGAIN_NS UINT64_C(30000000000) /* hosts believe an answer for about as long */

static unsigned number_of(const struct neighbours *n, unsigned network, uint32_t ip)
{
    unsigned i = 0;

    while (i < n->n && (n->at[i].ip != ip || n->at[i].network != network))
        i++;
    return i;
}

unsigned neighbours_add(struct neighbours *n, unsigned network, uint32_t ip)
{
    const unsigned number = number_of(n, network, ip);

    if (number == n->n)
        n->at[n->n++] = (struct neighbour){.ip = ip, .network = network};
    return number;
}

bool neighbours_note(struct neighbours *n, unsigned network, uint32_t ip, const struct net_mac *mac,
                     uint8_t port)
{
    const unsigned number = number_of(n, network, ip);

    if (number == n->n)
        return false;
    sighting_note(&n->at[number].seen, mac, port);
    return true;
}

bool neighbours_find(const struct neighbours *n, unsigned number, struct net_mac *mac, uint8_t *port)
{
    return sighting_look(&n->at[number].seen, mac, port);
}

void neighbours_lose(struct neighbours *n, uint8_t port)
{
    struct net_mac mac;
    uint8_t heard_on;

    for (unsigned i = 0; i < n->n; i++)
        if (neighbours_find(n, i, &mac, &heard_on) && heard_on == port) {
            sighting_take(&n->at[i].seen, &mac, &heard_on);
            n->at[i].asked_at = 0;
        }
}

bool neighbours_is_due(struct neighbours *n, unsigned number, uint64_t now, int *port)
{
    struct neighbour *to = &n->at[number];
    struct net_mac mac;
    uint8_t heard_on;
    const bool known = neighbours_find(n, number, &mac, &heard_on);

    if (to->asked_at != 0 && now - to->asked_at < (known ? AGAIN_NS : ASK_NS))
        return false;
    to->asked_at = now;
    *port = known ? heard_on : -1;
    return true;
}
