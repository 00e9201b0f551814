/* What the daemon answers an operator's tool: one JSON object a line.
 *
 *   {"version": 1, "switch": "swagg", "ok": true, "counters": ["ports/rx_frames"], "view": {...}}
 *   {"version": 1, "switch": "swagg", "ok": false, "code": "unknown", "error": "there is no job x; jobs:
 * train"}
 *   {"version": 1, "switch": "swagg", "ok": false, "code": "ambiguous", "error": "several tenants ...",
 *    "choices": ["lab/train", "guest/train"]}
 *
 * "counters" has the paths, KEY or TABLE/KEY, of those numbers of the view that only grow.
 *
 * No DPDK. Threads: a reply is one thread's.
 */
#ifndef SWAGG_OPERATOR_REPLY_H
#define SWAGG_OPERATOR_REPLY_H

#include "operator/request.h"
#include "views/view.h"

/* Why there is no view. The words in answers: reply_code_name. */
enum reply_code {
    REPLY_OK,
    REPLY_BAD_REQUEST, /* the request is none, or its arguments are not what the command takes */
    REPLY_UNKNOWN,     /* what it names is not there */
    REPLY_AMBIGUOUS,   /* several are called so; "choices" has names of which each means one */
    REPLY_REFUSED,     /* it cannot be done; the text says why */
    REPLY_FAILED,      /* for want of memory, or because the daemon is stopping */
    REPLY_CODES
};

struct reply {
    enum reply_code code;
    json_t *view, *counters; /* if REPLY_OK; NULL: there is nothing to show */
    json_t *choices;         /* if REPLY_AMBIGUOUS */
    char error[REQUEST_TEXT_MAX];
};

/* Makes the reply an error. */
__attribute__((format(printf, 3, 4))) void reply_fail(struct reply *reply, enum reply_code code,
                                                      const char *format, ...);

/* Ends a view, which is the answer. */
void reply_view(struct reply *reply, struct view_out *out);

/* The line, with its end: to be freed. NULL: no memory. Releases what the reply holds. */
char *reply_line(struct reply *reply, const char *daemon);

#endif
