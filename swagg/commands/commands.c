#include "commands/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#include "capture/pcapng.h"
#include "capture/tap.h"
#include "show/views.h"

/* --- a capture: frames that pass the ports, as a stream in pcapng's format --- */

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
        return reply_fail(reply, REPLY_UNKNOWN, "there is no port %s; there are: %s", name, names);
    }
    for (uint64_t left = ports_there(parts->show->ports); left != 0; left &= left - 1) {
        const unsigned p = rte_bsf64(left);

        if (only >= 0 && p != (unsigned)only)
            continue;
        if (parts->port[p].tap != NULL)
            return reply_fail(reply, REPLY_REFUSED, "somebody captures on port %s already",
                              parts->port[p].name);
        *ports |= RTE_BIT64(p);
    }
    return true;
}

/* The job must run, for it is recognized by its members' addresses. It may end, or get a new pool, in this
 * very moment. */
static bool choose_job(const struct action_parts *parts, const struct request *request, struct view_job *job,
                       struct tap_filter *filter, struct reply *reply)
{
    const char *name = request_text(request, "job");
    char names[256];
    int rc;

    if (name == NULL)
        return true;
    rc = view_find_job(parts->show, name, job);
    if (rc < 0 || !job->runs) {
        view_subject_list(parts->show, VIEW_OF_JOB, names, sizeof(names));
        return reply_fail(reply, REPLY_UNKNOWN, "%s job %s runs; there are: %s",
                          rc == -ENOTUNIQ ? "more than one" : "no", name, names);
    }
    filter->job = job->number;
    filter->jobs = &parts->show->jobs->running[job->protocol];
    filter->network = job->network;
    return true;
}

static bool choose_kind(const struct request *request, struct tap_filter *filter, struct reply *reply)
{
    const char *name = request_text(request, "kind");

    if (name == NULL || tap_kind_of(name, &filter->kinds))
        return true;
    return reply_fail(reply, REPLY_BAD_REQUEST, "%s is no kind of frames; there are: data, control, other",
                      name);
}

/* Of the members of the job; where one joined that is a switch, of its ranks the least. */
static bool choose_rank(const struct request *request, const struct view_job *job, struct tap_filter *filter,
                        struct reply *reply)
{
    const char *text = request_text(request, "rank");
    char *end;

    if (text == NULL)
        return true;
    const unsigned long rank = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || rank >= AGG_MAX_WORKERS)
        return reply_fail(reply, REPLY_BAD_REQUEST, "%s is no rank", text);
    if (filter->jobs == NULL)
        return reply_fail(reply, REPLY_BAD_REQUEST, "rank %lu of which job? Say --job, too", rank);
    if (rank >= job->ranks)
        return reply_fail(reply, REPLY_UNKNOWN, "the job has no rank %lu: it has ranks 0 to %u", rank,
                          job->ranks - 1u);
    filter->rank = (unsigned)rank + 1;
    return true;
}

static bool choose_reason(const struct request *request, struct tap_filter *filter, struct reply *reply)
{
    const char *name = request_text(request, "reason");

    if (name == NULL)
        return true;
    for (unsigned kind = 0; kind < DROP_KINDS; kind++)
        if (drop_name(kind) != NULL && strcmp(drop_name(kind), name) == 0) {
            filter->dropped = true;
            filter->reason = kind;
            return true;
        }
    return reply_fail(reply, REPLY_BAD_REQUEST, "%s is no reason of a drop: swaggctl drops has them", name);
}

static bool choose_snap(const struct request *request, uint32_t *snap, struct reply *reply)
{
    const json_t *wanted = json_object_get(request->body, "snap");
    const json_int_t bytes = wanted == NULL ? SNAP : json_integer_value(wanted);

    *snap = (uint32_t)bytes;
    if (bytes >= SNAP_MIN && bytes <= SNAP_MAX)
        return true;
    return reply_fail(reply, REPLY_BAD_REQUEST, "a frame's bytes to be kept are %d..%d", SNAP_MIN, SNAP_MAX);
}

/* Begins what the request asks for ("port", "job", "kind", "rank", "reason": optional; "snap": bytes of a
 * frame at most) and fills in *feed; or the reply, if it cannot. Ports on which somebody captures already are
 * refused. */
static void capture_open(const struct action_parts *parts, const struct request *request, struct reply *reply,
                         struct server_feed *feed)
{
    struct tap_filter filter = {.kinds = TAP_ALL};
    struct view_job job = {0};
    struct capture *c;
    uint64_t ports;
    uint32_t snap;

