#include "bridge/neighbours.h"

#define ASK_NS     UINT64_C(1000000000)
#define AGAIN_NS   UINT64_C(30000000000) /* hosts believe an answer for about as long */
#define SILENT_MAX 3                     /* questions */

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

void neighbours_set_keyed(struct neighbours *n, unsigned number, bool keyed)
{
    struct neighbour *to = &n->at[number];

    __atomic_store_n(&to->keyed, keyed, __ATOMIC_RELAXED);
    to->proven = to->proven && keyed;
}

static bool is(const struct sighting *s, const struct net_mac *mac, uint8_t port)
{
    struct net_mac its;
    uint8_t its_port;

    return sighting_look(s, &its, &its_port) && its_port == port && net_same_mac(&its, mac);
}

static bool is_known(const struct neighbour *of)
{
    struct net_mac mac;
    uint8_t port;

    return sighting_look(&of->seen, &mac, &port);
}

static void note_answer(struct neighbour *from, const struct net_mac *mac, uint8_t port)
{
    const bool keyed = __atomic_load_n(&from->keyed, __ATOMIC_RELAXED);

    if (keyed && is_known(from) && !is(&from->seen, mac, port)) {
        sighting_note(&from->other, mac, port);
        return;
    }
    sighting_note(&from->seen, mac, port);
    __atomic_store_n(&from->answered, true, __ATOMIC_RELAXED);
    if (!keyed)
        __atomic_store_n(&from->everywhere, false, __ATOMIC_RELAXED);
}

bool neighbours_note(struct neighbours *n, unsigned network, uint32_t ip, const struct net_mac *mac,
                     uint8_t port, bool answer)
{
    const unsigned number = number_of(n, network, ip);
    struct neighbour *from = &n->at[number];
    bool same;

    if (number == n->n)
        return false;
    same = is(&from->seen, mac, port);
    if (answer && (same || __atomic_load_n(&from->everywhere, __ATOMIC_RELAXED)))
        note_answer(from, mac, port);
    else if (!same)
        __atomic_store_n(&from->doubted, true, __ATOMIC_RELAXED);
    return true;
}

void neighbours_prove(struct neighbours *n, unsigned number, const struct net_mac *mac, uint8_t port)
{
    struct neighbour *to = &n->at[number];

    if (is(&to->other, mac, port)) {
        sighting_note(&to->seen, mac, port);
        to->other = (struct sighting){0};
    }
    to->proven = to->proven || is(&to->seen, mac, port);
}

bool neighbours_find(const struct neighbours *n, unsigned number, struct net_mac *mac, uint8_t *port)
{
    return sighting_look(&n->at[number].seen, mac, port);
}

bool neighbours_find_other(const struct neighbours *n, unsigned number, struct net_mac *mac, uint8_t *port)
{
    return sighting_look(&n->at[number].other, mac, port);
}

static void lose(struct sighting *s, uint8_t port)
{
    struct net_mac mac;
    uint8_t heard_on;

    if (sighting_look(s, &mac, &heard_on) && heard_on == port)
        sighting_take(s, &mac, &heard_on);
}

void neighbours_lose(struct neighbours *n, uint8_t port)
{
    for (struct neighbour *to = n->at; to < n->at + n->n; to++) {
        const bool known = is_known(to);

        lose(&to->other, port);
        lose(&to->seen, port);
        if (known && !is_known(to)) {
            to->asked_at = 0;
            to->proven = false;
        }
    }
}

bool neighbours_is_due(struct neighbours *n, unsigned number, uint64_t now, int *port)
{
    struct neighbour *to = &n->at[number];
    const bool answered = __atomic_load_n(&to->answered, __ATOMIC_RELAXED);
    const bool calm = is_known(to) && answered && !__atomic_load_n(&to->doubted, __ATOMIC_RELAXED);
    struct net_mac mac;
    uint8_t heard_on;
    bool everywhere;

    if (to->asked_at != 0 && now - to->asked_at < (calm ? AGAIN_NS : ASK_NS))
        return false;
    to->silent = answered ? 0 : to->silent + 1;
    to->asked_at = now;
    everywhere = !neighbours_find(n, number, &mac, &heard_on) || to->silent >= SILENT_MAX ||
                 (__atomic_load_n(&to->keyed, __ATOMIC_RELAXED) && !to->proven);
    *port = everywhere ? -1 : heard_on;
    __atomic_store_n(&to->answered, false, __ATOMIC_RELAXED);
    __atomic_store_n(&to->doubted, false, __ATOMIC_RELAXED);
    __atomic_store_n(&to->everywhere, everywhere, __ATOMIC_RELAXED);
    return true;
}
