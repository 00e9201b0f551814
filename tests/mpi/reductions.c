/* MPI_Allreduce and MPI_Reduce in every form that the shim must offload or pass on: plain MPI calls, every
 * element of every result compared with a sum computed on the spot. Runs the same with the shim and without.
 *
 * Values are small integers, so that sums are exact in every type and order. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "elements.h"

#define GUARD 64 /* elements behind a buffer that nobody may touch */

enum { PERIOD = 23 }; /* of values, from place to place */

static long checks, failures;

/* What rank r puts in place i; a stand-in for random numbers that any rank can compute for any other. */
static long value(int r, size_t i)
{
    return (long)((i * 7 + (size_t)r * 13) % PERIOD) - 11;
}

/* --- element types --- */

ELEMENT_ACCESS(float, f32)
ELEMENT_ACCESS(double, f64)
ELEMENT_ACCESS(long double, f80)
ELEMENT_ACCESS(int16_t, i16)
ELEMENT_ACCESS(int32_t, i32)
ELEMENT_ACCESS(int64_t, i64)

#define F32(t) ELEMENT(#t, t, float, f32)
#define F64(t) ELEMENT(#t, t, double, f64)
#define I32(t) ELEMENT(#t, t, int32_t, i32)
#define I64(t) ELEMENT(#t, t, int64_t, i64)

