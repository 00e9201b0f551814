/* Gradient packets that a capture has in one piece. Kernels pass on a run of datagrams as one, and cut it
 * only before a hardware device (GSO), or merge what they receive (GRO). All packets of a run are as long as
 * the first; the last may be shorter. No field tells that length. Pure. */
#ifndef SWAGG_CAPTURE_MERGED_H
#define SWAGG_CAPTURE_MERGED_H

#include <stddef.h>
#include <stdint.h>

/* The length of the first packet in this UDP payload. It is the whole payload, unless packets of the same
 * job, with chunks near the first one's, follow at every multiple of a shorter length. Only for frames whose
 * checksum was left to a device, as that of a run always is. */
size_t merged_first_bytes(const uint8_t *payload, size_t bytes);

#endif
