#include "switches/rank_links.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "monotonic.h"
#include "process_drive.h"
#include "switchml/worker.h"

enum {
    LEAVE_WITHIN_MS = 1000,
    FIRST_PORT = 10000,
};

/* What heartbeats tell. */
static void report(struct switches_rank *r)
{
    uint32_t finished = UINT32_MAX;

    for (unsigned i = 0; i < r->links.n; i++) {
        const uint32_t completed = sml_stream_completed(r->place[i].stream);
        finished = completed < finished ? completed : finished;
    }
    for (unsigned i = 0; i < r->links.n; i++) {
        struct process *p = &r->place[i];
        p->phase = sml_stream_left(p->stream) > 0 ? PROCESS_CALLING : PROCESS_COMPUTING;
        drive_report(p);
        p->session.heartbeat.tells_finished = true;
        p->session.heartbeat.finished = finished;
    }
}

static void control(struct switches_rank *r)
{
    if (r->place[0].stream != NULL)
        report(r);
    for (unsigned i = 0; i < r->links.n; i++) {
        struct links_standby *s = &r->links.standby[i];
        drive_control(&r->place[i]);
        for (struct frame *f; (f = socket_take(&r->standby[i].control)) != NULL; frame_free(f))
            ctl_session_receive(&r->standby[i].session, f->payload, f->bytes, rank_now(r));
        if (s->open)
            rank_send_control(r, i, &r->standby[i].session, r->standby[i].control.port);
    }
}

/* The end of all */

static void begin_leaving(struct switches_rank *r)
{
    r->phase = RANK_LEAVING;
    r->phase_ends = rank_now(r) + LEAVE_WITHIN_MS * MS;
}

static void leave(struct switches_rank *r)
{
    for (unsigned i = 0; i < r->links.n; i++) {
        ctl_session_leave(&r->place[i].session, rank_now(r));
        if (r->links.standby[i].open) {
            ctl_session_leave(&r->standby[i].session, rank_now(r));
            rank_send_control(r, i, &r->standby[i].session, r->standby[i].control.port);
            r->links.standby[i].open = false;
        }
    }
    begin_leaving(r);
}

/* Shares: what lib/client/rates.c does */

static unsigned places_through(const struct switches_rank *r, uint32_t number)
{
    unsigned n = 0;

    for (unsigned i = 0; i < r->links.n; i++)
        n += (int32_t)(sml_stream_ended(r->place[i].stream) - number) > 0;
    return n;
}

static void spread_calls(struct switches_rank *r, bool whole)
{
    for (unsigned i = 0; i < r->links.n; i++)
        sml_stream_share(r->place[i].stream, whole ? 0 : r->shares.at[i],
                         whole ? SML_SHARE_WHOLE : r->shares.at[i + 1]);
}

static void step_agreement(struct switches_rank *r)
{
    const unsigned through = r->shares.agreeing ? places_through(r, r->agreement) : 0;
    struct links_seen seen[LINKS_MAX];
    uint32_t standby[LINKS_MAX], back;

    if (through > 0 && !r->shares.known) {
        shares_hear(&r->shares, standby);
        rank_see(r, seen);
        back = links_take_back(&r->links, seen, standby);
        r->world->back += (unsigned)__builtin_popcount(back);
        if (back != 0)
            sim_trace(&r->world->sim, r->name, "takes back links %x", back);
        rank_note(r, 8 + back);
        rank_move_all(r, seen);
    }
    if (!r->shares.agreeing || through < r->links.n)
        return;
    r->world->agreed++;
    if (shares_end(&r->shares))
        spread_calls(r, false);
}

/* Calls */

static uint32_t mine(const struct switches_rank *r, uint64_t k, unsigned rank)
{
    return (uint32_t)(k * 2654435761U + r->call * 40503U + rank * 101);
}

static uint32_t begin(struct switches_rank *r, const struct xfer_call *call, struct xfer_segment *tensor)
{
    for (unsigned i = 0; i < r->links.n; i++) {
        struct sml_stream *stream = r->place[i].stream;
        shares_note_begin(&r->shares, i, sml_stream_packets(stream, call),
                          sml_stream_status(stream) == XFER_DONE, rank_now(r));
        if (sml_stream_begin_segments(stream, call, tensor, 1, rank_now(r)) != 0)
            oracle_fail(&r->world->oracle, "%s: call %u cannot begin", r->name, r->call);
    }
    return r->streamed++;
}

