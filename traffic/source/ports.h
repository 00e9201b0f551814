/* The source's ports: all that the EAL has. */
#ifndef SWAGG_SOURCE_PORTS_H
#define SWAGG_SOURCE_PORTS_H

#include <stdbool.h>
#include <stddef.h>

/* Starts them, with buffers for frames of so many bytes, and waits for their links. Returns the number of
 * ports, or -errno after reporting why. */
int ports_open(size_t frame_bytes, const volatile bool *stop);
void ports_close(void);

/* Waits until all links are down: the other ends have gone. */
void ports_await_end(const volatile bool *stop);

#endif
