/* Speed of collectives over libswagg, in the form of nccl-tests: one process a rank, sizes by factors,
 * results verified.
 *
 *     swagg-perf --switch 10.0.0.254 --job perf --rank R --size N -b 8 -e 16M -f 2
 *
 * algbw is bytes of one rank's tensor / time; busbw as nccl-tests define it (allreduce: algbw * 2 (n-1) / n,
 * reduce: algbw). Rank 0 prints; time is the mean over ranks and iterations. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "monotonic.h"
#include "perf_options.h"
#include "standard_streams.h"

static int die(const char *what, int status)
{
    fprintf(stderr, "swagg-perf: %s: %s: %s\n", what, swagg_strerror(status), swagg_last_error());
    return 1;
}

/* Small integers: exact in every type, whatever the order of the additions. */
static int element(const struct perf *p, int rank, size_t i)
{
    const unsigned most = (unsigned)p->type->most;
    return (int)((i * 7 + (size_t)rank * 13) % (2 * most + 1)) - p->type->most;
}

/* Ten times what the errors are on average that each rank has measured of its own part. */
static double compressed_tolerance(const struct perf *p)
{
    struct swagg_stats s = SWAGG_STATS_INIT;
    swagg_get_stats(p->job, &s);
    return 10 * sqrt(p->options.size * s.compression_error2 / (double)s.compressed_elements);
}

/* By how much a right sum may be off (docs/libswagg.md, "SwitchML's numbers", "Compressed sums"). */
static double tolerance(const struct perf *p, size_t count)
{
    const double n = p->options.size, bound = 2 * p->type->most;
    if (p->options.compression != SWAGG_COMPRESSION_NONE && count >= (size_t)p->options.compress_least)
        return compressed_tolerance(p);
    switch (p->options.numbers) {
    case SWAGG_NUMBERS_INT32:
        return n * n * bound / INT32_MAX;
    case SWAGG_NUMBERS_FP16:
        return n * bound / 1024;
    default:
        return 0;
    }
}

static bool receives(const struct perf *p)
{
    return !p->reduce || p->options.rank == p->root;
}

static int count_wrong(const struct perf *p, size_t count)
{
    const double most = tolerance(p, count);
    int wrong = 0;
    for (size_t i = 0; receives(p) && i < count; i++) {
        int sum = 0;
        for (int r = 0; r < p->options.size; r++)
            sum += element(p, r, i);
        wrong += !(fabs(p->type->get(p->recv, i) - sum) <= most);
    }
    return wrong;
}

static int call(struct perf *p, size_t count)
{
    return p->reduce ? swagg_reduce(p->job, p->send, p->recv, count, p->type->type, SWAGG_SUM, p->root)
                     : swagg_allreduce(p->job, p->send, p->recv, count, p->type->type, SWAGG_SUM);
}

/* Waits until the offset after the next multiple of the pause, by the clock that all processes of a machine
 * share. */
static void rest(const struct perf *p)
{
    if (p->pause_ms == 0)
        return;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    ms += p->pause_ms - (ms + p->pause_ms - p->offset_ms) % p->pause_ms;
    t = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* The sum over the ranks, as a float, since all numbers have floats; with fp16 it is right to a thousandth.
 */
static int sum_of_ranks(struct perf *p, float *x)
{
    return swagg_allreduce(p->job, x, x, 1, SWAGG_F32, SWAGG_SUM);
}

/* Seconds of a call, the mean over iterations and ranks. */
static int measure(struct perf *p, size_t count, float *mean)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < p->warmups; i++)
        rc = call(p, count);
    *mean = 0;
    if (rc == 0) /* a barrier */
        rc = sum_of_ranks(p, mean);
    double sum = 0;
    for (int i = 0; rc == 0 && i < p->iterations; i++) {
        rest(p);
        double start = monotonic_seconds();
        rc = call(p, count);
        sum += monotonic_seconds() - start;
    }
    *mean = (float)(sum / p->iterations / p->options.size);
    return rc ? rc : sum_of_ranks(p, mean);
}

static void print_head(const struct perf *p)
{
    struct swagg_stats s = SWAGG_STATS_INIT;
    swagg_get_stats(p->job, &s);
    printf("# swagg-perf %s, %d ranks, switch %s, %u slots, %u elements of 4 bytes a packet\n",
           p->reduce ? "reduce" : "allreduce", p->options.size,
           p->options.switch_ip ? p->options.switch_ip : p->options.server_ip, s.slots,
           s.elements_per_packet);
    printf("#%11s %12s %8s %7s %6s %10s %8s %8s %7s\n", "size", "count", "type", "redop", "root", "time",
           "algbw", "busbw", "#wrong");
    printf("#%11s %12s %8s %7s %6s %10s %8s %8s %7s\n", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)",
           "(GB/s)", "");
}

static void print_row(const struct perf *p, size_t count, double time, int wrong)
{
    size_t bytes = count * swagg_element_size(p->type->type, SWAGG_SUM);
    double n = p->options.size, algbw = (double)bytes / time / 1e9;
    double busbw = p->reduce ? algbw : algbw * 2 * (n - 1) / n;
    printf("%12zu %12zu %8s %7s %6d %10.1f %8.4f %8.4f ", bytes, count, p->type->name, "sum",
           p->reduce ? p->root : -1, time * 1e6, algbw, busbw);
    if (p->check)
        printf("%7d\n", wrong);
    else
        printf("%7s\n", "N/A");
    fflush(stdout);
}

