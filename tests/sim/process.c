#include "process.h"

#include <stdlib.h>
#include <string.h>

enum {
    SOCKET_BYTES = 212992, /* Linux' default receive buffer */
    TICK_MS = 100,
    ANSWER_WITHIN_MS = 3000,
    LEAVE_WITHIN_MS = 1000,
    HELP_POLL_MS = 10,
    PEERS_WORD_MS = 200,
};

/* Sockets */

static void put(struct socket *socket, struct frame *f)
{
    if (socket->bytes + f->bytes > SOCKET_BYTES) {
        frame_free(f);
        return;
    }
    f->next = NULL;
    if (socket->first == NULL)
        socket->first = f;
    else
        socket->last->next = f;
    socket->last = f;
    socket->bytes += f->bytes;
}

static struct frame *take(struct socket *socket)
{
    struct frame *f = socket->first;

    if (f != NULL) {
        socket->first = f->next;
        socket->bytes -= f->bytes;
    }
    return f;
}

static void drain(struct socket *socket)
{
    for (struct frame *f; (f = take(socket)) != NULL;)
        frame_free(f);
}

static uint64_t now_of(const struct process *p)
{
    return p->cfg.sim->now;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void enter(struct process *p, enum process_phase phase)
{
    p->phase = phase;
    p->phase_began = now_of(p);
    p->stopped_for = 0;
}

/* The control thread */

/* While the caller is receiving, its oldest tag is not final and must not be told in a JOIN. */
static bool is_held_back(const struct process *p)
{
    return p->session.state == CTL_SESSION_REJOINING && p->phase == PROCESS_CALLING && !p->rejoining;
}

static void control_turn(struct process *p)
{
    uint8_t message[CTL_MESSAGE_MAX];
    size_t bytes;

    for (struct frame *f; (f = take(&p->control)) != NULL; frame_free(f))
        ctl_session_receive(&p->session, f->payload, f->bytes, now_of(p));
    while (!is_held_back(p) && (bytes = ctl_session_poll(&p->session, now_of(p), message)) > 0)
        star_send_up(p->cfg.star, p->cfg.host, p->control.port, CTL_PORT, message, bytes);
    if (p->session.state != p->seen_state || p->session.generation != p->seen_generation) {
        sim_trace(p->cfg.sim, p->name, "session is %s%s%s", ctl_session_state_name(p->session.state),
                  p->session.failure.reason ? ": " : "", p->session.failure.text);
        p->seen_state = p->session.state;
        p->seen_generation = p->session.generation;
        p->changed = true;
    }
}

/* What the next heartbeat says. */
static void report(struct process *p)
{
    bool calling = p->phase == PROCESS_CALLING;

    p->session.heartbeat = (struct ctl_heartbeat){
        .calls = p->call,
        .waiting = calling,
        .stalled_ms = calling ? (uint32_t)((now_of(p) - sml_stream_progress(p->stream)) / MS) : 0,
        .oldest_tag = sml_stream_oldest(p->stream),
    };
}

/* Failing. Each returns false: the job cannot go on. */

static bool fail(struct process *p, const char *why)
{
    sim_trace(p->cfg.sim, p->name, "call %u fails: %s", p->call, why);
    p->failed = true;
    return false;
}

static bool fail_and_tell(struct process *p, enum ctl_reason reason, const char *why)
{
    struct ctl_failure f = {.reason = (uint16_t)reason, .rank = (uint16_t)p->cfg.rank};

    snprintf(f.text, sizeof(f.text), "%s", why);
    ctl_session_abort(&p->session, &f, now_of(p));
    return fail(p, why);
}

/* Moving packets */

/* Returns how many came. */
static unsigned receive(struct process *p)
{
    unsigned n = 0;

    for (struct frame *f; (f = take(&p->data)) != NULL; frame_free(f), n++)
        sml_stream_receive(p->stream, f->payload, f->bytes, now_of(p));
    return n;
}

static void send_due(struct process *p)
{
    struct sml_send send;
    uint8_t payload[SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES];

    while (sml_stream_poll(p->stream, now_of(p), &send)) {
        memcpy(payload, send.head, send.head_bytes);
        if (send.convert)
            agg_kernels_best()->convert[send.type](payload + send.head_bytes, send.body, send.body_bytes);
        else if (send.body_bytes > 0)
            memcpy(payload + send.head_bytes, send.body, send.body_bytes);
        star_send_up(p->cfg.star, p->cfg.host, p->data.port, p->terms.data_port, payload,
                     send.head_bytes + send.body_bytes);
    }
}

static unsigned exchange(struct process *p)
{
    unsigned n = receive(p);

    send_due(p);
    return n;
}

/* Following the session */

static bool prepare_to_rejoin(struct process *p)
{
    receive(p);
    p->rejoining = true;
    report(p);
    return true;
}

static bool resume(struct process *p)
{
    p->terms = p->session.ready;
    p->generation = p->session.generation;
    sim_trace(p->cfg.sim, p->name, "resumes at tag %u, oldest is %u", p->terms.first_tag,
              sml_stream_oldest(p->stream));
    if (sml_stream_resume(p->stream, p->terms.job, p->terms.first_tag, now_of(p)) < 0)
        return fail_and_tell(p, CTL_CANNOT_RESUME, "some rank lags too far behind to be helped");
    p->rejoining = false;
    return true;
}

static bool follow_session(struct process *p)
{
    p->changed = false;
    switch (p->session.state) {
    case CTL_SESSION_READY:
        return p->session.generation == p->generation || resume(p);
    case CTL_SESSION_REJOINING:
        return p->rejoining || prepare_to_rejoin(p);
    case CTL_SESSION_FAILED:
        return fail(p, p->session.failure.text);
    default:
        return true;
    }
}

/* The control thread's turn at the stream while the application computes. */
static void drive_between_calls(struct process *p)
{
    bool well = !p->failed && follow_session(p);

    if (well && !p->rejoining)
        exchange(p);
    p->guest_waits = well && !p->rejoining && sml_stream_timer(p->stream) != UINT64_MAX;
}

/* Phases */

static void close_job(struct process *p)
{
    if (p->formation != NULL)
        oracle_ended(p->cfg.oracle, p->formation, p->cfg.rank,
                     !p->failed && p->call == p->cfg.program->calls);
    enter(p, PROCESS_HELPING);
    p->phase_ends = p->phase_began + LEAVE_WITHIN_MS * MS;
}

static void compute(struct process *p)
{
    enter(p, PROCESS_COMPUTING);
    p->phase_ends =
        p->phase_began +
        (p->call < p->cfg.program->calls ? program_compute(p->cfg.program, p->cfg.rank, p->call) : 0);
    report(p);
}

static void open_stream(struct process *p)
{
    struct sml_stream_config cfg = {
        .rank = (uint16_t)p->cfg.rank,
        .workers = p->cfg.program->size,
        .slots = p->session.ready.slots,
        .chunk_bytes = p->session.ready.chunk_bytes,
        .job = p->session.ready.job,
        .first_tag = p->session.ready.first_tag,
        .window_max = p->cfg.program->window,
        .kernels = agg_kernels_best(),
    };

    p->terms = p->session.ready;
    p->generation = p->session.generation;
    p->stream = sml_stream_init(sim_alloc(sml_stream_footprint(&cfg)), &cfg);
    p->formation =
        oracle_ready(p->cfg.oracle, p->cfg.program, p->cfg.rank, p->session.boot_id ^ p->session.epoch);
}

static void check_time(struct process *p, const char *what, uint64_t limit)
{
    uint64_t took = now_of(p) - p->phase_began;

    if (took > limit + p->stopped_for)
        oracle_fail(p->cfg.oracle, "%s: %s took %llu ms of %llu", p->name, what,
                    (unsigned long long)(took / MS), (unsigned long long)(limit / MS));
}

static bool joining_turn(struct process *p)
{
    bool unanswered = p->session.boot_id == 0 && now_of(p) >= p->phase_began + ANSWER_WITHIN_MS * MS;

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

static void begin_call(struct process *p)
{
    struct sml_call call = program_call(p->cfg.program, p->cfg.rank, p->call);
    size_t bytes = call.count * agg_type_size(call.type);
    bool in_place = program_in_place(p->cfg.program, p->cfg.rank, p->call);

    p->in = sim_alloc(bytes);
    p->out = in_place ? p->in : sim_alloc(bytes);
    program_fill(p->cfg.program, p->cfg.rank, p->call, p->in);
    enter(p, PROCESS_CALLING);
    p->phase_ends = p->phase_began + p->cfg.program->call_timeout_ns;
    p->tick_at = p->phase_began + TICK_MS * MS;
    p->rejected = false;
    p->quarrel_ends = 0;
    sim_trace(p->cfg.sim, p->name, "begins call %u, %u of type %u to %d", p->call, (unsigned)call.count,
              call.type, call.collective == SML_REDUCE ? (int)call.root : -1);
    if (sml_stream_begin(p->stream, &call, p->in, p->out, now_of(p)) != 0)
        oracle_fail(p->cfg.oracle, "%s: call %u cannot begin", p->name, p->call);
    oracle_begun(p->cfg.oracle, p->formation, p->cfg.rank);
    report(p);
    p->changed = true; /* a call begins with a look at the session */
}

static void free_tensors(struct process *p)
{
    if (p->out != p->in)
        free(p->out);
    free(p->in);
    p->in = p->out = NULL;
}

static void end_call(struct process *p, bool well)
{
    struct sml_call call = program_call(p->cfg.program, p->cfg.rank, p->call);

    check_time(p, "a call", p->cfg.program->call_timeout_ns);
    if (well) {
        sim_trace(p->cfg.sim, p->name, "call %u succeeds", p->call);
        oracle_succeeded(p->cfg.oracle, p->formation, p->cfg.rank,
                         program_wants(&call, p->cfg.rank) ? p->out : NULL);
        p->call++;
    }
    /* Whatever the stream still reads must be its own. */
    if (p->in != NULL)
        memset(p->in, 0xdd, call.count * agg_type_size(call.type));
    free_tensors(p);
    if (well)
        compute(p);
    else
        close_job(p);
}

static bool computing_turn(struct process *p)
{
    const struct program *program = p->cfg.program;

    drive_between_calls(p);
    if (now_of(p) < p->phase_ends)
        return false;
    if (p->call == program->calls) {
        close_job(p);
        return true;
    }
    if (program->deviation.rank == p->cfg.rank && program->deviation.call == p->call) {
        if (program->deviation.kind == DEVIATION_ABORT && !p->failed)
            fail_and_tell(p, CTL_APPLICATION, "the application aborts");
        if (program->deviation.kind == DEVIATION_ABORT || program->deviation.kind == DEVIATION_LEAVE) {
            close_job(p);
            return true;
        }
    }
    if (p->failed)
        close_job(p);
    else
        begin_call(p);
    return true;
}

static bool tick(struct process *p)
{
    report(p);
    if (now_of(p) >= p->phase_ends)
        return fail_and_tell(p, CTL_DEADLINE, "the deadline has passed");
    p->tick_at = now_of(p) + TICK_MS * MS;
    if (p->tick_at > p->phase_ends)
        p->tick_at = p->phase_ends;
    return true;
}

/* A quarrel over a later chunk than the first does not tell the peer's call, so its word is waited for. True:
 * the call is over. */
static bool quarrel_ends(struct process *p)
{
    if (p->quarrel_ends == 0) {
        bool told = sml_stream_mismatch(p->stream)->opening;
        p->quarrel_ends = earlier(now_of(p) + (told ? 0 : PEERS_WORD_MS * MS), p->phase_ends);
    }
    if (p->session.state == CTL_SESSION_FAILED)
        fail(p, p->session.failure.text);
    else if (now_of(p) >= p->quarrel_ends)
        fail_and_tell(p, CTL_MISMATCH, "ranks called different collectives");
    return p->failed;
}

/* One round of a call's loop; false: there is nothing to do now. */
static bool calling_turn(struct process *p)
{
    enum sml_stream_status status = sml_stream_status(p->stream);
    bool well = true;

    if (status == SML_STREAM_DONE) {
        end_call(p, true);
        return true;
    }
    if (status == SML_STREAM_MISMATCH) {
        if (!quarrel_ends(p))
            return false;
        well = false;
    } else {
        if (status == SML_STREAM_REJECTED && !p->rejected)
            ctl_session_rejected(&p->session, now_of(p));
        p->rejected = status == SML_STREAM_REJECTED;
        if (p->changed)
            well = follow_session(p);
        else if (now_of(p) >= p->tick_at)
            well = tick(p);
        else if (p->rejoining || exchange(p) == 0)
            return false;
    }
    if (!well)
        end_call(p, false);
    return true;
}

static bool is_needed(const struct process *p)
{
    return p->stream != NULL && !p->failed &&
           (p->session.state == CTL_SESSION_REJOINING || p->session.generation != p->generation ||
            sml_stream_timer(p->stream) != UINT64_MAX);
}

static bool helping_turn(struct process *p)
{
    if (p->stream != NULL)
        drive_between_calls(p);
    if (is_needed(p) && now_of(p) < p->phase_ends)
        return false;
    ctl_session_leave(&p->session, now_of(p));
    p->phase = PROCESS_LEAVING;
    return true;
}

static bool leaving_turn(struct process *p)
{
    if (p->session.state == CTL_SESSION_LEAVING && now_of(p) < p->phase_ends)
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
        return calling_turn(p);
    case PROCESS_HELPING:
        return helping_turn(p);
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
    uint64_t at = is_held_back(p) ? UINT64_MAX : ctl_session_timer(&p->session);
    uint64_t stream = p->stream != NULL && !p->rejoining ? sml_stream_timer(p->stream) : UINT64_MAX;

    switch (p->phase) {
    case PROCESS_JOINING:
        return p->session.boot_id == 0 ? earlier(at, p->phase_began + ANSWER_WITHIN_MS * MS) : at;
    case PROCESS_COMPUTING:
        return earlier(earlier(at, p->phase_ends), p->guest_waits ? stream : UINT64_MAX);
    case PROCESS_CALLING:
        return p->quarrel_ends != 0 ? earlier(at, p->quarrel_ends) : earlier(earlier(at, p->tick_at), stream);
    case PROCESS_HELPING:
        return earlier(earlier(at, now_of(p) + HELP_POLL_MS * MS), earlier(p->phase_ends, stream));
    case PROCESS_LEAVING:
        return earlier(at, p->phase_ends);
    default:
        return UINT64_MAX;
    }
}

static void on_wake(void *ctx, uint64_t at);

static void turn(struct process *p)
{
    if (p->stopped || process_is_over(p))
        return;
    do
        control_turn(p);
    while (phase_turn(p) || p->control.first != NULL);
    control_turn(p);

    uint64_t at = next_wake(p);
    if (at < p->wake_at) {
        p->wake_at = at;
        sim_at(p->cfg.sim, at, on_wake, p, at);
    }
}

static void on_wake(void *ctx, uint64_t at)
{
    struct process *p = ctx;

    if (at != p->wake_at)
        return;
    p->wake_at = UINT64_MAX;
    turn(p);
}

struct process *process_start(const struct process_config *cfg)
{
    struct process *p = sim_alloc(sizeof(*p));
    const struct program *program = cfg->program;
    struct ctl_session_config session = {
        .rank = (uint16_t)cfg->rank,
        .size = program->size,
        .incarnation = cfg->incarnation,
        .join = {.data_port = cfg->data_port,
                 .format = SML_FORMAT_TYPED,
                 .mode = (uint8_t)program->mode,
                 .chunk_bytes = program->chunk_bytes,
                 .slots = program->slots},
        .join_deadline_ns = program->join_timeout_ns,
    };

    memcpy(session.join.name, program->name, sizeof(session.join.name));
    *p = (struct process){.cfg = *cfg,
                          .control.port = cfg->control_port,
                          .data.port = cfg->data_port,
                          .wake_at = UINT64_MAX,
                          .seen_state = CTL_SESSION_JOINING};
    snprintf(p->name, sizeof(p->name), "%s.%u", program->name, cfg->rank);
    sim_trace(cfg->sim, p->name, "starts");
    enter(p, PROCESS_JOINING);
    ctl_session_init(&p->session, &session, cfg->sim->now);
    turn(p);
    return p;
}

static void free_memory(struct process *p)
{
    drain(&p->control);
    drain(&p->data);
    free_tensors(p);
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
        oracle_ended(p->cfg.oracle, p->formation, p->cfg.rank, false);
    p->phase = PROCESS_KILLED;
    free_memory(p);
}

void process_stop(struct process *p)
{
    if (p->stopped || process_is_over(p))
        return;
    sim_trace(p->cfg.sim, p->name, "is stopped");
    p->stopped = true;
    p->stopped_at = now_of(p);
}

void process_continue(struct process *p)
{
    if (!p->stopped)
        return;
    sim_trace(p->cfg.sim, p->name, "continues");
    p->stopped = false;
    p->stopped_for += now_of(p) - p->stopped_at;
    turn(p);
}

bool process_receive(struct process *p, struct frame *f)
{
    if (process_is_over(p) || (f->host_port != p->control.port && f->host_port != p->data.port))
        return false;
    bool is_data = f->host_port == p->data.port;
    put(is_data ? &p->data : &p->control, f);
    if (!is_data || p->phase == PROCESS_CALLING || p->guest_waits)
        turn(p);
    return true;
}
