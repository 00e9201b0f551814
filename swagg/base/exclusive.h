/* Locks on things that only one swagg may use. A lock ends with the process, however that ends. */
#ifndef SWAGG_BASE_EXCLUSIVE_H
#define SWAGG_BASE_EXCLUSIVE_H

/* Locks a kernel interface of this network namespace. Returns a descriptor, to be closed to unlock;
 * -EADDRINUSE: another process has it; or another -errno. */
int exclusive_interface(unsigned if_index);

/* The process that has locked it; 0: none, or one of another PID namespace. */
int exclusive_interface_holder(unsigned if_index);

/* Locks a directory: a descriptor, as above; -EWOULDBLOCK: another process has it; or another -errno. */
int exclusive_directory(const char *path);

#endif
