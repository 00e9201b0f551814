#include "process.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "monotonic.h"
#include "process_drive.h"
#include "switchml/worker.h"
#include "toy_keys.h"
#include "wire/roce.h"

enum {
    TICK_MS = 100,
    ANSWER_WITHIN_MS = 3000,
    LEAVE_WITHIN_MS = 1000,
    PEERS_WORD_MS = 200,
};

static void enter(struct process *p, enum process_phase phase)
{
    p->phase = phase;
    p->phase_began = process_now(p);
    p->stopped_for = 0;
}

/* Phases */

static void help(struct process *p)
{
    if (p->formation != NULL) {
        oracle_ended(p->formation, p->cfg.rank, !p->failed && p->call == p->cfg.program->calls);
        if (p->failed && p->session.failure.reason == CTL_LEFT_RESUMING)
            oracle_left_behind(p->formation, p->cfg.rank);
    }
    enter(p, PROCESS_HELPING);
    p->phase_ends = p->phase_began + LEAVE_WITHIN_MS * MS;
}

/* A call, or what closing waits for, begins with a look at the session. */
static void enter_loop(struct process *p, enum process_phase phase)
{
    enter(p, phase);
    p->phase_ends = p->phase_began + p->cfg.program->call_timeout_ns;
    p->tick_at = p->phase_began + TICK_MS * MS;
    p->rejected = false;
    p->mismatch_ends = 0;
    p->changed = true;
}

static void close_job(struct process *p)
{
    if (p->stream != NULL && !p->failed && sml_stream_buffered(p->stream))
        enter_loop(p, PROCESS_COMPLETING);
    else
        help(p);
}

static void compute(struct process *p)
{
    enter(p, PROCESS_COMPUTING);
    p->phase_ends =
        p->phase_began +
        (p->call < p->cfg.program->calls ? program_compute(p->cfg.program, p->cfg.rank, p->call) : 0);
    drive_report(p);
}

static void open_stream(struct process *p)
{
    const struct sml_stream_config own = {.rank = (uint16_t)p->cfg.rank,
                                          .workers = p->cfg.program->size,
                                          .buffer_reduces = program_buffers(p->cfg.program, p->cfg.rank),
                                          .may_leave = p->cfg.program->patience_ns > 0,
                                          .calls = (uint16_t)program_together(p->cfg.program, p->cfg.rank),
                                          .window_max = p->cfg.program->window};

    drive_open_stream(p, &own);
    attendance_init(&p->attendance, own.workers, p->terms.chunk_bytes, p->terms.first_tag);
    p->formation = oracle_ready(p->cfg.oracle, p->cfg.program, p->cfg.rank, p->session.ready.roster);
}

static void check_time(struct process *p, const char *what, uint64_t limit)
{
    uint64_t took = process_now(p) - p->phase_began;

    if (took > limit + p->stopped_for)
        oracle_fail(p->cfg.oracle, "%s: %s took %llu ms of %llu", p->name, what,
                    (unsigned long long)(took / MS), (unsigned long long)(limit / MS));
}

static bool joining_turn(struct process *p)
{
    bool unanswered = p->session.boot_id == 0 && process_now(p) >= p->phase_began + ANSWER_WITHIN_MS * MS;

    if (p->session.state == CTL_SESSION_READY) {
        open_stream(p);
        check_time(p, "swagg_open", p->cfg.program->join_timeout_ns);
        compute(p);
        return true;
    }
    if (p->session.state != CTL_SESSION_FAILED && !unanswered)
        return false;
    sim_trace(p->cfg.sim, p->name, "cannot open: %s",
              unanswered ? "no switch answered" : p->session.failure.text);
    check_time(p, "swagg_open", p->cfg.program->join_timeout_ns);
    p->failed = true;
    close_job(p);
    return true;
}

static struct process_flight *flight_of(struct process *p, unsigned call)
{
    return &p->flights[call % PROGRAM_TOGETHER_MAX];
}

static void make_tensors(struct process *p, const struct xfer_call *call)
{
    struct process_flight *f = flight_of(p, p->begun);
    const struct sml_element e = program_element(call);
    size_t bytes = call->count * e.out;
    const bool two = e.in != e.out,
               in_place = !two && program_in_place(p->cfg.program, p->cfg.rank, p->begun);
    const uint64_t cut = two ? 0 : program_cut(p->cfg.program, p->cfg.rank, p->begun);

    f->bytes = bytes;
    f->tensor = memory_of(bytes);
    f->in = memory_of(bytes);
    f->out = in_place ? f->in : memory_of(bytes);
    program_fill(p->cfg.program, p->cfg.rank, p->begun, f->tensor);
    f->scattered = scattered_cut(f->in, f->out, call->count, e.in, cut);
    scattered_put(&f->scattered, f->tensor);
    f->scattered.element = e.out; /* of what comes back */
}

