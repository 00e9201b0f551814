/* The log's level, changed by an operator. No DPDK. */
#ifndef SWAGG_OPERATOR_LOG_LEVEL_H
#define SWAGG_OPERATOR_LOG_LEVEL_H

#include <stdbool.h>

#include "operator/reply.h"

/* Sets it to the request's "level", and says so in the log. False: there is none of this name, and the reply
 * says so. */
bool log_level_set(const struct request *request, struct reply *reply);

#endif
