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
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "config/reload.h"
#include "operator/request.h"
#include "views/registry_views.h"
#include "views/view.h"

/* Why there is no view. The words in answers: reply_code_name. */
enum reply_code {
    REPLY_OK,
    REPLY_BAD_REQUEST, /* the request is none, or its arguments are not what the command takes */
    REPLY_UNKNOWN,     /* what it names is not there */
    REPLY_AMBIGUOUS,   /* several are called so; "choices" has names of which each means one */
    REPLY_REFUSED,     /* it cannot be done; the text says why */
    REPLY_FAILED,      /* for want of memory, or because the program is starting or stopping */
    REPLY_CODES
};

struct reply {
    enum reply_code code;
    json_t *view, *counters; /* if REPLY_OK; NULL: there is nothing to show */
    json_t *choices;         /* if REPLY_AMBIGUOUS */
    char error[REQUEST_TEXT_MAX];
};

/* Makes the reply an error. Returns false. */
__attribute__((format(printf, 3, 4))) bool reply_fail(struct reply *reply, enum reply_code code,
                                                      const char *format, ...);

/* Is told what is wrong with a configuration (settings_report): the first fault is the answer. */
void reply_fault(void *reply, const char *message);

/* Ends a view, which is the answer. */
void reply_view(struct reply *reply, struct view_out *out);

/* The line, with its end: to be freed. NULL: no memory. Releases what the reply holds. */
char *reply_line(struct reply *reply, const char *daemon);

/* What a reload has changed (done), or would change, as an answer. */
void reply_changes(struct reply *reply, const struct settings_changes *changes, bool done);

/* Reads the MAC address of a station, the request's "mac". False: there is none that can be read, and the
 * reply says so. */
enum { OPERATOR_MAC_BYTES = 6 };
bool operator_mac_read(const struct request *request, uint8_t mac[OPERATOR_MAC_BYTES], struct reply *reply);

/* Of a program whose registry is not the daemon's, and may be read meanwhile. Several tenants have a job of
 * this name: which they are called. */
void reply_which_job(struct reply *reply, const struct registry_shown *s, const char *name);

/* The job called so; NULL, and the reply says why: name is NULL, there is none, there are several. */
const struct ctl_entry *reply_find_job(struct reply *reply, const struct registry_shown *s, const char *name);

/* What this thread logs as wrong with something that an operator asks for, as his answer's text: a line each,
 * as far as there is room. */
struct hearing {
    struct log_listener listener;
    size_t used;
    unsigned left_out;
    char text[REQUEST_TEXT_MAX];
};

void hearing_begin(struct hearing *h);
/* Unless it is done, the reply refuses it for what was heard. */
void hearing_end(struct hearing *h, bool done, struct reply *reply);