/* One tensor, or several in one call: to the switch, and to the other ranks, it is the same. */
static int begin_stream(struct process *p, const struct xfer_call *call)
{
    struct process_flight *f = flight_of(p, p->begun);

    if (f->scattered.n == 1)
        return sml_stream_begin(p->stream, call, f->in, f->out, process_now(p));
    return sml_stream_begin_segments(p->stream, call, f->scattered.segment, f->scattered.n, process_now(p));
}

static void begin_call(struct process *p)
{
    struct xfer_call call = program_call(p->cfg.program, p->cfg.rank, p->begun);

    make_tensors(p, &call);
    if (p->terms.quorum != 0)
        attendance_begin(&p->attendance, p->stream, &call);
    sim_trace(p->cfg.sim, p->name, "begins call %u, %u of type %u, operation %u, to %d", p->begun,
              (unsigned)call.count, call.type, call.op, call.collective == XFER_REDUCE ? (int)call.root : -1);
    if (begin_stream(p, &call) != 0)
        oracle_fail(p->cfg.oracle, "%s: call %u cannot begin", p->name, p->begun);
    oracle_begun(p->formation, p->cfg.rank);
    p->begun++;
    drive_report(p);
}

/* Whether the application gives up, or leaves, in the place of this call. */
static bool deviates_at(const struct process *p, unsigned call)
{
    const struct program *program = p->cfg.program;

    return program->deviation.rank == p->cfg.rank && program->deviation.call == call &&
           (program->deviation.kind == DEVIATION_ABORT || program->deviation.kind == DEVIATION_LEAVE);
}

/* Posts as many as it does at once. */
static void begin_calls(struct process *p)
{
    const unsigned last = p->call + program_together(p->cfg.program, p->cfg.rank);

    p->left = false;
    enter_loop(p, PROCESS_CALLING);
    do
        begin_call(p);
    while (p->begun < last && p->begun < p->cfg.program->calls && !deviates_at(p, p->begun));
}

static void free_tensors(struct process_flight *f)
{
    if (f->out != f->in)
        free(f->out);
    free(f->in);
    free(f->tensor);
    f->in = f->out = f->tensor = NULL;
}

/* The oldest in flight has succeeded. */
static void succeed(struct process *p, const struct xfer_call *call)
{
    struct process_flight *f = flight_of(p, p->call);

    sim_trace(p->cfg.sim, p->name, "call %u succeeds", p->call);
    scattered_get(&f->scattered, f->tensor);
    if (p->terms.quorum != 0)
        attendance_check(&p->attendance, p->cfg.oracle, p->formation, p->cfg.rank, p->call,
                         sml_stream_turnout(p->stream, p->call), f->tensor, p->left);
    oracle_succeeded(p->cfg.oracle, p->formation, p->cfg.rank,
                     program_wants(call, p->cfg.rank) && p->terms.quorum == 0 ? f->tensor : NULL,
                     sml_stream_buffered(p->stream));
}

/* Whatever the stream still reads must be its own; and the NIC nothing of this. */
static void give_back(struct process *p, unsigned which)
{
    struct process_flight *f = flight_of(p, which);
    const struct xfer_call call = program_call(p->cfg.program, p->cfg.rank, which);

    nic_settle(&p->nic);
    if (p->terms.quorum != 0)
        attendance_end(&p->attendance, p->stream);
    if (f->in != NULL)
        memset(f->in, 0xdd, call.count * program_element(&call).out);
    free_tensors(f);
}

/* Ends the oldest in flight; if it has failed, so have those behind it. */
static void end_call(struct process *p, bool well)
{
    const struct xfer_call call = program_call(p->cfg.program, p->cfg.rank, p->call);

    check_time(p, "a call", p->cfg.program->call_timeout_ns);
    if (!well) {
        for (unsigned which = p->call; which < p->begun; which++)
            give_back(p, which);
        close_job(p);
        return;
    }
    succeed(p, &call);
    give_back(p, p->call);
    if (++p->call == p->begun)
        compute(p);
}

static bool computing_turn(struct process *p)
{
    const struct program *program = p->cfg.program;

    drive_between_calls(p);
    if (process_now(p) < p->phase_ends)
        return false;
    if (p->call == program->calls) {
        close_job(p);
        return true;
    }
    if (deviates_at(p, p->call)) {
        if (program->deviation.kind == DEVIATION_ABORT && !p->failed)
            drive_fail_and_tell(p, CTL_APPLICATION, "the application aborts");
        close_job(p);
        return true;
    }
    if (p->failed)
        close_job(p);
    else
        begin_calls(p);
    return true;
}

