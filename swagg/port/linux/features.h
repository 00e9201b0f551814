/* Features of a kernel interface, by the names that `ethtool -k` shows (Linux, ethtool.h: ETH_SS_FEATURES).
 * swagg has received frames merged by the kernel (split.h cuts them again): tens of frames pass the kernel's
 * stack as one, and come with one message.
 */
#ifndef SWAGG_PORT_LINUX_FEATURES_H
#define SWAGG_PORT_LINUX_FEATURES_H

#include "port/linux/record.h"

/* Has the interface merge TCP segments and UDP datagrams, as far as the kernel can, and records what that
 * changes (record.h). The caller has the interface to itself (exclusive.h). True if it merges anything. */
bool linux_merge(unsigned if_index, struct linux_features *changed);

/* Switches off the features that linux_merge has switched on, and no others. The interface may be gone by
 * then. */
void linux_merge_no_more(unsigned if_index, struct linux_features *changed);

/* At the start: switches off what a killed swagg has left on; says so in the log. */
void linux_merge_settle(void);

#endif
