/* Vector arithmetic on chunks, in the byte order of the wire; and the sum behind the checksum of the packets.
 *
 * A chunk's elements stay in wire order from the moment they arrive until the sum leaves: int32 travels big
 * endian (the published SwitchML layout), the native types travel little endian (docs/protocol.md,
 * "Elements"). The kernels swap inside their loops where that is needed, so nobody else has to think about
 * byte order.
 *
 * All functions: lengths in bytes, a multiple of the element size; no alignment required; buffers may not
 * overlap unless a comment says so. Pure and reentrant; a table is immutable once returned.
 *
 * Every implementation returns the same bits as the scalar one for the same arguments (for NaN results: a NaN
 * wherever the scalar one has a NaN; its payload is unspecified).
 */
#ifndef SWAGG_CORE_KERNELS_H
#define SWAGG_CORE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Values are the codes on the wire (byte 8, low nibble, of a typed job's packets); 0 is never valid. */
enum agg_type {
    AGG_I32 = 1,
    AGG_I64 = 2,
    AGG_F32 = 3,
    AGG_F64 = 4,
    AGG_TYPES /* one past the last */
};

/* Values are the codes on the wire (byte 8, high nibble, of a typed job's packets); 0 is never valid. */
enum agg_op { AGG_SUM = 1, AGG_OPS };

/* Bytes an element of this type takes; 0 for a code that is no type. */
size_t agg_type_size(unsigned type);

/* acc[i] = acc[i] + in[i]; integers wrap modulo 2^bits. acc may equal in. */
typedef void agg_add_fn(void *acc, const void *in, size_t bytes);

/* out[i] = ((in[0][i] + in[1][i]) + in[2][i]) + ... in exactly this order, n >= 1: the reproducible sum.
 * Each input is read once. out may equal in[0]. */
typedef void agg_sum_fn(void *out, const void *const in[], unsigned n, size_t bytes);

/* Between the host's order and the wire's; dst may equal src. A plain copy for types that travel in host
 * order. */
typedef void agg_convert_fn(void *dst, const void *src, size_t bytes);

/* The one's complement sum of the bytes, taken as 16-bit words in the order they lie in memory, the last
 * padded with a zero byte (RFC 1071): UDP's checksum is the complement of such a sum. Any length up to 2^32
 * bytes. */
typedef uint16_t agg_ones_sum_fn(const void *bytes, size_t n);

struct agg_kernels {
    const char *name; /* "scalar", "avx2", "avx512" */
    agg_ones_sum_fn *ones_sum;
    agg_add_fn *add[AGG_TYPES];
    agg_sum_fn *sum[AGG_TYPES];
    agg_convert_fn *convert[AGG_TYPES];
};

/* The reference, which every CPU can run. */
extern const struct agg_kernels agg_kernels_scalar;

/* The named table; NULL when the name is unknown or this CPU cannot run it. */
const struct agg_kernels *agg_kernels_get(const char *name);

/* The fastest table this CPU can run; never NULL. Look it up once at start and keep it. */
const struct agg_kernels *agg_kernels_best(void);

#endif
