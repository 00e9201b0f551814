/* What has happened on a host lately, for operators who come later: a day of minutes (views `history`), and
 * what became of jobs, who was refused, and what operators did (`events`).
 *
 * Bounded: HISTORY_MINUTES of the host, HISTORY_JOB_MINUTES of its jobs together, and HISTORY_EVENTS of each
 * kind, so that no flood of one kind pushes out another; about 4 MB in all. It is in memory alone: a reload
 * leaves it as it is, a restart begins it anew.
 *
 * Threads: history_look is one thread's; the rest any thread's. Each takes the history's lock, below which
 * nothing else is taken.
 */
#pragma once

#include <stdint.h>

#include "control/actions.h"
#include "views/declared.h"

enum { HISTORY_MINUTES = 24 * 60, HISTORY_JOB_MINUTES = 8192, HISTORY_EVENTS = 256 };

/* What an event is; the words are history_what_name. */
enum history_what {
    HISTORY_BEGAN,
    HISTORY_ENDED,
    HISTORY_FAILED,
    HISTORY_WARNED,
    HISTORY_REFUSED,  /* a process that wanted to join */
    HISTORY_OPERATED, /* something that an operator, or a signal, has asked for */
    HISTORY_WHATS
};

struct history_note {
    enum history_what what;
    const char *job, *tenant; /* "": none */
    const char *who;          /* a rank, an address, a user; "": nobody in particular */
    const char *text;         /* is cut where it is longer than there is room for */
};

struct history;

/* seconds_now: since 1970; NULL: the machine's clock. NULL: no memory. */
struct history *history_new(uint64_t (*seconds_now)(void));
/* h may be NULL, here and below: nothing is noted, and nothing shown. */
void history_free(struct history *h);

void history_note(struct history *h, const struct history_note *note);

/* What has become of a job, as the registry tells it; notes are none. */
void history_note_job(struct history *h, const char *tenant, const struct ctl_entry *job,
                      const struct ctl_event *event);

/* Looks at the host's jobs, and counts what has come since the last look; to be called about once a second.
 */
void history_look(struct history *h, const struct view_source *host);

/* Whether the view is one of these two. */
bool history_has(const struct view *view);

/* Fills out, whose view is one of these. job: only what is about jobs that are called so; NULL: all. 0;
 * -ENOENT: nothing is known of such a job. */
int history_show(struct history *h, const char *job, struct view_out *out);