static const struct element elements[] = {
    F32(MPI_FLOAT),
    F64(MPI_DOUBLE),
    I32(MPI_INT),
    I64(MPI_LONG),
    I32(MPI_INT32_T),
    I64(MPI_INT64_T),
    I64(MPI_LONG_LONG),
    I32(MPI_INTEGER),
    I32(MPI_INTEGER4),
    I64(MPI_INTEGER8),
    F32(MPI_REAL),
    F32(MPI_REAL4),
    F64(MPI_REAL8),
    F64(MPI_DOUBLE_PRECISION),
    /* the shim leaves these alone */
    ELEMENT("MPI_SHORT", MPI_SHORT, int16_t, i16),
    ELEMENT("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, long double, f80),
};
enum { ELEMENTS = sizeof elements / sizeof elements[0] };

/* --- one reduction --- */

struct trial {
    const char *what;
    const struct element *e;
    MPI_Datatype type; /* e's, or one that is made of it */
    size_t per_type;   /* elements in one of that */
    MPI_Op op;
    MPI_Comm comm;
    int root; /* < 0: allreduce */
    bool in_place;
};

static void wrong(const struct trial *t, size_t n, size_t i, long got, long want)
{
    if (++failures <= 10)
        fprintf(stderr, "%s: %zu x %s, root %d%s: element %zu is %ld, expected %ld\n", t->what, n, t->e->name,
                t->root, t->in_place ? ", in place" : "", i, got, want);
}

static long expected(const struct trial *t, int size, size_t i)
{
    long sum = 0, highest = value(0, i);
    for (int r = 0; r < size; r++) {
        sum += value(r, i);
        highest = value(r, i) > highest ? value(r, i) : highest;
    }
    return t->op == MPI_MAX ? highest : sum;
}

static void fill(const struct element *e, void *at, size_t n, int rank)
{
    for (size_t i = 0; i < n; i++)
        e->set(at, i, value(rank, i));
    for (size_t i = n; i < n + GUARD; i++)
        e->set(at, i, 99);
}

static void verify(const struct trial *t, const void *at, size_t n, int rank, int size, bool reduced)
{
    long want[PERIOD];
    for (size_t i = 0; i < PERIOD; i++)
        want[i] = reduced ? expected(t, size, i) : value(rank, i);
    for (size_t i = 0; i < n; i++)
        if (t->e->get(at, i) != want[i % PERIOD])
            wrong(t, n, i, t->e->get(at, i), want[i % PERIOD]);
    for (size_t i = n; i < n + GUARD; i++)
        if (t->e->get(at, i) != 99)
            wrong(t, n, i, t->e->get(at, i), 99);
    checks++;
}

static void run(const struct trial *t, int count)
{
    const size_t n = (size_t)count * t->per_type;
    int rank, size;
    MPI_Comm_rank(t->comm, &rank);
    MPI_Comm_size(t->comm, &size);
    void *send = malloc((n + GUARD) * t->e->size), *recv = malloc((n + GUARD) * t->e->size);
    if (!send || !recv)
        MPI_Abort(MPI_COMM_WORLD, 2);
    fill(t->e, send, n, rank);
    fill(t->e, recv, n, rank);
    const bool receives = t->root < 0 || t->root == rank;
    const void *from = t->in_place && receives ? MPI_IN_PLACE : send;
    if (t->root < 0)
        MPI_Allreduce(from, recv, count, t->type, t->op, t->comm);
    else
        MPI_Reduce(from, recv, count, t->type, t->op, t->root, t->comm);
    verify(t, send, n, rank, size, false);
    verify(t, recv, n, rank, size, receives);
    free(send);
    free(recv);
}

/* --- what is tried --- */

static struct trial plain(const char *what, const struct element *e, MPI_Comm comm)
{
    return (struct trial){
        .what = what, .e = e, .type = e->type, .per_type = 1, .op = MPI_SUM, .comm = comm, .root = -1};
}

/* Allreduce and reduce, in place and not, to every root. */
static void all_forms(struct trial t, int count)
{
    int size;
    MPI_Comm_size(t.comm, &size);
    for (t.root = -1; t.root < size; t.root++)
        for (int in_place = 0; in_place < 2; in_place++) {
            t.in_place = in_place;
            run(&t, count);
        }
}

static void types_and_sizes(void)
{
    static const int counts[] = {0, 1, 2, 63, 365, 366, 1023, 4097, 16384, 30011};
    for (int e = 0; e < ELEMENTS; e++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            all_forms(plain("types and sizes", &elements[e], MPI_COMM_WORLD), counts[c]);
}

static void communicators(void)
{
    MPI_Comm dup, half, backwards;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    for (int round = 0; round < 2; round++) { /* so that jobs take turns */
        all_forms(plain("duplicate", &elements[0], dup), 20000);
        all_forms(plain("half", &elements[1], half), 20000);
        all_forms(plain("backwards", &elements[2], backwards), 20000);
        all_forms(plain("self", &elements[3], MPI_COMM_SELF), 20000);
        all_forms(plain("world", &elements[0], MPI_COMM_WORLD), 20000);
    }
    MPI_Comm_free(&dup);
    MPI_Comm_free(&half);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup); /* takes the freed one's place, also in memory */
    all_forms(plain("duplicate again", &elements[0], dup), 20000);
    MPI_Comm_free(&dup); /* "backwards" is left to MPI_Finalize */
}

/* An intercommunicator gives each side the sum of the other. */
static void intercommunicator(void)
{
    MPI_Comm half, between;
    int rank, size, got = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &between);
    enum { N = 20000 };
    int *ones = malloc(N * sizeof(int)), *sums = malloc(N * sizeof(int));
    for (int i = 0; i < N; i++)
        ones[i] = 1, sums[i] = 0;
    MPI_Allreduce(ones, sums, N, MPI_INT, MPI_SUM, between);
    MPI_Comm_remote_size(between, &got);
    for (int i = 0; i < N; i++)
        failures += sums[i] != got;
    checks++;
    free(ones);
    free(sums);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static void add_floats(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (size_t i = 0; i < (size_t)*count * (size_t)bytes / sizeof(float); i++)
        ((float *)inout)[i] += ((float *)in)[i];
}

static void operations_and_derived_types(void)
{
    struct trial t = plain("maximum", &elements[0], MPI_COMM_WORLD);
    t.op = MPI_MAX;
    all_forms(t, 20000);

    t = plain("user's operation", &elements[0], MPI_COMM_WORLD);
    MPI_Op_create(add_floats, 1, &t.op);
    all_forms(t, 20000);

    t.what = "derived type";
    t.per_type = 3;
    MPI_Type_contiguous(3, MPI_FLOAT, &t.type);
    MPI_Type_commit(&t.type);
    all_forms(t, 7000);
    MPI_Type_free(&t.type);
    MPI_Op_free(&t.op);

    t = plain("duplicate of a type", &elements[0], MPI_COMM_WORLD);
    MPI_Type_dup(MPI_FLOAT, &t.type);
    MPI_Op_create(add_floats, 1, &t.op);
    all_forms(t, 20000);
    MPI_Type_free(&t.type);
    MPI_Op_free(&t.op);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    types_and_sizes();
    communicators();
    intercommunicator();
    operations_and_derived_types();
    long mine[2] = {checks, failures}, sums[2];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(mine, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("reductions: %ld checks, %ld wrong\n", sums[0], sums[1]);
    MPI_Finalize();
    return sums[1] != 0 || sums[0] == 0;
}
