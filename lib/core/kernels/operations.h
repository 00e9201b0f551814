/* All pairs of an operation and a type, in one list from which all tables are made: operation, type, bytes of
 * an element, and the kernel. All implementations define a kernel called K as fold_K and reduce_K. */
#ifndef SWAGG_CORE_KERNELS_OPERATIONS_H
#define SWAGG_CORE_KERNELS_OPERATIONS_H

/* clang-format off */
#define AGG_OPERATIONS(DO)      \
    DO(SUM, I32, 4, SUM_I32)    \
    DO(SUM, I64, 8, SUM_I64)    \
    DO(SUM, F32, 4, SUM_F32)    \
    DO(SUM, F64, 8, SUM_F64)
/* clang-format on */

/* An entry of struct agg_kernels' operations. */
#define AGG_OPERATION(op, type, bytes, kernel)                                                               \
    [AGG_##op << 4 | AGG_##type] = {.fold = fold_##kernel, .reduce = reduce_##kernel},

#endif
