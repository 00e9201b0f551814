/* Features of a kernel interface, by the names that `ethtool -k` shows (Linux, ethtool.h: ETH_SS_FEATURES).
 *
 * swagg wants frames merged on their way in (kernel_split.h cuts them again): tens of frames pass the
 * kernel's stack as one, and come with one message.
 */
#ifndef SWAGG_KERNEL_FEATURES_H
#define SWAGG_KERNEL_FEATURES_H

#include <stdbool.h>

enum { KERNEL_FEATURES_MAX = 2 };

/* Those that have been switched on. */
struct kernel_features {
    bool on[KERNEL_FEATURES_MAX];
};

/* By number in struct kernel_features. */
extern const char *const kernel_feature_names[KERNEL_FEATURES_MAX];

/* Has the interface merge TCP segments and UDP datagrams, as far as the kernel can, and writes down what that
 * changes (kernel_record.h). The caller has the interface. True if it merges anything. */
bool kernel_merge(unsigned if_index, struct kernel_features *changed);

/* Takes back what kernel_merge has changed, if anything; what it has not, stays. The interface need not be
 * there any more. */
void kernel_merge_no_more(unsigned if_index, struct kernel_features *changed);

#endif
