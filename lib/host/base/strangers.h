/* What a host answers to packets of no job: path probes, and others of a kind that it tells so. Their
 * senders' addresses may be forged, and one of them may send without end: so there is a bound for all answers
 * of a kind together, and one for each address.
 *
 * Pure: no clock (now in ns, monotonic). One thread.
 */
#pragma once

#include "protocol/protocol.h"
#include "share/throttle.h"

struct strangers_rate {
    struct share_bucket answers;
    struct throttle askers;
};

struct strangers {
    /* The caller's. */
    uint64_t boot_id;
    uint8_t data_ports; /* as in READY */

    struct strangers_rate paths, rejects;
};

/* seed: random, for the tables of addresses. */
void strangers_init(struct strangers *s, uint64_t seed);

enum strangers_verdict {
    STRANGERS_PATH,        /* the answer to a path probe: the packet, which was made one */
    STRANGERS_PATH_RATE,   /* a path probe without an answer: there were too many */
    STRANGERS_REJECT,      /* that it is of no job: in `answer` */
    STRANGERS_REJECT_RATE, /* it is of no job, and not told so: there were too many */
    STRANGERS_SILENT,      /* no answer: it is of no kind that has one */
};

/* p: a packet that `table` has refused as strange; NULL: whatever is no path probe has no answer. *bytes: how
 * long the answer is, if there is one. */
enum strangers_verdict strangers_answer(struct strangers *s, const struct agg_protocol *table,
                                        const struct agg_packet *p, uint64_t now,
                                        uint8_t answer[AGG_ANSWER_BYTES], size_t *bytes);
