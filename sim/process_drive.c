#include "process_drive.h"

#include <string.h>

#include "kernels_chosen.h"
#include "memory.h"
#include "monotonic.h"

enum { HELP_POLL_MS = 10 };

/* The membership thread */

/* In a call, or before the end of one from which it has returned. */
static bool is_waiting(const struct process *p)
{
    return p->phase == PROCESS_CALLING || (p->stream != NULL && sml_stream_buffered(p->stream));
}

bool drive_is_held_back(const struct process *p)
{
    return p->session.state == CTL_SESSION_REJOINING && is_waiting(p) && !p->rejoining;
}

void drive_control(struct process *p)
{
    uint8_t message[CTL_MESSAGE_MAX];
    size_t bytes;

    for (struct frame *f; (f = socket_take(&p->control)) != NULL; frame_free(f))
        ctl_session_receive(&p->session, f->payload, f->bytes, process_now(p));
    while (!drive_is_held_back(p) && (bytes = ctl_session_poll(&p->session, process_now(p), message)) > 0)
        star_send_up(p->cfg.star, p->cfg.host, p->control.port, CTL_PORT, message, bytes, false);
    if (p->session.state != p->seen_state || p->session.generation != p->seen_generation) {
        sim_trace(p->cfg.sim, p->name, "session is %s%s%s", ctl_session_state_name(p->session.state),
                  p->session.failure.reason ? ": " : "", p->session.failure.text);
        p->seen_state = p->session.state;
        p->seen_generation = p->session.generation;
        p->changed = true;
    }
}

void drive_report(struct process *p)
{
    bool waiting = is_waiting(p);
    struct xfer_stats stats;

    sml_stream_stats(p->stream, &stats);
    p->session.heartbeat = (struct ctl_heartbeat){
        .window = stats.window,
        .retransmitted = stats.retransmitted,
        .calls = sml_stream_completed(p->stream),
        .waiting = waiting,
        .stalled_ms = waiting ? (uint32_t)((process_now(p) - sml_stream_progress(p->stream)) / MS) : 0,
        .progress = sml_stream_oldest(p->stream),
    };
}

bool drive_fail(struct process *p, const char *why)
{
    sim_trace(p->cfg.sim, p->name, "call %u fails: %s", p->call, why);
    p->failed = true;
    return false;
}

bool drive_fail_and_tell(struct process *p, enum ctl_reason reason, const char *why)
{
    struct ctl_failure f = {.reason = (uint16_t)reason, .rank = (uint16_t)p->cfg.rank};

    snprintf(f.text, sizeof(f.text), "%s", why);
    ctl_session_abort(&p->session, &f, process_now(p));
    return drive_fail(p, why);
}

/* Moving packets */

/* Returns how many came. */
static unsigned receive(struct process *p)
{
    unsigned n = 0;
    bool doubt = false;

    for (struct frame *f; (f = socket_take(&p->data)) != NULL; frame_free(f), n++) {
        enum xfer_receive worth = sml_stream_receive(p->stream, f->payload, f->bytes, process_now(p));
        if (f->damaged && worth != XFER_RX_DAMAGED && worth != XFER_RX_BAD)
            oracle_fail(p->cfg.oracle, "%s: a damaged packet is taken (%d)", p->name, worth);
        if (f->untrue && (worth == XFER_RX_RESULT || worth == XFER_RX_NEWS))
            oracle_fail(p->cfg.oracle, "%s: a forged packet is taken (%d)", p->name, worth);
        doubt |= worth == XFER_RX_DOUBT;
        if (worth == XFER_RX_RESULT && p->terms.quorum != 0)
            attendance_hear(&p->attendance, f->payload, f->bytes);
    }
    if (doubt)
        ctl_session_rejected(&p->session, process_now(p));
    return n;
}

/* Registered with the NIC. */
static bool in_tensors(const void *ctx, const uint8_t *at)
{
    const struct process *p = ctx;

    for (unsigned i = 0; i < PROGRAM_TOGETHER_MAX; i++) {
        const struct process_flight *f = &p->flights[i];
        if (f->in != NULL &&
            ((at >= f->in && at < f->in + f->bytes) || (at >= f->out && at < f->out + f->bytes)))
            return true;
    }
    return false;
}

static void send_due(struct process *p)
{
    enum { BATCH = 64 };
    struct xfer_send sends[BATCH];
    uint8_t payload[SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES + XFER_TRAILER_MAX];
    unsigned n;

    do {
        for (n = 0; n < BATCH && sml_stream_poll(p->stream, process_now(p), &sends[n]); n++)
            ;
        if (p->nic.queue_pair != 0)
            nic_post(&p->nic, sends, n, in_tensors, p);
        for (unsigned i = 0; i < n && p->nic.queue_pair == 0; i++) {
            const size_t bytes = xfer_send_copy(&sends[i], payload);
            star_send_up(p->cfg.star, p->cfg.host, p->data.port, p->ready.data_port, payload, bytes,
                         sends[i].checksum == XFER_CHECKSUM_CRC32C);
        }
    } while (n == BATCH);
}