static void agree_behind(struct switches_rank *r, const struct xfer_call *call)
{
    uint16_t chunk_bytes[LINKS_MAX];
    struct links_seen seen[LINKS_MAX];
    struct xfer_call agreement;

    if (!shares_due(&r->shares, call))
        return;
    rank_see(r, seen);
    for (unsigned i = 0; i < r->links.n; i++)
        chunk_bytes[i] = r->place[i].terms.chunk_bytes;
    shares_ask(&r->shares, seen, chunk_bytes, &agreement, &r->tensor[1]);
    spread_calls(r, true);
    r->agreement = begin(r, &agreement, &r->tensor[1]);
    spread_calls(r, false);
}

static void begin_call(struct switches_rank *r)
{
    const struct switches_scenario *s = r->world->scenario;
    const uint64_t count = r->call % 4 == 3 ? s->short_count : s->long_count;
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_U32, .op = AGG_SUM, .count = count};
    uint32_t *in = memory_of(count * sizeof *in), *out = r->call % 2 ? memory_of(count * sizeof *out) : in;

    for (uint64_t k = 0; k < count; k++)
        in[k] = mine(r, k, r->rank);
    r->tensor[0] = (struct xfer_segment){.in = in, .out = out, .count = count};
    sim_trace(&r->world->sim, r->name, "begins call %u", r->call);
    r->number = begin(r, &call, &r->tensor[0]);
    r->phase = RANK_CALLING;
    r->phase_ends = rank_now(r) + s->call_timeout_ns;
    agree_behind(r, &call);
}

static void free_tensor(struct switches_rank *r)
{
    if (r->tensor[0].out != r->tensor[0].in)
        free(r->tensor[0].out);
    free((void *)(uintptr_t)r->tensor[0].in);
    r->tensor[0] = (struct xfer_segment){0};
}

static void end_call(struct switches_rank *r)
{
    const struct switches_scenario *s = r->world->scenario;
    const uint32_t *out = r->tensor[0].out;

    for (uint64_t k = 0; k < r->tensor[0].count; k++) {
        uint32_t sum = 0;
        for (unsigned rank = 0; rank < s->ranks; rank++)
            sum += mine(r, k, rank);
        if (out[k] != sum) {
            oracle_fail(&r->world->oracle, "%s: call %u has a wrong sum, element %u of %u", r->name, r->call,
                        (unsigned)k, (unsigned)r->tensor[0].count);
            break;
        }
    }
    sim_trace(&r->world->sim, r->name, "call %u succeeds", r->call);
    rank_note(r, 16 + r->call);
    memset(r->tensor[0].out, 0xdd, r->tensor[0].count * sizeof *out);
    free_tensor(r);
    r->world->succeeded++;
    r->call++;
    r->phase = RANK_COMPUTING;
    r->phase_ends = rank_now(r) + rng_below(&r->rng, s->compute_ns);
}

/* Turns: true, if there may be more to do now */

static bool exchange(struct switches_rank *r, unsigned place)
{
    struct process *p = &r->place[place];
    const enum xfer_status status = sml_stream_status(p->stream);
    bool news;

    if (status == XFER_MISMATCH)
        return rank_fail(r, CTL_MISMATCH, r->rank, "ranks called different collectives");
    if (status == XFER_REJECTED && !p->rejected)
        ctl_session_rejected(&p->session, rank_now(r));
    p->rejected = status == XFER_REJECTED;
    if (p->rejoining)
        return false;
    news = drive_exchange(p) > 0;
    shares_note_results(&r->shares, place, sml_stream_progress(p->stream),
                        sml_stream_status(p->stream) == XFER_DONE);
    return news;
}

