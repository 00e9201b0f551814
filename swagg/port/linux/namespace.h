/* Network namespaces, as far as a process can tell them apart. Any thread. */
#ifndef SWAGG_PORT_LINUX_NAMESPACE_H
#define SWAGG_PORT_LINUX_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

/* This process's. Its cookie is never used again; before Linux 5.14, which has none, it is the inode number.
 */
uint64_t linux_namespace_cookie(void);

/* The same one's inode number (/proc/self/ns/net), which another may have once this one is gone. */
uint64_t linux_namespace_inode(void);

/* Whether no namespace has this inode number: neither is a process in one, nor does a mount keep it (ip netns
 * add). False where this process does not see all others, since it is in a PID namespace of its own. */
bool linux_namespace_is_gone(uint64_t inode);

#endif
