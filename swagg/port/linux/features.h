/* Features of a kernel interface, by the names that `ethtool -k` shows (Linux, ethtool.h: ETH_SS_FEATURES).
 *
 * swagg wants frames merged on their way in (linux_split.h cuts them again): tens of frames pass the
 * kernel's stack as one, and come with one message.
 */
#ifndef SWAGG_PORT_LINUX_FEATURES_H
#define SWAGG_PORT_LINUX_FEATURES_H

#include "port/linux/record.h"

/* Has the interface merge TCP segments and UDP datagrams, as far as the kernel can, and writes down what that
 * changes (linux_record.h). The caller has the interface. True if it merges anything. */
bool linux_merge(unsigned if_index, struct linux_features *changed);

/* Takes back what linux_merge has changed, if anything; what it has not, stays. The interface need not be
 * there any more. */
void linux_merge_no_more(unsigned if_index, struct linux_features *changed);

/* At the start: switches off what those have left on that had no time to; says so in the log. */
void linux_merge_settle(void);

#endif
