/* The worker's side of the control protocol: one membership in one job.
 *
 *   state      event                           next       what is done
 *   JOINING    timer (50 ms, doubling to 1 s)  JOINING    JOIN again
 *   JOINING    PENDING                         JOINING    who is missing is remembered. Under a new boot
 *                                                         id: JOIN again at once, since the switch believes
 *                                                         only who knows it
 *   JOINING    READY                           READY      the terms are taken over; generation becomes 1
 *   JOINING    REFUSED, ABORTED                FAILED
 *   JOINING    deadline                        FAILED     CTL_DEADLINE: names the missing ranks, or says that
 *                                                         no switch answered
 *   READY      timer (lost_after / 5)          READY      HEARTBEAT
 *   READY      ALIVE                           READY      to ctl_session_ask: all have finished, or not
 *   READY      UNKNOWN from another boot id    REJOINING  the switch has restarted: JOIN with resume
 *   READY      UNKNOWN from our boot id        FAILED     CTL_RANK_LOST: the switch has given us up
 *   READY      ABORTED                         FAILED
 *   READY      no answer                       READY      ctl_session_silence tells for how long; it is for
 *                                                         the deadline of the caller's call to decide
 *   REJOINING  REFUSED for lack of room        REJOINING  it may pass: JOIN again until the deadline, which
 *                                                         then says why
 *   REJOINING  as JOINING; READY               READY      generation counts up: the stream is to be resumed
 *   these      ctl_session_abort               ABORTING   ABORT, repeated until ABORTED, UNKNOWN or 1 s
 *   ABORTING   ABORTED, UNKNOWN, 1 s           FAILED     the switch's reason (the first it heard) or our own
 *   any        ctl_session_leave               LEAVING    LEAVE, repeated until LEFT, UNKNOWN or 1 s; CLOSED
 *                                                         at once if no switch was ever heard
 *   LEAVING    LEFT, UNKNOWN, 1 s              CLOSED
 *
 * Late messages change nothing: while joining, only answers to this attempt count (serial); once READY, only
 * messages of this epoch.
 *
 * With a key, what the switch has not sealed with it changes nothing either, but for the text of the
 * deadline; nor does what is older than the newest answer, and a copy of that is no sign of life.
 *
 * Pure, like the registry: now in ns; memory is a plain struct of the caller's, its fields private but for
 * reading. One thread at a time.
 */
#pragma once

#include "transfer/worker.h"
#include "wire/seal.h"

enum ctl_session_state {
    CTL_SESSION_JOINING = 1,
    CTL_SESSION_READY,
    CTL_SESSION_REJOINING,
    CTL_SESSION_ABORTING,
    CTL_SESSION_LEAVING,
    CTL_SESSION_CLOSED,
    CTL_SESSION_FAILED,
};

/* How a worker shows that it has a key. */
struct ctl_credentials {
    const struct keys_library *library; /* outlives the session */
    struct keys_key key;
    struct ctl_address address; /* that this process's control messages leave from */
};

struct ctl_session_config {
    uint16_t rank, size;
    uint64_t incarnation;                      /* random, not 0 */
    struct ctl_join join;                      /* name, data_port, terms */
    const struct agg_worker *worker;           /* of the terms' protocol; outlives the session */
    const struct ctl_credentials *credentials; /* outlives the session; NULL: it has no key */
    bool tells_finished;                       /* its heartbeats do */
    uint64_t join_deadline_ns;                 /* how long a join may take, from init */
    uint64_t rejoin_deadline_ns; /* the same of a rejoin, from its start. 0: as long as a join */
};

struct ctl_session {
    struct ctl_session_config cfg;
    enum ctl_session_state state;
    struct ctl_ready ready;     /* terms, from READY on */
    struct ctl_failure failure; /* in FAILED, ABORTING */
    struct ctl_pending pending; /* who is missing, while joining; all zero: not known */
    struct ctl_failure refusal; /* while rejoining: the lack of room that the switch spoke of last, if any */
    /* for the next heartbeat; the caller keeps it up to date. A rejoin tells its progress */
    struct ctl_heartbeat heartbeat;
    uint64_t boot_id; /* while joining: of the switch heard last; after that: of the switch that sent READY.
                         0: no switch was ever heard */
    uint32_t epoch, serial;
    uint32_t join_serial; /* of the first JOIN of this attempt */
    unsigned generation;  /* counts READYs: 1 after the first */
    uint64_t started;     /* when it entered this state */
    uint64_t heard_at, sent_at, next_send, interval;
    uint64_t polled_at;
    uint32_t asked_from; /* serial of the first heartbeat that asks; 0: none does */
    bool all_finished;   /* and is answered: nobody has finished fewer calls than this rank */
    /* With a key. */
    uint64_t challenge;      /* heard last; 0: none yet */
    uint32_t answered;       /* the newest serial that was answered */
    uint32_t unproven;       /* messages to us that were not sealed with our key, or wrongly */
    struct ctl_failure hint; /* the last REFUSED among them since that answer: anybody may have sent it */
    uint8_t secret[KEYS_SECRET_BYTES]; /* of the job, from READY on. Not to be shown */
};

void ctl_session_init(struct ctl_session *s, const struct ctl_session_config *cfg, uint64_t now);

/* The next message to send, if one is due: writes it and returns its length, else 0. To be called at least
 * every lost_after / 5, after receiving. */
size_t ctl_session_poll(struct ctl_session *s, uint64_t now, uint8_t out[CTL_MESSAGE_MAX]);
/* When to call poll next. */
uint64_t ctl_session_timer(const struct ctl_session *s);
/* A UDP payload from the switch; untrusted. Returns true if it was for us. */
bool ctl_session_receive(struct ctl_session *s, const uint8_t *payload, size_t bytes, uint64_t now);

/* For how long nothing has been heard from the switch, ns. Time in which nobody called ctl_session_poll does
 * not count: nobody listened then. */
uint64_t ctl_session_silence(const struct ctl_session *s);

/* The data path has received SML_REJECT: the next heartbeat goes out at once (at most one every 50 ms). The
 * REJECT may have been a late one: if the switch answers ALIVE, the job goes on. */
void ctl_session_rejected(struct ctl_session *s, uint64_t now);
/* The heartbeat as it is now goes out at once, and again, ever more rarely: until all_finished. */
void ctl_session_ask(struct ctl_session *s, uint64_t now);
void ctl_session_leave(struct ctl_session *s, uint64_t now);
void ctl_session_abort(struct ctl_session *s, const struct ctl_failure *why, uint64_t now);

/* What the job's members share. With a key, from READY on. */
struct keys_secret ctl_session_shared(const struct ctl_session *s);

const char *ctl_session_state_name(enum ctl_session_state s);
