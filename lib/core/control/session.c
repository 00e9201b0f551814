#include "control/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Without a key nothing is sealed, and all that is not is believed. */

/* Appends the seal; returns the length of both. */
static size_t seal(const struct ctl_session *s, uint8_t *message, size_t bytes)
{
    const struct ctl_credentials *c = s->cfg.credentials;
    return c ? ctl_seal_append(message, bytes, c->library, &c->key, &c->address, s->challenge) : bytes;
}

/* Whether a message, which parsing has found so, shows that the switch sent it, and that it is no older than
 * the newest answer. Counts what does not. Fills in *seal if there is one. */
static bool is_proven(struct ctl_session *s, const struct ctl_message *m, enum ctl_parse_error parsed,
                      const uint8_t *payload, size_t bytes, struct ctl_seal *seal)
{
    const struct ctl_credentials *c = s->cfg.credentials;
    if (!c)
        return !m->head.sealed;
    if (parsed == CTL_PARSED && m->head.sealed && ctl_seal_parse(seal, payload, bytes) &&
        seal->key_id == c->key.id && ctl_seal_holds(payload, bytes, c->library, &c->key, &c->address))
        return m->head.serial >= s->answered;
    s->unproven++;
    if (parsed == CTL_PARSED && m->head.type == CTL_REFUSED)
        s->hint = m->failure;
    return false;
}

/* A message that was believed answers this serial. Returns whether it is a sign of life: with a key, a copy
 * is none. */
static bool note_answered(struct ctl_session *s, uint32_t serial)
{
    bool newer = serial > s->answered;
    if (!s->cfg.credentials)
        return true;
    if (newer) {
        s->answered = serial;
        s->hint = (struct ctl_failure){0};
    }
    return newer;
}

/* READY has come, with this head: takes the job's secret out of it. */
static void uncover(struct ctl_session *s, const struct ctl_head *h)
{
    const struct ctl_credentials *c = s->cfg.credentials;
    if (!c)
        return;
    const struct keys_life life = {.boot_id = h->boot_id, .incarnation = h->incarnation, .epoch = h->epoch};
    keys_cover(s->secret, c->library, &c->key, &life, s->ready.covered);
}

#define MS UINT64_C(1000000)

enum {
    REPEAT_FIRST_MS = 50, /* JOIN, ABORT, LEAVE: the first repetition; then doubling */
    GOODBYE_MS = 1000,    /* how long ABORT and LEAVE are repeated */
    ASK_FIRST_MS = 5,     /* whether all have finished: the first repetition; then doubling */
    ASK_AGAIN_MS = 50,    /* at least, between heartbeats that are sent because of a REJECT */
    PAUSES_PER_LOSS = 4,  /* a longer pause of this process is no silence of the switch */
};

static void enter(struct ctl_session *s, enum ctl_session_state state, uint64_t now)
{
    s->state = state;
    s->started = now;
    s->next_send = now;
    s->interval = REPEAT_FIRST_MS * MS;
}

static void start_joining(struct ctl_session *s, enum ctl_session_state state, uint64_t now)
{
    enter(s, state, now);
    s->join_serial = s->serial + 1;
    s->pending = (struct ctl_pending){0};
    s->refusal = (struct ctl_failure){0};
}

static void fail(struct ctl_session *s, const struct ctl_failure *why, uint64_t now)
{
    s->failure = *why;
    enter(s, CTL_SESSION_FAILED, now);
}

__attribute__((format(printf, 4, 5))) static void fail_because(struct ctl_session *s, enum ctl_reason reason,
                                                               uint64_t now, const char *format, ...)
{
    struct ctl_failure why = {.reason = (uint16_t)reason, .rank = s->cfg.rank};
    va_list args;
    va_start(args, format);
    vsnprintf(why.text, sizeof why.text, format, args);
    va_end(args);
    fail(s, &why, now);
}

