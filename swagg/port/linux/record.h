/* What swagg has switched on on which interface: a file each in /run/swagg, while it is on, so that it is
 * switched off again even if swagg is killed, by the next one that starts in that network namespace.
 *
 * The main lcore's. A file is written and removed by who has the interface (exclusive.h).
 */
#ifndef SWAGG_PORT_LINUX_RECORD_H
#define SWAGG_PORT_LINUX_RECORD_H

#include "port/linux/features.h"

/* Writes down what is about to be switched on. 0, or -errno. */
int linux_record_write(unsigned if_index, const struct linux_features *on);

/* Nothing is on any more. */
void linux_record_remove(unsigned if_index);

/* Switches off what those have left on that had no time to; says so in the log. */
void linux_record_settle(void);

#endif
