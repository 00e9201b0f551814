#include "commands/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#include "capture/pcapng.h"
#include "capture/tap.h"

enum { SNAP = 9700, SNAP_MIN = 64, SNAP_MAX = 65535, BUFFER_BYTES = 64 << 20 };

static_assert(SNAP_MAX + PCAPNG_FRAME_OVERHEAD <= SERVER_FEED_BYTES,
              "a frame fits into what is read at once");

struct capture {
    const struct action_parts *parts;
    uint64_t ports; /* bit p: captures on port p */
    struct tap *tap;
    uint64_t tsc, time;              /* the same moment by both clocks, ns since 1970 */
    unsigned interfaces_max;         /* ports are interfaces, by their numbers */
    unsigned interfaces, statistics; /* that have been written */
    bool begun, stopped;
};

static uint64_t real_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t time_of(const struct capture *c, uint64_t tsc)
{
    return c->time + (uint64_t)((double)(int64_t)(tsc - c->tsc) * 1e9 / (double)rte_get_tsc_hz());
}

/* On its ports, where there is `from`: a port may have gone meanwhile, and another come in its place. */
static void exchange(const struct capture *c, struct tap *from, struct tap *to)
{
    for (uint64_t left = c->ports; left != 0; left &= left - 1) {
        struct tap *expected = from;

        __atomic_compare_exchange_n(&c->parts->port[rte_bsf64(left)].tap, &expected, to, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}

/* From here on no polling lcore has the tap. Waits for a round of each. */
static void stop(void *context)
{
    struct capture *c = context;

    if (c->stopped)
        return;
    exchange(c, c->tap, NULL);
    rte_rcu_qsbr_synchronize(c->parts->rcu, RTE_QSBR_THRID_INVALID);
    c->stopped = true;
}

static void end(void *context)
{
    struct capture *c = context;

    stop(c);
    tap_free(c->tap);
    free(c);
}

static size_t write_frame(struct capture *c, uint8_t *to, struct tap_frame *f)
{
    const struct pcapng_frame frame = {.interface = f->port,
                                       .direction = f->direction,
                                       .time = time_of(c, f->tsc),
                                       .bytes = f->bytes,
                                       .kept = f->kept,
                                       .data = f->data};
    const size_t n = pcapng_frame(to, &frame);

    tap_give_back(c->tap, f);
    return n;
}

/* The next block; 0: there is none now. to: room for any. */
static size_t write_block(struct capture *c, uint8_t *to)
{
    const unsigned ports = c->interfaces_max, s = c->statistics;
    struct tap_frame *f;

    if (!c->begun) {
        c->begun = true;
        return pcapng_section(to);
    }
    if (c->interfaces < ports)
        return pcapng_interface(to, c->parts->port[c->interfaces++].name, c->tap->snap);
    f = tap_next(c->tap);
    if (f != NULL)
        return write_frame(c, to, f);
    if (!c->stopped || s == ports)
        return 0;
    c->statistics++;
    return pcapng_statistics(to, s, real_time(), __atomic_load_n(&c->tap->port[s].seen, __ATOMIC_RELAXED),
                             __atomic_load_n(&c->tap->port[s].lost, __ATOMIC_RELAXED));
}

static size_t read_blocks(void *context, uint8_t *to, size_t room)
{
    struct capture *c = context;
    const size_t most = c->tap->snap + PCAPNG_FRAME_OVERHEAD + PCAPNG_BLOCK_MAX;
    size_t used = 0, n;

    while (used + most <= room && (n = write_block(c, to + used)) > 0)
        used += n;
    return used;
}

/* The ports to capture on; false: the reply says why there are none. */
static bool choose_ports(const struct action_parts *parts, const struct request *request, uint64_t *ports,
                         struct reply *reply)
{
    const char *name = request_text(request, "port");
    const int only = name == NULL ? -1 : view_find_port(parts->show, name);
    char names[256];

    *ports = 0;
    if (name != NULL && only < 0) {
        view_subject_list(parts->show, VIEW_OF_PORT, names, sizeof(names));
        reply_fail(reply, REPLY_UNKNOWN, "there is no port %s; there are: %s", name, names);
        return false;
    }
    for (uint64_t left = ports_there(parts->show->ports); left != 0; left &= left - 1) {
        const unsigned p = rte_bsf64(left);

        if (only >= 0 && p != (unsigned)only)
            continue;
        if (parts->port[p].tap != NULL) {
            reply_fail(reply, REPLY_REFUSED, "somebody captures on port %s already", parts->port[p].name);
            return false;
        }
        *ports |= RTE_BIT64(p);
    }
    return true;
}

/* The job must run, for it is recognized by its members' addresses. */
static bool choose_job(const struct action_parts *parts, const struct request *request,
                       struct tap_filter *filter, struct reply *reply)
{
    const char *name = request_text(request, "job");
    struct view_job job;
    char names[256];
    int rc;

    if (name == NULL)
        return true;
    rc = view_find_job(parts->show, name, &job);
    if (rc < 0 || !job.runs) {
        view_subject_list(parts->show, VIEW_OF_JOB, names, sizeof(names));
        reply_fail(reply, REPLY_UNKNOWN, "%s job %s runs; there are: %s",
                   rc == -ENOTUNIQ ? "more than one" : "no", name, names);
        return false;
    }
    filter->job = job.number;
    filter->jobs = &parts->show->jobs->running[job.protocol];
    filter->network = jobs_find(parts->show->jobs, job.protocol, job.number)->network;
    return true;
}

static bool choose_kind(const struct request *request, struct tap_filter *filter, struct reply *reply)
{
    const char *name = request_text(request, "kind");

    if (name == NULL || tap_kind_of(name, &filter->kinds))
        return true;
    reply_fail(reply, REPLY_BAD_REQUEST, "%s is no kind of frames; there are: data, control, other", name);
    return false;
}

static bool choose_snap(const struct request *request, uint32_t *snap, struct reply *reply)
{
    const json_t *wanted = json_object_get(request->body, "snap");
    const json_int_t bytes = wanted == NULL ? SNAP : json_integer_value(wanted);

    *snap = (uint32_t)bytes;
    if (bytes >= SNAP_MIN && bytes <= SNAP_MAX)
        return true;
    reply_fail(reply, REPLY_BAD_REQUEST, "a frame's bytes to be kept are %d..%d", SNAP_MIN, SNAP_MAX);
    return false;
}

void capture_open(const struct action_parts *parts, const struct request *request, struct reply *reply,
                  struct server_feed *feed)
{
    struct tap_filter filter = {.kinds = TAP_ALL};
    struct capture *c;
    uint64_t ports;
    uint32_t snap;

    if (!choose_ports(parts, request, &ports, reply) || !choose_job(parts, request, &filter, reply) ||
        !choose_kind(request, &filter, reply) || !choose_snap(request, &snap, reply))
        return;
    c = calloc(1, sizeof(*c));
    if (c != NULL)
        c->tap = tap_new(&filter, snap, BUFFER_BYTES);
    if (c == NULL || c->tap == NULL) {
        free(c);
        reply_fail(reply, REPLY_FAILED, "no memory for a capture");
        return;
    }
    c->parts = parts;
    c->ports = ports;
    c->interfaces_max = 64 - (unsigned)__builtin_clzll(ports_there(parts->show->ports));
    c->tsc = rte_rdtsc();
    c->time = real_time();
    exchange(c, NULL, c->tap);
    *feed = (struct server_feed){.read = read_blocks, .stop = stop, .close = end, .context = c};
}
