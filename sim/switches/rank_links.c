#include "switches/rank_links.h"

#include <string.h>

#include "process_drive.h"
#include "switchml/worker.h"

enum { LOOK_MS = 20, STANDBY_WITHIN_S = 1000000, STANDBY_SLOTS = 2 };

void rank_note(struct switches_rank *r, uint64_t what)
{
    uint64_t mixed = r->world->digest ^ (rank_now(r) * LINKS_MAX + r->rank) ^ what << 48;

    r->world->digest = rng_next(&mixed);
}

/* Sessions */

struct ctl_session_config rank_session_config(struct switches_rank *r, const char *kind, unsigned place,
                                              uint64_t within)
{
    struct ctl_session_config config = {.rank = (uint16_t)r->rank,
                                        .size = (uint16_t)r->world->scenario->ranks,
                                        .incarnation = rng_next(&r->rng) | 1,
                                        .worker = &sml_worker,
                                        .tells_finished = true,
                                        .join_deadline_ns = within,
                                        .rejoin_deadline_ns = RANK_JOIN_WITHIN_S * S};

    snprintf(config.join.name, sizeof config.join.name, "train~%s%u", kind, place + 1);
    return config;
}

struct agg_terms rank_wish(const struct switches_rank *r, unsigned place, uint16_t slots)
{
    const struct switches_scenario *s = r->world->scenario;
    const struct sml_terms terms = {.format = XFER_FORMAT_TYPED,
                                    .mode = XFER_ON_ARRIVAL,
                                    .slots = slots,
                                    .chunk_bytes = s->chunk_bytes,
                                    .place = (uint8_t)place,
                                    .places = (uint8_t)s->nodes,
                                    .rated = true};
    struct agg_terms out;

    sml_terms_build(&out, &terms);
    return out;
}

struct star *rank_star(const struct switches_rank *r, unsigned node)
{
    return &r->world->node[node].star;
}

void rank_send_control(struct switches_rank *r, unsigned node, struct ctl_session *session, uint16_t port)
{
    uint8_t message[CTL_MESSAGE_MAX];
    size_t bytes;

    while ((bytes = ctl_session_poll(session, rank_now(r), message)) > 0)
        star_send_up(rank_star(r, node), r->rank, port, CTL_PORT, message, bytes, false);
}

bool rank_fail(struct switches_rank *r, enum ctl_reason reason, unsigned rank, const char *why)
{
    struct ctl_failure f = {.reason = (uint16_t)reason, .rank = (uint16_t)rank};

    if (r->failed)
        return false;
    r->failed = true;
    r->world->failed++;
    snprintf(r->why, sizeof r->why, "%s", why);
    sim_trace(&r->world->sim, r->name, "fails: %s", why);
    memcpy(f.text, r->why, sizeof f.text);
    for (unsigned i = 0; i < r->links.n; i++)
        ctl_session_abort(&r->place[i].session, &f, rank_now(r));
    return false;
}

/* Links: what lib/client/links.c and standby.c do */

void rank_see(struct switches_rank *r, struct links_seen seen[LINKS_MAX])
{
    for (unsigned i = 0; i < r->links.n; i++) {
        const struct process *p = &r->place[i];
        struct xfer_stats stats;
        sml_stream_stats(p->stream, &stats);
        seen[i] = (struct links_seen){.node = r->node[i],
                                      .joining = p->rejoining,
                                      .answers = links_answers(&p->session, p->rejoining, stats.unanswered)};
        if (r->links.standby[i].open)
            links_see_standby(&seen[i], &r->standby[i].session);
    }
}

static void abort_standby(struct switches_rank *r, unsigned node)
{
    const struct ctl_failure why = {.reason = CTL_RANK_LOST, .rank = (uint16_t)r->rank};

    if (!r->links.standby[node].open)
        return;
    ctl_session_abort(&r->standby[node].session, &why, rank_now(r));
    rank_send_control(r, node, &r->standby[node].session, r->standby[node].control.port);
    socket_drain(&r->standby[node].control);
}

