/* What an operator can ask swagg-tofino for, beside common_commands.h: one table of views (views.h) and
 * actions. Commands of the daemon's that mean nothing here are refused with the reason.
 *
 * Most need something of the helper's: commands_begin says what, and commands_end takes the answer. One
 * thread.
 */
#ifndef SWAGG_TOFINO_COMMANDS_H
#define SWAGG_TOFINO_COMMANDS_H

#include "operator/common_commands.h"
#include "views.h"

/* An operator's request on its way. */
struct errand {
    const struct shown *shown;
    const struct common_host *host; /* the membership of shown */
    const struct request *request;
    struct reply *reply; /* REPLY_OK, and else empty */
    const struct command *command;
    struct subject of;
};

/* Does what is asked, or begins to: returns then what the helper is to be asked for first. NULL: the reply is
 * made. */
json_t *commands_begin(struct errand *e);

/* The helper's answer, or why there is none. */
void commands_end(struct errand *e, const json_t *answer);

#endif
