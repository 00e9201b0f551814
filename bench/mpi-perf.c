/* How fast an MPI library's collectives are: a table in the form of nccl-tests, from plain MPI calls. Runs
 * alike over Open MPI and, with LD_PRELOAD of the shim, over swagg.
 *
 * An iteration takes as long as its slowest rank; the table shows the median over the iterations, and the
 * extremes. Other ways to take the time: --time. */
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command_line.h"
#include "elements.h"
#include "env.h"
#include "options_page.h"
#include "standard_streams.h"
#include "version.h"

enum operation { ALLREDUCE, REDUCE, BCAST, ALLGATHER, REDUCE_SCATTER, BARRIER };
static const char *const operations[] = {"allreduce",      "reduce",  "bcast", "allgather",
                                         "reduce_scatter", "barrier", NULL};

/* How the iterations are made and which time counts. */
enum timing {
    SLOWEST, /* a barrier around each; the slowest rank's, median of the iterations */
    MEAN,    /* a barrier around each; mean over ranks and iterations, as OSU's benchmarks have it */
    LOOP,    /* one after the other; the whole loop's by the number of calls, of the slowest rank */
};
static const char *const timings[] = {"slowest", "mean", "loop", NULL};

ELEMENT_ACCESS(float, f32)
ELEMENT_ACCESS(double, f64)
ELEMENT_ACCESS(int32_t, i32)
ELEMENT_ACCESS(int64_t, i64)

static const struct element elements[] = {
    ELEMENT("float", MPI_FLOAT, float, f32),
    ELEMENT("double", MPI_DOUBLE, double, f64),
    ELEMENT("int32", MPI_INT32_T, int32_t, i32),
    ELEMENT("int64", MPI_INT64_T, int64_t, i64),
};

/* The shim goes the same way with all sizes of such a range. */
enum { SETTLE_FACTOR = 4 };

enum { RANKS_MAX = 1024 };

struct options {
    size_t begin, end, factor; /* tensor sizes in bytes */
    int iterations, warmups;
    double settle; /* seconds */
    enum operation operation;
    enum timing timing;
    const struct element *element;
    const char *json;
    bool settings;
    int rank, ranks;
};

struct row {
    size_t bytes, count;
    bool settles;          /* before it is measured */
    double time, min, max; /* seconds */
    double cpu;            /* of all ranks, a call */
    long wrong;
};

static const char intro[] = "usage: mpi-perf [OPTION...]\n"
                            "Times one of MPI's collectives of growing sizes, and verifies what comes.\n";

/* --- options --- */

static bool read_operation(const struct option_row *row, const char *text, void *field)
{
    return option_one_of(row, text, operations, field);
}

static bool read_timing(const struct option_row *row, const char *text, void *field)
{
    return option_one_of(row, text, timings, field);
}

static bool read_element(const struct option_row *row, const char *text, void *field)
{
    static const char *const words[] = {"float", "double", "int32", "int64", NULL};
    unsigned which;

    if (!option_one_of(row, text, words, &which))
        return false;
    *(const struct element **)field = &elements[which];
    return true;
}

#define FIELD(member) offsetof(struct options, member)

static const struct option_row rows[] = {
    {NULL, 'b', "SIZE", option_bytes, FIELD(begin), 1, 0, "smallest tensor (8); K, M and G may follow"},
    {NULL, 'e', "SIZE", option_bytes, FIELD(end), 1, 0, "largest tensor (16M)"},
    {NULL, 'f', "FACTOR", option_bytes, FIELD(factor), 2, 0, "from one size to the next (2)"},
    {NULL, 'n', "COUNT", option_int, FIELD(iterations), 1, INT32_MAX, "iterations of each size (20)"},
    {NULL, 'w', "COUNT", option_int, FIELD(warmups), 0, INT32_MAX,
     "iterations before those, not counted (5)"},
    {"settle", 0, "MS", option_real, FIELD(settle), 0, INT32_MAX,
     "more of those for so long, at the first size and whenever it has grown fourfold: until the kernel has "
     "placed ranks anew (0)"},
    {"op", 0, "OP", read_operation, FIELD(operation), 0, 0,
     "allreduce; reduce or bcast, of rank 0; allgather or reduce_scatter, whose sizes are those of all "
     "blocks; "
     "or barrier, which has none (allreduce)"},
    {"time", 0, "HOW", read_timing, FIELD(timing), 0, 0,
     "slowest: median of the slowest rank's; mean: of ranks and iterations; loop: calls without a barrier "
     "between them (slowest)"},
    {"type", 0, "TYPE", read_element, FIELD(element), 0, 0, "float, double, int32 or int64 (float)"},
    {"json", 0, "FILE", option_text, FIELD(json), 0, 0, "writes the table there, too"},
    {"settings", 0, NULL, option_flag, FIELD(settings), 0, 0,
     "prints what the environment may tell libswagg-mpi.so, as docs/mpi.md has it, and ends"},
};