unsigned drive_exchange(struct process *p)
{
    unsigned n = receive(p);

    send_due(p);
    return n;
}

/* Following the session */

static void adopt(struct process *p)
{
    p->ready = p->session.ready;
    sml_terms_parse(&p->terms, &p->ready.terms); /* the session has accepted them */
    p->nic.mtu =
        nic_mtu(SML_HEADER_BYTES + p->terms.chunk_bytes + xfer_trailer_bytes(sml_terms_checksum(&p->terms)));
    p->nic.longest = p->ready.nic == CTL_NIC_MESSAGES ? XFER_MESSAGE_MAX : 1;
    p->generation = p->session.generation;
}

void drive_open_stream(struct process *p, const struct sml_stream_config *own)
{
    const struct keys_secret shared = ctl_session_shared(&p->session);
    struct sml_stream_config config = *own;

    adopt(p);
    config.format = p->terms.format;
    config.look_up = p->terms.table.code;
    config.plain = p->terms.plain;
    config.slots = p->terms.slots;
    config.chunk_bytes = p->terms.chunk_bytes;
    config.job = p->session.ready.job;
    config.checksum = sml_terms_checksum(&p->terms);
    config.shared = &shared;
    config.first_tag = p->terms.first_tag;
    config.quorum = p->terms.quorum != 0;
    config.kernels = kernels_or_exit();
    p->stream = sml_stream_init(room_of(sml_stream_footprint(&config)), &config);
}

static bool prepare_to_rejoin(struct process *p)
{
    receive(p);
    p->rejoining = true;
    drive_report(p);
    return true;
}

static bool resume(struct process *p)
{
    const struct keys_secret shared = ctl_session_shared(&p->session);

    adopt(p);
    sim_trace(p->cfg.sim, p->name, "resumes at tag %u, oldest is %u", p->terms.first_tag,
              sml_stream_oldest(p->stream));
    if (sml_stream_resume(p->stream, p->ready.job, p->terms.first_tag, &shared, process_now(p)) < 0)
        return drive_fail_and_tell(p, CTL_CANNOT_RESUME, "some rank lags too far behind to be helped");
    p->rejoining = false;
    p->formation->resumed = true;
    return true;
}

bool drive_follow_session(struct process *p)
{
    p->changed = false;
    switch (p->session.state) {
    case CTL_SESSION_READY:
        return p->session.generation == p->generation || resume(p);
    case CTL_SESSION_REJOINING:
        return p->rejoining || prepare_to_rejoin(p);
    case CTL_SESSION_FAILED:
        return drive_fail(p, p->session.failure.text);
    default:
        return true;
    }
}

static bool follow_buffered(struct process *p)
{
    enum xfer_status status = sml_stream_status(p->stream);

    if (status == XFER_REJECTED)
        ctl_session_rejected(&p->session, process_now(p));
    drive_report(p);
    if (status != XFER_MISMATCH || !sml_stream_mismatch(p->stream)->opening)
        return true;
    return drive_fail_and_tell(p, CTL_MISMATCH, "ranks called different collectives");
}

void drive_between_calls(struct process *p)
{
    bool well = !p->failed && drive_follow_session(p), buffered = well && sml_stream_buffered(p->stream);

    if (well && !p->rejoining)
        drive_exchange(p);
    if (buffered)
        well = follow_buffered(p);
    p->guest_waits = well && !p->rejoining && sml_stream_timer(p->stream) != UINT64_MAX;
}

static bool is_needed(const struct process *p)
{
    return p->stream != NULL && !p->failed &&
           (p->session.state == CTL_SESSION_REJOINING || p->session.generation != p->generation ||
            sml_stream_timer(p->stream) != UINT64_MAX);
}

bool drive_help(struct process *p)
{
    if (p->stream != NULL)
        drive_between_calls(p);
    if (is_needed(p) && process_now(p) < p->phase_ends)
        return false;
    ctl_session_leave(&p->session, process_now(p));
    p->phase = PROCESS_LEAVING;
    return true;
}

/* Time */

uint64_t drive_next_wake(const struct process *p)
{
    const uint64_t at = drive_is_held_back(p) ? UINT64_MAX : ctl_session_timer(&p->session);
    const uint64_t stream = p->stream != NULL && !p->rejoining ? sml_stream_timer(p->stream) : UINT64_MAX;

    switch (p->phase) {
    case PROCESS_COMPUTING:
        return earlier(at, p->guest_waits ? stream : UINT64_MAX);
    case PROCESS_CALLING:
    case PROCESS_COMPLETING:
        return p->mismatch_ends != 0 ? earlier(at, p->mismatch_ends)
                                     : earlier(earlier(at, p->tick_at), stream);
    case PROCESS_HELPING:
        return earlier(earlier(at, process_now(p) + HELP_POLL_MS * MS), earlier(p->phase_ends, stream));
    case PROCESS_LEAVING:
        return earlier(at, p->phase_ends);
    default:
        return at;
    }
}