    if (!choose_ports(parts, request, &ports, reply) || !choose_job(parts, request, &job, &filter, reply) ||
        !choose_kind(request, &filter, reply) || !choose_rank(request, &job, &filter, reply) ||
        !choose_reason(request, &filter, reply) || !choose_snap(request, &snap, reply))
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

/* --- views and actions --- */

static void add_choice(void *context, const char *call)
{
    json_array_append_new(context, json_string(call));
}

/* Several tenants have a job of this name. */
static void ask_which(const struct show_parts *parts, const char *name, struct reply *reply)
{
    char calls[REQUEST_TEXT_MAX / 2] = "";
    json_t *choices = json_array(), *call;
    size_t i, used = 0;

    view_lock(parts);
    view_job_calls(parts, name, add_choice, choices);
    view_unlock(parts);
    json_array_foreach (choices, i, call) {
        if (used < sizeof(calls))
            used += (size_t)snprintf(calls + used, sizeof(calls) - used, "%s%s", i > 0 ? ", " : "",
                                     json_string_value(call));
    }
    reply_fail(reply, REPLY_AMBIGUOUS, "several tenants have a job %s; say which: %s", name, calls);
    reply->choices = choices;
}

static void unknown_subject(const struct show_parts *parts, enum view_subject subject, const char *name,
                            struct reply *reply)
{
    char names[512];

    view_lock(parts);
    view_subject_list(parts, subject, names, sizeof(names));
    view_unlock(parts);
    if (name == NULL)
        reply_fail(reply, REPLY_BAD_REQUEST, "which %s? There are: %s", view_subject_name(subject), names);
    else
        reply_fail(reply, REPLY_UNKNOWN, "there is no %s %s; there are: %s", view_subject_name(subject), name,
                   names);
}

static void show(const struct show_parts *parts, const struct view *view, const char *name,
                 struct reply *reply)
{
    struct view_out out;
    int rc;

    if (name == NULL && !view->optional) {
        unknown_subject(parts, view->of, NULL, reply);
        return;
    }
    view_begin(&out, view);
    rc = view_gather(parts, view, name, &out);
    reply_view(reply, &out);
    if (rc == -ENOTUNIQ)
        ask_which(parts, name, reply);
    else if (rc < 0)
        unknown_subject(parts, view->of, name, reply);
}

int commands_view(void *context, const struct view *view, const char *name, struct view_out *out)
{
    return view_gather(context, view, name, out);
}

static int find(const struct show_parts *parts, enum view_subject subject, const char *name)
{
    int found;

    view_lock(parts);
    found = view_subject_find(parts, subject, name);
    view_unlock(parts);
    return found;
}

/* An action on its way to the main lcore. */
struct errand {
    struct action_call call;
    const struct action *action;         /* or */
    const struct common_command *common; /* one of all hosts' */
    enum view_subject of;
};

static void run_common(const struct common_command *common, const struct action_call *c)
{
    struct common_job job = {.called = c->name};
    struct view_job found;

    if (common->of_job && view_find_job(c->parts->show, c->name, &found) == 0) {
        job.name = found.name;
        job.tenant = found.tenant;
        job.fixed = found.fixed != NULL;
    }
    common->run(&c->parts->common, &job, c->request, c->reply);
}

/* On the main lcore, so that what the action is about does not go away meanwhile. */
static void run_errand(void *argument)
{
    const struct errand *e = argument;
    const struct action_call *c = &e->call;
    const bool optional = e->action != NULL ? e->action->optional : !e->common->of_job;
    const int found = c->name == NULL ? 0 : find(c->parts->show, e->of, c->name);

    if (found == -ENOTUNIQ)
        ask_which(c->parts->show, c->name, c->reply);
    else if (c->name == NULL ? !optional : found < 0)
        unknown_subject(c->parts->show, e->of, c->name, c->reply);
    else if (e->action != NULL)
        e->action->run(c);
    else
        run_common(e->common, c);
}

void commands_run(void *context, const struct request *request, struct reply *reply, struct server_feed *feed)
{
    const struct action_parts *parts = context;
    const struct view *view = views_find(request->command);
    const char *name = request_text(request, "name");
    struct errand errand = {.call = {parts, request, name, reply},
                            .action = actions_find(request->command),
                            .common = common_command_find(request->command)};

    errand.of = view != NULL                                     ? view->of
                : errand.action != NULL                          ? errand.action->of
                : errand.common != NULL && errand.common->of_job ? VIEW_OF_JOB
                                                                 : VIEW_OF_ALL;
    if (strcmp(request->command, "capture") == 0) {
        view_lock(parts->show);
        capture_open(parts, request, reply, feed);
        view_unlock(parts->show);
    } else if (view == NULL && errand.action == NULL && errand.common == NULL)
        reply_fail(reply, REPLY_BAD_REQUEST, "the switch knows no command \"%s\"", request->command);
    else if (name != NULL && errand.of == VIEW_OF_ALL)
        reply_fail(reply, REPLY_BAD_REQUEST, "%s takes no name", request->command);
    else if (view != NULL)
        show(parts->show, view, name, reply);
    else if (!handoff_call(parts->main, run_errand, &errand))
        reply_fail(reply, REPLY_FAILED, "the switch is stopping");
}