static void print_settings(void)
{
    const struct option_field *field;
    const char *name, *otherwise;
    puts("| variable | values | unless set | meaning |\n|---|---|---|---|");
    for (size_t i = 0; settings_row(i, &name, &field, &otherwise); i++)
        option_print_row(name, field, otherwise);
}

/* As the launchers of Open MPI and MPICH say it, before MPI does. */
static int launched_rank(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank == NULL)
        rank = getenv("PMI_RANK");
    return rank != NULL ? atoi(rank) : 0;
}

/* Ends the program unless they are good. Rank 0 says what is wrong. Help takes no MPI, which needs a machine
 * that can start ranks. */
static void read_options(struct options *o, int argc, char **argv)
{
    const struct option_group group = {rows, sizeof rows / sizeof rows[0], o};
    const struct command_line line = {
        .version = build_version, .intro = intro, .groups = &group, .count = 1, .is_silent = o->rank != 0};
    int status = options_read(&line, argc, argv);
    if (status == OPTIONS_READ && o->settings) {
        if (o->rank == 0)
            print_settings();
        status = EXIT_GOOD;
    }
    if (status != OPTIONS_READ)
        exit(status);
    o->settle /= 1e3;
    if (o->begin < o->element->size)
        o->begin = o->element->size;
}

/* --- measurement --- */

/* What rank r contributes in place i: small integers, whose sums are exact in every type and order. */
static long value(int r, size_t i)
{
    return (long)((i + 3 * (size_t)r) % 17);
}

/* Of what has a block for each rank. */
static size_t block_of(const struct options *o, size_t count)
{
    return count / (size_t)o->ranks;
}

/* How many elements this rank receives. */
static size_t received(const struct options *o, size_t count)
{
    switch (o->operation) {
    case ALLREDUCE:
        return count;
    case REDUCE:
        return o->rank == 0 ? count : 0;
    case BCAST:
        return o->rank == 0 ? 0 : count;
    case ALLGATHER:
        return block_of(o, count) * (size_t)o->ranks;
    case REDUCE_SCATTER:
        return block_of(o, count);
    default:
        return 0;
    }
}

static long sum_of(const struct options *o, size_t i)
{
    long sum = 0;
    for (int r = 0; r < o->ranks; r++)
        sum += value(r, i);
    return sum;
}

/* What it is to receive in place i. */
static long right(const struct options *o, size_t count, size_t i)
{
    const size_t block = block_of(o, count);
    switch (o->operation) {
    case BCAST:
        return value(0, i);
    case ALLGATHER:
        return value((int)(i / block), i % block);
    case REDUCE_SCATTER:
        return sum_of(o, (size_t)o->rank * block + i);
    default:
        return sum_of(o, i);
    }
}

static long count_wrong(const struct options *o, const void *recv, size_t count)
{
    const size_t n = received(o, count);
    long wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong += o->element->get(recv, i) != right(o, count, i);
    return wrong;
}

static void scatter_sums(const struct options *o, const void *send, void *recv, int block)
{
    static int counts[RANKS_MAX];
    for (int r = 0; r < o->ranks; r++)
        counts[r] = block;
    MPI_Reduce_scatter(send, recv, counts, o->element->type, MPI_SUM, MPI_COMM_WORLD);
}

