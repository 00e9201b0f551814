/* The list of static jobs: published clients, which do not join. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "config/config_parts.h"
#include "protocol/jobs.h"
#include "switchml/terms.h"

enum { HEADERS_BYTES = AGG_IP_UDP_BYTES + SML_HEADER_BYTES };

static const struct setting_word formats[] = {
    {"int32", XFER_FORMAT_INT32}, {"fp16", XFER_FORMAT_FP16}, {NULL, 0}};
static const struct setting_word modes[] = {{"on_arrival", false}, {"ordered", true}, {NULL, 0}};

/* Ports, slots and elements as in the published client's example configuration. */
/* clang-format off */
const struct setting config_static_fields[] = {
    {.key = "name", .type = SETTING_NAME, .when = SETTING_WHEN_QUIET, SETTING_AT(struct config_static, name),
     .most = CONFIG_JOB_MAX - 1, .usual = "`static[0]`, ...",
     .meaning = "as logs, telemetry and `swaggctl` call the job. Nobody of its tenant can join a job of this name"},
    {.key = "workers", SETTING_LIST_AT(struct config_static, worker, workers, 1, CONFIG_STATIC_WORKERS_MAX),
     .required = true, .when = SETTING_WHEN_QUIET, .fields = config_peer_fields,
     .meaning = "the workers, in the order of their ranks"},
    {.key = "threads", SETTING_NUMBER_AT(struct config_static, threads, 1, AGG_MAX_THREADS, 1),
     .when = SETTING_WHEN_QUIET, .meaning = "of each worker"},
    {.key = "slots", SETTING_NUMBER_AT(struct config_static, slots, 1, SML_MAX_SLOTS, 128),
     .when = SETTING_WHEN_QUIET, .kind = "1..16384 in all",
     .meaning = "of each thread, which has those from `slots` × its number on: [twice the packets](#slots-of-a-thread) that it may have in flight"},
    {.key = "elements", SETTING_NUMBER_AT(struct config_static, elements, 32, 512, 256), .when = SETTING_WHEN_QUIET,
     .kind = "32, 64, 128, 256; with fp16 64, 128, 256, 512", .meaning = "in a packet"},
    {.key = "format", .type = SETTING_WORD, .when = SETTING_WHEN_QUIET, SETTING_AT(struct config_static, format),
     .words = formats, .fallback = XFER_FORMAT_INT32,
     .meaning = "int32 with exponents, as published; or halves with exponents"},
    {.key = "mode", .type = SETTING_WORD, .when = SETTING_WHEN_QUIET, SETTING_AT(struct config_static, ordered),
     .words = modes, .meaning = "in which order contributions are added; of int32 the sum is the same"},
    {.key = "udp_checksum", .type = SETTING_BOOL, .when = SETTING_WHEN_QUIET,
     SETTING_AT(struct config_static, udp_checksum),
     .meaning = "whether results have a UDP checksum; the published switch sends 0"},
    {.key = "quiet_ms", SETTING_NUMBER_AT(struct config_static, quiet_ms, 100, 600000, 0), .unit = "ms",
     .usual = "`timers.lost_after_ms`",
     .meaning = "when for so long nothing was heard that belongs to what the job is doing, its slots start over"},
    CONFIG_JOB_TENANT(struct config_static, SETTING_WHEN_QUIET),
    CONFIG_JOB_VLAN(struct config_static, SETTING_WHEN_QUIET, "that its workers are in"),
    {.key = NULL},
};
/* clang-format on */

static size_t chunk_bytes(const struct config_static *s)
{
    return s->elements * (s->format == XFER_FORMAT_FP16 ? 2 : 4);
}

static void check_elements(struct settings *s, const struct config *c, unsigned i)
{
    const struct config_static *job = &c->static_job[i];
    const char *path = settings_path(s, "static[%u].elements", i);
    const size_t bytes = chunk_bytes(job);

    if (settings_are_faulty(s, path))
        return;
    if (sml_size_code(bytes) == SML_SIZE_AGREED)
        settings_fault(s, path, "%u is none of %s, which published packets carry", job->elements,
                       job->format == XFER_FORMAT_FP16 ? "64, 128, 256 and 512" : "32, 64, 128 and 256");
    else if (!settings_are_faulty(s, "mtu") && bytes + HEADERS_BYTES > c->mtu)
        settings_fault(s, path,
                       "%u make packets of %zu bytes, and mtu is %u: raise it, or have fewer elements",
                       job->elements, bytes + HEADERS_BYTES, c->mtu);
}

static void check_slots(struct settings *s, const struct config_static *job, unsigned i)
{
    const char *path = settings_path(s, "static[%u].slots", i);

    if (!settings_are_faulty(s, settings_path(s, "static[%u].threads", i)) && !settings_are_faulty(s, path) &&
        job->threads * job->slots > SML_MAX_SLOTS)
        settings_fault(s, path, "%u threads of %u slots are more than the %d that a packet can name",
                       job->threads, job->slots, SML_MAX_SLOTS);
}