static void move(struct switches_rank *r, unsigned place, unsigned to)
{
    struct process *p = &r->place[place];
    const struct ctl_failure why = {.reason = links_is_lost(&r->links, r->node[place]) ? CTL_RANK_LOST
                                                                                       : CTL_MOVED_BACK,
                                    .rank = (uint16_t)r->rank};
    const struct ctl_heartbeat told = p->session.heartbeat;
    struct ctl_session_config config = rank_session_config(r, "link", place, RANK_JOIN_WITHIN_S * S);

    sim_trace(&r->world->sim, r->name, "place %u goes from switch %u to %u, oldest is %u", place,
              r->node[place], to, sml_stream_oldest(p->stream));
    ctl_session_abort(&p->session, &why, rank_now(r));
    rank_send_control(r, r->node[place], &p->session, p->control.port);
    socket_drain(&p->control);
    socket_drain(&p->data);
    r->node[place] = to;
    p->cfg.star = rank_star(r, to);
    p->control.port = r->next_port++;
    p->data.port = r->next_port++;
    config.join.data_port = p->data.port;
    config.join.terms = sml_worker.move(&p->ready.terms, sml_stream_oldest(p->stream));
    ctl_session_init(&p->session, &config, rank_now(r));
    p->session.heartbeat = told;
    p->seen_state = CTL_SESSION_JOINING;
    p->generation = p->seen_generation = 0;
    p->rejoining = true;
    p->rejected = p->changed = false;
    links_moved(&r->links, place);
}

void rank_move_all(struct switches_rank *r, struct links_seen seen[])
{
    for (unsigned i = 0; i < r->links.n; i++)
        if (links_moves(&r->links, seen, i, r->shares.agreeing && !r->shares.known))
            move(r, i, links_node_for(&r->links, i));
}

static void give_up(struct switches_rank *r, struct links_seen seen[], unsigned node, const char *why)
{
    sim_trace(&r->world->sim, r->name, "does without switch %u: %s", node, why);
    rank_note(r, 1 + node);
    abort_standby(r, node);
    if (links_give_up(&r->links, seen, node, rank_now(r)) != LINKS_NONE)
        r->world->back++;
    r->world->lost++;
    rank_move_all(r, seen);
}

static bool is_idle(const struct switches_rank *r)
{
    for (unsigned i = 0; i < r->links.n; i++)
        if (sml_stream_status(r->place[i].stream) != XFER_DONE)
            return false;
    return true;
}

bool rank_follow(struct switches_rank *r, unsigned place)
{
    struct process *p = &r->place[place];
    struct links_seen seen[LINKS_MAX];

    if (p->session.state != CTL_SESSION_FAILED)
        return drive_follow_session(p) || rank_fail(r, CTL_CANNOT_RESUME, r->rank, "cannot go on");
    p->changed = false;
    if (links_session_rests(&p->session, r->links.n) && is_idle(r)) {
        p->rejoining = true;
        return true;
    }
    if (links_is_adrift(&r->links, place))
        return true;
    rank_see(r, seen);
    if (!links_outlive_loss(&r->links, seen, place, (enum ctl_reason)p->session.failure.reason))
        return rank_fail(r, (enum ctl_reason)p->session.failure.reason, p->session.failure.rank,
                         p->session.failure.text);
    if (p->session.failure.reason != CTL_MOVED_BACK) {
        give_up(r, seen, r->node[place], p->session.failure.text);
        return true;
    }
    links_set_adrift(&r->links, place);
    p->rejoining = true;
    rank_move_all(r, seen);
    return true;
}

static void open_standby(struct switches_rank *r, unsigned node)
{
    struct ctl_session_config config = rank_session_config(r, "back", node, STANDBY_WITHIN_S * S);

    r->standby[node].control.port = r->next_port++;
    config.join.data_port = r->next_port++;
    config.join.terms = rank_wish(r, node, STANDBY_SLOTS);
    ctl_session_init(&r->standby[node].session, &config, rank_now(r));
    links_opened(&r->links, node, true, rank_now(r));
}

/* Whether the link is to be given up. */
static bool look_after(struct switches_rank *r, const struct links_seen seen[], unsigned node)
{
    const enum links_deed deed = links_look_after(&r->links, seen, node, rank_now(r));

    if (deed == LINKS_OPEN)
        open_standby(r, node);
    if (deed == LINKS_LEAVE) {
        ctl_session_leave(&r->standby[node].session, rank_now(r));
        rank_send_control(r, node, &r->standby[node].session, r->standby[node].control.port);
    }
    return deed == LINKS_GIVE_UP;
}

void rank_look(struct switches_rank *r)
{
    struct links_seen seen[LINKS_MAX];
    unsigned failed = LINKS_NONE;

    r->look_at = rank_now(r) + LOOK_MS * MS;
    rank_see(r, seen);
    for (unsigned i = 0; i < r->links.n; i++)
        if (look_after(r, seen, i))
            failed = i;
    if (failed != LINKS_NONE && links_can_spare(&r->links, seen, failed)) {
        give_up(r, seen, failed, "not all ranks reach it any more");
        return;
    }
    failed = links_silent(&r->links, seen, rank_now(r));
    if (failed != LINKS_NONE)
        give_up(r, seen, failed, "it is silent");
}
