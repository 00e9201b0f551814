/* What Linux 6.2 has added to linux/virtio_net.h, and the headers that we build with lack. */
#ifndef SWAGG_KERNEL_GSO_H
#define SWAGG_KERNEL_GSO_H

enum { KERNEL_GSO_UDP = 5 }; /* VIRTIO_NET_HDR_GSO_UDP_L4 */

#endif
