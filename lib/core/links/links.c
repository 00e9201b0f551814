#include "links/links.h"

static const uint64_t PAUSE_MAX = 1000000000; /* ns, between two looks: in a longer one this process may have
                                                 stood still */
enum { PAUSE_TIMES_MAX = 64 };                /* of the timeout, between two tries of a standby */

void links_init(struct links *l, unsigned n, uint64_t timeout)
{
    *l = (struct links){.n = n, .timeout = timeout};
}

unsigned links_node_for(const struct links *l, unsigned place)
{
    for (unsigned i = 0; i < l->n; i++)
        if (!links_is_lost(l, (place + i) % l->n))
            return (place + i) % l->n;
    return LINKS_NONE;
}

/* One that could be taken back at once. */
static unsigned find_standby(const struct links *l, const struct links_seen seen[])
{
    for (unsigned i = 0; i < l->n; i++)
        if (links_is_lost(l, i) && seen[i].standby != 0)
            return i;
    return LINKS_NONE;
}

bool links_can_spare(const struct links *l, const struct links_seen seen[], unsigned node)
{
    for (unsigned i = 0; i < l->n; i++)
        if (i != node && !links_is_lost(l, i))
            return true;
    return find_standby(l, seen) != LINKS_NONE;
}

static void wait_longer(const struct links *l, struct links_standby *s, uint64_t now)
{
    const uint64_t twice = s->pause * 2, most = l->timeout * PAUSE_TIMES_MAX;

    s->pause = twice < l->timeout ? l->timeout : twice > most ? most : twice;
    s->try_at = now + s->pause;
}

void links_lose(struct links *l, unsigned node, uint64_t now)
{
    l->lost |= UINT32_C(1) << node;
    l->standby[node].open = false;
    wait_longer(l, &l->standby[node], now);
}

static void take_back(struct links *l, unsigned node)
{
    l->lost &= ~(UINT32_C(1) << node);
    l->silent[node] = 0;
}

unsigned links_give_up(struct links *l, const struct links_seen seen[], unsigned node, uint64_t now)
{
    const unsigned standby = find_standby(l, seen);

    links_lose(l, node, now);
    if (standby == LINKS_NONE || links_node_for(l, 0) != LINKS_NONE)
        return LINKS_NONE;
    take_back(l, standby);
    return standby;
}

void links_set_adrift(struct links *l, unsigned place)
{
    l->adrift |= UINT32_C(1) << place;
}

uint32_t links_take_back(struct links *l, const struct links_seen seen[], const uint32_t agreed[])
{
    const uint32_t before = l->lost;

    for (unsigned i = 0; i < l->n; i++)
        if (links_is_lost(l, i) && agreed[i] != 0 && seen[i].standby == agreed[i])
            take_back(l, i);
    return before & ~l->lost;
}

bool links_moves(const struct links *l, const struct links_seen seen[], unsigned place, bool unheard)
{
    return links_is_adrift(l, place) ? !unheard : seen[place].node != links_node_for(l, place);
}

void links_moved(struct links *l, unsigned place)
{
    l->adrift &= ~(UINT32_C(1) << place);
}

/* By all places that it sums. */
static bool answers(const struct links *l, const struct links_seen seen[], unsigned node)
{
    for (unsigned i = 0; i < l->n; i++)
        if (seen[i].node == node && !seen[i].answers)
            return false;
    return true;
}

unsigned links_silent(struct links *l, const struct links_seen seen[], uint64_t now)
{
    const uint64_t since = now - l->looked_at, passed = since < PAUSE_MAX ? since : PAUSE_MAX;
    uint32_t answer = 0;

    l->looked_at = now;
    for (unsigned i = 0; i < l->n; i++)
        if (!links_is_lost(l, i) && answers(l, seen, i))
            answer |= UINT32_C(1) << i;
    if (answer == 0 && find_standby(l, seen) == LINKS_NONE)
        return LINKS_NONE;
    for (unsigned i = 0; i < l->n; i++) {
        l->silent[i] = answer >> i & 1 ? 0 : l->silent[i] + passed;
        if (!links_is_lost(l, i) && l->silent[i] >= l->timeout)
            return links_can_spare(l, seen, i) ? i : LINKS_NONE;
    }
    return LINKS_NONE;
}

enum links_deed links_look_after(struct links *l, const struct links_seen seen[], unsigned node, uint64_t now)
{
    struct links_standby *s = &l->standby[node];
    const bool lost = links_is_lost(l, node);

    if (!s->open) /* until its place goes on elsewhere the ranks are at the loss of the link */
        return lost && !seen[node].joining && now >= s->try_at ? LINKS_OPEN : LINKS_NOTHING;
    if (!lost && !seen[node].joining && seen[node].node == node) {
        s->open = false;
        return LINKS_LEAVE;
    }
    if (!seen[node].standby_failed)
        return LINKS_NOTHING;
    s->open = false;
    if (!lost)
        return LINKS_GIVE_UP;
    wait_longer(l, s, now);
    return LINKS_CLOSE;
}

void links_opened(struct links *l, unsigned node, bool open, uint64_t now)
{
    l->standby[node].open = open;
    if (!open)
        wait_longer(l, &l->standby[node], now);
}
