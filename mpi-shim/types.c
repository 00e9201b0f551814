#include "types.h"

#include "contiguous.h"
#include "library.h"
#include "swagg.h"

/* libswagg's types in MPI's words, for its messages: names that C programs use, but for pairs of Fortran's.
 */

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

const char *type_in_mpi(enum swagg_type type, enum swagg_op op)
{
    const char *const *names = op == SWAGG_MINLOC || op == SWAGG_MAXLOC     ? located
                               : op == SWAGG_MINPAIR || op == SWAGG_MAXPAIR ? pairs
                                                                            : numbers;
    return (unsigned)type < TYPES && names[type] ? names[type] : "an unknown type";
}

/* --- operations --- */

static const struct {
    MPI_Op op;
    const char *name;
    enum swagg_op in_switch; /* 0: none */
} operations[] = {
    {MPI_SUM, "MPI_SUM", SWAGG_SUM},
    {MPI_MAX, "MPI_MAX", SWAGG_MAX},
    {MPI_MIN, "MPI_MIN", SWAGG_MIN},
    {MPI_PROD, "MPI_PROD", SWAGG_PROD},
    {MPI_LAND, "MPI_LAND", SWAGG_LAND},
    {MPI_LOR, "MPI_LOR", SWAGG_LOR},
    {MPI_LXOR, "MPI_LXOR", SWAGG_LXOR},
    {MPI_BAND, "MPI_BAND", SWAGG_BAND},
    {MPI_BOR, "MPI_BOR", SWAGG_BOR},
    {MPI_BXOR, "MPI_BXOR", SWAGG_BXOR},
    /* MPI's name is the same whether the index is an int or of the value's type. */
    {MPI_MINLOC, "MPI_MINLOC", SWAGG_MINLOC},
    {MPI_MINLOC, "MPI_MINLOC", SWAGG_MINPAIR},
    {MPI_MAXLOC, "MPI_MAXLOC", SWAGG_MAXLOC},
    {MPI_MAXLOC, "MPI_MAXLOC", SWAGG_MAXPAIR},
    {MPI_REPLACE, "MPI_REPLACE", 0},
    {MPI_NO_OP, "MPI_NO_OP", 0},
    {MPI_OP_NULL, "MPI_OP_NULL", 0},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

const char *op_name(MPI_Op op)
{
    for (size_t i = 0; i < OPERATIONS; i++)
        if (operations[i].op == op)
            return operations[i].name;
    return "a user's operation";
}

const char *op_in_mpi(enum swagg_op op)
{
    for (size_t i = 0; i < OPERATIONS; i++)
        if (operations[i].in_switch == op)
            return operations[i].name;
    return "an unknown operation";
}

static bool is_in_switch(MPI_Op op)
{
    for (size_t i = 0; i < OPERATIONS; i++)
        if (operations[i].op == op)
            return operations[i].in_switch != 0;
    return false;
}

/* --- named types --- */

#define BIT(op)    (1u << SWAGG_##op)
#define ARITHMETIC (BIT(SUM) | BIT(PROD) | BIT(MIN) | BIT(MAX))
#define LOGICAL    (BIT(LAND) | BIT(LOR) | BIT(LXOR))
#define BITWISE    (BIT(BAND) | BIT(BOR) | BIT(BXOR))

/* What the numbers of a type are; how wide they are, MPI_Type_size says, as the MPI library was built. */
enum family { SIGNED, UNSIGNED, BOOLEAN, REAL, COMPLEX, FAMILIES };
enum { WIDTH_MAX = 16 };

static const enum swagg_type widths[FAMILIES][WIDTH_MAX + 1] = {
    [SIGNED] = {[1] = SWAGG_I8, [2] = SWAGG_I16, [4] = SWAGG_I32, [8] = SWAGG_I64},
    [UNSIGNED] = {[1] = SWAGG_U8, [2] = SWAGG_U16, [4] = SWAGG_U32, [8] = SWAGG_U64},
    [BOOLEAN] = {[1] = SWAGG_BOOL},
    [REAL] = {[2] = SWAGG_F16, [4] = SWAGG_F32, [8] = SWAGG_F64},
    [COMPLEX] = {[8] = SWAGG_C64, [16] = SWAGG_C128},
};

enum kind {
    C_INTEGER,
    C_UNSIGNED,
    C_BOOLEAN,
    C_INTEGER_PAIR,
    C_REAL_PAIR,
    F_INTEGER,
    F_LOGICAL, /* gfortran's .TRUE. is 1 */
    F_INTEGER_PAIR,
    F_REAL_PAIR,
    ANY_REAL,
    ANY_COMPLEX,
};

/* The operations are those that Open MPI 4.1 takes on each kind, a few more than MPI asks for: others stay
 * with it to be refused. */
static const struct kind_of_type {
    enum family family;
    unsigned ops;
    enum { ALONE, WITH_INT, WITH_SAME } index; /* what follows the value in a pair */
} kinds[] = {
    [C_INTEGER] = {SIGNED, ARITHMETIC | LOGICAL | BITWISE, ALONE},
    [C_UNSIGNED] = {UNSIGNED, ARITHMETIC | LOGICAL | BITWISE, ALONE},
    [C_BOOLEAN] = {BOOLEAN, LOGICAL, ALONE},
    [C_INTEGER_PAIR] = {SIGNED, BIT(MINLOC) | BIT(MAXLOC), WITH_INT},
    [C_REAL_PAIR] = {REAL, BIT(MINLOC) | BIT(MAXLOC), WITH_INT},
    [F_INTEGER] = {SIGNED, ARITHMETIC | BITWISE, ALONE},
    [F_LOGICAL] = {SIGNED, LOGICAL, ALONE},
    [F_INTEGER_PAIR] = {SIGNED, BIT(MINPAIR) | BIT(MAXPAIR), WITH_SAME},
    [F_REAL_PAIR] = {REAL, BIT(MINPAIR) | BIT(MAXPAIR), WITH_SAME},
    [ANY_REAL] = {REAL, ARITHMETIC, ALONE},
    [ANY_COMPLEX] = {COMPLEX, BIT(SUM) | BIT(PROD), ALONE},
};

/* Those that programs use most come first. Wide ones (long double, ...) are here too: the switch has no
 * numbers of their width. */
static const struct named_type {
    MPI_Datatype type;
    enum kind kind;
} named_types[] = {
    {MPI_DOUBLE, ANY_REAL},
    {MPI_FLOAT, ANY_REAL},
    {MPI_INT, C_INTEGER},
    {MPI_LONG, C_INTEGER},
    {MPI_DOUBLE_PRECISION, ANY_REAL},
    {MPI_REAL, ANY_REAL},
    {MPI_INTEGER, F_INTEGER},
    {MPI_SIGNED_CHAR, C_INTEGER},
    {MPI_CHAR, C_INTEGER},
    {MPI_SHORT, C_INTEGER},
    {MPI_LONG_LONG, C_INTEGER},
    {MPI_UNSIGNED_CHAR, C_UNSIGNED},
    {MPI_UNSIGNED_SHORT, C_UNSIGNED},
    {MPI_UNSIGNED, C_UNSIGNED},
    {MPI_UNSIGNED_LONG, C_UNSIGNED},
    {MPI_UNSIGNED_LONG_LONG, C_UNSIGNED},
    {MPI_INT8_T, C_INTEGER},
    {MPI_INT16_T, C_INTEGER},
    {MPI_INT32_T, C_INTEGER},
    {MPI_INT64_T, C_INTEGER},
    {MPI_UINT8_T, C_UNSIGNED},
    {MPI_UINT16_T, C_UNSIGNED},
    {MPI_UINT32_T, C_UNSIGNED},
    {MPI_UINT64_T, C_UNSIGNED},
    {MPI_AINT, C_INTEGER},
    {MPI_COUNT, C_INTEGER},
    {MPI_OFFSET, C_INTEGER},
    {MPI_BYTE, C_UNSIGNED},
    {MPI_C_BOOL, C_BOOLEAN},
    {MPI_CXX_BOOL, C_BOOLEAN},
    {MPI_LONG_DOUBLE, ANY_REAL},
    {MPI_C_FLOAT_COMPLEX, ANY_COMPLEX},
    {MPI_C_DOUBLE_COMPLEX, ANY_COMPLEX},
    {MPI_C_LONG_DOUBLE_COMPLEX, ANY_COMPLEX},
    {MPI_CXX_FLOAT_COMPLEX, ANY_COMPLEX},
    {MPI_CXX_DOUBLE_COMPLEX, ANY_COMPLEX},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, ANY_COMPLEX},
    {MPI_2INT, C_INTEGER_PAIR},
    {MPI_SHORT_INT, C_INTEGER_PAIR},
    {MPI_LONG_INT, C_INTEGER_PAIR},
    {MPI_FLOAT_INT, C_REAL_PAIR},
    {MPI_DOUBLE_INT, C_REAL_PAIR},
    {MPI_LONG_DOUBLE_INT, C_REAL_PAIR},
    {MPI_CHARACTER, C_UNSIGNED},
    {MPI_INTEGER1, C_INTEGER},
    {MPI_INTEGER2, C_INTEGER},
    {MPI_INTEGER4, F_INTEGER},
    {MPI_INTEGER8, C_INTEGER},
    {MPI_REAL4, ANY_REAL},
    {MPI_REAL8, ANY_REAL},
    {MPI_COMPLEX, ANY_COMPLEX},
    {MPI_COMPLEX8, ANY_COMPLEX},
    {MPI_COMPLEX16, ANY_COMPLEX},
    {MPI_DOUBLE_COMPLEX, ANY_COMPLEX},
    {MPI_LOGICAL, F_LOGICAL},
    {MPI_2INTEGER, F_INTEGER_PAIR},
    {MPI_2REAL, F_REAL_PAIR},
    {MPI_2DOUBLE_PRECISION, F_REAL_PAIR},
/* What an MPI library may lack. */
#ifdef MPI_LOGICAL1
    {MPI_LOGICAL1, C_INTEGER},
    {MPI_LOGICAL2, C_INTEGER},
    {MPI_LOGICAL4, F_LOGICAL},
    {MPI_LOGICAL8, C_INTEGER},
#endif
#ifdef MPI_REAL2
    {MPI_REAL2, ANY_REAL},
#endif
#ifdef MPI_REAL16
    {MPI_REAL16, ANY_REAL},
#endif
#ifdef MPI_COMPLEX32
    {MPI_COMPLEX32, ANY_COMPLEX},
#endif
};
enum { NAMED_TYPES = sizeof named_types / sizeof named_types[0] };

