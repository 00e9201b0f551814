/* Vector arithmetic on chunks, in the byte order of the wire; and the sum behind the checksum of the packets.
 *
 * A chunk's elements stay in wire order from the moment they arrive until the sum leaves: int32 travels big
 * endian (the published SwitchML layout), the native types travel little endian (docs/protocol.md,
 * "Elements"). The kernels swap bytes inside their loops, so callers need not care about byte order.
 *
 * What is done to a chunk is a pair of an operation and a type, in one byte, its code. operations.h lists the
 * pairs.
 *
 * All functions: lengths in bytes, a multiple of the element size; no alignment required; buffers may not
 * overlap unless a comment says so. Pure and reentrant; a table is immutable once returned.
 *
 * Every implementation returns the same bits as the scalar one for the same arguments (for NaN results: a NaN
 * wherever the scalar one has a NaN; its payload is unspecified).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values are the codes on the wire (byte 8, low nibble, of a typed job's packets); 0 is never valid. */
enum agg_type {
    AGG_I32 = 1,
    AGG_I64 = 2,
    AGG_F32 = 3,
    AGG_F64 = 4,
    AGG_I8 = 5,
    AGG_I16 = 6,
    AGG_U8 = 7,
    AGG_U16 = 8,
    AGG_U32 = 9,
    AGG_U64 = 10,
    AGG_BOOL = 11, /* one byte: 0 is false, all else true */
    AGG_F16 = 12,  /* IEEE 754 binary16 */
    AGG_BF16 = 13, /* the upper half of an f32 */
    AGG_C64 = 14,  /* complex: two f32, the real part first */
    AGG_C128 = 15, /* complex: two f64 */
    AGG_TYPES      /* one past the last */
};

/* Values are the codes on the wire (byte 8, high nibble, of a typed job's packets); 0 is never valid. */
enum agg_op {
    AGG_SUM = 1,
    AGG_PROD = 2,
    AGG_MIN = 3,
    AGG_MAX = 4,
    AGG_LAND = 5, /* logical: 1 or 0 */
    AGG_LOR = 6,
    AGG_LXOR = 7,
    AGG_BAND = 8, /* bitwise */
    AGG_BOR = 9,
    AGG_BXOR = 10,
    AGG_AVG = 11,     /* the sum, divided by the number of contributions */
    AGG_MINLOC = 12,  /* of pairs {a value of the type, an int32 index}: the least value, and where it is */
    AGG_MAXLOC = 13,  /* the same: the greatest */
    AGG_MINPAIR = 14, /* of pairs {value, index}, both of the type: the least value, and where it is */
    AGG_MAXPAIR = 15, /* the same: the greatest */
    AGG_OPS           /* one past the last */
};

/* A pair in one byte, as it travels (byte 8 of a typed job's packets) and as the tables are indexed. */
enum { AGG_CODES = 256 };
static inline uint8_t agg_code(unsigned type, unsigned op)
{
    return (uint8_t)(op << 4 | type);
}

static inline unsigned agg_code_type(unsigned code)
{
    return code & 15;
}

static inline unsigned agg_code_op(unsigned code)
{
    return code >> 4;
}

/* Bytes that an element of this pair takes, a power of two, at most 16; 0: there is no such pair. It does not
 * depend on the CPU. */
size_t agg_element_size(unsigned type, unsigned op);

static inline size_t agg_code_bytes(unsigned code)
{
    return agg_element_size(agg_code_type(code), agg_code_op(code));
}

/* "int32", "bfloat16", ...; "sum", "minloc", ...: the names that tools and messages use. Of what is none:
 * "unknown type", "unknown operation". */
const char *agg_type_name(unsigned type);
const char *agg_op_name(unsigned op);
/* By name; 0: there is none. */
unsigned agg_type_named(const char *name);
unsigned agg_op_named(const char *name);

/* acc = in, where an accumulator's elements are not those of the chunk. bytes: of in. */
typedef void agg_start_fn(void *acc, const void *in, size_t bytes);

/* acc[i] = acc[i] op in[i]. acc may equal in. bytes: of in. */
typedef void agg_fold_fn(void *acc, const void *in, size_t bytes);

/* out[i] = ((in[0][i] op in[1][i]) op in[2][i]) op ... in exactly this order, n >= 1: reproducible.
 * Each input is read once. out may equal in[0]. */
typedef void agg_reduce_fn(void *out, const void *const in[], unsigned n, size_t bytes);

/* What remains to be done once all n contributions are folded. out may equal acc, where both have the same
 * elements. bytes: of out. */
typedef void agg_finish_fn(void *out, const void *acc, unsigned n, size_t bytes);

/* The kernels of one code; all NULL if there is no such pair.
 *
 * Most operations have only fold and reduce, which may take turns: each goes on with the other's result, and
 * a first contribution is copied. Averages also need finish at the end. An operation with start is *wide*:
 * its accumulator is float32, twice as long as the chunk, made by start and fold and rounded by finish. Its
 * reduce needs all contributions at once, and its result is finished. */
struct agg_operation {
    agg_start_fn *start; /* NULL: a plain copy */
    agg_fold_fn *fold;
    agg_reduce_fn *reduce;
    agg_finish_fn *finish; /* NULL: nothing remains */
};

static inline bool agg_is_wide(const struct agg_operation *op)
{
    return op->start != NULL;
}

/* Between the host's order and the wire's; dst may equal src. A plain copy for types that travel in host
 * order. */
typedef void agg_convert_fn(void *dst, const void *src, size_t bytes);
agg_convert_fn agg_convert_same; /* for types that travel in the host's order */

/* The one's complement sum of the bytes, taken as 16-bit words in the order they lie in memory, the last
 * padded with a zero byte (RFC 1071): UDP's checksum is the complement of such a sum. Any length up to 2^32
 * bytes. */
typedef uint16_t agg_ones_sum_fn(const void *bytes, size_t n);

struct agg_kernels {
    const char *name; /* "scalar", "avx2", "avx512" */
    agg_ones_sum_fn *ones_sum;
    agg_convert_fn *convert[AGG_TYPES]; /* by type */
    struct agg_operation operations[AGG_CODES];
};

/* The reference, which every CPU can run. */
extern const struct agg_kernels agg_kernels_scalar;

/* The named table; NULL when the name is unknown or this CPU cannot run it. */
const struct agg_kernels *agg_kernels_get(const char *name);

/* The fastest table this CPU can run; never NULL. Look it up once at start and keep it. */
const struct agg_kernels *agg_kernels_best(void);
