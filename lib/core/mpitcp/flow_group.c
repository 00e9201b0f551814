/* A group's sums: when one begins, what is added, when it is over; and who leaves the group. */
#include "mpitcp/flow_state.h"

#include <string.h>

const char *mtp_reason_text(enum mtp_reason reason)
{
    static const char *const texts[MTP_REASONS] = {
        [MTP_NO_REASON] = "",
        [MTP_NO_OPEN_MPI] = "what comes is not Open MPI's",
        [MTP_SECOND] = "a sender has a second connection",
        [MTP_DIFFERENT] = "the senders' messages differ",
        [MTP_NOT_ALL] = "not all senders have announced a message in time",
        [MTP_OTHER_ANSWER] = "the root does not answer by one PUT of the whole message",
        [MTP_ENDED] = "a connection has ended while others waited for it",
        [MTP_CUT] = "a connection has ended in the midst of a sum",
        [MTP_BROKEN] = "somebody goes on otherwise than a sum must, in its midst",
    };

    return texts[reason];
}

bool mtp_group_init(struct mtp_group *g, const struct mtp_config *cfg)
{
    uint8_t element[MTP_ELEMENT_MAX], code;
    const size_t bytes = mtp_neutral(cfg->type, cfg->op, element, &code);

    if (bytes == 0 || cfg->senders < 2 || cfg->senders > MTP_SENDERS_MAX)
        return false;
    memset(g, 0, sizeof(*g));
    g->cfg = *cfg;
    g->op = cfg->kernels->operations[code];
    g->element = bytes;
    g->waits_since = UINT64_MAX;
    for (size_t at = 0; at < sizeof(g->neutral); at += bytes)
        memcpy(g->neutral + at, element, bytes);
    return true;
}

/* --- who is in the group --- */

static void detach(struct mtp_flow *f)
{
    if (f->attached) {
        f->group->flow[f->sender] = NULL;
        f->group->attached--;
        f->attached = false;
    }
}

/* The flow is a relay from here on, and of no group. */
static void relay(struct mtp_flow *f, enum mtp_reason reason)
{
    if (!f->relay)
        f->group->counts.relayed[reason]++;
    f->relay = true;
    detach(f);
}

static void relay_all(struct mtp_group *g, enum mtp_reason reason)
{
    for (unsigned s = 0; s < g->cfg.senders; s++)
        if (g->flow[s] != NULL)
            relay(g->flow[s], reason);
    g->waits_since = UINT64_MAX;
}

bool mtp_is_broken(const struct mtp_flow *f)
{
    for (unsigned i = 0; i < MTP_BROKEN_MAX; i++)
        if (f->job != 0 && f->group->broken[i] == f->job)
            return true;
    return false;
}

static void end_flow(struct mtp_flow *f, enum mtp_reason reason)
{
    f->dead = true;
    relay(f, reason);
}

void mtp_break(struct mtp_flow *f, enum mtp_reason reason)
{
    struct mtp_group *g = f->group;

    if (!mtp_is_broken(f))
        g->broken[g->breaks++ % MTP_BROKEN_MAX] = f->job;
    if (f->attached) {
        for (unsigned s = 0; s < g->cfg.senders; s++)
            if (g->flow[s] != NULL)
                end_flow(g->flow[s], reason);
        g->summing = false;
        g->waits_since = UINT64_MAX;
    }
    end_flow(f, reason);
}

void mtp_unexpected(struct mtp_flow *f, enum mtp_reason reason)
{
    if (!f->attached)
        relay(f, reason);
    else if (f->group->summing)
        mtp_break(f, MTP_BROKEN);
    else
        relay_all(f->group, reason);
}

void mtp_end(struct mtp_flow *f)
{
    struct mtp_group *g = f->group;
    bool waited_for = false;

    if (!f->attached)
        return;
    if (g->summing) {
        mtp_break(f, MTP_CUT);
        return;
    }
    detach(f);
    for (unsigned s = 0; s < g->cfg.senders; s++)
        waited_for |= g->flow[s] != NULL && g->flow[s]->announcements > 0;
    if (waited_for)
        relay_all(g, MTP_ENDED);
    else
        g->waits_since = UINT64_MAX; /* what was answered was its message */
}

/* --- a sum begins --- */

static bool all_are_alike(const struct mtp_group *g)
{
    const struct ob1_rndv *first = &g->flow[0]->announced[0];

    for (unsigned s = 1; s < g->cfg.senders; s++) {
        const struct ob1_rndv *r = &g->flow[s]->announced[0];

        if (r->length != first->length || r->context != first->context)
            return false;
    }
    return true;
}

static bool fits(const struct mtp_flow *f)
{
    return f->answer.offset == 0 && f->answer.length == f->announced[0].length;
}

/* From the highest rank down, as Open MPI's linear reduce. */
static void put_in_order(struct mtp_group *g)
{
    for (unsigned s = 0; s < g->cfg.senders; s++) {
        unsigned at = s;

        for (; at > 0 && g->order[at - 1]->announced[0].source < g->flow[s]->announced[0].source; at--)
            g->order[at] = g->order[at - 1];
        g->order[at] = g->flow[s];
    }
}

