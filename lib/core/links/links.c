#include "links/links.h"

static const uint64_t MS = 1000000;
enum {
    PAUSE_MAX_MS = 1000,  /* between two looks: in a longer one this process may have stood still */
    PAUSE_TIMES_MAX = 64, /* of the timeout, between two tries of a standby */
    JOINS_SILENT_MS = 3 * CTL_JOIN_INTERVAL_MAX_MS,
};

/* For two heartbeats it has not answered; one that goes on for another, while it was asked to three times. */
bool links_session_is_silent(const struct ctl_session *session)
{
    const uint64_t ms = session->generation > 0 ? session->ready.lost_after_ms / 2 : JOINS_SILENT_MS;

    return ctl_session_silence(session) > ms * MS;
}

bool links_session_rests(const struct ctl_session *session, unsigned n)
{
    const enum ctl_reason reason = (enum ctl_reason)session->failure.reason;

    return session->state == CTL_SESSION_FAILED &&
           (reason == CTL_LEFT_RESUMING || (n > 1 && reason == CTL_CANNOT_RESUME));
}

/* One that rests is asked nothing. */
bool links_answers(const struct ctl_session *session, bool joining, unsigned unanswered)
{
    if (links_session_rests(session, LINKS_MAX))
        return true;
    return session->state != CTL_SESSION_REJOINING && !links_session_is_silent(session) &&
           (joining || unanswered < LINKS_UNANSWERED_MANY);
}

void links_see_standby(struct links_seen *seen, const struct ctl_session *session)
{
    seen->standby_joined = session->state == CTL_SESSION_READY;
    seen->standby = seen->standby_joined && !links_session_is_silent(session) ? session->epoch : 0;
    seen->standby_failed = session->state != CTL_SESSION_JOINING && session->state != CTL_SESSION_READY;
}

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

/* The same for who is told of a loss: one whose switch is silent will do, where there is no other. */
static unsigned find_joined(const struct links *l, const struct links_seen seen[])
{
    const unsigned standby = find_standby(l, seen);

    for (unsigned i = 0; i < l->n && standby == LINKS_NONE; i++)
        if (links_is_lost(l, i) && seen[i].standby_joined)
            return i;
    return standby;
}

static bool has_another(const struct links *l, unsigned node)
{
    for (unsigned i = 0; i < l->n; i++)
        if (i != node && !links_is_lost(l, i))
            return true;
    return false;
}

bool links_can_spare(const struct links *l, const struct links_seen seen[], unsigned node)
{
    return has_another(l, node) || find_standby(l, seen) != LINKS_NONE;
}

bool links_outlive_loss(const struct links *l, const struct links_seen seen[], unsigned place,
                        enum ctl_reason reason)
{
    return reason == CTL_MOVED_BACK || (reason == CTL_RANK_LOST && (has_another(l, seen[place].node) ||
                                                                    find_joined(l, seen) != LINKS_NONE));
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
    l->deserted &= ~l->lost;
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
    const unsigned standby = find_joined(l, seen);

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
    if (l->deserted >> node & 1)
        return false;
    for (unsigned i = 0; i < l->n; i++)
        if (seen[i].node == node && !seen[i].answers)
            return false;
    return true;
}

unsigned links_silent(struct links *l, const struct links_seen seen[], uint64_t now)
{
    const uint64_t since = now - l->looked_at, passed = since < PAUSE_MAX_MS * MS ? since : PAUSE_MAX_MS * MS;
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
            return i; /* which can be spared: for the one that answers, or the standby */
    }
    return LINKS_NONE;
}

enum links_deed links_look_after(struct links *l, const struct links_seen seen[], unsigned node, uint64_t now)
{
    struct links_standby *s = &l->standby[node];
    const bool lost = links_is_lost(l, node), sums = !seen[node].joining && seen[node].node == node;

    if (sums)
        l->deserted &= ~(UINT32_C(1) << node);
    if (!s->open) /* until its place goes on elsewhere the ranks are at the loss of the link */
        return lost && !seen[node].joining && now >= s->try_at ? LINKS_OPEN : LINKS_NOTHING;
    if (!lost && sums) {
        s->open = false;
        return LINKS_LEAVE;
    }
    if (!seen[node].standby_failed)
        return LINKS_NOTHING;
    s->open = false;
    if (!lost) {
        l->deserted |= UINT32_C(1) << node;
        return LINKS_GIVE_UP;
    }
    wait_longer(l, s, now);
    return LINKS_CLOSE;
}

void links_opened(struct links *l, unsigned node, bool open, uint64_t now)
{
    l->standby[node].open = open;
    if (!open)
        wait_longer(l, &l->standby[node], now);
}
