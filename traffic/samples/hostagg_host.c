/* swagg-hostagg-host: the host of a host-addressed job. Behind a switch that sums it hears that chunks are
 * complete; without one it sums them itself. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "hostagg/listener.h"
#include "hostagg/reasons.h"
#include "kernels_chosen.h"
#include "monotonic.h"
#include "samples/datagrams.h"
#include "samples/job.h"
#include "standard_streams.h"
#include "version.h"

/* --- summing itself: the same packets and the same sums as with a switch that does (hostagg/pool.h), over a
 * socket; what in-network aggregation is compared with --- */

struct summing {
    struct hag_pool *pool;
    const struct job_options *job;
    struct sockaddr_in *worker; /* by number: where it was last heard; port 0: not yet */
    struct datagrams *in, *out;
    uint64_t gradients, sums; /* packets received, chunks summed */
};

enum { LINE = 64 };

static void summing_free(struct summing *s)
{
    free(s->pool);
    free(s->worker);
    free(s->in);
    free(s->out);
    *s = (struct summing){0};
}

/* False: no memory. fd: a socket of datagrams.h. */
static bool summing_init(struct summing *s, const struct job_options *job, int fd)
{
    const struct hag_pool_config cfg = {.workers = (uint16_t)job->workers,
                                        .slots = (uint16_t)job->slots,
                                        .chunk_bytes = job_chunk_bytes(job),
                                        .job = (uint8_t)job->job,
                                        .code = job_code(),
                                        .host = HAG_HOST_ABSENT,
                                        .kernels = kernels_or_exit()};
    const size_t bytes = hag_pool_footprint(&cfg);
    void *memory = bytes == 0 ? NULL : aligned_alloc(LINE, bytes);

    *s = (struct summing){.job = job,
                          .worker = calloc(job->workers, sizeof(*s->worker)),
                          .in = calloc(1, sizeof(*s->in)),
                          .out = calloc(1, sizeof(*s->out))};
    if (memory == NULL || s->worker == NULL || s->in == NULL || s->out == NULL) {
        free(memory);
        summing_free(s);
        return complain("no memory for %u slots of %u workers", job->slots, job->workers);
    }
    s->pool = hag_pool_init(memory, &cfg);
    datagrams_init(s->in, fd);
    datagrams_init(s->out, fd);
    return true;
}

static bool send_payload(struct summing *s, const struct sockaddr_in *to, const struct agg_verdict *v)
{
    memcpy(datagrams_payload(s->out), v->payload, v->bytes);
    return datagrams_put(s->out, to, v->bytes);
}

static bool send_to_all(struct summing *s, const struct agg_verdict *v)
{
    for (unsigned i = 0; i < s->job->workers; i++)
        if (s->worker[i].sin_port != 0 && !send_payload(s, &s->worker[i], v))
            return false;
    return true;
}

static bool take(struct summing *s, const struct hag_packet *p, const struct sockaddr_in *from)
{
    struct agg_verdict v;

    s->worker[p->worker] = *from;
    s->gradients += p->kind == HAG_GRADIENT;
    hag_pool_apply(s->pool, hag_pool_locate(s->pool, p->sequence), p->worker, p, &v);
    if (v.reason == HAG_SEND_ALL) {
        s->sums++;
        return send_to_all(s, &v);
    }
    return hag_reasons[v.reason].action != AGG_REPLY || send_payload(s, from, &v);
}

/* Takes what has been received, and answers. False: an error, which was complained of. */
static bool summing_step(struct summing *s)
{
    struct hag_packet p;

    datagrams_receive(s->in);
    for (unsigned i = 0; i < s->in->n; i++)
        if (hag_parse(&p, s->in->payload[i], datagrams_bytes(s->in, i)) && p.job == s->job->job &&
            p.worker < s->job->workers && !take(s, &p, &s->in->address[i]))
            return false;
    return datagrams_flush(s->out);
}

enum { MS = 1000000, WAIT_MS = 100 };

struct host_options {
    struct in_addr through; /* the switch's address */
    unsigned port;
    double ask_after_ms;
    bool sum;
};

struct host {
    struct host_options own;
    struct job_options job;
    int fd;
    struct hag_listener core;
    uint32_t *next;
    struct datagrams *in, *out;
    struct sockaddr_in through;
    uint64_t heard, gradients; /* of the switch; what it has not taken out of the way */
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static bool write_json(const struct host *h, uint64_t sums, uint64_t gradients)
{
    FILE *f = h->job.json == NULL ? NULL : fopen(h->job.json, "w");

    if (h->job.json == NULL)
        return true;
    if (f != NULL)
        fprintf(f,
                "{\"sums\": %" PRIu64 ", \"gradients\": %" PRIu64 ", \"heard\": %" PRIu64
                ", \"asked\": %" PRIu64 "}\n",
                sums, gradients, h->heard, h->core.asked);
    if (f != NULL && fclose(f) == 0)
        return true;
    return complain("cannot write %s: %s", h->job.json, strerror(errno));
}

/* --- summing
 * ------------------------------------------------------------------------------------------------
 */

/* Until somebody stops it. */
static int sum(struct host *h)
{
    struct summing s;
    bool good = summing_init(&s, &h->job, h->fd);

    if (good)
        printf("host: sums what comes to UDP port %u\n", h->own.port);
    fflush(stdout);
    while (good && !stopped) {
        good = summing_step(&s);
        if (good && s.in->n == 0)
            datagrams_wait(h->fd, (uint64_t)WAIT_MS * MS);
    }
    good = good && write_json(h, s.sums, s.gradients);
    summing_free(&s);
    return good ? EXIT_GOOD : EXIT_BAD;
}

/* --- listening
 * ----------------------------------------------------------------------------------------------
 */

static bool set_up_listener(struct host *h)
{
    const struct hag_listener_config cfg = {.job = (uint8_t)h->job.job,
                                            .member = (uint16_t)h->job.workers,
                                            .run = (uint16_t)h->job.run,
                                            .slots = (uint16_t)h->job.slots,
                                            .chunks = job_chunks(&h->job) * h->job.arrays,
                                            .ask_after_ns = (uint64_t)(h->own.ask_after_ms * MS)};

    h->next = calloc(h->job.slots, sizeof(*h->next));
    h->in = calloc(1, sizeof(*h->in));
    h->out = calloc(1, sizeof(*h->out));
    h->through = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr = h->own.through, .sin_port = htons((uint16_t)h->own.port)};
    if (h->next == NULL || h->in == NULL || h->out == NULL)
        return false;
    datagrams_init(h->in, h->fd);
    datagrams_init(h->out, h->fd);
    hag_listener_init(&h->core, &cfg, h->next, monotonic_ns());
    return true;
}

