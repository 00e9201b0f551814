/* Speed of collectives over libswagg, in the form of nccl-tests: one process a rank, sizes by factors,
 * results verified.
 *
 *     swagg-perf --switch 10.0.0.254 --job perf --rank R --size N -b 8 -e 16M -f 2
 *
 * algbw is bytes of one rank's tensor / time; busbw as nccl-tests define it (allreduce: algbw * 2 (n-1) / n,
 * reduce: algbw). Rank 0 prints; time is the mean over ranks and iterations. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perf_options.h"

static int die(const char *what, int status)
{
    fprintf(stderr, "swagg-perf: %s: %s: %s\n", what, swagg_strerror(status), swagg_last_error());
    return 1;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Small integers: exact in every type, whatever the order of the additions. */
static int64_t element(int rank, size_t i)
{
    return (int64_t)((i * 7 + (size_t)rank * 13) % 251) - 125;
}

static void store(void *tensor, enum swagg_type type, size_t i, int64_t value)
{
    switch (type) {
    case SWAGG_I32:
        ((int32_t *)tensor)[i] = (int32_t)value;
        break;
    case SWAGG_I64:
        ((int64_t *)tensor)[i] = value;
        break;
    case SWAGG_F32:
        ((float *)tensor)[i] = (float)value;
        break;
    default: /* SWAGG_F64 */
        ((double *)tensor)[i] = (double)value;
        break;
    }
}

static bool holds(const void *tensor, enum swagg_type type, size_t i, int64_t value)
{
    switch (type) {
    case SWAGG_I32:
        return ((const int32_t *)tensor)[i] == value;
    case SWAGG_I64:
        return ((const int64_t *)tensor)[i] == value;
    case SWAGG_F32:
        return ((const float *)tensor)[i] == (float)value;
    default: /* SWAGG_F64 */
        return ((const double *)tensor)[i] == (double)value;
    }
}

static bool receives(const struct perf *p)
{
    return !p->reduce || p->options.rank == p->root;
}

static int64_t count_wrong(const struct perf *p, size_t count)
{
    int64_t wrong = 0;
    for (size_t i = 0; receives(p) && i < count; i++) {
        int64_t sum = 0;
        for (int r = 0; r < p->options.size; r++)
            sum += element(r, i);
        wrong += !holds(p->recv, p->type, i, sum);
    }
    return wrong;
}

static int call(struct perf *p, size_t count)
{
    return p->reduce ? swagg_reduce(p->job, p->send, p->recv, count, p->type, SWAGG_SUM, p->root)
                     : swagg_allreduce(p->job, p->send, p->recv, count, p->type, SWAGG_SUM);
}

/* Waits until the next multiple of the pause, by the clock that all processes of a machine share. */
static void rest(const struct perf *p)
{
    if (p->pause_ms == 0)
        return;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    ms += p->pause_ms - ms % p->pause_ms;
    t = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* Seconds of a call, the mean over iterations and ranks. */
static int measure(struct perf *p, size_t count, double *mean)
{
    int rc = 0, here = 1;
    for (int i = 0; rc == 0 && i < p->warmups; i++)
        rc = call(p, count);
    if (rc == 0) /* a barrier */
        rc = swagg_allreduce(p->job, &here, &here, 1, SWAGG_I32, SWAGG_SUM);
    double sum = 0;
    for (int i = 0; rc == 0 && i < p->iterations; i++) {
        rest(p);
        double start = seconds();
        rc = call(p, count);
        sum += seconds() - start;
    }
    *mean = sum / p->iterations / p->options.size;
    return rc ? rc : swagg_allreduce(p->job, mean, mean, 1, SWAGG_F64, SWAGG_SUM);
}

static void print_head(const struct perf *p)
{
    struct swagg_stats s = SWAGG_STATS_INIT;
    swagg_get_stats(p->job, &s);
    printf("# swagg-perf %s, %d ranks, switch %s, %u slots, %u elements of 4 bytes a packet\n",
           p->reduce ? "reduce" : "allreduce", p->options.size, p->options.switch_ip, s.slots,
           s.elements_per_packet);
    printf("#%11s %12s %8s %7s %6s %10s %8s %8s %7s\n", "size", "count", "type", "redop", "root", "time",
           "algbw", "busbw", "#wrong");
    printf("#%11s %12s %8s %7s %6s %10s %8s %8s %7s\n", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)",
           "(GB/s)", "");
}

static void print_row(const struct perf *p, size_t count, double time, int64_t wrong)
{
    size_t bytes = count * swagg_element_size(p->type, SWAGG_SUM);
    double n = p->options.size, algbw = (double)bytes / time / 1e9;
    double busbw = p->reduce ? algbw : algbw * 2 * (n - 1) / n;
    printf("%12zu %12zu %8s %7s %6d %10.1f %8.4f %8.4f ", bytes, count, p->type_name, "sum",
           p->reduce ? p->root : -1, time * 1e6, algbw, busbw);
    if (p->check)
        printf("%7" PRId64 "\n", wrong);
    else
        printf("%7s\n", "N/A");
    fflush(stdout);
}

/* Returns a status; adds to *wrong. */
static int one_size(struct perf *p, size_t count, int64_t *wrong)
{
    size_t bytes = count * swagg_element_size(p->type, SWAGG_SUM);
    double time;
    int64_t here = 0;
    for (size_t i = 0; i < count; i++)
        store(p->send, p->type, i, element(p->options.rank, i));
    memset(p->recv, 0xff, bytes);
    int rc = measure(p, count, &time);
    if (rc == 0 && p->check) {
        here = count_wrong(p, count);
        rc = swagg_allreduce(p->job, &here, &here, 1, SWAGG_I64, SWAGG_SUM);
    }
    if (rc == 0 && p->options.rank == 0)
        print_row(p, count, time, here);
    *wrong += here;
    return rc;
}

static int sweep(struct perf *p)
{
    size_t size = swagg_element_size(p->type, SWAGG_SUM);
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
}

int main(int argc, char **argv)
{
    struct perf p;
    int exit_code = 1, rc = perf_parse(&p, argc, argv);

    if (rc != OPTIONS_READ)
        return rc;
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
        goto out;
    }
    exit_code = sweep(&p);
    if (p.options.log)
        print_stats(&p);
    swagg_close(p.job);
out:
    free(p.send);
    free(p.recv);
    return exit_code;
}
