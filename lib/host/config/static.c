/* The list of static jobs: published clients, which do not join. */
#include <stdio.h>
#include <string.h>

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
    CONFIG_JOB_NAME(struct config_static, SETTING_WHEN_QUIET, "`static[0]`, ...",
                    ". Nobody of its tenant can join a job of this name"),
    {.key = "workers", SETTING_LIST_AT(struct config_static, worker, common.workers, 1, CONFIG_STATIC_WORKERS_MAX),
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
    CONFIG_JOB_QUIET(struct config_static,
                     "when for so long nothing was heard that belongs to what the job is doing, its slots start over"),
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

static bool same(const void *job, unsigned worker, const void *other, unsigned others)
{
    const struct config_static *a = job, *b = other;
    const struct config_peer *x = &a->worker[worker], *y = &b->worker[others];

    return x->ip == y->ip && x->port < y->port + b->threads && y->port < x->port + a->threads;
}

static void words(char text[CONFIG_WORDS_MAX], const void *job, unsigned worker)
{
    const struct config_peer *w = &((const struct config_static *)job)->worker[worker];
    const uint8_t *ip = (const uint8_t *)&w->ip;

    snprintf(text, CONFIG_WORDS_MAX, "the UDP ports from %u on of %u.%u.%u.%u are", w->port, ip[0], ip[1],
             ip[2], ip[3]);
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

    sml_terms_build(&s->common.terms, &terms);
}

static void check_job(struct settings *s, struct config *c, unsigned i)
{
    struct config_static *job = &c->static_job[i];

    config_check_fixed(s, c, &config_static_jobs, i, true);
    check_elements(s, c, i);
    check_slots(s, job, i);
    for (unsigned rank = 0; rank < job->common.workers; rank++) {
        const char *path = settings_path(s, "static[%u].workers[%u]", i, rank);

        config_check_peer(s, c, path, job->threads, &job->worker[rank]);
        if (!settings_are_faulty(s, path))
            config_check_distinct(s, c, &config_static_jobs, i, rank, path);
    }
    make_terms(job);
}

static void describe(const struct config *c, unsigned place, struct config_job *job)
{
    const struct config_static *s = &c->static_job[place];

    job->threads = s->threads;
    job->without_udp_sum = !s->udp_checksum;
}

static struct config_member member(const struct config *c, unsigned place, unsigned rank)
{
    return config_member_of(&c->static_job[place].worker[rank]);
}

static const struct config_open_list open_list = {
    .same = same, .words = words, .remedy = ": each thread needs one of its own"};

const struct config_jobs_list config_static_jobs = {.key = "static",
                                                    CONFIG_FIXED_LIST(static_jobs, static_job),
                                                    .addressed = true,
                                                    .starts_over = true,
                                                    .check = check_job,
                                                    .job = describe,
                                                    .member = member,
                                                    .open = &open_list};