void ctl_session_init(struct ctl_session *s, const struct ctl_session_config *cfg, uint64_t now)
{
    *s = (struct ctl_session){.cfg = *cfg, .heard_at = now, .polled_at = now};
    s->heartbeat.tells_finished = cfg->tells_finished;
    s->cfg.join.resume = s->cfg.join.waited = false;
    if (s->cfg.rejoin_deadline_ns == 0)
        s->cfg.rejoin_deadline_ns = s->cfg.join_deadline_ns;
    start_joining(s, CTL_SESSION_JOINING, now);
}

static uint64_t lost_after(const struct ctl_session *s)
{
    return s->ready.lost_after_ms * MS;
}

static bool is_joining(const struct ctl_session *s)
{
    return s->state == CTL_SESSION_JOINING || s->state == CTL_SESSION_REJOINING;
}

/* Sending */

static void join_deadline_passed(struct ctl_session *s, uint64_t now)
{
    bool again = s->state == CTL_SESSION_REJOINING;
    double waited = (double)(again ? s->cfg.rejoin_deadline_ns : s->cfg.join_deadline_ns) / 1e9;
    char ranks[CTL_RANKS_TEXT_MAX];
    ctl_ranks_text(&s->pending.missing, ranks);

    if (s->refusal.reason != CTL_OK)
        fail_because(s, s->refusal.reason, now, "the switch has restarted, and had no room for %.1f s: %s",
                     waited, s->refusal.text);
    else if (s->pending.no_room && ctl_ranks_count(&s->pending.missing) > 0)
        fail_because(s, CTL_NO_JOBS, now,
                     "the switch had no place for another job within %.1f s, since jobs that ran before it "
                     "restarted come back, or this host has founded as many as it may",
                     waited);
    else if (s->pending.no_room)
        fail_because(s, CTL_NO_SLOTS, now,
                     "all ranks have joined%s, but the switch had no room for the job within %.1f s",
                     again ? " again after a restart of the switch" : "", waited);
    else if (s->pending.preparing)
        fail_because(s, CTL_DEADLINE, now,
                     "all ranks have joined%s, but the switch was not ready for the job within %.1f s",
                     again ? " again after a restart of the switch" : "", waited);
    else if (ctl_ranks_count(&s->pending.missing) == 0 && s->unproven > 0 && s->challenge == 0)
        fail_because(s, CTL_BAD_KEY, now, "no switch showed within %.1f s that it has this key%s%.120s",
                     waited, s->hint.text[0] ? "; somebody answered: " : "", s->hint.text);
    else if (ctl_ranks_count(&s->pending.missing) == 0 && s->hint.text[0])
        fail_because(s, CTL_BAD_KEY, now,
                     "no switch answered for %.1f s; somebody without the key says: %.120s", waited,
                     s->hint.text);
    else if (ctl_ranks_count(&s->pending.missing) == 0)
        fail_because(s, CTL_DEADLINE, now, "no switch answered%s within %.1f s",
                     again ? " after a restart" : "", waited);
    else if (s->pending.occupied)
        fail_because(s, CTL_DEADLINE, now, "an earlier job of this name was still in use by %s after %.1f s",
                     ranks, waited);
    else
        fail_because(s, CTL_DEADLINE, now, "%s of %u did not join%s within %.1f s%s%.120s", ranks,
                     s->cfg.size, again ? " again after a restart of the switch" : "", waited,
                     ctl_pending_because(&s->pending), s->pending.turned_away.text);
}

/* When this state ends by itself; UINT64_MAX: it does not. */
static uint64_t state_ends(const struct ctl_session *s)
{
    switch (s->state) {
    case CTL_SESSION_JOINING:
        return s->started + s->cfg.join_deadline_ns;
    case CTL_SESSION_REJOINING:
        return s->started + s->cfg.rejoin_deadline_ns;
    case CTL_SESSION_ABORTING:
    case CTL_SESSION_LEAVING:
        return s->started + GOODBYE_MS * MS;
    default:
        return UINT64_MAX;
    }
}

static void end_state(struct ctl_session *s, uint64_t now)
{
    if (is_joining(s))
        join_deadline_passed(s, now);
    else if (s->state == CTL_SESSION_ABORTING)
        enter(s, CTL_SESSION_FAILED, now);
    else
        enter(s, CTL_SESSION_CLOSED, now);
}

