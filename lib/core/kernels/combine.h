/* What is written alike for one number and for a vector of them: a is what has been folded, b the next
 * contribution. */
#pragma once

#define SAME(x) (x)

#define DO_SUM(kind, a, b)  ((a) + (b))
#define DO_AVG(kind, a, b)  ((a) + (b))
#define DO_PROD(kind, a, b) TIMES_##kind(a, b)
#define DO_BAND(kind, a, b) ((a) & (b))
#define DO_BOR(kind, a, b)  ((a) | (b))
#define DO_BXOR(kind, a, b) ((a) ^ (b))

/* Complex ones are in scalar_numbers.h and vector_numbers.h. */
#define TIMES_I8(a, b)   ((a) * (b))
#define TIMES_I16(a, b)  ((a) * (b))
#define TIMES_I32(a, b)  ((a) * (b))
#define TIMES_U32(a, b)  ((a) * (b))
#define TIMES_I64(a, b)  ((a) * (b))
#define TIMES_F32(a, b)  ((a) * (b))
#define TIMES_F64(a, b)  ((a) * (b))
#define TIMES_F16(a, b)  ((a) * (b))
#define TIMES_BF16(a, b) ((a) * (b))

/* As a kind's numbers compare. Integers are computed with unsigned, so signed ones say so there. */
#define ORDER_U8(x)   (x)
#define ORDER_U16(x)  (x)
#define ORDER_U32(x)  (x)
#define ORDER_U64(x)  (x)
#define ORDER_F32(x)  (x)
#define ORDER_F64(x)  (x)
#define ORDER_F16(x)  (x)
#define ORDER_BF16(x) (x)

/* Which value of a pair is found first. */
#define FIRST_MIN(a, b) ((a) < (b))
#define FIRST_MAX(a, b) ((a) > (b))

/* What is done to the result of n contributions. */
#define AS_IS(x, n)      (x)
#define CLOSE_SUM(x, n)  (x)
#define CLOSE_PROD(x, n) (x)
#define CLOSE_AVG(x, n)  ((x) / (float)(n))
