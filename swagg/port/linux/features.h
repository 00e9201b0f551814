/* Features of a kernel interface, by the names that `ethtool -k` shows (Linux, ethtool.h: ETH_SS_FEATURES).
 * swagg has received frames merged by the kernel (split.h cuts them again): tens of frames pass the kernel's
 * stack as one, and come with one message. Threads: the main lcore's.
 */
#pragma once

#include <stdbool.h>

enum { KERNEL_FEATURES_MAX = 2 };

/* Those that have been switched on. */
struct linux_features {
    bool on[KERNEL_FEATURES_MAX];
};

/* Has the interface merge TCP segments and UDP datagrams, as far as the kernel can, and records what that
 * changes. The caller has the interface to itself (lock.h). True if it merges anything. */
bool linux_merge(unsigned if_index, struct linux_features *changed);

/* Switches off the features that linux_merge has switched on, and no others. The interface may be gone by
 * then. */
void linux_merge_no_more(unsigned if_index, struct linux_features *changed);

/* At the start: switches off what a killed swagg has left on in this network namespace, and says so in the
 * log; removes the records of namespaces that are gone. */
void linux_merge_settle(void);
