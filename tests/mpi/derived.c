/* Derived types with MPI's own operations, under the shim: those without gaps are reduced as elements of a
 * named type, for the switch as for Open MPI, and compared with what the MPI library gives for such elements;
 * all others get the library's refusal. The program's own operations see the derived type. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

static int (*library_allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
static int rank, checks, failures;

static void check(bool right, const char *what)
{
    checks++;
    failures += !right;
    if (!right)
        fprintf(stderr, "derived: rank %d: %s\n", rank, what);
}

static int class_of(int rc)
{
    int class;
    MPI_Error_class(rc, &class);
    return class;
}

static MPI_Datatype commit(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype duplicate(MPI_Datatype of)
{
    MPI_Datatype type;
    MPI_Type_dup(of, &type);
    return type;
}

static MPI_Datatype contiguous(int count, MPI_Datatype of)
{
    MPI_Datatype type;
    MPI_Type_contiguous(count, of, &type);
    return commit(type);
}

static MPI_Datatype vector(int blocks, int block, int stride, MPI_Datatype of)
{
    MPI_Datatype type;
    MPI_Type_vector(blocks, block, stride, of, &type);
    return commit(type);
}

static MPI_Datatype hvector(int blocks, int block, MPI_Aint stride, MPI_Datatype of)
{
    MPI_Datatype type;
    MPI_Type_create_hvector(blocks, block, stride, of, &type);
    return commit(type);
}

static MPI_Datatype resized(MPI_Datatype of, MPI_Aint extent)
{
    MPI_Datatype type;
    MPI_Type_create_resized(of, 0, extent, &type);
    return commit(type);
}

static MPI_Datatype f90_real(int digits)
{
    MPI_Datatype type;
    MPI_Type_create_f90_real(digits, MPI_UNDEFINED, &type);
    return type;
}

/* `count` of a type that is `per` elements of a sample's. */
static void compare(const char *what, MPI_Datatype type, MPI_Datatype named, size_t per, MPI_Op op, int count)
{
    const struct sample *s = samples;
    while (s->type != named)
        s++;
    const size_t n = (size_t)count * per;
    void *send = calloc(n, s->size), *want = calloc(n, s->size), *got = calloc(n, s->size);
    sample_fill(s, send, n, (unsigned)(count + rank));
    library_allreduce(send, want, (int)n, named, op, MPI_COMM_WORLD);
    for (int twice = 0; twice < 2; twice++) { /* looked up, then remembered */
        memcpy(got, send, n * s->size);
        check(MPI_Allreduce(MPI_IN_PLACE, got, count, type, op, MPI_COMM_WORLD) == MPI_SUCCESS, what);
        bool same = true;
        for (size_t i = 0; i < n; i++)
            same = same && sample_is_same(s, got, want, i, sample_slack(s, op, 4));
        check(same, what);
    }
    free(send);
    free(want);
    free(got);
}

static void without_gaps(int count)
{
    MPI_Datatype types[] = {
        duplicate(MPI_FLOAT),        contiguous(3, MPI_DOUBLE), vector(4, 2, 2, MPI_INT),
        hvector(3, 2, 16, MPI_LONG), resized(MPI_FLOAT, 4),     contiguous(5, MPI_DOUBLE_INT),
        vector(1, 3, 77, MPI_SHORT),
    };
    enum { TYPES = sizeof types / sizeof types[0] };
    compare("duplicate", types[0], MPI_FLOAT, 1, MPI_SUM, count);
    compare("contiguous", types[1], MPI_DOUBLE, 3, MPI_MAX, count);
    compare("vector", types[2], MPI_INT, 8, MPI_SUM, count);
    compare("hvector", types[3], MPI_LONG, 6, MPI_SUM, count);
    compare("resized", types[4], MPI_FLOAT, 1, MPI_SUM, count);
    compare("pairs", types[5], MPI_DOUBLE_INT, 5, MPI_MINLOC, count);
    compare("one block", types[6], MPI_SHORT, 3, MPI_BOR, count);
    MPI_Datatype inner = contiguous(2, types[2]), outer = duplicate(inner);
    MPI_Type_free(&inner);
    compare("nested", outer, MPI_INT, 16, MPI_SUM, count);
    MPI_Type_free(&outer);
    compare("by precision", f90_real(15), MPI_DOUBLE, 1, MPI_SUM, count);
    compare("by precision", f90_real(6), MPI_FLOAT, 1, MPI_SUM, count);
    for (int i = 0; i < TYPES; i++)
        MPI_Type_free(&types[i]);
}

static void refused(const char *what, MPI_Datatype type)
{
    static double in[10000], out[10000];
    int right = class_of(library_allreduce(in, out, 1000, type, MPI_SUM, MPI_COMM_WORLD));
    check(right != MPI_SUCCESS, what);
    check(class_of(MPI_Allreduce(in, out, 1000, type, MPI_SUM, MPI_COMM_WORLD)) == right, what);
    MPI_Type_free(&type);
}

static void with_gaps(void)
{
    MPI_Datatype both, gap = vector(3, 1, 2, MPI_INT);
    const int blocks[] = {1, 1};
    const MPI_Aint places[] = {0, 4};
    const MPI_Datatype types[] = {MPI_INT, MPI_FLOAT};
    MPI_Type_create_struct(2, blocks, places, types, &both);
    refused("contiguous of a vector with gaps", contiguous(2, gap));
    refused("vector with gaps", gap);
    refused("struct", commit(both));
    refused("hvector with gaps", hvector(2, 1, 8, MPI_INT));
    refused("resized with a gap", resized(MPI_INT, 8));
}

static void add_triples(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes;
    MPI_Type_size(*type, &bytes);
    failures += bytes != 3 * (int)sizeof(float);
    for (int i = 0; i < 3 * *count; i++)
        ((float *)inout)[i] += ((float *)in)[i];
}

static void own_operation(void)
{
    static float in[30000], out[30000];
    MPI_Op op;
    MPI_Datatype triple = contiguous(3, MPI_FLOAT);
    for (int i = 0; i < 30000; i++)
        in[i] = (float)(i % 50);
    MPI_Op_create(add_triples, 1, &op);
    MPI_Allreduce(in, out, 10000, triple, op, MPI_COMM_WORLD);
    bool same = true;
    for (int i = 0; i < 30000; i++)
        same = same && out[i] == 4 * in[i];
    check(same, "the program's own operation");
    MPI_Op_free(&op);
    MPI_Type_free(&triple);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    *(void **)&library_allreduce =
        dlsym(dlopen(SAMPLES_MPI_LIBRARY, RTLD_NOW | RTLD_NOLOAD), "PMPI_Allreduce");
    without_gaps(3); /* below SWAGG_MIN_BYTES */
    without_gaps(10000);
    with_gaps();
    own_operation();
    without_gaps(10001); /* handles of types that are gone */
    printf("derived: rank %d: %d checks, %d wrong\n", rank, checks, failures);
    MPI_Finalize();
    return failures != 0;
}
