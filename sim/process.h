/* One rank's process, from start to exit: the real session and stream, and around them what libswagg does
 * (lib/client: drive.c, watch.c, close.c, membership.c), step by step, with events in the place of
 * threads and sockets. The application in it runs a program (program.h). */
#pragma once

#include "attendance.h"
#include "control/session.h"
#include "nic.h"
#include "oracle.h"
#include "scattered.h"
#include "socket.h"
#include "star.h"
#include "switchml/stream.h"
#include "switchml/terms.h"

enum process_phase {
    PROCESS_JOINING,    /* in swagg_open */
    PROCESS_COMPUTING,  /* in the application */
    PROCESS_CALLING,    /* in a collective */
    PROCESS_COMPLETING, /* closing: reduces from which it has returned are not complete yet */
    PROCESS_HELPING,    /* in swagg_close, while others may still need this rank */
    PROCESS_LEAVING,    /* in swagg_close */
    PROCESS_EXITED,
    PROCESS_KILLED,
};

struct process;

/* What a call in flight works on. */
struct process_flight {
    uint8_t *in, *out; /* memory of the call's segments */
    uint8_t *tensor;   /* what they hold, in one piece */
    size_t bytes;      /* of each */
    struct scattered scattered;
};

struct process_config {
    struct sim *sim;
    struct star *star;
    struct oracle *oracle;
    struct program *program;
    unsigned rank, host;
    uint64_t incarnation;
    uint16_t control_port, data_port;
    void (*exited)(void *ctx, struct process *process); /* not when it is killed */
    void *exited_ctx;
};

struct process {
    struct process_config cfg;
    char name[CTL_NAME_MAX + 16];
    enum process_phase phase;
    struct socket control, data;
    struct nic nic;                   /* in the place of data's socket, but for what comes by UDP */
    bool stopped;                     /* SIGSTOP */
    uint64_t stopped_at, stopped_for; /* in all, since the phase began */
    struct sim_alarm wake;

    struct ctl_session session;
    struct ctl_credentials credentials; /* if the program has a key */
    enum ctl_session_state seen_state;  /* what the caller was told of */
    unsigned seen_generation;
    bool changed;

    struct sml_stream *stream;
    struct ctl_ready ready;
    struct sml_terms terms; /* of ready */
    unsigned generation;
    bool rejoining, rejected, guest_waits, failed;
    struct formation *formation;

    unsigned call, begun;             /* the oldest in flight, or next; one past the newest in flight */
    uint64_t phase_began, phase_ends; /* compute time, call deadline, end of leaving */
    uint64_t tick_at;
    uint64_t mismatch_ends;                              /* 0: there is none */
    struct process_flight flights[PROGRAM_TOGETHER_MAX]; /* by call */
    struct attendance attendance;                        /* with a quorum */
    bool left;                                           /* the call, without waiting for all sums */
};

/* The process may be freed only when the simulation does not step any more. */
struct process *process_start(const struct process_config *cfg);
void process_free(struct process *p);

void process_kill(struct process *p);
void process_stop(struct process *p);
void process_continue(struct process *p);

static inline bool process_is_over(const struct process *p)
{
    return p->phase >= PROCESS_EXITED;
}

/* Takes over the frame. False, and it does not, if no socket of the process has this port. */
bool process_receive(struct process *p, struct frame *frame);
