/* Locks on interfaces of the kernel's, which only one swagg may use: bytes of /run/swagg/interfaces, which
 * root alone may open, so that no other user can hold them. A lock ends with the process, however that ends.
 * Processes that see another /run/swagg, as in a container, do not meet. Interfaces of all network namespaces
 * have bytes of their own. Main thread only.
 */
#ifndef SWAGG_PORT_LINUX_LOCK_H
#define SWAGG_PORT_LINUX_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether locks can be had: an ordinary user may not open the file. If not, the log says so. */
bool linux_lock_can(void);

/* Locks an interface of this network namespace. 0, also where there can be no lock, which the log says;
 * -EADDRINUSE: another process has it; -EALREADY: this one has. */
int linux_lock(unsigned if_index);
void linux_unlock(unsigned if_index); /* one that this process has locked */

/* The process that has locked it; 0: none, or one of another PID namespace. */
pid_t linux_lock_holder(unsigned if_index);

#endif
