/* Buffers in a GPU's memory, which the CPU cannot read. */
#ifndef SHIM_DEVICE_H
#define SHIM_DEVICE_H

#include <stdbool.h>

/* Whether this is memory of a CUDA GPU. It is not if the program has not loaded CUDA's driver. Managed memory
 * does not count, since the CPU can read it, too. Any thread. */
bool is_device_memory(const void *buffer);

#endif
