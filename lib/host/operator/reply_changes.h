/* What a reload has changed, as an answer.
 *
 * No DPDK. Any thread.
 */
#ifndef SWAGG_OPERATOR_REPLY_CHANGES_H
#define SWAGG_OPERATOR_REPLY_CHANGES_H

#include "config/reload.h"
#include "operator/reply.h"

void reply_changes(struct reply *reply, const struct settings_changes *changes);

#endif
