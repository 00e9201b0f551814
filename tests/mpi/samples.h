/* Every type that MPI names, and those that are made of one, with data to reduce: for programs that compare
 * what the shim gives with what the MPI library gives. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file that the program's MPI library is in. */
#ifdef OPEN_MPI
#define SAMPLES_MPI_LIBRARY "libmpi.so.40"
#else
#define SAMPLES_MPI_LIBRARY "libmpich.so.12"
#endif

struct sample {
    MPI_Datatype type;
    enum sample_kind {
        SAMPLE_INTEGER, /* any bits */
        SAMPLE_TRUTH,   /* 0 or 1 */
        SAMPLE_REAL,
        SAMPLE_COMPLEX,
        SAMPLE_PAIR, /* value and index, in a struct of C's */
        SAMPLE_ZERO, /* a format of which only 0 is known here */
    } kind;
    size_t size;  /* from one to the next */
    size_t value; /* bytes of a number, or of each part of it */
    struct {
        bool real_value, real_index;
        size_t index_at, index; /* where it is, its bytes */
    } pair;
};

extern const struct sample samples[];
extern const size_t samples_count;

/* Operations that MPI names. */
extern const MPI_Op sample_ops[];
extern const size_t sample_ops_count;
const char *sample_op_name(MPI_Op op);

/* n elements that follow from the seed. */
void sample_fill(const struct sample *s, void *at, size_t n, uint64_t seed);

/* Whether element i is the same in both; `slack` is how far a floating number may be off, 0: not at all. */
bool sample_is_same(const struct sample *s, const void *a, const void *b, size_t i, double slack);

/* How far the reduction of so many ranks' samples may be off if it is done in another order. */
double sample_slack(const struct sample *s, MPI_Op op, int ranks);
