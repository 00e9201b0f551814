#include "samples.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "random/splitmix.h"

/* clang-format off */
#define NUMBER(mpi, name, T) {.type = mpi, .kind = SAMPLE_##name, .size = sizeof(T), .value = sizeof(T)}
#define COMPLEX(mpi, T) {.type = mpi, .kind = SAMPLE_COMPLEX, .size = 2 * sizeof(T), .value = sizeof(T)}
/* 0.5 is 0 in a type of integers. */
#define IS_REAL(T) ((T)0.5 != 0)
#define PAIR(mpi, T, I)                                                                                      \
    {.type = mpi, .kind = SAMPLE_PAIR, .size = sizeof(struct { T value; I index; }), .value = sizeof(T),     \
     .pair = {IS_REAL(T), IS_REAL(I), offsetof(struct { T value; I index; }, index), sizeof(I)}}
/* clang-format on */

const struct sample samples[] = {
    NUMBER(MPI_CHAR, INTEGER, char),
    NUMBER(MPI_SIGNED_CHAR, INTEGER, char),
    NUMBER(MPI_UNSIGNED_CHAR, INTEGER, char),
    NUMBER(MPI_BYTE, INTEGER, char),
    NUMBER(MPI_PACKED, INTEGER, char),
    NUMBER(MPI_WCHAR, INTEGER, wchar_t),
    NUMBER(MPI_SHORT, INTEGER, short),
    NUMBER(MPI_UNSIGNED_SHORT, INTEGER, short),
    NUMBER(MPI_INT, INTEGER, int),
    NUMBER(MPI_UNSIGNED, INTEGER, int),
    NUMBER(MPI_LONG, INTEGER, long),
    NUMBER(MPI_UNSIGNED_LONG, INTEGER, long),
    NUMBER(MPI_LONG_LONG, INTEGER, long long),
    NUMBER(MPI_UNSIGNED_LONG_LONG, INTEGER, long long),
    NUMBER(MPI_INT8_T, INTEGER, int8_t),
    NUMBER(MPI_INT16_T, INTEGER, int16_t),
    NUMBER(MPI_INT32_T, INTEGER, int32_t),
    NUMBER(MPI_INT64_T, INTEGER, int64_t),
    NUMBER(MPI_UINT8_T, INTEGER, int8_t),
    NUMBER(MPI_UINT16_T, INTEGER, int16_t),
    NUMBER(MPI_UINT32_T, INTEGER, int32_t),
    NUMBER(MPI_UINT64_T, INTEGER, int64_t),
    NUMBER(MPI_AINT, INTEGER, MPI_Aint),
    NUMBER(MPI_OFFSET, INTEGER, MPI_Offset),
    NUMBER(MPI_COUNT, INTEGER, MPI_Count),
    NUMBER(MPI_C_BOOL, TRUTH, bool),
    NUMBER(MPI_CXX_BOOL, TRUTH, bool),
    NUMBER(MPI_FLOAT, REAL, float),
    NUMBER(MPI_DOUBLE, REAL, double),
    NUMBER(MPI_LONG_DOUBLE, ZERO, long double),
    COMPLEX(MPI_C_FLOAT_COMPLEX, float),
    COMPLEX(MPI_C_DOUBLE_COMPLEX, double),
    COMPLEX(MPI_CXX_FLOAT_COMPLEX, float),
    COMPLEX(MPI_CXX_DOUBLE_COMPLEX, double),
    NUMBER(MPI_C_LONG_DOUBLE_COMPLEX, ZERO, long double[2]),
    NUMBER(MPI_CXX_LONG_DOUBLE_COMPLEX, ZERO, long double[2]),
    PAIR(MPI_2INT, int, int),
    PAIR(MPI_SHORT_INT, short, int),
    PAIR(MPI_LONG_INT, long, int),
    PAIR(MPI_FLOAT_INT, float, int),
    PAIR(MPI_DOUBLE_INT, double, int),
    {.type = MPI_LONG_DOUBLE_INT, .kind = SAMPLE_ZERO, .size = 2 * sizeof(long double), .value = 10},
    NUMBER(MPI_CHARACTER, INTEGER, char),
    NUMBER(MPI_LOGICAL, TRUTH, int32_t),
#ifdef OPEN_MPI /* MPICH has none of these */
    NUMBER(MPI_LOGICAL1, TRUTH, int8_t),
    NUMBER(MPI_LOGICAL2, TRUTH, int16_t),
    NUMBER(MPI_LOGICAL4, TRUTH, int32_t),
    NUMBER(MPI_LOGICAL8, TRUTH, int64_t),
    NUMBER(MPI_2COMPLEX, ZERO, long double),
    NUMBER(MPI_2DOUBLE_COMPLEX, ZERO, long double[2]),
#endif
    NUMBER(MPI_INTEGER, INTEGER, int32_t),
    NUMBER(MPI_INTEGER1, INTEGER, int8_t),
    NUMBER(MPI_INTEGER2, INTEGER, int16_t),
    NUMBER(MPI_INTEGER4, INTEGER, int32_t),
    NUMBER(MPI_INTEGER8, INTEGER, int64_t),
    NUMBER(MPI_REAL, REAL, float),
    NUMBER(MPI_REAL4, REAL, float),
    NUMBER(MPI_REAL8, REAL, double),
    NUMBER(MPI_REAL16, ZERO, long double),
    NUMBER(MPI_DOUBLE_PRECISION, REAL, double),
    COMPLEX(MPI_COMPLEX, float),
    COMPLEX(MPI_COMPLEX8, float),
    COMPLEX(MPI_COMPLEX16, double),
    COMPLEX(MPI_DOUBLE_COMPLEX, double),
    NUMBER(MPI_COMPLEX32, ZERO, long double[2]),
    PAIR(MPI_2INTEGER, int32_t, int32_t),
    PAIR(MPI_2REAL, float, float),
    PAIR(MPI_2DOUBLE_PRECISION, double, double),
};
const size_t samples_count = sizeof samples / sizeof samples[0];

