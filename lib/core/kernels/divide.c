/* The last step of averages. A chunk takes it once, and division takes its time in vectors, too. */
#include "kernels/kernels_tables.h"
#include "kernels/scalar_loops.h"

#define DEFINE_DIVIDE(type, number, divisor, kind)                                                           \
    void agg_divide_##type(void *out, const void *acc, unsigned n, size_t bytes)                             \
    {                                                                                                        \
        for (size_t at = 0; at < bytes; at += bytes_##kind)                                                  \
            store_##kind(out, at, (value_##kind)((number)load_##kind(acc, at) / (divisor)n));                \
    }

/* Signed ones are cut off towards zero. n may be more than a byte holds. */
DEFINE_DIVIDE(I8, int8_t, int32_t, I8)
DEFINE_DIVIDE(I16, int16_t, int32_t, I16)
DEFINE_DIVIDE(I32, int32_t, int32_t, I32)
DEFINE_DIVIDE(I64, int64_t, int64_t, I64)
DEFINE_DIVIDE(U8, uint8_t, uint32_t, U8)
DEFINE_DIVIDE(U16, uint16_t, uint32_t, U16)
DEFINE_DIVIDE(U32, uint32_t, uint32_t, U32)
DEFINE_DIVIDE(U64, uint64_t, uint64_t, U64)
DEFINE_DIVIDE(F32, float, float, F32)
DEFINE_DIVIDE(F64, double, double, F64)
DEFINE_DIVIDE(C64, float, float, F32)
DEFINE_DIVIDE(C128, double, double, F64)
