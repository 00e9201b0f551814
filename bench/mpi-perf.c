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
#include "library_calls.h"
#include "options_page.h"
#include "standard_streams.h"
#include "timing.h"
#include "version.h"

enum operation { ALLREDUCE, REDUCE, BCAST, ALLGATHER, REDUCE_SCATTER, BARRIER };
static const char *const operations[] = {"allreduce",      "reduce",  "bcast", "allgather",
                                         "reduce_scatter", "barrier", NULL};

/* How the iterations are made and which time counts. */
enum timing {
    SLOWEST, /* ranks meet before and after each; the slowest rank's, median of the iterations */
    MEAN, /* ranks meet before and after each; mean over ranks and iterations, as OSU's benchmarks have it */
    LOOP, /* one after the other; the whole loop's by the number of calls, of the slowest rank */
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
    bool beside_library, settings;
    int rank, ranks;
};

struct row {
    size_t bytes, count;
    bool settles;          /* before it is measured */
    double time, min, max; /* seconds */
    double library;        /* the same time by the MPI library's own function; 0: not asked for */
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
    {"beside-library", 0, NULL, option_flag, FIELD(beside_library), 0, 0,
     "calls by the MPI library's own functions, past what is preloaded, take turns with these"},
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

static void scatter_sums(const struct options *o, const struct native *by, const void *send, void *recv,
                         int block)
{
    static int counts[RANKS_MAX];
    for (int r = 0; r < o->ranks; r++)
        counts[r] = block;
    by->Reduce_scatter(send, recv, counts, o->element->type, MPI_SUM, MPI_COMM_WORLD);
}

static void call(const struct options *o, const struct native *by, void *send, void *recv, size_t count)
{
    const MPI_Datatype type = o->element->type;
    const int block = (int)block_of(o, count);
    switch (o->operation) {
    case ALLREDUCE:
        by->Allreduce(send, recv, (int)count, type, MPI_SUM, MPI_COMM_WORLD);
        break;
    case REDUCE:
        by->Reduce(send, recv, (int)count, type, MPI_SUM, 0, MPI_COMM_WORLD);
        break;
    case BCAST:
        by->Bcast(o->rank == 0 ? send : recv, (int)count, type, 0, MPI_COMM_WORLD);
        break;
    case ALLGATHER:
        by->Allgather(send, block, type, recv, block, type, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER:
        scatter_sums(o, by, send, recv, block);
        break;
    default:
        by->Barrier(MPI_COMM_WORLD);
        break;
    }
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

/* By messages, not by MPI_Barrier: who leaves a barrier first, and how long before the others, depends on who
 * made it, and the call after it would be charged for that. */
static void meet(const struct options *o)
{
    for (int distance = 1; distance < o->ranks; distance *= 2)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, (o->rank + distance) % o->ranks, 0, NULL, 0, MPI_BYTE,
                     (o->rank + o->ranks - distance) % o->ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Where the kernel puts ranks follows from what they did before, and from what a switch did that shares their
 * CPUs: it may take some tenths of a second until they are where they stay. Rank 0 tells when time is up. */
static void settle(const struct options *o, const struct row *row, void *send, void *recv)
{
    const double end = MPI_Wtime() + o->settle;
    bool more = row->settles;
    while (more) {
        meet(o);
        call(o, &own_calls, send, recv, row->count);
        more = tell_all(o, MPI_Wtime() < end);
    }
}

enum { WAYS = 2 }; /* the program's calls, and the MPI library's own */
static int ways_of(const struct options *o)
{
    return o->beside_library ? WAYS : 1;
}

/* Of this process, with all its threads. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of a way: how it is called, and this rank's times. */
struct way {
    const struct native *by;
    double *times;
};

static void time_call(const struct options *o, const struct way *way, void *send, void *recv, struct row *row,
                      int i)
{
    memset(recv, 0xff, row->bytes);
    meet(o);
    const double cpu = cpu_seconds(), start = MPI_Wtime();
    call(o, way->by, send, recv, row->count);
    const double taken = MPI_Wtime() - start;
    /* Of either way: it delays ranks on the same CPU that are not done yet. */
    const double worked = cpu_seconds() - cpu;
    if (i >= 0) {
        way->times[i] = taken;
        row->cpu += way->by == &own_calls ? worked / o->iterations : 0;
    }
    meet(o); /* what follows takes CPUs that ranks which are not done yet may need */
    row->wrong += count_wrong(o, recv, row->count);
}

/* Calls first to end, of each way in turns. A turn is of several: only the first of them finds the CPUs as
 * the other way has left them. */
enum { TURN = 8 };
static void time_turns(const struct options *o, const struct way *ways, void *send, void *recv,
                       struct row *row, int first, int end)
{
    for (; first < end; first += TURN)
        for (const struct way *way = ways; way < ways + ways_of(o); way++)
            for (int i = first; i < first + TURN && i < end; i++)
                time_call(o, way, send, recv, row, i);
}

/* Each call by itself. */
static void time_calls(const struct options *o, const struct way *ways, void *send, void *recv,
                       struct row *row)
{
    time_turns(o, ways, send, recv, row, -o->warmups, 0);
    settle(o, row, send, recv);
    time_turns(o, ways, send, recv, row, 0, o->iterations);
}

/* All calls together; every time is the mean of the loop. */
static void time_loop(const struct options *o, const struct way *way, void *send, void *recv, struct row *row)
{
    for (int i = 0; i < o->warmups; i++)
        call(o, way->by, send, recv, row->count);
    settle(o, row, send, recv);
    memset(recv, 0xff, row->bytes);
    meet(o);
    const double cpu = cpu_seconds(), start = MPI_Wtime();
    for (int i = 0; i < o->iterations; i++)
        call(o, way->by, send, recv, row->count);
    const double mean = (MPI_Wtime() - start) / o->iterations;
    row->cpu += way->by == &own_calls ? (cpu_seconds() - cpu) / o->iterations : 0;
    for (int i = 0; i < o->iterations; i++)
        way->times[i] = mean;
    row->wrong += count_wrong(o, recv, row->count);
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

/* Joins a way's times, and sorts them. */
static void sort_times(const struct options *o, const struct way *way)
{
    double *own = buffer((size_t)o->iterations * sizeof *own);
    memcpy(own, way->times, (size_t)o->iterations * sizeof *own);
    join_times(o, own, way->times);
    qsort(way->times, (size_t)o->iterations, sizeof *own, by_value);
    free(own);
}

static void measure(const struct options *o, struct row *row)
{
    const int n = o->iterations;
    void *send = buffer(row->bytes), *recv = buffer(row->bytes);
    struct way ways[WAYS] = {{.by = &own_calls}};
    if (o->beside_library)
        ways[1].by = library_calls();
    for (int way = 0; way < ways_of(o); way++)
        ways[way].times = buffer((size_t)n * sizeof(double));
    for (size_t i = 0; i < row->count; i++)
        o->element->set(send, i, value(o->rank, i));
    if (o->timing == LOOP)
        for (int way = 0; way < ways_of(o); way++)
            time_loop(o, &ways[way], send, recv, row);
    else
        time_calls(o, ways, send, recv, row);
    MPI_Allreduce(MPI_IN_PLACE, &row->cpu, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &row->wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int way = 0; way < ways_of(o); way++)
        sort_times(o, &ways[way]);
    row->time = middle(o, ways[0].times);
    row->min = ways[0].times[0];
    row->max = ways[0].times[n - 1];
    row->library = o->beside_library ? middle(o, ways[1].times) : 0;
    free(send);
    free(recv);
    for (int way = 0; way < ways_of(o); way++)
        free(ways[way].times);
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
    printf("#%11s %11s %7s %6s %5s %11s %8s %8s %7s %11s %11s%s\n", "size", "count", "type", "redop", "root",
           "time", "algbw", "busbw", "#wrong", "min", "max", o->beside_library ? "     library" : "");
    printf("#%11s %11s %7s %6s %5s %11s %8s %8s %7s %11s %11s%s\n", "(B)", "(elements)", "", "", "", "(us)",
           "(GB/s)", "(GB/s)", "", "(us)", "(us)", o->beside_library ? "        (us)" : "");
}

static const char *redop_of(const struct options *o)
{
    return o->operation <= REDUCE || o->operation == REDUCE_SCATTER ? "sum" : "none";
}

static void print_row(const struct options *o, const struct row *r)
{
    printf("%12zu %11zu %7s %6s %5d %11.1f %8.4f %8.4f %7ld %11.1f %11.1f", r->bytes, r->count,
           o->element->name, redop_of(o), o->operation == REDUCE || o->operation == BCAST ? 0 : -1,
           r->time * 1e6, algbw(r), busbw(o, r), r->wrong, r->min * 1e6, r->max * 1e6);
    if (o->beside_library)
        printf(" %11.1f", r->library * 1e6);
    puts("");
    fflush(stdout);
}

static void write_row(const struct options *o, const struct row *r, FILE *f, bool first)
{
    fprintf(f,
            "%s  {\"op\": \"%s\", \"timing\": \"%s\", \"type\": \"%s\", \"ranks\": %d, "
            "\"bytes\": %zu, \"count\": %zu, \"median_us\": %.3f, \"min_us\": %.3f, \"max_us\": %.3f, "
            "\"algbw_GBps\": %.6f, \"busbw_GBps\": %.6f, \"cpu_us\": %.1f, \"wrong\": %ld",
            first ? "" : ",\n", operations[o->operation], timings[o->timing], o->element->name, o->ranks,
            r->bytes, r->count, r->time * 1e6, r->min * 1e6, r->max * 1e6, algbw(r), busbw(o, r),
            r->cpu * 1e6, r->wrong);
    if (o->beside_library)
        fprintf(f, ", \"library_us\": %.3f", r->library * 1e6);
    fputc('}', f);
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