/* As turn and keep_time of lib/client/drive.c. */
static bool drive(struct switches_rank *r)
{
    bool news = false;

    for (unsigned i = 0; i < r->links.n && !r->failed; i++)
        if (r->place[i].changed) {
            news = true;
            rank_follow(r, i);
        }
    for (unsigned i = 0; i < r->links.n && !r->failed; i++)
        news |= exchange(r, i);
    if (!r->failed && rank_now(r) >= r->look_at)
        rank_look(r);
    if (!r->failed)
        step_agreement(r);
    return news;
}

static void open_stream(struct switches_rank *r, unsigned place)
{
    struct process *p = &r->place[place];

    drive_open_stream(p, &(struct sml_stream_config){.rank = (uint16_t)r->rank,
                                                     .workers = (uint16_t)r->world->scenario->ranks,
                                                     .place = (uint8_t)place,
                                                     .places = (uint8_t)r->links.n,
                                                     .calls = 4});
    p->changed = false;
}

static bool joining_turn(struct switches_rank *r)
{
    const struct switches_scenario *s = r->world->scenario;
    bool ready = true;

    for (unsigned i = 0; i < r->links.n; i++) {
        const struct ctl_session *session = &r->place[i].session;
        if (session->state == CTL_SESSION_FAILED) {
            rank_fail(r, (enum ctl_reason)session->failure.reason, session->failure.rank,
                      session->failure.text);
            begin_leaving(r);
            return true;
        }
        ready &= session->state == CTL_SESSION_READY;
    }
    if (!ready)
        return false;
    for (unsigned i = 0; i < r->links.n; i++)
        open_stream(r, i);
    shares_init(&r->shares, r->links.n, s->ranks, XFER_FORMAT_TYPED, true);
    r->phase = RANK_COMPUTING;
    r->phase_ends = rank_now(r) + rng_below(&r->rng, s->compute_ns);
    r->look_at = rank_now(r);
    r->world->open++;
    return true;
}

/* Others may lack of the last call what this rank has. It is enough that one switch knows. */
static bool all_have_finished(struct switches_rank *r)
{
    bool known = false;

    for (unsigned i = 0; i < r->links.n; i++)
        if (sml_stream_status(r->place[i].stream) != XFER_DONE)
            return false;
    for (unsigned i = 0; i < r->links.n; i++) {
        known |= r->place[i].session.all_finished;
        ctl_session_ask(&r->place[i].session, rank_now(r));
    }
    return known;
}

/* In a call, between two, or closing. */
static bool working_turn(struct switches_rank *r)
{
    const struct switches_scenario *s = r->world->scenario;
    const bool news = drive(r);

    if (r->phase == RANK_CALLING && !r->failed && places_through(r, r->number) == r->links.n) {
        end_call(r);
        return true;
    }
    if (r->phase == RANK_CLOSING && !r->failed && all_have_finished(r)) {
        leave(r);
        return true;
    }
    if (r->phase == RANK_CALLING && rank_now(r) >= r->phase_ends)
        rank_fail(r, CTL_DEADLINE, r->rank, "the deadline has passed");
    if (r->failed || (r->phase == RANK_CLOSING && rank_now(r) >= r->phase_ends)) {
        begin_leaving(r);
        return true;
    }
    if (r->phase != RANK_COMPUTING || rank_now(r) < r->phase_ends || r->shares.agreeing)
        return news;
    if (r->call < s->calls) {
        begin_call(r);
        return true;
    }
    r->phase = RANK_CLOSING;
    r->phase_ends = rank_now(r) + s->call_timeout_ns;
    return true;
}

static bool leaving_turn(struct switches_rank *r)
{
    bool talking = false;

    for (unsigned i = 0; i < r->links.n; i++)
        talking |= r->place[i].session.state == CTL_SESSION_ABORTING ||
                   r->place[i].session.state == CTL_SESSION_LEAVING;
    if (rank_now(r) < r->phase_ends && talking)
        return false;
    r->phase = RANK_OVER;
    sim_trace(&r->world->sim, r->name, "exits");
    for (unsigned i = 0; i < r->links.n; i++)
        r->links.standby[i].open = false;
    return false;
}

static bool phase_turn(struct switches_rank *r)
{
    switch (r->phase) {
    case RANK_JOINING:
        return joining_turn(r);
    case RANK_LEAVING:
        return leaving_turn(r);
    case RANK_OVER:
        return false;
    default:
        return working_turn(r);
    }
}