static bool tick(struct process *p)
{
    drive_report(p);
    if (process_now(p) >= p->phase_ends)
        return drive_fail_and_tell(p, CTL_DEADLINE, "the deadline has passed");
    p->tick_at = process_now(p) + TICK_MS * MS;
    if (p->tick_at > p->phase_ends)
        p->tick_at = p->phase_ends;
    return true;
}

/* A mismatch in a later chunk than the first does not tell the peer's call, so its word is waited for. True:
 * the call is over. */
static bool mismatch_ends(struct process *p)
{
    if (p->mismatch_ends == 0) {
        bool told = sml_stream_mismatch(p->stream)->opening;
        p->mismatch_ends = earlier(process_now(p) + (told ? 0 : PEERS_WORD_MS * MS), p->phase_ends);
    }
    if (p->session.state == CTL_SESSION_FAILED)
        drive_fail(p, p->session.failure.text);
    else if (process_now(p) >= p->mismatch_ends)
        drive_fail_and_tell(p, CTL_MISMATCH, "ranks called different collectives");
    return p->failed;
}

static void end_loop(struct process *p, bool well)
{
    if (p->phase == PROCESS_CALLING) {
        end_call(p, well);
        return;
    }
    check_time(p, "completing reduces", p->cfg.program->call_timeout_ns);
    drive_report(p); /* what LEAVE tells is exact */
    help(p);
}

/* When a call is to be left as it is; UINT64_MAX: not as things are. */
static uint64_t leaves_at(const struct process *p)
{
    const struct program *program = p->cfg.program;

    if (p->phase != PROCESS_CALLING || program->patience_ns == 0 ||
        program->call[p->call].op != SML_LOOK_UP || program_has_mismatch(program, p->call) || p->changed ||
        p->rejoining || sml_stream_status(p->stream) != XFER_RUNNING ||
        sml_stream_left(p->stream) > p->terms.slots)
        return UINT64_MAX;
    return sml_stream_progress(p->stream) + program->patience_ns;
}

/* What is missing is nobody's to check. */
static void leave_call(struct process *p)
{
    uint64_t from = 0, offset;
    size_t bytes;

    p->left = true;
    while (p->terms.quorum == 0 && sml_stream_lacks(p->stream, &from, &offset, &bytes))
        program_supply(p->cfg.program, p->call, offset, bytes, flight_of(p, p->call)->out);
    sim_trace(p->cfg.sim, p->name, "leaves call %u, %u chunks early", p->call,
              (unsigned)sml_stream_left(p->stream));
    if (!sml_stream_leave(p->stream))
        oracle_fail(p->cfg.oracle, "%s: cannot leave call %u", p->name, p->call);
}

/* One round of a call's loop; false: there is nothing to do now. */
static bool loop_turn(struct process *p)
{
    if (process_now(p) >= leaves_at(p))
        leave_call(p);
    enum xfer_status status = sml_stream_status(p->stream);
    bool well = true;

    if (p->phase == PROCESS_CALLING ? sml_stream_ended(p->stream) != p->call
                                    : status == XFER_DONE && !sml_stream_buffered(p->stream)) {
        end_loop(p, true);
        return true;
    }
    if (status == XFER_MISMATCH) {
        if (!mismatch_ends(p))
            return false;
        well = false;
    } else {
        if (status == XFER_REJECTED && !p->rejected)
            ctl_session_rejected(&p->session, process_now(p));
        p->rejected = status == XFER_REJECTED;
        if (p->changed)
            well = drive_follow_session(p);
        else if (process_now(p) >= p->tick_at)
            well = tick(p);
        else if (p->rejoining || drive_exchange(p) == 0)
            return false;
    }
    if (!well)
        end_loop(p, false);
    return true;
}

static bool leaving_turn(struct process *p)
{
    if (p->session.state == CTL_SESSION_LEAVING && process_now(p) < p->phase_ends)
        return false;
    check_time(p, "swagg_close", LEAVE_WITHIN_MS * MS);
    sim_trace(p->cfg.sim, p->name, "exits");
    p->phase = PROCESS_EXITED;
    p->cfg.exited(p->cfg.exited_ctx, p);
    return false;
}

static bool phase_turn(struct process *p)
{
    switch (p->phase) {
    case PROCESS_JOINING:
        return joining_turn(p);
    case PROCESS_COMPUTING:
        return computing_turn(p);
    case PROCESS_CALLING:
    case PROCESS_COMPLETING:
        return loop_turn(p);
    case PROCESS_HELPING:
        return drive_help(p);
    case PROCESS_LEAVING:
        return leaving_turn(p);
    default:
        return false;
    }
}

/* Time */

