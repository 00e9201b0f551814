/* Locks on interfaces of the kernel's, which only one swagg may use: bytes of /run/swagg/interfaces, which
 * root alone may open, so that no other user can hold them. A lock ends with the process, however that ends.
 * Processes that see another /run/swagg, as in a container, do not meet. Interfaces of all network namespaces
 * have bytes of their own. Main thread only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether locks can be had: an ordinary user may not open the file. If not, the log says so. */
bool linux_lock_can(void);

/* Locks an interface of this network namespace. 0, also where there can be no lock, which the log says;
 * -EADDRINUSE: another process has it; -EALREADY: this one has. */
int linux_lock(unsigned if_index);
void linux_unlock(unsigned if_index); /* one that this process has locked */

/* The process that has locked it; 0: none, or one of another PID namespace. */
pid_t linux_lock_holder(unsigned if_index);

/* Network namespaces, as far as a process can tell them apart; any thread. This process's: its cookie is
 * never used again; before Linux 5.14, which has none, it is the inode number. */
uint64_t linux_namespace_cookie(void);

/* The same one's inode number (/proc/self/ns/net), which another may have once this one is gone. */
uint64_t linux_namespace_inode(void);

/* Whether no namespace has this inode number: neither is a process in one, nor does a mount keep it (ip netns
 * add). False where this process does not see all others, since it is in a PID namespace of its own. */
bool linux_namespace_is_gone(uint64_t inode);