static bool same_ports(const struct config_static *a, const struct config_peer *x,
                       const struct config_static *b, const struct config_peer *y)
{
    return a->network == b->network && x->ip == y->ip && x->port < y->port + b->threads &&
           y->port < x->port + a->threads;
}

/* The first of so many workers of another job that has a UDP port in common with this one; -1: none has. */
static int find_same_ports(const struct config_static *job, const struct config_peer *worker,
                           const struct config_static *others, unsigned workers)
{
    for (unsigned other = 0; other < workers; other++)
        if (same_ports(job, worker, others, &others->worker[other]))
            return (int)other;
    return -1;
}

/* Reports a worker that has a port in common with an earlier one, of this job or of another. */
static void check_distinct(struct settings *s, const struct config *c, unsigned i, unsigned rank,
                           const char *path)
{
    const struct config_static *job = &c->static_job[i];
    const uint8_t *ip = (const uint8_t *)&job->worker[rank].ip;

    for (unsigned j = 0; j <= i; j++) {
        const struct config_static *others = &c->static_job[j];
        const int other = find_same_ports(job, &job->worker[rank], others, j < i ? others->workers : rank);

        if (other >= 0) {
            settings_fault(s, path,
                           "the UDP ports from %u on of %u.%u.%u.%u are static[%u].workers[%d]'s, too: "
                           "each thread needs one of its own",
                           job->worker[rank].port, ip[0], ip[1], ip[2], ip[3], j, other);
            return;
        }
    }
}

/* Turns the keys into the protocol's terms; done nowhere else. */
static void make_terms(struct config_static *s)
{
    const struct sml_terms terms = {
        .format = s->format,
        .mode = s->ordered ? XFER_ORDERED : XFER_ON_ARRIVAL,
        .slots = (uint16_t)(s->threads * s->slots),
        .chunk_bytes = (uint16_t)chunk_bytes(s),
        .plain = true,
        .labelled = true,
        .threads = (uint8_t)s->threads,
    };

    sml_terms_build(&s->terms, &terms);
}

static void check_job(struct settings *s, struct config *c, unsigned i)
{
    struct config_static *job = &c->static_job[i];

    config_check_name(s, "static", c->static_job[0].name, sizeof(*job), i);
    if (job->quiet_ms == 0)
        job->quiet_ms = c->timers.lost_after_ms;
    job->network = config_find_network(s, c, settings_path(s, "static[%u].vlan", i), job->vlan, true);
    job->tenant = config_find_tenant(s, c, settings_path(s, "static[%u].tenant", i));
    check_elements(s, c, i);
    check_slots(s, job, i);
    for (unsigned rank = 0; rank < job->workers; rank++) {
        const char *path = settings_path(s, "static[%u].workers[%u]", i, rank);

        config_check_peer(s, c, path, job->threads, &job->worker[rank]);
        if (!settings_are_faulty(s, path))
            check_distinct(s, c, i, rank, path);
    }
    make_terms(job);
}

void config_check_static(struct settings *s, struct config *c)
{
    if (c->static_jobs > 0 && !c->has_ip && !settings_are_faulty(s, "switch.ip"))
        settings_fault(s, "static", "needs switch.ip, the address that the packets are sent to");
    for (unsigned i = 0; i < c->static_jobs; i++)
        check_job(s, c, i);
}

static void describe(const struct config *c, unsigned place, struct config_job *job)
{
    const struct config_static *s = &c->static_job[place];

    job->name = s->name;
    job->terms = &s->terms;
    job->tenant = s->tenant;
    job->network = s->network;
    job->members = s->workers;
    job->threads = s->threads;
    job->quiet_ms = s->quiet_ms;
    job->without_udp_sum = !s->udp_checksum;
}

static struct config_member member(const struct config *c, unsigned place, unsigned rank)
{
    return config_member_of(&c->static_job[place].worker[rank]);
}

static int beside(const void *item, const void *other)
{
    const struct config_static *job = item, *others = other;

    for (unsigned rank = 0; rank < job->workers; rank++) {
        const struct config_peer *worker = &job->worker[rank];
        const uint8_t *ip = (const uint8_t *)&worker->ip;

        if (find_same_ports(job, worker, others, others->workers) >= 0)
            return log_fail(-EADDRINUSE,
                            "static[%s].workers[%u]: the UDP ports from %u on of %u.%u.%u.%u are job %s's",
                            job->name, rank, worker->port, ip[0], ip[1], ip[2], ip[3], others->name);
    }
    return 0;
}

static const struct config_open_list open_list = {.tenant = offsetof(struct config_static, tenant),
                                                  .network = offsetof(struct config_static, network),
                                                  .added = offsetof(struct config_static, added),
                                                  .beside = beside};

const struct config_jobs_list config_static_jobs = {.key = "static",
                                                    .jobs = offsetof(struct config, static_jobs),
                                                    .job = describe,
                                                    .member = member,
                                                    .open = &open_list};
