#include "hosts/rail.h"

#include <stdlib.h>

#include "memory.h"
#include "monotonic.h"
#include "process_drive.h"
#include "switchml/worker.h"

enum { TICK_MS = 100, LEAVE_WITHIN_MS = 1000 };

static void say(struct rail *r, enum rail_said what)
{
    if (what == RAIL_FAILED && r->told)
        return;
    r->told |= what == RAIL_FAILED;
    r->cfg.said(r->cfg.ctx, what);
}

/* Turns: true, if there may be more to do now */

static bool joining_turn(struct rail *r)
{
    struct process *p = &r->p;

    if (p->session.state == CTL_SESSION_READY) {
        drive_open_stream(
            p, &(struct sml_stream_config){.rank = (uint16_t)r->cfg.host, .workers = (uint16_t)r->cfg.hosts});
        p->phase = PROCESS_COMPUTING;
        say(r, RAIL_OPEN);
        return true;
    }
    if (p->session.state == CTL_SESSION_FAILED && !p->failed) {
        drive_fail(p, p->session.failure.text);
        say(r, RAIL_FAILED);
    }
    return false;
}

static bool end_call(struct rail *r, bool well)
{
    r->p.phase = PROCESS_COMPUTING;
    drive_report(&r->p);
    say(r, well ? RAIL_SUMMED : RAIL_FAILED);
    return true;
}

static bool tick(struct rail *r)
{
    struct process *p = &r->p;

    drive_report(p);
    p->tick_at = earlier(process_now(p) + TICK_MS * MS, r->deadline);
    return process_now(p) < r->deadline ||
           drive_fail_and_tell(p, CTL_DEADLINE, "the deadline has passed in a rail");
}

static bool calling_turn(struct rail *r)
{
    struct process *p = &r->p;
    const enum xfer_status status = sml_stream_status(p->stream);
    bool well = true;

    if (status == XFER_DONE)
        return end_call(r, true);
    if (status == XFER_MISMATCH)
        return end_call(r, drive_fail_and_tell(p, CTL_MISMATCH, "hosts called different collectives"));
    if (status == XFER_REJECTED && !p->rejected)
        ctl_session_rejected(&p->session, process_now(p));
    p->rejected = status == XFER_REJECTED;
    if (p->changed)
        well = drive_follow_session(p);
    else if (process_now(p) >= p->tick_at)
        well = tick(r);
    else if (p->rejoining || drive_exchange(p) == 0)
        return false;
    return well || end_call(r, false);
}

static bool computing_turn(struct rail *r)
{
    drive_between_calls(&r->p);
    if (r->p.failed)
        say(r, RAIL_FAILED);
    return false;
}

static bool leaving_turn(struct rail *r)
{
    struct process *p = &r->p;

    if (p->session.state == CTL_SESSION_LEAVING && process_now(p) < p->phase_ends)
        return false;
    p->phase = PROCESS_EXITED;
    return false;
}

static bool phase_turn(struct rail *r)
{
    switch (r->p.phase) {
    case PROCESS_JOINING:
        return joining_turn(r);
    case PROCESS_COMPUTING:
        return computing_turn(r);
    case PROCESS_CALLING:
        return calling_turn(r);
    case PROCESS_HELPING:
        return drive_help(&r->p);
    case PROCESS_LEAVING:
        return leaving_turn(r);
    default:
        return false;
    }
}

static void turn(void *rail)
{
    struct rail *r = rail;
    struct process *p = &r->p;

    if (process_is_over(p))
        return;
    do
        drive_control(p);
    while (phase_turn(r) || p->control.line.n > 0);
    drive_control(p);
    if (!process_is_over(p))
        sim_alarm_set(p->cfg.sim, &p->wake, drive_next_wake(p));
}

/* Life and death */

void rail_start(struct rail *r, const struct rail_config *cfg)
{
    const struct sml_terms wish = {
        .format = XFER_FORMAT_TYPED, .mode = cfg->mode, .slots = cfg->slots, .chunk_bytes = cfg->chunk_bytes};
    struct ctl_session_config session = {.rank = (uint16_t)cfg->host,
                                         .size = (uint16_t)cfg->hosts,
                                         .incarnation = cfg->incarnation,
                                         .join = {.data_port = (uint16_t)(cfg->port + 1)},
                                         .worker = &sml_worker,
                                         .join_deadline_ns = cfg->join_timeout_ns};

    *r = (struct rail){.cfg = *cfg,
                       .p = {.cfg = {.sim = cfg->sim,
                                     .star = cfg->star,
                                     .oracle = cfg->oracle,
                                     .rank = cfg->host,
                                     .host = cfg->host},
                             .phase = PROCESS_JOINING,
                             .control.port = cfg->port,
                             .data.port = (uint16_t)(cfg->port + 1),
                             .wake = {UINT64_MAX, turn, r},
                             .seen_state = CTL_SESSION_JOINING,
                             .formation = memory_of(sizeof(struct formation))}};
    snprintf(r->p.name, sizeof r->p.name, "%s.%u", cfg->name, cfg->host);
    sml_terms_build(&session.join.terms, &wish);
    memcpy(session.join.name, cfg->name, sizeof session.join.name);
    ctl_session_init(&r->p.session, &session, cfg->sim->now);
    turn(r);
}

void rail_free(struct rail *r)
{
    socket_drain(&r->p.control);
    socket_drain(&r->p.data);
    free(r->p.stream);
    free(r->p.formation);
    *r = (struct rail){.p.phase = PROCESS_EXITED};
}

void rail_sum(struct rail *r, const struct xfer_call *call, void *elements, uint64_t deadline)
{
    struct process *p = &r->p;

    r->deadline = deadline;
    p->phase = PROCESS_CALLING;
    p->tick_at = earlier(process_now(p) + TICK_MS * MS, deadline);
    p->rejected = false;
    p->changed = true;
    if (!p->failed && sml_stream_begin(p->stream, call, elements, elements, process_now(p)) != 0)
        oracle_fail(r->cfg.oracle, "%s: a share cannot be summed", p->name);
    if (p->failed)
        end_call(r, false);
    turn(r);
}

void rail_abort(struct rail *r, enum ctl_reason reason, const char *why)
{
    if (!process_is_over(&r->p) && !r->p.failed)
        drive_fail_and_tell(&r->p, reason, why);
    r->told = true;
    turn(r);
}

void rail_close(struct rail *r)
{
    struct process *p = &r->p;

    if (p->phase >= PROCESS_HELPING)
        return;
    p->phase = PROCESS_HELPING;
    p->phase_ends = process_now(p) + LEAVE_WITHIN_MS * MS;
    turn(r);
}

void rail_kill(struct rail *r)
{
    r->p.phase = PROCESS_KILLED;
}

bool rail_is_over(const struct rail *r)
{
    return process_is_over(&r->p);
}

bool rail_receive(struct rail *r, struct frame *f)
{
    struct process *p = &r->p;

    if (process_is_over(p) || (f->host_port != p->control.port && f->host_port != p->data.port))
        return false;
    const bool is_data = f->host_port == p->data.port;
    socket_put(is_data ? &p->data : &p->control, f);
    if (!is_data || p->phase == PROCESS_CALLING || p->guest_waits)
        turn(r);
    return true;
}
