/* Every type that MPI names x every operation x sizes x in place or not x allreduce and reduce x two
 * communicators: what the call gives, the answer of MPI included, is what the MPI library's own function
 * gives for the same data.
 *
 * With MATRIX_ONE_OF=N in the environment, only one case of N, spread over all of them. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/splitmix.h"
#include "samples.h"

enum { GUARD = 64, CHUNK_BYTES = 1456, LARGE_BYTES = 300000 };

/* The library's own, behind whatever is preloaded. */
static int (*library_allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
static int (*library_reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);

static unsigned long cases, for_switch, failures;
static int world_rank;

struct trial {
    const struct sample *sample;
    MPI_Op op;
    MPI_Comm comm;
    int rank, size, root; /* root < 0: allreduce */
    bool in_place;
    size_t n;
};

static void find_library(void)
{
    void *library = dlopen(SAMPLES_MPI_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    *(void **)&library_allreduce = library ? dlsym(library, "PMPI_Allreduce") : NULL;
    *(void **)&library_reduce = library ? dlsym(library, "PMPI_Reduce") : NULL;
    if (!library_allreduce || !library_reduce) {
        fprintf(stderr, "matrix: no MPI library to compare with: %s\n", dlerror());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

static int class_of(int rc)
{
    int class;
    MPI_Error_class(rc, &class);
    return class;
}

static void wrong(const struct trial *t, const char *what, size_t i)
{
    char type[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(t->sample->type, type, &length);
    if (++failures <= 10)
        fprintf(stderr, "rank %d of %d: %zu %s, %s, root %d%s: %s, element %zu\n", t->rank, t->size, t->n,
                type, sample_op_name(t->op), t->root, t->in_place ? ", in place" : "", what, i);
}

static void compare(const struct trial *t, const void *got, const void *want)
{
    const double slack = sample_slack(t->sample, t->op, t->size);
    const size_t end = t->n * t->sample->size;
    for (size_t i = 0; i < t->n; i++)
        if (!sample_is_same(t->sample, got, want, i, slack)) {
            wrong(t, "not what the library gives", i);
            return;
        }
    for (size_t i = 0; i < GUARD; i++)
        if (((const unsigned char *)got)[end + i] != 0xa5) {
            wrong(t, "written behind its end", t->n);
            return;
        }
}

/* Returns the answer's class. */
static int call(const struct trial *t, bool of_library, const void *send, void *recv)
{
    const int n = (int)t->n;
    const MPI_Datatype type = t->sample->type;
    if (t->root < 0)
        return class_of(
            (of_library ? library_allreduce : MPI_Allreduce)(send, recv, n, type, t->op, t->comm));
    return class_of((of_library ? library_reduce : MPI_Reduce)(send, recv, n, type, t->op, t->root, t->comm));
}

/* What Open MPI 4.1 compares with the wrong sign (MPI_UNSIGNED_LONG as if it were signed, MPI_OFFSET as if it
 * were not), and MPICH 4.0 (all that is not signed as if it were). */
static bool has_wrong_sign(MPI_Datatype type)
{
#ifdef OPEN_MPI
    return type == MPI_UNSIGNED_LONG || type == MPI_OFFSET;
#else
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(type, name, &length);
    return strncmp(name, "MPI_U", 5) == 0 || type == MPI_CHARACTER;
#endif
}

static bool is_logical(MPI_Op op)
{
    return op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
}

/* Where MPICH 4.0 ends the program, in spite of its own checks. */
static bool is_fatal(const struct trial *t)
{
#ifdef OPEN_MPI
    (void)t;
    return false;
#else
    return is_logical(t->op) && (t->sample->kind == SAMPLE_REAL || t->sample->kind == SAMPLE_ZERO);
#endif
}

/* Of what the library takes: all formats that the switch has, but for those that the library compares with
 * the wrong sign. */
static bool is_for_switch(const struct trial *t)
{
    const bool wrong_sign = has_wrong_sign(t->sample->type);
    const bool forbidden =
        is_logical(t->op) && (t->sample->type == MPI_INTEGER || t->sample->type == MPI_INTEGER4);
    return t->n > 0 && t->sample->kind != SAMPLE_ZERO && !forbidden &&
           !(wrong_sign && (t->op == MPI_MIN || t->op == MPI_MAX));
}

static void run(const struct trial *t)
{
    const size_t bytes = t->n * t->sample->size;
    unsigned char *send = malloc(bytes + GUARD), *want = malloc(bytes + GUARD), *got = malloc(bytes + GUARD);
    if (!send || !want || !got)
        MPI_Abort(MPI_COMM_WORLD, 2);
    sample_fill(t->sample, send, t->n, cases * 1000 + (unsigned)world_rank);
    memset(want, 0xa5, bytes + GUARD);
    memset(got, 0xa5, bytes + GUARD);
    const bool receives = t->root < 0 || t->root == t->rank, in_place = t->in_place && receives;
    if (in_place)
        memcpy(got, send, bytes);
    const int right = call(t, true, send, want);
    const int answer = call(t, false, in_place ? MPI_IN_PLACE : send, got);
    if (answer != right)
        wrong(t, "not the library's answer", 0);
    else if (right == MPI_SUCCESS && receives)
        compare(t, got, want);
    for_switch += right == MPI_SUCCESS && is_for_switch(t);
    cases++;
    free(send);
    free(want);
    free(got);
}

static void sizes(struct trial t, unsigned long one_of)
{
    static unsigned long number;
    const size_t chunk = CHUNK_BYTES / t.sample->size;
    const size_t counts[] = {0, 1, 37, chunk - 1, chunk, chunk + 1, LARGE_BYTES / t.sample->size + 1};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (int form = 0; form < 4; form++) {

            if (splitmix_hash(++number) % one_of != 0)
                continue;
            t.n = counts[c];
            t.in_place = form & 1;
            t.root = form & 2 ? (int)(number % (unsigned)t.size) : -1;
            run(&t);
        }
}

int main(int argc, char **argv)
{
    const char *thin = getenv("MATRIX_ONE_OF");
    const unsigned long one_of = thin && atol(thin) > 0 ? strtoul(thin, NULL, 10) : 1;
    MPI_Comm pairs;
    MPI_Init(&argc, &argv);
    find_library();
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank / 2, world_rank, &pairs);
    MPI_Comm comms[] = {MPI_COMM_WORLD, pairs};
    for (int c = 0; c < 2; c++)
        for (size_t s = 0; s < samples_count; s++)
            for (size_t o = 0; o < sample_ops_count; o++) {
                struct trial t = {.sample = &samples[s], .op = sample_ops[o], .comm = comms[c]};
                MPI_Comm_rank(t.comm, &t.rank);
                MPI_Comm_size(t.comm, &t.size);
                if (!is_fatal(&t))
                    sizes(t, one_of);
            }
    printf("matrix: rank %d: %lu cases, %lu for the switch, %lu wrong\n", world_rank, cases, for_switch,
           failures);
    MPI_Finalize();
    return failures != 0;
}