static void receive(struct host *h)
{
    struct hag_packet p;

    if (datagrams_receive(h->in) == 0) {
        datagrams_wait(h->fd, (uint64_t)(h->own.ask_after_ms * MS));
        datagrams_receive(h->in);
    }
    for (unsigned i = 0; i < h->in->n; i++) {
        const size_t bytes = datagrams_bytes(h->in, i);

        h->heard += hag_listener_receive(&h->core, h->in->payload[i], bytes, monotonic_ns());
        h->gradients += hag_parse(&p, h->in->payload[i], bytes) && p.kind == HAG_GRADIENT;
    }
}

/* False: nothing has been heard for too long, or an error. */
static bool hear_of_all(struct host *h)
{
    uint64_t heard = 0, heard_at = monotonic_ns();
    unsigned arrays = 0;

    while (!hag_listener_is_done(&h->core) && !stopped) {
        if (hag_listener_ask(&h->core, monotonic_ns(), datagrams_payload(h->out)) &&
            (!datagrams_put(h->out, &h->through, HAG_HEADER_BYTES) || !datagrams_flush(h->out)))
            return false;
        receive(h);
        if (h->heard != heard) {
            heard = h->heard;
            heard_at = monotonic_ns();
        } else if ((double)(monotonic_ns() - heard_at) > h->job.timeout_s * 1e9) {
            return complain("gives up: chunk %" PRIu32 " is not complete", h->core.done);
        }
        for (; h->core.done >= (arrays + 1) * job_chunks(&h->job); arrays++)
            printf("host: array %u is complete\n", arrays);
        fflush(stdout);
    }
    return hag_listener_is_done(&h->core);
}

static int listen_to_switch(struct host *h)
{
    if (!set_up_listener(h) || !hear_of_all(h))
        return EXIT_BAD;
    printf("host: %" PRIu32 " chunks are complete; %" PRIu64 " packets from the switch, %" PRIu64
           " questions, %" PRIu64 " gradients came through\n",
           h->core.done, h->heard, h->core.asked, h->gradients);
    return write_json(h, h->core.done, h->gradients) ? EXIT_GOOD : EXIT_BAD;
}

#define FIELD(name) offsetof(struct host_options, name)

static bool read_switch(const struct option_row *row, const char *text, void *field)
{
    (void)row;
    return inet_pton(AF_INET, text, field) == 1 || complain("--switch: \"%s\" is no IPv4 address", text);
}

static const struct option_row rows[] = {
    {"switch", 'S', "IP", read_switch, FIELD(through), 0, 0,
     "the switch that sums, to be asked what is complete"},
    {"sum", 0, NULL, option_flag, FIELD(sum), 0, 0, "sums itself, until SIGTERM: for comparison"},
    {"port", 'p', "N", option_unsigned, FIELD(port), 0, UINT16_MAX, "that the workers send to; default 5000"},
    {"ask-after", 0, "MS", option_ask_after, FIELD(ask_after_ms), 0, 60000,
     "without a word, after which to ask the switch, 1 at least; default 200"},
};

static int options(struct host *h, int argc, char *argv[])
{
    const struct option_group groups[] = {{rows, sizeof(rows) / sizeof(rows[0]), &h->own},
                                          {job_option_rows, job_option_count, &h->job}};
    const struct command_line line = {
        .version = build_version,
        .intro = "usage: swagg-hostagg-host --switch IP|--sum [OPTION...]\n"
                 "The host of a host-addressed job: hears from the switch which chunks are complete, or sums "
                 "them itself.\n"
                 "Exit code 0: all are complete; 1: not all; 2: bad arguments.\n",
        .groups = groups,
        .count = 2};
    const int ret = options_read(&line, argc, argv);

    if (ret != OPTIONS_READ)
        return ret;
    if ((h->own.through.s_addr == 0) != h->own.sum)
        complain("one of --switch and --sum: who sums?");
    else if (h->own.port == 0)
        complain("--port: 0 is none");
    else if (job_options_check(&h->job))
        return OPTIONS_READ;
    return EXIT_USAGE;
}

int main(int argc, char *argv[])
{
    static struct host h = {.own = {.port = 5000, .ask_after_ms = 200}, .job = JOB_DEFAULTS};
    const struct sigaction end = {.sa_handler = on_signal};
    int ret;

    standard_streams_begin();
    ret = options(&h, argc, argv);
    if (ret != OPTIONS_READ)
        return ret;
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    h.fd = datagrams_open((uint16_t)h.own.port, NULL);
    if (h.fd < 0)
        return EXIT_BAD;
    return h.own.sum ? sum(&h) : listen_to_switch(&h);
}
