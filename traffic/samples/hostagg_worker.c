/* swagg-hostagg-worker: a worker that sends gradients to a host, and takes their sums from whoever adds them
 * (lib/core/hostagg/worker.h). Sums are compared with what they must be. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostagg/worker.h"
#include "kernels_chosen.h"
#include "monotonic.h"
#include "samples/datagrams.h"
#include "samples/job.h"
#include "standard_streams.h"
#include "version.h"

enum { MS = 1000000, STALL_MS = 1000 };

struct worker_options {
    struct sockaddr_in host;
    unsigned worker, port;
    double ask_after_ms;
};

struct worker {
    struct worker_options own;
    struct job_options job;
    struct hag_worker core;
    struct hag_flight *flight;
    struct datagrams *out, *in;
    float *gradient, *sum, *expected;
    double *seconds; /* of each array */
    uint64_t progress_at;
    uint32_t progress; /* the oldest chunk then */
    bool stalled;      /* it was said since */
};

/* Whole numbers, so that sums are exact in any order. */
static float value_of(unsigned worker, unsigned i)
{
    return (float)((i * 31 + worker * 7) % 1000);
}

static bool set_up(struct worker *w)
{
    const struct job_options *o = &w->job;
    const int fd = datagrams_open((uint16_t)w->own.port, &w->own.host);

    w->flight = calloc(o->slots, sizeof(*w->flight));
    w->out = calloc(1, sizeof(*w->out));
    w->in = calloc(1, sizeof(*w->in));
    w->gradient = calloc(o->floats, sizeof(float));
    w->sum = calloc(o->floats, sizeof(float));
    w->expected = calloc(o->floats, sizeof(float));
    w->seconds = calloc(o->arrays, sizeof(double));
    if (fd < 0 || w->flight == NULL || w->out == NULL || w->in == NULL || w->gradient == NULL ||
        w->sum == NULL || w->expected == NULL || w->seconds == NULL)
        return false;
    datagrams_init(w->out, fd);
    datagrams_init(w->in, fd);
    for (unsigned i = 0; i < o->floats; i++) {
        w->gradient[i] = value_of(w->own.worker, i);
        for (unsigned other = 0; other < o->workers; other++)
            w->expected[i] += value_of(other, i);
    }
    hag_worker_init(&w->core,
                    &(struct hag_worker_config){.job = (uint8_t)o->job,
                                                .code = job_code(),
                                                .worker = (uint16_t)w->own.worker,
                                                .run = (uint16_t)o->run,
                                                .slots = (uint16_t)o->slots,
                                                .chunk_bytes = job_chunk_bytes(o),
                                                .ask_after_ns = (uint64_t)(w->own.ask_after_ms * MS),
                                                .kernels = kernels_or_exit()},
                    w->flight);
    return true;
}

/* Whom the chunk that holds everything up waits for, as far as is known. */
static void say_who_is_missing(const struct worker *w, const char *what)
{
    char missing[256] = "";
    size_t used = 0;

    for (unsigned i = 0; i < w->job.workers && used + 16 < sizeof(missing); i++)
        if (hag_worker_misses(&w->core, (uint16_t)i))
            used += (size_t)snprintf(missing + used, sizeof(missing) - used, " %u", i);
    if (used > 0)
        complain("%s: chunk %" PRIu32 " waits for worker%s", what, w->core.oldest, missing);
    else
        complain("%s: chunk %" PRIu32
                 " has no sum, and nobody answers questions about it: does the way to the "
                 "host lead through a swagg whose hostagg has this worker's address, port and MAC (`swaggctl "
                 "verdicts`: hostagg_passed_...), and job %u, as --job does?",
                 what, w->core.oldest, w->job.job);
}

/* False: it is time to give up. */
static bool watch(struct worker *w, uint64_t now)
{
    const uint64_t since = now - w->progress_at;

    if (w->core.oldest != w->progress) {
        w->progress = w->core.oldest;
        w->progress_at = now;
        w->stalled = false;
    } else if ((double)since > w->job.timeout_s * 1e9) {
        say_who_is_missing(w, "gives up");
        return false;
    } else if (since > (uint64_t)STALL_MS * MS && !w->stalled) {
        w->stalled = true;
        say_who_is_missing(w, "waits");
    }
    if (w->core.differs)
        complain("chunk %" PRIu32 " is not as long as worker %u's: do all have the same --floats?",
                 w->core.differing, w->core.differs_from);
    return !w->core.differs;
}

static bool send_due(struct worker *w)
{
    size_t bytes;

    while ((bytes = hag_worker_send(&w->core, monotonic_ns(), datagrams_payload(w->out))) > 0)
        if (!datagrams_put(w->out, NULL, bytes))
            return false;
    return datagrams_flush(w->out);
}

