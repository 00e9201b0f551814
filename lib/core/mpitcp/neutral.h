/* Elements that change nothing: x op neutral is x, bit for bit. Pure and reentrant. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MTP_ELEMENT_MAX = 8 };

/* Of a pair (kernels/kernels.h) whose elements lie in memory as an MPI program's on a little endian host:
 * writes the neutral one, *code is that of the kernels for the pair. Returns its bytes; 0: such a pair cannot
 * be summed on its way. */
size_t mtp_neutral(unsigned type, unsigned op, uint8_t element[MTP_ELEMENT_MAX], uint8_t *code);
