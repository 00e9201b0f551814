/* Gradient packets that a capture has in one piece. Kernels hand runs of equal datagrams on as one, and cut
 * it only before a device that is a real one (GSO), or merge what they receive (GRO): all packets of a run
 * are as long as the first, the last may be shorter. No field says how long that is. Pure. */
#ifndef SWAGG_CAPTURE_MERGED_H
#define SWAGG_CAPTURE_MERGED_H

#include <stddef.h>
#include <stdint.h>

/* The length of the first packet in this UDP payload, of a frame whose checksum is left to a device, as that
 * of a run always is: all of it, unless packets of the same job, with chunks near its own, follow at every
 * multiple of a shorter length. */
size_t merged_first_bytes(const uint8_t *payload, size_t bytes);

#endif