static void call(const struct options *o, void *send, void *recv, size_t count)
{
    const MPI_Datatype type = o->element->type;
    const int block = (int)block_of(o, count);
    switch (o->operation) {
    case ALLREDUCE:
        MPI_Allreduce(send, recv, (int)count, type, MPI_SUM, MPI_COMM_WORLD);
        break;
    case REDUCE:
        MPI_Reduce(send, recv, (int)count, type, MPI_SUM, 0, MPI_COMM_WORLD);
        break;
    case BCAST:
        MPI_Bcast(o->rank == 0 ? send : recv, (int)count, type, 0, MPI_COMM_WORLD);
        break;
    case ALLGATHER:
        MPI_Allgather(send, block, type, recv, block, type, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER:
        scatter_sums(o, send, recv, block);
        break;
    default:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *buffer(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "mpi-perf: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* From rank 0 to all, by messages: a collective might go by the switch, which the calls that are measured
 * need not do, and which then shares their CPUs for some ms. */
static bool tell_all(const struct options *o, bool word)
{
    for (int r = 1; o->rank == 0 && r < o->ranks; r++)
        MPI_Send(&word, 1, MPI_C_BOOL, r, 0, MPI_COMM_WORLD);
    if (o->rank != 0)
        MPI_Recv(&word, 1, MPI_C_BOOL, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return word;
}

/* Where the kernel puts ranks follows from what they did before, and from what a switch did that shares their
 * CPUs: it may take some tenths of a second until they are where they stay. Rank 0 tells when time is up. */
static void settle(const struct options *o, const struct row *row, void *send, void *recv)
{
    const double end = MPI_Wtime() + o->settle;
    bool more = row->settles;
    while (more) {
        MPI_Barrier(MPI_COMM_WORLD);
        call(o, send, recv, row->count);
        more = tell_all(o, MPI_Wtime() < end);
    }
}

/* Of this process, with all its threads. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Each call by itself; leaves this rank's times. Returns how many sums were wrong. */
static long time_calls(const struct options *o, void *send, void *recv, struct row *row, double times[])
{
    long wrong = 0;
    for (int i = -o->warmups; i < o->iterations; i++) {
        if (i == 0)
            settle(o, row, send, recv);
        memset(recv, 0xff, row->bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        double cpu = cpu_seconds(), start = MPI_Wtime();
        call(o, send, recv, row->count);
        if (i >= 0) {
            times[i] = MPI_Wtime() - start;
            row->cpu += (cpu_seconds() - cpu) / o->iterations;
        }
        MPI_Barrier(MPI_COMM_WORLD); /* what follows takes CPUs that ranks which are not done yet may need */
        wrong += count_wrong(o, recv, row->count);
    }
    return wrong;
}

/* All calls together; every time is the mean of the loop. */
static long time_loop(const struct options *o, void *send, void *recv, struct row *row, double times[])
{
    for (int i = 0; i < o->warmups; i++)
        call(o, send, recv, row->count);
    settle(o, row, send, recv);
    memset(recv, 0xff, row->bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double cpu = cpu_seconds(), start = MPI_Wtime();
    for (int i = 0; i < o->iterations; i++)
        call(o, send, recv, row->count);
    row->cpu = (cpu_seconds() - cpu) / o->iterations;
    double mean = (MPI_Wtime() - start) / o->iterations;
    for (int i = 0; i < o->iterations; i++)
        times[i] = mean;
    return count_wrong(o, recv, row->count);
}

/* The ranks' times to one of each iteration: their mean, or the slowest. */
static void join_times(const struct options *o, const double times[], double joint[])
{
    const bool mean = o->timing == MEAN;
    MPI_Allreduce(times, joint, o->iterations, MPI_DOUBLE, mean ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; mean && i < o->iterations; i++)
        joint[i] /= o->ranks;
}

static double middle(const struct options *o, const double sorted[])
{
    const int n = o->iterations;
    double sum = 0;
    if (o->timing != MEAN)
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    for (int i = 0; i < n; i++)
        sum += sorted[i];
    return sum / n;
}

static void measure(const struct options *o, struct row *row)
{
    const int n = o->iterations;
    void *send = buffer(row->bytes), *recv = buffer(row->bytes);
    double *times = buffer((size_t)n * sizeof *times), *joint = buffer((size_t)n * sizeof *joint);
    for (size_t i = 0; i < row->count; i++)
        o->element->set(send, i, value(o->rank, i));
    long wrong =
        o->timing == LOOP ? time_loop(o, send, recv, row, times) : time_calls(o, send, recv, row, times);
    join_times(o, times, joint);
    MPI_Allreduce(MPI_IN_PLACE, &row->cpu, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &row->wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    qsort(joint, (size_t)n, sizeof *joint, compare);
    row->time = middle(o, joint);
    row->min = joint[0];
    row->max = joint[n - 1];
    free(send);
    free(recv);
    free(times);
    free(joint);
}

/* --- output --- */

/* GB/s. Bus bandwidth as nccl-tests has it: what each link would carry under a ring. */
static double algbw(const struct row *r)
{
    return (double)r->bytes / r->time / 1e9;
}

static double busbw(const struct options *o, const struct row *r)
{
    const double others = (double)(o->ranks - 1) / o->ranks;
    switch (o->operation) {
    case ALLREDUCE:
        return algbw(r) * 2 * others;
    case ALLGATHER:
    case REDUCE_SCATTER:
        return algbw(r) * others;
    default:
        return algbw(r);
    }
}

static void print_head(const struct options *o)
{
    static const char *const words[] = {"median of the slowest rank's", "mean of ranks and iterations",
                                        "mean of a loop without barriers, slowest rank's"};
    printf("# %s, %d ranks, %d iterations after %d warm-ups; time: %s\n", operations[o->operation], o->ranks,
           o->iterations, o->warmups, words[o->timing]);
    printf("#%11s %11s %7s %6s %5s %11s %8s %8s %7s %11s %11s\n", "size", "count", "type", "redop", "root",
           "time", "algbw", "busbw", "#wrong", "min", "max");
    printf("#%11s %11s %7s %6s %5s %11s %8s %8s %7s %11s %11s\n", "(B)", "(elements)", "", "", "", "(us)",
           "(GB/s)", "(GB/s)", "", "(us)", "(us)");
}

static const char *redop_of(const struct options *o)
{
    return o->operation <= REDUCE || o->operation == REDUCE_SCATTER ? "sum" : "none";
}

static void print_row(const struct options *o, const struct row *r)
{
    printf("%12zu %11zu %7s %6s %5d %11.1f %8.4f %8.4f %7ld %11.1f %11.1f\n", r->bytes, r->count,
           o->element->name, redop_of(o), o->operation == REDUCE || o->operation == BCAST ? 0 : -1,
           r->time * 1e6, algbw(r), busbw(o, r), r->wrong, r->min * 1e6, r->max * 1e6);
    fflush(stdout);
}

static void write_row(const struct options *o, const struct row *r, FILE *f, bool first)
{
    fprintf(f,
            "%s  {\"op\": \"%s\", \"timing\": \"%s\", \"type\": \"%s\", \"ranks\": %d, "
            "\"bytes\": %zu, \"count\": %zu, \"median_us\": %.3f, \"min_us\": %.3f, \"max_us\": %.3f, "
            "\"algbw_GBps\": %.6f, \"busbw_GBps\": %.6f, \"cpu_us\": %.1f, \"wrong\": %ld}",
            first ? "" : ",\n", operations[o->operation], timings[o->timing], o->element->name, o->ranks,
            r->bytes, r->count, r->time * 1e6, r->min * 1e6, r->max * 1e6, algbw(r), busbw(o, r),
            r->cpu * 1e6, r->wrong);
}

static FILE *open_json(const struct options *o)
{
    if (!o->json || o->rank != 0)
        return NULL;
    FILE *f = fopen(o->json, "w");
    if (!f) {
        fprintf(stderr, "mpi-perf: cannot write %s: %s\n", o->json, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fprintf(f, "[\n");
    return f;
}

int main(int argc, char **argv)
{
    struct options o = {.begin = 8,
                        .end = 16 << 20,
                        .factor = 2,
                        .iterations = 20,
                        .warmups = 5,
                        .element = &elements[0],
                        .rank = launched_rank()};
    size_t settled = 0; /* the last size before which ranks did */
    long wrong = 0;
    bool unwritten = false;
    standard_streams_begin();
    read_options(&o, argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &o.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &o.ranks);
    if (o.ranks > RANKS_MAX) {
        fprintf(stderr, "mpi-perf: %d ranks: it is for up to %d\n", o.ranks, RANKS_MAX);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    FILE *json = open_json(&o);
    if (o.rank == 0)
        print_head(&o);
    for (size_t bytes = o.begin; bytes <= o.end; bytes *= o.factor) {
        struct row row = {.count = bytes / o.element->size};
        row.bytes = row.count * o.element->size;
        row.settles = o.settle > 0 && bytes >= SETTLE_FACTOR * settled;
        settled = row.settles ? bytes : settled;
        measure(&o, &row);
        wrong += row.wrong;
        if (o.rank == 0)
            print_row(&o, &row);
        if (json)
            write_row(&o, &row, json, bytes == o.begin);
    }
    if (json) {
        fprintf(json, "\n]\n");
        unwritten = ferror(json);
        unwritten |= fclose(json) != 0;
    }
    if (unwritten)
        fprintf(stderr, "mpi-perf: cannot write %s: %s\n", o.json, strerror(errno));
    MPI_Finalize();
    return wrong || unwritten ? 1 : 0;
}
