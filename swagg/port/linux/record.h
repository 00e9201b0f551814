/* A record of the features that swagg has switched on, one file an interface in /run/swagg. If swagg is
 * killed, the next swagg that starts in that network namespace switches them off. Threads: the main lcore's.
 * A file is written and removed by the process that has the interface (exclusive.h).
 */
#ifndef SWAGG_PORT_LINUX_RECORD_H
#define SWAGG_PORT_LINUX_RECORD_H

#include <stdbool.h>

enum { KERNEL_FEATURES_MAX = 2 };

/* Those that have been switched on. */
struct linux_features {
    bool on[KERNEL_FEATURES_MAX];
};

/* By number in struct linux_features. */
extern const char *const linux_feature_names[KERNEL_FEATURES_MAX];

/* Records what is about to be switched on. 0, or -errno. */
int linux_record_write(unsigned if_index, const struct linux_features *on);

/* Nothing is on any more. */
void linux_record_remove(unsigned if_index);

/* Calls switch_off for every interface whose record a killed swagg has left here; says so in the log. Removes
 * the records of namespaces that are gone. */
typedef void linux_record_undo(unsigned if_index, struct linux_features *on);
void linux_record_settle(linux_record_undo *switch_off);

#endif
