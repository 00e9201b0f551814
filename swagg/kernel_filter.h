/* Which of a receive queue's two packet sockets a frame comes to.
 *
 * Of a gradient packet there is nothing to know beside its bytes, once it is certain that the kernel has not
 * taken a VLAN tag out of it and that its checksum is not left to a device: it comes to a socket that tells
 * nothing else, which costs less. All other frames come to one that tells all.
 */
#ifndef SWAGG_KERNEL_FILTER_H
#define SWAGG_KERNEL_FILTER_H

#include <stdint.h>

enum kernel_frames { KERNEL_GRADIENTS, KERNEL_OTHERS, KERNEL_FRAMES };

/* The socket hears these frames only, and none that this machine sends. Before it is bound. Longer frames
 * than max_frame are not taken for gradient packets. 0, or -errno. */
int kernel_filter_attach(int fd, enum kernel_frames which, uint16_t max_frame);

#endif