/* As mpi-perf has it. */
static void write_row(const struct perf *p, size_t count, double time, int wrong)
{
    fprintf(p->table,
            "%s  {\"op\": \"%s\", \"type\": \"%s\", \"ranks\": %d, \"bytes\": %zu, \"count\": %zu, "
            "\"mean_us\": %.3f, \"wrong\": %d}",
            ftell(p->table) > 2 ? ",\n" : "", p->reduce ? "reduce" : "allreduce", p->type->name,
            p->options.size, count * swagg_element_size(p->type->type, SWAGG_SUM), count, time * 1e6, wrong);
}

/* Returns a status; adds to *wrong. */
static int one_size(struct perf *p, size_t count, int64_t *wrong)
{
    size_t bytes = count * swagg_element_size(p->type->type, SWAGG_SUM);
    float time, here = 0;
    for (size_t i = 0; i < count; i++)
        p->type->set(p->send, i, element(p, p->options.rank, i));
    memset(p->recv, 0xff, bytes);
    int rc = measure(p, count, &time);
    if (rc == 0 && p->check) {
        here = (float)count_wrong(p, count);
        rc = sum_of_ranks(p, &here);
    }
    if (rc == 0 && p->options.rank == 0)
        print_row(p, count, (double)time, (int)here);
    if (rc == 0 && p->table != NULL)
        write_row(p, count, (double)time, (int)here);
    *wrong += (int)here;
    return rc;
}

static int sweep(struct perf *p)
{
    size_t size = swagg_element_size(p->type->type, SWAGG_SUM);
    int64_t wrong = 0;
    int rc = 0;
    if (p->options.rank == 0)
        print_head(p);
    for (size_t bytes = p->begin; rc == 0 && bytes <= p->end; bytes *= p->factor) {
        rc = one_size(p, bytes / size, &wrong);
        if (bytes == 0 || bytes > SIZE_MAX / p->factor)
            break;
    }
    if (rc < 0)
        return die(p->reduce ? "reduce" : "allreduce", rc);
    if (p->options.rank == 0)
        printf("# Out of bounds values : %" PRId64 " %s\n", wrong, wrong ? "FAILED" : "OK");
    return wrong != 0;
}

static void print_stats(const struct perf *p)
{
    struct swagg_stats s = SWAGG_STATS_INIT;
    swagg_get_stats(p->job, &s);
    fprintf(stderr,
            "rank %d: calls %" PRIu64 " sent %" PRIu64 " received %" PRIu64 " retransmitted %" PRIu64
            " probes %" PRIu64 " timeouts %" PRIu64 " duplicates %" PRIu64 " bad %" PRIu64 " damaged %" PRIu64
            " rtt %" PRIu64 " us rto %" PRIu64 " us window %u resumed %u\n",
            p->options.rank, s.calls, s.packets_sent, s.packets_received, s.retransmitted, s.probes,
            s.timeouts, s.duplicates, s.bad_packets, s.damaged_packets, s.rtt_us, s.rto_us, s.window,
            s.resumed);
    if (s.message_packets > 0)
        fprintf(stderr, "rank %d: the NIC's messages have up to %u packets\n", p->options.rank,
                s.message_packets);
}

static int run(struct perf *p)
{
    const int rc = p->registers ? swagg_register(p->job, p->send, p->end + 1) : SWAGG_OK;
    return rc < 0 ? die("cannot register tensors", rc) : sweep(p);
}

static bool open_table(struct perf *p)
{
    if (p->json == NULL || p->options.rank != 0)
        return true;
    p->table = fopen(p->json, "w");
    if (p->table == NULL) {
        fprintf(stderr, "swagg-perf: cannot write %s: %s\n", p->json, strerror(errno));
        return false;
    }
    fprintf(p->table, "[\n");
    return true;
}

static bool close_table(struct perf *p)
{
    if (p->table == NULL)
        return true;
    fprintf(p->table, "\n]\n");
    const bool failed = ferror(p->table);
    return fclose(p->table) == 0 && !failed;
}

int main(int argc, char **argv)
{
    struct perf p;
    int exit_code = EXIT_BAD, rc;

    standard_streams_begin();
    rc = perf_parse(&p, argc, argv);
    if (rc != OPTIONS_READ)
        return rc;
    if (!open_table(&p))
        return 1;
    /* calloc and not malloc: pages are touched before the clock runs, not while it does. */
    p.send = calloc(1, p.end + 1);
    p.recv = calloc(1, p.end + 1);
    if (!p.send || !p.recv) {
        fprintf(stderr, "swagg-perf: no memory for tensors of %zu bytes\n", p.end);
        goto out;
    }
    rc = swagg_open(&p.job, &p.options);
    if (rc < 0) {
        die("cannot join", rc);
        exit_code = rc == SWAGG_ERR_ARGUMENT ? EXIT_USAGE : EXIT_BAD;
        goto out;
    }
    exit_code = run(&p);
    if (p.options.log)
        print_stats(&p);
    swagg_close(p.job);
    if (!close_table(&p)) {
        fprintf(stderr, "swagg-perf: cannot write %s: %s\n", p.json, strerror(errno));
        exit_code = 1;
    }
out:
    free(p.send);
    free(p.recv);
    return exit_code;
}
