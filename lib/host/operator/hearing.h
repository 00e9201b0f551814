/* What is logged as wrong with something that an operator asks for, as his answer's text.
 *
 * No DPDK. Threads: a hearing is one thread's, whose errors it hears.
 */
#ifndef SWAGG_OPERATOR_HEARING_H
#define SWAGG_OPERATOR_HEARING_H

#include "base/log.h"
#include "operator/request.h"

struct hearing {
    struct log_listener listener;
    char *text;
    size_t used;
    unsigned left_out;
};

/* From here on why has the errors, a line each, as far as there is room. */
void hearing_begin(struct hearing *h, char why[REQUEST_TEXT_MAX]);
void hearing_end(const struct hearing *h);

#endif