static uint8_t type_to_send(const struct ctl_session *s)
{
    switch (s->state) {
    case CTL_SESSION_JOINING:
    case CTL_SESSION_REJOINING:
        return CTL_JOIN;
    case CTL_SESSION_READY:
        return CTL_HEARTBEAT;
    case CTL_SESSION_ABORTING:
        return CTL_ABORT;
    case CTL_SESSION_LEAVING:
        return CTL_LEAVE;
    default:
        return 0;
    }
}

/* The terms that it asks for in its next JOIN. */
static struct agg_terms wish(const struct ctl_session *s)
{
    return s->cfg.join.resume ? s->cfg.worker->resume(&s->ready.terms, s->heartbeat.progress)
                              : s->cfg.join.terms;
}

static size_t build(struct ctl_session *s, uint8_t type, uint8_t out[CTL_MESSAGE_MAX])
{
    struct ctl_message m = {.head = {.type = type,
                                     .version = CTL_VERSION,
                                     .sealed = s->cfg.credentials != NULL,
                                     .boot_id = s->boot_id,
                                     .incarnation = s->cfg.incarnation,
                                     .epoch = s->epoch,
                                     .rank = s->cfg.rank,
                                     .size = s->cfg.size,
                                     .serial = ++s->serial}};
    if (type == CTL_JOIN) {
        m.join = s->cfg.join;
        m.join.terms = wish(s);
    } else if (type == CTL_ABORT) {
        m.failure = s->failure;
    } else {
        m.heartbeat = s->heartbeat;
    }
    return seal(s, out, ctl_build(out, &m));
}

static void back_off(struct ctl_session *s)
{
    const uint64_t most = s->state == CTL_SESSION_READY ? lost_after(s) / CTL_HEARTBEATS_PER_LOSS
                                                        : CTL_JOIN_INTERVAL_MAX_MS * MS;
    s->interval = s->interval * 2 < most ? s->interval * 2 : most;
}

/* This process was stopped, or had no CPU: that nothing was heard meanwhile says nothing about the switch. */
static void forgive_own_absence(struct ctl_session *s, uint64_t now)
{
    uint64_t gap = now - s->polled_at, pause = lost_after(s) / PAUSES_PER_LOSS;
    if (gap > pause)
        s->heard_at += gap - pause;
    s->polled_at = now;
}

size_t ctl_session_poll(struct ctl_session *s, uint64_t now, uint8_t out[CTL_MESSAGE_MAX])
{
    forgive_own_absence(s, now);
    if (now >= state_ends(s))
        end_state(s, now);
    uint8_t type = type_to_send(s);
    if (!type || now < s->next_send)
        return 0;
    s->sent_at = now;
    s->next_send = now + s->interval;
    back_off(s);
    return build(s, type, out);
}

uint64_t ctl_session_timer(const struct ctl_session *s)
{
    uint64_t ends = state_ends(s);
    return type_to_send(s) && s->next_send < ends ? s->next_send : ends;
}

/* Receiving */

/* Whether READY makes sense for this rank. *progress: where a new job begins. A switch takes a JOIN only from
 * who knows its boot id, so a READY with another one is a late frame of a life that has ended. */
static bool is_sane(const struct ctl_session *s, const struct ctl_message *m, uint32_t *progress)
{
    struct agg_terms wished = wish(s);
    const struct ctl_ready *r = &m->ready;
    return m->head.boot_id == s->boot_id && r->resumed == (s->state == CTL_SESSION_REJOINING) &&
           r->data_port != 0 && r->data_ports <= CTL_DATA_PORTS_MAX &&
           r->data_port + r->data_ports <= UINT16_MAX + 1 && r->lost_after_ms != 0 &&
           s->cfg.worker->accept(&wished, &r->terms, progress);
}

static bool become_ready(struct ctl_session *s, const struct ctl_message *m, uint64_t now)
{
    uint32_t progress;
    if (!is_sane(s, m, &progress))
        return false;
    if (s->generation++ == 0)
        s->heartbeat.progress = progress;
    s->ready = m->ready;
    s->epoch = m->head.epoch;
    uncover(s, &m->head);
    enter(s, CTL_SESSION_READY, now); /* the first heartbeat goes out at once: it confirms READY */
    s->interval = lost_after(s) / CTL_HEARTBEATS_PER_LOSS;
    return true;
}

