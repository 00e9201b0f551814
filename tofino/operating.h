/* Operators of swagg-tofino, on the same socket as the daemon's (operator/operators.h). Their thread reads
 * and answers; what they ask for is done by the thread that serves workers, whose functions these are.
 *
 * What they can ask for, beside common_commands.h, is one table of views (views.h) and actions. Commands of
 * the daemon's that mean nothing here are refused with the reason. Most need something of the helper's:
 * commands_begin says what, and commands_end takes the answer.
 */
#pragma once

#include "added.h"
#include "shown.h"
#include "views.h"

struct operating;

/* NULL after logging: no memory, or no socket. shown: but for its time; outlives it. */
struct operating *operating_start(struct shown *shown, const struct common_host *host, struct helper *helper);
/* Also while an operator waits. o may be NULL. */
void operating_stop(struct operating *o);

int operating_fd(const struct operating *o); /* readable: operating_serve has something to do */
void operating_serve(struct operating *o);

/* The helper's answer. False: it is not to what an operator has asked for. */
bool operating_answered(struct operating *o, uint64_t id, const json_t *answer);

/* An operator's request on its way. */
struct errand {
    struct operating *of_whom;
    const struct shown *shown;
    const struct common_host *host; /* the membership of shown */
    const struct request *request;
    struct reply *reply; /* REPLY_OK, and else empty */
    const struct command *command;
    struct subject of;
    added_end_fn *end; /* told whether the helper has done it; NULL: it need not be */
};

/* Does what is asked, or begins to: returns then what the helper is to be asked for first. NULL: the reply is
 * made. */
json_t *commands_begin(struct errand *e);

/* The helper's answer, or why there is none. */
void commands_end(struct errand *e, const json_t *answer);
