/* Locks on things that only one swagg may use. A lock ends with the process, however that ends. */
#ifndef SWAGG_BASE_EXCLUSIVE_H
#define SWAGG_BASE_EXCLUSIVE_H

/* Locks a directory. Returns a descriptor, to be closed to unlock; -EWOULDBLOCK: another process has it; or
 * another -errno. */
int exclusive_directory(const char *path);

#endif
