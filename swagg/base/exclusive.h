/* What one process alone may have, among those that ask here: it ends with the process, however that ends. */
#ifndef SWAGG_BASE_EXCLUSIVE_H
#define SWAGG_BASE_EXCLUSIVE_H

/* A kernel interface, in this network namespace. A descriptor to hold, and close to give it back;
 * -EADDRINUSE: another process has it; another -errno. */
int exclusive_interface(unsigned if_index);

/* The process that has it; 0: none, or one that cannot be seen from here. */
int exclusive_interface_holder(unsigned if_index);

/* A directory: a descriptor likewise; -EWOULDBLOCK: another process has it; another -errno. */
int exclusive_directory(const char *path);

#endif
