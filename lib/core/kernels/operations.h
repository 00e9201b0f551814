/* All pairs of an operation and a type, and the kernels behind them. All tables are made from these lists. A
 * new pair is a line here; a new kernel is a line here and its formula for two elements: in combine.h, or in
 * scalar_numbers.h and vector_numbers.h if the two differ.
 *
 * Kernels are named OPERATION_TYPE. Several types may share one: sums and products of integers do not depend
 * on the sign, but int32 travels in another byte order than uint32; a complex sum is that of its parts.
 */
#pragma once

/* clang-format off */

/* Rows of the list below: for each type operation, type, bytes an element takes, kernel. */
#define AGG_INTEGERS(DO, op, k)                                                                               \
    DO(op, I8, 1, k##_I8) DO(op, I16, 2, k##_I16) DO(op, I32, 4, k##_I32) DO(op, I64, 8, k##_I64)             \
    DO(op, U8, 1, k##_I8) DO(op, U16, 2, k##_I16) DO(op, U32, 4, k##_U32) DO(op, U64, 8, k##_I64)
#define AGG_INTEGERS_BY_SIGN(DO, op)                                                                          \
    DO(op, I8, 1, op##_I8) DO(op, I16, 2, op##_I16) DO(op, I32, 4, op##_I32) DO(op, I64, 8, op##_I64)         \
    DO(op, U8, 1, op##_U8) DO(op, U16, 2, op##_U16) DO(op, U32, 4, op##_U32) DO(op, U64, 8, op##_U64)
#define AGG_INTEGERS_BYTEWISE(DO, op)                                                                         \
    DO(op, I8, 1, op##_I8) DO(op, I16, 2, op##_I8) DO(op, I32, 4, op##_I8) DO(op, I64, 8, op##_I8)            \
    DO(op, U8, 1, op##_I8) DO(op, U16, 2, op##_I8) DO(op, U32, 4, op##_I8) DO(op, U64, 8, op##_I8)
#define AGG_FLOATS(DO, op, k)  DO(op, F32, 4, k##_F32) DO(op, F64, 8, k##_F64)
#define AGG_HALVES(DO, op)     DO(op, F16, 2, op##_F16) DO(op, BF16, 2, op##_BF16)
#define AGG_PARTS(DO, op, k)   DO(op, C64, 8, k##_F32) DO(op, C128, 16, k##_F64)
#define AGG_COMPLEX(DO, op)    DO(op, C64, 8, op##_C64) DO(op, C128, 16, op##_C128)
#define AGG_BOOLS(DO, op, k)   DO(op, BOOL, 1, k##_I8)
#define AGG_LOCATED(DO, op)                                                                                   \
    DO(op, I16, 8, op##_I16) DO(op, I32, 8, op##_I32) DO(op, I64, 16, op##_I64)                               \
    DO(op, F32, 8, op##_F32) DO(op, F64, 16, op##_F64)
#define AGG_PAIRED(DO, op, loc)                                                                               \
    DO(op, I32, 8, loc##_I32) DO(op, I64, 16, op##_I64) DO(op, F32, 8, op##_F32) DO(op, F64, 16, op##_F64)

/* DIVIDED: what the others folded is divided by their number at the end. WIDE: folded in float32. */
#define AGG_OPERATIONS(DO, DIVIDED, WIDE)                                                                     \
    AGG_INTEGERS(DO, SUM, SUM) AGG_FLOATS(DO, SUM, SUM) AGG_PARTS(DO, SUM, SUM) AGG_HALVES(WIDE, SUM)         \
    AGG_INTEGERS(DO, PROD, PROD) AGG_FLOATS(DO, PROD, PROD) AGG_COMPLEX(DO, PROD) AGG_HALVES(WIDE, PROD)      \
    AGG_INTEGERS_BY_SIGN(DO, MIN) AGG_FLOATS(DO, MIN, MIN) AGG_HALVES(DO, MIN)                                \
    AGG_INTEGERS_BY_SIGN(DO, MAX) AGG_FLOATS(DO, MAX, MAX) AGG_HALVES(DO, MAX)                                \
    AGG_INTEGERS(DO, LAND, LAND) AGG_BOOLS(DO, LAND, LAND)                                                    \
    AGG_INTEGERS(DO, LOR, LOR) AGG_BOOLS(DO, LOR, LOR)                                                        \
    AGG_INTEGERS(DO, LXOR, LXOR) AGG_BOOLS(DO, LXOR, LXOR)                                                    \
    AGG_INTEGERS_BYTEWISE(DO, BAND) AGG_BOOLS(DO, BAND, LAND)                                                 \
    AGG_INTEGERS_BYTEWISE(DO, BOR) AGG_BOOLS(DO, BOR, LOR)                                                    \
    AGG_INTEGERS_BYTEWISE(DO, BXOR) AGG_BOOLS(DO, BXOR, LXOR)                                                 \
    AGG_INTEGERS(DIVIDED, AVG, SUM) AGG_FLOATS(DIVIDED, AVG, SUM) AGG_PARTS(DIVIDED, AVG, SUM)                \
    AGG_HALVES(WIDE, AVG)                                                                                     \
    AGG_LOCATED(DO, MINLOC) AGG_LOCATED(DO, MAXLOC)                                                           \
    AGG_PAIRED(DO, MINPAIR, MINLOC) AGG_PAIRED(DO, MAXPAIR, MAXLOC)

/* The kernels: operation, type. */
#define AGG_SIGNLESS(DO, op)  DO(op, I8) DO(op, I16) DO(op, I32) DO(op, U32) DO(op, I64)
#define AGG_ORDERED(DO, op)                                                                                   \
    DO(op, I8) DO(op, I16) DO(op, I32) DO(op, I64) DO(op, U8) DO(op, U16) DO(op, U32) DO(op, U64)             \
    DO(op, F32) DO(op, F64)
#define AGG_NUMBER_KERNELS(DO)                                                                                \
    AGG_SIGNLESS(DO, SUM) DO(SUM, F32) DO(SUM, F64)                                                           \
    AGG_SIGNLESS(DO, PROD) DO(PROD, F32) DO(PROD, F64) DO(PROD, C64) DO(PROD, C128)                           \
    AGG_ORDERED(DO, MIN) AGG_ORDERED(DO, MAX)                                                                 \
    AGG_SIGNLESS(DO, LAND) AGG_SIGNLESS(DO, LOR) AGG_SIGNLESS(DO, LXOR)                                       \
    DO(BAND, I8) DO(BOR, I8) DO(BXOR, I8)
#define AGG_ORDERED_HALVES(DO) DO(MIN, F16) DO(MIN, BF16) DO(MAX, F16) DO(MAX, BF16)
#define AGG_WIDE_KERNELS(DO)                                                                                  \
    DO(SUM, F16) DO(SUM, BF16) DO(PROD, F16) DO(PROD, BF16) DO(AVG, F16) DO(AVG, BF16)

/* Those of pairs: order, LOC (an int32 index) or PAIR (one of the value's type), type. */
#define AGG_PAIR_KERNELS(DO)                                                                                  \
    DO(MIN, LOC, I16) DO(MIN, LOC, I32) DO(MIN, LOC, I64) DO(MIN, LOC, F32) DO(MIN, LOC, F64)                 \
    DO(MAX, LOC, I16) DO(MAX, LOC, I32) DO(MAX, LOC, I64) DO(MAX, LOC, F32) DO(MAX, LOC, F64)                 \
    DO(MIN, PAIR, I64) DO(MIN, PAIR, F32) DO(MIN, PAIR, F64)                                                  \
    DO(MAX, PAIR, I64) DO(MAX, PAIR, F32) DO(MAX, PAIR, F64)

/* clang-format on */

/* The table of an implementation, out of its kernels. */
#define AGG_ENTRY(op, type, bytes, kernel)                                                                   \
    [AGG_##op << 4 | AGG_##type] = {.fold = fold_##kernel, .reduce = reduce_##kernel},
#define AGG_DIVIDED_ENTRY(op, type, bytes, kernel)                                                           \
    [AGG_##op << 4 | AGG_##                                                                                  \
        type] = {.fold = fold_##kernel, .reduce = reduce_##kernel, .finish = agg_divide_##type},
#define AGG_WIDE_ENTRY(op, type, bytes, kernel)                                                              \
    [AGG_##op << 4 | AGG_##type] = {                                                                         \
        .start = start_##type, .fold = fold_##kernel, .reduce = reduce_##kernel, .finish = finish_##kernel},
#define AGG_ENTRIES AGG_OPERATIONS(AGG_ENTRY, AGG_DIVIDED_ENTRY, AGG_WIDE_ENTRY)