static void give_role(struct mtp_flow *f)
{
    struct mtp_group *g = f->group;
    const bool ends_alone = g->answers >= 2 && g->cfg.others == MTP_KEPT;

    f->role = g->answers == 0 ? MTP_CARRIES : ends_alone ? MTP_END_ALONE : MTP_NEUTRALS;
    g->answers++;
}

/* The first answer carries the sum; others that came meanwhile follow in the order of the senders. */
static void begin(struct mtp_group *g, struct mtp_flow *first)
{
    g->summing = true;
    g->length = first->announced[0].length;
    g->answers = 0;
    put_in_order(g);
    give_role(first);
    for (unsigned s = 0; s < g->cfg.senders; s++)
        if (g->flow[s]->answered && g->flow[s] != first)
            give_role(g->flow[s]);
}

/* The earliest of the answers that wait; all others came while it waited, too. */
static struct mtp_flow *an_answered(struct mtp_group *g)
{
    for (unsigned s = 0; s < g->cfg.senders; s++)
        if (g->flow[s] != NULL && g->flow[s]->answered)
            return g->flow[s];
    return NULL;
}

static void try_to_begin(struct mtp_group *g)
{
    struct mtp_flow *first = an_answered(g);

    if (g->summing || g->attached < g->cfg.senders)
        return;
    for (unsigned s = 0; s < g->cfg.senders; s++)
        if (g->flow[s]->announcements == 0)
            return;
    if (!all_are_alike(g))
        relay_all(g, MTP_DIFFERENT);
    else if (first != NULL && !fits(first))
        relay_all(g, MTP_OTHER_ANSWER);
    else if (first != NULL)
        begin(g, first);
}

void mtp_announced(struct mtp_flow *f, const struct ob1_rndv *r)
{
    struct mtp_group *g = f->group;

    if (!f->attached) {
        if (g->flow[f->sender] != NULL || f->relay) {
            relay(f, MTP_SECOND);
            return;
        }
        g->flow[f->sender] = f;
        g->attached++;
        f->attached = true;
    }
    f->announced[f->announcements++] = *r;
    try_to_begin(g);
}

void mtp_answered(struct mtp_flow *f, const uint8_t bytes[OB1_PUT_BYTES], uint64_t now)
{
    struct mtp_group *g = f->group;

    f->answered = true;
    memcpy(f->answer_bytes, bytes, OB1_PUT_BYTES);
    ob1_parse_put(&f->answer, bytes);
    if (g->waits_since == UINT64_MAX)
        g->waits_since = now;
    if (!g->summing)
        try_to_begin(g);
    else if (fits(f))
        give_role(f);
    else
        mtp_break(f, MTP_BROKEN);
}

void mtp_tick(struct mtp_group *g, uint64_t now)
{
    if (!g->summing && g->waits_since != UINT64_MAX && now - g->waits_since >= g->cfg.wait_ns)
        relay_all(g, MTP_NOT_ALL);
}

/* --- a sum --- */

static const struct mtp_flow *before(const struct mtp_flow *f)
{
    const struct mtp_group *g = f->group;
    unsigned at = 0;

    while (g->order[at] != f)
        at++;
    return at == 0 ? NULL : g->order[at - 1];
}

static uint64_t gone(const struct mtp_group *g)
{
    for (unsigned s = 0; s < g->cfg.senders; s++)
        if (g->flow[s]->role == MTP_CARRIES)
            return g->flow[s]->begun ? g->flow[s]->sent : 0;
    return 0;
}

uint64_t mtp_may_add(const struct mtp_flow *f)
{
    const struct mtp_flow *ahead = before(f);
    const uint64_t most = gone(f->group) + MTP_WINDOW_BYTES;
    const uint64_t end = ahead != NULL ? ahead->taken : most < f->group->length ? most : f->group->length;

    return end - f->taken;
}

void mtp_add(struct mtp_flow *f, const uint8_t *bytes, size_t n)
{
    struct mtp_group *g = f->group;
    const bool begins = before(f) == NULL;

    while (n > 0) {
        const size_t at = f->taken % MTP_WINDOW_BYTES, whole = MTP_WINDOW_BYTES - at,
                     part = n < whole ? n : whole;

        if (begins)
            memcpy(g->window + at, bytes, part);
        else
            g->op.fold(g->window + at, bytes, part);
        f->taken += part;
        bytes += part;
        n -= part;
    }
}

static void forget_message(struct mtp_flow *f)
{
    f->announcements--;
    memmove(f->announced, f->announced + 1, f->announcements * sizeof(f->announced[0]));
    f->answered = f->told = f->ended = f->begun = f->finished = false;
    f->role = MTP_NO_ROLE;
    f->taken = f->sent = 0;
}

void mtp_look_for_end(struct mtp_group *g)
{
    for (unsigned s = 0; s < g->cfg.senders; s++)
        if (!g->flow[s]->finished || !g->flow[s]->ended)
            return;
    g->counts.sums++;
    g->counts.summed_bytes += g->length;
    g->summing = false;
    g->waits_since = UINT64_MAX;
    for (unsigned s = 0; s < g->cfg.senders; s++)
        forget_message(g->flow[s]);
    try_to_begin(g);
}
