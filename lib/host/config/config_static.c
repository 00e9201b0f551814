/* The list of static jobs: published clients, which do not join. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config/config_check.h"
#include "config/config_peer.h"
#include "config/config_value.h"
#include "protocol/jobs.h"
#include "switchml/terms.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { HEADERS_BYTES = 20 + 8 + SML_HEADER_BYTES /* IPv4, UDP, SwitchML */ };

/* Ports, slots and elements as in the published client's example configuration. quiet_ms has no default of
 * its own. */
static const struct config_number numbers[] = {
    {"threads", offsetof(struct config_static, threads), 1, AGG_MAX_THREADS, 1},
    {"slots", offsetof(struct config_static, slots), 1, SML_MAX_SLOTS, 128},
    {"elements", offsetof(struct config_static, elements), 32, 512, 256},
    {"quiet_ms", offsetof(struct config_static, quiet_ms), 100, 600000, 0},
};

static const char *job_path(char path[CONFIG_PATH_MAX], unsigned job, const char *key)
{
    snprintf(path, CONFIG_PATH_MAX, "static[%u].%s", job, key);
    return path;
}

static const char *worker_path(char path[CONFIG_PATH_MAX], unsigned job, unsigned rank)
{
    snprintf(path, CONFIG_PATH_MAX, "static[%u].workers[%u]", job, rank);
    return path;
}

static size_t chunk_bytes(const struct config_static *s)
{
    return s->elements * (s->format == XFER_FORMAT_FP16 ? 2 : 4);
}

static void check_elements(struct config_text *t, const struct config *c, unsigned i)
{
    const struct config_static *s = &c->static_job[i];
    const size_t bytes = chunk_bytes(s);
    char path[CONFIG_PATH_MAX];

    if (config_text_is_faulty(t, job_path(path, i, "elements")))
        return;
    if (sml_size_code(bytes) == SML_SIZE_AGREED)
        config_fault(t, path, "%u is none of %s, which published packets carry", s->elements,
                     s->format == XFER_FORMAT_FP16 ? "64, 128, 256 and 512" : "32, 64, 128 and 256");
    else if (!config_text_is_faulty(t, "mtu") && bytes + HEADERS_BYTES > c->mtu)
        config_fault(t, path, "%u make packets of %zu bytes, and mtu is %u: raise it, or have fewer elements",
                     s->elements, bytes + HEADERS_BYTES, c->mtu);
}

static void check_slots(struct config_text *t, const struct config_static *s, unsigned i)
{
    char path[CONFIG_PATH_MAX];

    if (!config_text_is_faulty(t, job_path(path, i, "threads")) &&
        !config_text_is_faulty(t, job_path(path, i, "slots")) && s->threads * s->slots > SML_MAX_SLOTS)
        config_fault(t, path, "%u threads of %u slots are more than the %d that a packet can name",
                     s->threads, s->slots, SML_MAX_SLOTS);
}

static bool same_ports(const struct config_static *a, const struct config_peer *x,
                       const struct config_static *b, const struct config_peer *y)
{
    return a->network == b->network && x->ip == y->ip && x->port < y->port + b->threads &&
           y->port < x->port + a->threads;
}

/* Reports a worker that has a port in common with an earlier one, of this job or of another. */
static void check_distinct(struct config_text *t, const struct config *c, unsigned i, unsigned rank)
{
    const struct config_static *s = &c->static_job[i];
    const uint8_t *ip = (const uint8_t *)&s->worker[rank].ip;
    char path[CONFIG_PATH_MAX];

    worker_path(path, i, rank);
    for (unsigned job = 0; job <= i; job++)
        for (unsigned other = 0; other < (job < i ? c->static_job[job].workers : rank); other++)
            if (same_ports(s, &s->worker[rank], &c->static_job[job], &c->static_job[job].worker[other])) {
                config_fault(
                    t, path,
                    "the UDP ports from %u on of %u.%u.%u.%u are static[%u].workers[%u]'s, too: each "
                    "thread needs one of its own",
                    s->worker[rank].port, ip[0], ip[1], ip[2], ip[3], job, other);
                return;
            }
}

static void check_worker(struct config_text *t, struct config *c, unsigned i, unsigned rank,
                         struct config_raw_peer *raw)
{
    struct config_static *s = &c->static_job[i];
    char path[CONFIG_PATH_MAX];

    config_check_peer(t, c, worker_path(path, i, rank), s->threads, raw, &s->worker[rank]);
    if (!config_text_is_faulty(t, path))
        check_distinct(t, c, i, rank);
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

static void check_job(struct config_text *t, struct config_raw *raw, unsigned i)
{
    struct config *c = &raw->config;
    struct config_static *s = &c->static_job[i];
    char path[CONFIG_PATH_MAX];

    *s = raw->static_job[i].job;
    config_check_name(t, &(struct config_names){"static", c->static_job[0].name, sizeof(*s)}, i);
    config_default_numbers(t, job_path(path, i, ""), s, numbers, COUNT(numbers));
    if (!config_text_has(t, job_path(path, i, "format")))
        s->format = XFER_FORMAT_INT32;
    if (!config_text_has(t, job_path(path, i, "quiet_ms")))
        s->quiet_ms = c->timers.lost_after_ms;
    config_check_numbers(t, job_path(path, i, ""), s, numbers, COUNT(numbers));
    config_check_job_vlan(t, job_path(path, i, "vlan"), c, s->vlan, true, &s->network);
    s->tenant = config_check_tenant_name(t, job_path(path, i, "tenant"), c, raw->static_job[i].tenant);
    check_elements(t, c, i);
    check_slots(t, s, i);
    for (unsigned rank = 0; rank < s->workers; rank++)
        check_worker(t, c, i, rank, &raw->static_job[i].worker[rank]);
    make_terms(s);
}

void config_check_static(struct config_text *t, struct config_raw *raw)
{
    const struct config *c = &raw->config;

    if (c->static_jobs > 0 && !c->has_ip && !config_text_is_faulty(t, "switch.ip"))
        config_fault(t, "static", "needs switch.ip, the address that the packets are sent to");
    for (unsigned i = 0; i < c->static_jobs; i++)
        check_job(t, raw, i);
}