/* Time */

static uint64_t next_wake(const struct switches_rank *r)
{
    uint64_t at = r->phase == RANK_JOINING || (r->phase == RANK_COMPUTING && r->shares.agreeing)
                      ? UINT64_MAX
                      : r->phase_ends;

    if (r->phase != RANK_JOINING && r->phase != RANK_LEAVING)
        at = earlier(at, r->look_at);
    for (unsigned i = 0; i < r->links.n; i++) {
        const struct process *p = &r->place[i];
        if (!drive_is_held_back(p))
            at = earlier(at, ctl_session_timer(&p->session));
        if (p->stream != NULL && !p->rejoining && r->phase != RANK_LEAVING)
            at = earlier(at, sml_stream_timer(p->stream));
        if (r->links.standby[i].open)
            at = earlier(at, ctl_session_timer(&r->standby[i].session));
    }
    return at;
}

static bool has_control(const struct switches_rank *r)
{
    for (unsigned i = 0; i < r->links.n; i++)
        if (r->place[i].control.line.n > 0 || r->standby[i].control.line.n > 0)
            return true;
    return false;
}

static void turn(void *rank)
{
    struct switches_rank *r = rank;

    if (r->dead || r->phase == RANK_OVER)
        return;
    do
        control(r);
    while (phase_turn(r) || has_control(r));
    control(r);
    if (r->phase != RANK_OVER)
        sim_alarm_set(&r->world->sim, &r->wake, next_wake(r));
}

/* Life and death */

static void start_place(struct switches_rank *r, unsigned place)
{
    struct process *p = &r->place[place];
    struct ctl_session_config config = rank_session_config(r, "", place, RANK_JOIN_WITHIN_S * S);

    *p = (struct process){.cfg = {.sim = &r->world->sim,
                                  .star = rank_star(r, place),
                                  .oracle = &r->world->oracle,
                                  .rank = r->rank,
                                  .host = r->rank},
                          .control.port = r->next_port++,
                          .data.port = r->next_port++,
                          .seen_state = CTL_SESSION_JOINING,
                          .formation = memory_of(sizeof(struct formation))};
    snprintf(p->name, sizeof p->name, "%s.%u", r->name, place);
    r->node[place] = place;
    config.join.data_port = p->data.port;
    config.join.terms = rank_wish(r, place, r->world->scenario->slots);
    ctl_session_init(&p->session, &config, rank_now(r));
}

void switches_rank_start(struct switches_rank *r, struct switches_world *w, unsigned rank)
{
    *r = (struct switches_rank){.world = w,
                                .rank = rank,
                                .rng = rng_fork(&w->rng),
                                .wake = {UINT64_MAX, turn, r},
                                .next_port = FIRST_PORT};
    snprintf(r->name, sizeof r->name, "rank %u", rank);
    links_init(&r->links, w->scenario->nodes, w->scenario->link_timeout_ns);
    for (unsigned i = 0; i < r->links.n; i++)
        start_place(r, i);
    turn(r);
}

void switches_rank_fini(struct switches_rank *r)
{
    for (unsigned i = 0; i < r->links.n; i++) {
        socket_drain(&r->place[i].control);
        socket_drain(&r->place[i].data);
        socket_drain(&r->standby[i].control);
        free(r->place[i].stream);
        free(r->place[i].formation);
    }
    free_tensor(r);
}

void switches_rank_kill(struct switches_rank *r)
{
    sim_trace(&r->world->sim, r->name, "dies");
    r->dead = true;
}

bool switches_rank_receive(struct switches_rank *r, unsigned node, struct frame *f)
{
    struct socket *to = NULL;

    for (unsigned i = 0; i < r->links.n; i++) {
        struct process *p = &r->place[i];
        if (r->node[i] == node && f->host_port == p->control.port)
            to = &p->control;
        else if (r->node[i] == node && f->host_port == p->data.port)
            to = &p->data;
        else if (i == node && r->links.standby[i].open && f->host_port == r->standby[i].control.port)
            to = &r->standby[i].control;
    }
    if (to == NULL || r->dead || r->phase == RANK_OVER)
        return false;
    socket_put(to, f);
    turn(r);
    return true;
}
