/* What swagg has switched on on which interface: a file each in /run/swagg, while it is on, so that it is
 * switched off again even if swagg is killed, by the next one that starts in that network namespace.
 *
 * The main lcore's. A file is written and removed by who has the interface (exclusive.h).
 */
#ifndef SWAGG_KERNEL_RECORD_H
#define SWAGG_KERNEL_RECORD_H

#include "kernel_features.h"

/* Writes down what is about to be switched on. 0, or -errno. */
int kernel_record_write(unsigned if_index, const struct kernel_features *on);

/* Nothing is on any more. */
void kernel_record_remove(unsigned if_index);

/* Switches off what those have left on that had no time to; says so in the log. */
void kernel_record_settle(void);

#endif
