/* Features of a kernel interface, by the names that `ethtool -k` shows (Linux, ethtool.h: ETH_SS_FEATURES).
 *
 * swagg wants frames merged on their way in (linux_split.h cuts them again): tens of frames pass the
 * kernel's stack as one, and come with one message.
 */
#ifndef SWAGG_PORT_LINUX_FEATURES_H
#define SWAGG_PORT_LINUX_FEATURES_H

#include <stdbool.h>

enum { KERNEL_FEATURES_MAX = 2 };

/* Those that have been switched on. */
struct linux_features {
    bool on[KERNEL_FEATURES_MAX];
};

/* By number in struct linux_features. */
extern const char *const linux_feature_names[KERNEL_FEATURES_MAX];

/* Has the interface merge TCP segments and UDP datagrams, as far as the kernel can, and writes down what that
 * changes (linux_record.h). The caller has the interface. True if it merges anything. */
bool linux_merge(unsigned if_index, struct linux_features *changed);

/* Takes back what linux_merge has changed, if anything; what it has not, stays. The interface need not be
 * there any more. */
void linux_merge_no_more(unsigned if_index, struct linux_features *changed);

#endif