const MPI_Op sample_ops[] = {
    MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX,    MPI_LAND,   MPI_LOR,     MPI_LXOR,
    MPI_BAND, MPI_BOR,  MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP,
};
const size_t sample_ops_count = sizeof sample_ops / sizeof sample_ops[0];

const char *sample_op_name(MPI_Op op)
{
    static const char *const names[] = {"MPI_SUM",    "MPI_PROD",   "MPI_MIN",     "MPI_MAX",  "MPI_LAND",
                                        "MPI_LOR",    "MPI_LXOR",   "MPI_BAND",    "MPI_BOR",  "MPI_BXOR",
                                        "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};
    for (size_t i = 0; i < sample_ops_count; i++)
        if (sample_ops[i] == op)
            return names[i];
    return "no operation of MPI's";
}

static void put_integer(unsigned char *at, size_t bytes, uint64_t v)
{
    memcpy(at, &v, bytes); /* the low ones come first */
}

static void put_real(unsigned char *at, size_t bytes, double v)
{
    float f = (float)v;
    if (bytes == sizeof f)
        memcpy(at, &f, sizeof f);
    else
        memcpy(at, &v, sizeof v);
}

/* From 0.5 to 2 and their negatives, so that products of many stay in range. */
static double draw_real(uint64_t *state)
{
    uint64_t r = splitmix_next(state);
    double v = 0.5 + 1.5 * (double)(r >> 11) / 0x1p53;
    return r & 1 ? -v : v;
}

static void draw_pair(const struct sample *s, unsigned char *at, uint64_t *state)
{
    /* Few different values: the index often decides. */
    int64_t value = (int64_t)(splitmix_next(state) % 5) - 2, index = (int64_t)(splitmix_next(state) % 100);
    if (s->pair.real_value)
        put_real(at, s->value, (double)value / 2);
    else
        put_integer(at, s->value, (uint64_t)value);
    if (s->pair.real_index)
        put_real(at + s->pair.index_at, s->pair.index, (double)index);
    else
        put_integer(at + s->pair.index_at, s->pair.index, (uint64_t)index);
}

static void draw(const struct sample *s, unsigned char *at, uint64_t *state)
{
    memset(at, 0, s->size);
    if (s->kind == SAMPLE_INTEGER)
        put_integer(at, s->value, splitmix_next(state));
    else if (s->kind == SAMPLE_TRUTH)
        put_integer(at, s->value, splitmix_next(state) & 1);
    else if (s->kind == SAMPLE_PAIR)
        draw_pair(s, at, state);
    else if (s->kind != SAMPLE_ZERO)
        for (size_t part = 0; part < s->size; part += s->value)
            put_real(at + part, s->value, draw_real(state));
}

void sample_fill(const struct sample *s, void *at, size_t n, uint64_t seed)
{
    uint64_t state = splitmix_hash(seed);
    for (size_t i = 0; i < n; i++)
        draw(s, (unsigned char *)at + i * s->size, &state);
}

static double get_real(const unsigned char *at, size_t bytes)
{
    float f;
    double d;
    memcpy(&f, at, sizeof f);
    if (bytes == sizeof f)
        return (double)f;
    memcpy(&d, at, sizeof d);
    return d;
}

bool sample_is_same(const struct sample *s, const void *a, const void *b, size_t i, double slack)
{
    const unsigned char *x = (const unsigned char *)a + i * s->size,
                        *y = (const unsigned char *)b + i * s->size;
    if (s->kind == SAMPLE_PAIR) /* but for what is between the two */
        return memcmp(x, y, s->value) == 0 &&
               memcmp(x + s->pair.index_at, y + s->pair.index_at, s->pair.index) == 0;
    if (s->kind == SAMPLE_ZERO)
        return memcmp(x, y, s->value) == 0;
    if (slack == 0)
        return memcmp(x, y, s->size) == 0;
    bool same = true;
    for (size_t part = 0; part < s->size; part += s->value)
        same = same && fabs(get_real(x + part, s->value) - get_real(y + part, s->value)) <= slack;
    return same;
}

double sample_slack(const struct sample *s, MPI_Op op, int ranks)
{
    const double unit = s->value == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON;
    if ((s->kind != SAMPLE_REAL && s->kind != SAMPLE_COMPLEX) || (op != MPI_SUM && op != MPI_PROD) ||
        ranks == 2)
        return 0; /* exact; and a + b is b + a */
    /* Numbers are below 2, and complex ones in magnitude below 3. Each step rounds by half a unit of its
     * result; a complex product has three roundings a part. */
    const double most = op == MPI_SUM ? 2 * ranks : pow(s->kind == SAMPLE_COMPLEX ? 3 : 2, ranks);
    return 3 * ranks * unit * most;
}