static void receive(struct worker *w)
{
    const uint64_t now = monotonic_ns(), wake = hag_worker_wake(&w->core);
    const uint64_t most = (uint64_t)STALL_MS / 10 * MS;

    if (datagrams_receive(w->in) == 0 && wake > now) {
        datagrams_wait(w->in->fd, wake - now < most ? wake - now : most);
        datagrams_receive(w->in);
    }
    for (unsigned i = 0; i < w->in->n; i++)
        hag_worker_receive(&w->core, w->in->payload[i], datagrams_bytes(w->in, i), monotonic_ns());
}

/* False: it has no end, or not the right one. */
static bool sum_array(struct worker *w, unsigned array)
{
    const uint64_t begun = monotonic_ns();

    memset(w->sum, 0, w->job.floats * sizeof(float));
    hag_worker_post(&w->core, w->gradient, w->sum, w->job.floats * sizeof(float));
    w->progress = w->core.oldest;
    w->progress_at = begun;
    w->stalled = false;
    while (!hag_worker_is_done(&w->core)) {
        if (!send_due(w))
            return false;
        receive(w);
        if (!watch(w, monotonic_ns()))
            return false;
    }
    w->seconds[array] = (double)(monotonic_ns() - begun) / 1e9;
    if (memcmp(w->sum, w->expected, w->job.floats * sizeof(float)) == 0)
        return true;
    return complain("array %u: a sum is wrong", array);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool report(struct worker *w)
{
    const struct hag_worker *core = &w->core;
    FILE *f;

    qsort(w->seconds, w->job.arrays, sizeof(*w->seconds), ascending);
    printf("worker %u: %u arrays of %u floats summed, %.6f s each (the median); %" PRIu64
           " packets sent, %" PRIu64 " of them again, %" PRIu64 " questions\n",
           w->own.worker, w->job.arrays, w->job.floats, w->seconds[w->job.arrays / 2], core->sent,
           core->resent, core->asked);
    if (w->job.json == NULL)
        return true;
    f = fopen(w->job.json, "w");
    if (f != NULL)
        fprintf(f,
                "{\"arrays\": %u, \"floats\": %u, \"median_s\": %.9f, \"least_s\": %.9f, \"sent\": %" PRIu64
                ", \"resent\": %" PRIu64 ", \"asked\": %" PRIu64 "}\n",
                w->job.arrays, w->job.floats, w->seconds[w->job.arrays / 2], w->seconds[0], core->sent,
                core->resent, core->asked);
    if (f != NULL && fclose(f) == 0)
        return true;
    return complain("cannot write %s: %s", w->job.json, strerror(errno));
}

#define FIELD(name) offsetof(struct worker_options, name)

static bool read_host(const struct option_row *row, const char *text, void *field)
{
    (void)row;
    return datagrams_address(text, field);
}

static const struct option_row rows[] = {
    {"host", 'H', "IP:PORT", read_host, FIELD(host), 0, 0, "where the gradients are sent"},
    {"worker", 'w', "N", option_unsigned, FIELD(worker), 0, AGG_MAX_WORKERS - 2,
     "which one this is, from 0 on"},
    {"port", 'p', "N", option_unsigned, FIELD(port), 0, UINT16_MAX, "its own UDP port; default 4000"},
    {"ask-after", 0, "MS", option_ask_after, FIELD(ask_after_ms), 0, 60000,
     "without a sum, after which to ask for it, 1 at least; default 50"},
};

static int options(struct worker *w, int argc, char *argv[])
{
    const struct option_group groups[] = {{rows, sizeof(rows) / sizeof(rows[0]), &w->own},
                                          {job_option_rows, job_option_count, &w->job}};
    const struct command_line line = {
        .version = build_version,
        .intro =
            "usage: swagg-hostagg-worker --host IP:PORT [OPTION...]\n"
            "A worker of a host-addressed job: sends gradients to a host, takes their sums, and compares "
            "them with what they\n"
            "must be. Exit code 0: all were right; 1: a wrong one, or none; 2: bad arguments.\n",
        .groups = groups,
        .count = 2};
    const int ret = options_read(&line, argc, argv);

    if (ret != OPTIONS_READ)
        return ret;
    if (w->own.host.sin_port == 0)
        complain("--host: where do the gradients go?");
    else if (w->own.worker >= w->job.workers)
        complain("--worker: %u is none of %u, which count from 0", w->own.worker, w->job.workers);
    else if (job_options_check(&w->job))
        return OPTIONS_READ;
    return EXIT_USAGE;
}

int main(int argc, char *argv[])
{
    static struct worker w = {.own = {.port = 4000, .ask_after_ms = 50}, .job = JOB_DEFAULTS};
    int ret;

    standard_streams_begin();
    ret = options(&w, argc, argv);
    if (ret != OPTIONS_READ)
        return ret;
    if (!set_up(&w))
        return EXIT_BAD;
    for (unsigned array = 0; array < w.job.arrays; array++)
        if (!sum_array(&w, array))
            return EXIT_BAD;
    return report(&w) ? EXIT_GOOD : EXIT_BAD;
}