/* A switch that is older than NICs takes no notice of the queue pair. */
static void do_without_nic(struct ctl_session *s, uint64_t now)
{
    struct ctl_failure why = {.reason = CTL_BAD_ARGUMENT, .rank = s->cfg.rank};
    snprintf(why.text, sizeof why.text,
             "the switch is too old to hear the NIC of rank %u (RoCE): update it, or open the job with the "
             "kernel's sockets (transport=kernel)",
             s->cfg.rank);
    ctl_session_abort(s, &why, now);
}

static void rejoin(struct ctl_session *s, uint64_t boot_id, uint64_t now)
{
    s->boot_id = boot_id;
    s->cfg.join.resume = true;
    s->cfg.join.job = s->ready.job;
    s->cfg.join.above = s->ready.above;
    s->cfg.join.roster = s->ready.roster;
    s->cfg.join.ticket = s->ready.ticket;
    s->cfg.join.waited = false;
    start_joining(s, CTL_SESSION_REJOINING, now);
}

/* A refusal that may pass: other jobs took the room while the switch was starting. */
static bool is_lack_of_room(const struct ctl_failure *f)
{
    return f->reason == CTL_NO_JOBS || f->reason == CTL_NO_SLOTS;
}

static bool receive_joining(struct ctl_session *s, const struct ctl_message *m, uint64_t challenge,
                            uint64_t now)
{
    if (m->head.serial < s->join_serial)
        return false;
    switch (m->head.type) {
    case CTL_PENDING:
        s->pending = m->pending;
        s->refusal = (struct ctl_failure){0};
        if (m->head.boot_id != s->boot_id) { /* the switch believes a JOIN only from who knows its boot id */
            s->next_send = now;
            s->cfg.join.waited = s->state == CTL_SESSION_JOINING && s->boot_id != 0;
        }
        if (challenge != s->challenge) /* and its challenge */
            s->next_send = now;
        break;
    case CTL_READY:
        if (!become_ready(s, m, now))
            return false;
        if (s->cfg.join.queue_pair != 0 && m->ready.nic == CTL_NIC_NONE)
            do_without_nic(s, now);
        break;
    case CTL_REFUSED:
        if (s->state == CTL_SESSION_REJOINING && is_lack_of_room(&m->failure))
            s->refusal = m->failure;
        else
            fail(s, &m->failure, now);
        break;
    case CTL_ABORTED:
        fail(s, &m->failure, now);
        break;
    default:
        return false;
    }
    s->boot_id = m->head.boot_id;
    return true;
}

static bool receive_ready(struct ctl_session *s, const struct ctl_message *m, uint64_t now)
{
    if (m->head.epoch != s->epoch)
        return false;
    switch (m->head.type) {
    case CTL_READY: /* pushed again */
        return true;
    case CTL_ALIVE:
        s->all_finished |= s->asked_from != 0 && m->head.serial >= s->asked_from && m->alive.behind == 0;
        return true;
    case CTL_UNKNOWN:
        if (m->head.boot_id != s->boot_id)
            rejoin(s, m->head.boot_id, now);
        else
            fail_because(s, CTL_RANK_LOST, now,
                         "the switch has given up rank %u, which it had not heard for too long", s->cfg.rank);
        return true;
    case CTL_ABORTED:
        fail(s, &m->failure, now);
        return true;
    default:
        return false;
    }
}

static bool receive_aborting(struct ctl_session *s, const struct ctl_message *m, uint64_t now)
{
    if (m->head.type == CTL_ABORTED)
        fail(s, &m->failure, now);
    else if (m->head.type == CTL_UNKNOWN)
        enter(s, CTL_SESSION_FAILED, now);
    else
        return false;
    return true;
}

static bool receive_leaving(struct ctl_session *s, const struct ctl_message *m, uint64_t now)
{
    if (m->head.type != CTL_LEFT && m->head.type != CTL_UNKNOWN)
        return false;
    enter(s, CTL_SESSION_CLOSED, now);
    return true;
}