static const struct named_type *find(MPI_Datatype type)
{
    for (size_t i = 0; i < NAMED_TYPES; i++)
        if (named_types[i].type == type)
            return &named_types[i];
    return NULL;
}

/* Its width in the switch, by its size in MPI, which leaves out what is between value and index. */
static enum swagg_type type_in_switch(const struct named_type *named)
{
    const struct kind_of_type *kind = &kinds[named->kind];
    int size;
    PMPI_Type_size(named->type, &size);
    if (kind->index == WITH_INT)
        size -= (int)sizeof(int);
    else if (kind->index == WITH_SAME)
        size /= 2;
    return size <= WIDTH_MAX ? widths[kind->family][size] : 0;
}

static enum swagg_op op_on(const struct named_type *named, MPI_Op op)
{
    for (size_t i = 0; i < OPERATIONS; i++)
        if (operations[i].op == op && kinds[named->kind].ops & 1u << operations[i].in_switch &&
            !library_differs(named->type, operations[i].in_switch))
            return operations[i].in_switch;
    return 0;
}

/* --- both --- */

enum why types_reduction(MPI_Datatype type, MPI_Op op, struct reduction *r)
{
    const struct named_type *named = NULL;
    *r = (struct reduction){.named = MPI_DATATYPE_NULL, .per_item = 1};
    if (!is_in_switch(op))
        return WHY_OPERATION;
    if (!(named = find(type)) && !(named = find(contiguous_of(type, &r->per_item))))
        return WHY_TYPE;
    r->named = named->type;
    r->type = type_in_switch(named);
    r->op = op_on(named, op);
    r->element_bytes = r->type && r->op ? swagg_element_size(r->type, r->op) : 0;
    return r->element_bytes ? WHY_NOT : WHY_TYPE;
}

static bool is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

bool types_are_bytes(MPI_Datatype type)
{
    size_t count;
    MPI_Aint low, extent;
    int size;
    const MPI_Datatype named = is_named(type) ? type : contiguous_of(type, &count);
    if (named == MPI_DATATYPE_NULL)
        return false;
    PMPI_Type_get_extent(named, &low, &extent);
    PMPI_Type_size(named, &size);
    return low == 0 && extent == size;
}
