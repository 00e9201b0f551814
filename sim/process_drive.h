/* Drives a process's session and stream, as libswagg's drive.c and membership.c do. */
#pragma once

#include "process.h"

static inline uint64_t process_now(const struct process *p)
{
    return p->cfg.sim->now;
}

/* While the caller is receiving, its oldest tag is not final and must not be told in a JOIN. */
bool drive_is_held_back(const struct process *p);

/* The membership thread's turn: messages in and out, and p->changed if there is news. */
void drive_control(struct process *p);

/* What the next heartbeat says. */
void drive_report(struct process *p);

/* Takes over the terms that the session has agreed on with the switch, and opens the stream by them. The rest
 * of its configuration is the caller's. */
void drive_open_stream(struct process *p, const struct sml_stream_config *own);

/* The job cannot go on. Both return false. */
bool drive_fail(struct process *p, const char *why);
bool drive_fail_and_tell(struct process *p, enum ctl_reason reason, const char *why);

/* Receives and sends what there is; returns how many packets came. */
unsigned drive_exchange(struct process *p);

/* Follows the session through restarts of the switch; false: the job cannot go on. */
bool drive_follow_session(struct process *p);

/* When something is to be done if nothing arrives, beside what the process itself waits for. */
uint64_t drive_next_wake(const struct process *p);

/* The membership thread's turn at the stream while the application computes. */
void drive_between_calls(struct process *p);

/* The turn of one that makes no more calls, in PROCESS_HELPING: others may lack what it has. Leaves when
 * nobody needs it or its time is up; then true. */
bool drive_help(struct process *p);