static bool is_for_us(const struct ctl_session *s, const struct ctl_head *h)
{
    return !ctl_type_from_worker(h->type) && h->incarnation == s->cfg.incarnation && h->rank == s->cfg.rank &&
           h->boot_id != 0;
}

static bool receive(struct ctl_session *s, const struct ctl_message *m, uint64_t challenge, uint64_t now)
{
    switch (s->state) {
    case CTL_SESSION_JOINING:
    case CTL_SESSION_REJOINING:
        return receive_joining(s, m, challenge, now);
    case CTL_SESSION_READY:
        return receive_ready(s, m, now);
    case CTL_SESSION_ABORTING:
        return receive_aborting(s, m, now);
    case CTL_SESSION_LEAVING:
        return receive_leaving(s, m, now);
    default:
        return false;
    }
}

bool ctl_session_receive(struct ctl_session *s, const uint8_t *payload, size_t bytes, uint64_t now)
{
    struct ctl_message m;
    struct ctl_seal seal = {0};
    enum ctl_parse_error error = ctl_parse(&m, payload, bytes);
    if (!is_for_us(s, &m.head) || !is_proven(s, &m, error, payload, bytes, &seal))
        return false;
    if (error == CTL_OTHER_VERSION && is_joining(s)) {
        fail_because(s, CTL_BAD_VERSION, now,
                     "the switch speaks version %u of the control protocol, this program %u", m.head.version,
                     CTL_VERSION);
        return true;
    }
    if (error != CTL_PARSED || !receive(s, &m, seal.challenge, now))
        return false;
    s->challenge = seal.challenge;
    if (note_answered(s, m.head.serial))
        s->heard_at = now;
    return true;
}

/* The caller's wishes */

uint64_t ctl_session_silence(const struct ctl_session *s)
{
    return s->polled_at > s->heard_at ? s->polled_at - s->heard_at : 0;
}

void ctl_session_rejected(struct ctl_session *s, uint64_t now)
{
    if (s->state != CTL_SESSION_READY)
        return;
    uint64_t soon = s->sent_at + ASK_AGAIN_MS * MS;
    if (soon < now)
        soon = now;
    if (s->next_send > soon)
        s->next_send = soon;
}

void ctl_session_ask(struct ctl_session *s, uint64_t now)
{
    if (s->asked_from != 0)
        return;
    s->asked_from = s->serial + 1;
    if (s->state != CTL_SESSION_READY)
        return;
    s->next_send = now;
    s->interval = ASK_FIRST_MS * MS;
}

void ctl_session_leave(struct ctl_session *s, uint64_t now)
{
    if (s->state == CTL_SESSION_LEAVING || s->state == CTL_SESSION_CLOSED)
        return;
    enter(s, s->boot_id ? CTL_SESSION_LEAVING : CTL_SESSION_CLOSED, now);
}

void ctl_session_abort(struct ctl_session *s, const struct ctl_failure *why, uint64_t now)
{
    if (!is_joining(s) && s->state != CTL_SESSION_READY)
        return;
    s->failure = *why;
    enter(s, CTL_SESSION_ABORTING, now);
}

const char *ctl_session_state_name(enum ctl_session_state state)
{
    static const char *const names[] = {
        [CTL_SESSION_JOINING] = "joining",     [CTL_SESSION_READY] = "ready",
        [CTL_SESSION_REJOINING] = "rejoining", [CTL_SESSION_ABORTING] = "aborting",
        [CTL_SESSION_LEAVING] = "leaving",     [CTL_SESSION_CLOSED] = "closed",
        [CTL_SESSION_FAILED] = "failed",
    };
    return (unsigned)state - 1 < CTL_SESSION_FAILED ? names[state] : "?";
}

struct keys_secret ctl_session_shared(const struct ctl_session *s)
{
    struct keys_secret shared = {.library = s->cfg.credentials ? s->cfg.credentials->library : NULL};
    memcpy(shared.secret, s->secret, sizeof shared.secret);
    return shared;
}
