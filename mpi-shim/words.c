#include "words.h"

enum { TYPES = SWAGG_C128 + 1 };

static const char *const numbers[TYPES] = {
    [SWAGG_I8] = "MPI_INT8_T",
    [SWAGG_I16] = "MPI_INT16_T",
    [SWAGG_I32] = "MPI_INT",
    [SWAGG_I64] = "MPI_INT64_T",
    [SWAGG_U8] = "MPI_UINT8_T",
    [SWAGG_U16] = "MPI_UINT16_T",
    [SWAGG_U32] = "MPI_UNSIGNED",
    [SWAGG_U64] = "MPI_UINT64_T",
    [SWAGG_BOOL] = "MPI_C_BOOL",
    [SWAGG_F16] = "half precision",
    [SWAGG_BF16] = "bfloat16",
    [SWAGG_F32] = "MPI_FLOAT",
    [SWAGG_F64] = "MPI_DOUBLE",
    [SWAGG_C64] = "MPI_C_FLOAT_COMPLEX",
    [SWAGG_C128] = "MPI_C_DOUBLE_COMPLEX",
};

/* Pairs of a value and an int, and of two values. */
static const char *const located[TYPES] = {
    [SWAGG_I16] = "MPI_SHORT_INT", [SWAGG_I32] = "MPI_2INT",       [SWAGG_I64] = "MPI_LONG_INT",
    [SWAGG_F32] = "MPI_FLOAT_INT", [SWAGG_F64] = "MPI_DOUBLE_INT",
};
static const char *const pairs[TYPES] = {
    [SWAGG_I32] = "MPI_2INTEGER",
    [SWAGG_F32] = "MPI_2REAL",
    [SWAGG_F64] = "MPI_2DOUBLE_PRECISION",
};

const char *words_type(enum swagg_type type, enum swagg_op op)
{
    const char *const *names = op == SWAGG_MINLOC || op == SWAGG_MAXLOC     ? located
                               : op == SWAGG_MINPAIR || op == SWAGG_MAXPAIR ? pairs
                                                                            : numbers;
    return (unsigned)type < TYPES && names[type] ? names[type] : "an unknown type";
}