/* When something is to be done if nothing arrives. */
static uint64_t next_wake(const struct process *p)
{
    const uint64_t at = drive_next_wake(p);

    switch (p->phase) {
    case PROCESS_JOINING:
        return p->session.boot_id == 0 ? earlier(at, p->phase_began + ANSWER_WITHIN_MS * MS) : at;
    case PROCESS_COMPUTING:
        return earlier(at, p->phase_ends);
    case PROCESS_CALLING:
        return earlier(at, leaves_at(p));
    default:
        return at;
    }
}

static void turn(void *process)
{
    struct process *p = process;

    if (p->stopped || process_is_over(p))
        return;
    do
        drive_control(p);
    while (phase_turn(p) || p->control.line.n > 0);
    drive_control(p);
    if (!process_is_over(p))
        sim_alarm_set(p->cfg.sim, &p->wake, next_wake(p));
}

struct process *process_start(const struct process_config *cfg)
{
    struct process *p = memory_of(sizeof(*p));
    const struct program *program = cfg->program;
    struct ctl_session_config session = {
        .rank = (uint16_t)cfg->rank,
        .size = program->size,
        .incarnation = cfg->incarnation,
        .join =
            {
                .data_port = cfg->data_port,
            },
        .worker = &sml_worker,
        .join_deadline_ns = program->join_timeout_ns,
    };

    const struct sml_terms wish = {.format = program->format,
                                   .table = program->table,
                                   .plain = program->plain,
                                   .mode = program->mode,
                                   .checksum = program->checksum,
                                   .keyed = program->key != NULL,
                                   .quorum = program->quorum,
                                   .wait_ms = program->wait_ms,
                                   .slots = program->slots,
                                   .chunk_bytes = program->chunk_bytes};

    sml_terms_build(&session.join.terms, &wish);
    if (program_has_nic(program, cfg->rank))
        session.join.queue_pair = ROCE_CARRIES | cfg->data_port;
    memcpy(session.join.name, program->name, sizeof(session.join.name));
    *p = (struct process){.cfg = *cfg,
                          .control.port = cfg->control_port,
                          .data.port = cfg->data_port,
                          .wake = {UINT64_MAX, turn, p},
                          .seen_state = CTL_SESSION_JOINING};
    if (session.join.queue_pair != 0)
        nic_open(&p->nic, cfg->sim, cfg->star, cfg->host, cfg->data_port);
    snprintf(p->name, sizeof(p->name), "%s.%u", program->name, cfg->rank);
    sim_trace(cfg->sim, p->name, "starts");
    enter(p, PROCESS_JOINING);
    if (program->key != NULL) {
        p->credentials = (struct ctl_credentials){
            .library = &toy_library,
            .key = *program->key,
            .address = {.ip = star_endpoint(cfg->host, 0).ip, .udp_port = cfg->control_port}};
        session.credentials = &p->credentials;
    }
    ctl_session_init(&p->session, &session, cfg->sim->now);
    turn(p);
    return p;
}

static void free_memory(struct process *p)
{
    socket_drain(&p->control);
    socket_drain(&p->data);
    nic_close(&p->nic);
    for (unsigned i = 0; i < PROGRAM_TOGETHER_MAX; i++)
        free_tensors(&p->flights[i]);
    attendance_end(&p->attendance, NULL);
    free(p->stream);
    p->stream = NULL;
}

void process_free(struct process *p)
{
    free_memory(p);
    free(p);
}

void process_kill(struct process *p)
{
    if (process_is_over(p))
        return;
    sim_trace(p->cfg.sim, p->name, "is killed");
    if (p->formation != NULL && p->phase < PROCESS_HELPING)
        oracle_killed(p->formation, p->cfg.rank);
    p->phase = PROCESS_KILLED;
    free_memory(p);
}

void process_stop(struct process *p)
{
    if (p->stopped || process_is_over(p))
        return;
    sim_trace(p->cfg.sim, p->name, "is stopped");
    p->stopped = true;
    p->stopped_at = process_now(p);
}

void process_continue(struct process *p)
{
    if (!p->stopped)
        return;
    sim_trace(p->cfg.sim, p->name, "continues");
    p->stopped = false;
    p->stopped_for += process_now(p) - p->stopped_at;
    turn(p);
}

bool process_receive(struct process *p, struct frame *f)
{
    if (process_is_over(p) || (f->switch_port == ROCE_PORT && !nic_take(&p->nic, f)) ||
        (f->host_port != p->control.port && f->host_port != p->data.port))
        return false;
    bool is_data = f->host_port == p->data.port;
    socket_put(is_data ? &p->data : &p->control, f);
    if (!is_data || p->phase == PROCESS_CALLING || p->phase == PROCESS_COMPLETING || p->guest_waits)
        turn(p);
    return true;
}
