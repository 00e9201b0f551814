/* The list of host-addressed jobs: flows of workers to a host. */
#include <stdio.h>
#include <string.h>

#include "base/uplink_ports.h"
#include "config/config_parts.h"
#include "hostagg/terms.h"
#include "wire/atp.h"

enum { HEADERS_BYTES = AGG_IP_UDP_BYTES + HAG_HEADER_BYTES };

static const struct setting_word host_answers[] = {
    {"completion", HAG_HOST_HEARS}, {"sums", HAG_HOST_GETS_SUMS}, {"nothing", HAG_HOST_ABSENT}, {NULL, 0}};

/* clang-format off */
const struct setting config_hostagg_fields[] = {
    CONFIG_JOB_NAME(struct config_hostagg, SETTING_AT_ONCE, "`hostagg[0]`, ...", ""),
    {.key = "job", SETTING_NUMBER_AT(struct config_hostagg, number, 0, AGG_JOBS - 1, 0),
     .usual = "its place in the list, from 0 on", .meaning = "its number in packets"},
    {.key = "host", .type = SETTING_GROUP, .required = true, SETTING_AT(struct config_hostagg, host),
     .fields = config_peer_fields, .kind = "group: `ip`, `mac`, `port`",
     .meaning = "where the workers send to: UDP datagrams to this address and port are [looked into](#the-hosts-port)"},
    {.key = "host_gets", .type = SETTING_WORD, SETTING_AT(struct config_hostagg, host_gets), .words = host_answers,
     .fallback = HAG_HOST_HEARS,
     .meaning = "what it is sent for each chunk: a word that it is complete; its sum, as the workers get it; or nothing"},
    {.key = "workers", SETTING_LIST_AT(struct config_hostagg, worker, common.workers, 1, CONFIG_STATIC_WORKERS_MAX),
     .required = true, .fields = config_peer_fields, .kind = "groups: `ip`, `mac`, `port`",
     .meaning = "the workers, in the order of their numbers, as in [`static`](#static-a-list-1-to-16), with one UDP port each"},
    {.key = "slots", SETTING_NUMBER_AT(struct config_hostagg, slots, 1, HAG_MAX_SLOTS, 64), .power_of_two = true,
     .meaning = "chunks that a worker may have under way; a slot takes a chunk for every worker, and one for the sum, of `pool.megabytes`"},
    {.key = "elements", SETTING_NUMBER_AT(struct config_hostagg, elements, 1, HAG_MAX_CHUNK_BYTES, 0),
     .usual = "as many as `mtu` allows",
     .meaning = "in a packet, at most, in 8,960 bytes: 365 of 4 bytes at `mtu: 1500`, 366 at 1502, which makes frames of 1516 bytes"},
    {.key = "type", .type = SETTING_LATER, SETTING_AT(struct config_hostagg, common.terms), .most = 15,
     .show = config_show_type, .kind = "float16 to float64, bfloat16, int8 to int64, uint8 to uint64, bool, complex64, complex128",
     .usual = "float32", .meaning = "of the elements"},
    {.key = "operation", .type = SETTING_LATER, SETTING_AT(struct config_hostagg, common.terms), .most = 15,
     .show = config_show_operation, .kind = "sum, prod, min, max, avg, land, lor, lxor, band, bor, bxor, minloc, maxloc, minpair, maxpair",
     .usual = "sum", .meaning = "where the type has it ([kernels](results/kernels.md))"},
    CONFIG_JOB_TENANT(struct config_hostagg, SETTING_AT_ONCE),
    CONFIG_JOB_VLAN(
        struct config_hostagg, SETTING_AT_ONCE,
        "that workers and host are in, with an address of the switch, unless the host gets nothing"),
    {.key = NULL},
};
/* clang-format on */

/* Sets how many elements a packet has, unless they are given. */
static void check_elements(struct settings *s, const struct config *c, struct config_hostagg *h, unsigned i,
                           size_t element)
{
    const size_t room = c->mtu <= HEADERS_BYTES ? 0 : c->mtu - HEADERS_BYTES;
    const char *path = settings_path(s, "hostagg[%u].elements", i);

    if (!settings_has(s, path))
        h->elements = (uint32_t)((room < HAG_MAX_CHUNK_BYTES ? room : HAG_MAX_CHUNK_BYTES) / element);
    if (settings_are_faulty(s, path) || settings_are_faulty(s, "mtu"))
        return;
    if (h->elements * element > HAG_MAX_CHUNK_BYTES)
        settings_fault(s, path, "%u take %zu bytes, and a packet has room for %d", h->elements,
                       h->elements * element, HAG_MAX_CHUNK_BYTES);
    else if (h->elements * element > room)
        settings_fault(s, path,
                       "%u make packets of %zu bytes, and mtu is %u: raise it, or have fewer elements",
                       h->elements, h->elements * element + HEADERS_BYTES, c->mtu);
}

static void check_number(struct settings *s, struct config *c, unsigned i)
{
    const char *path = settings_path(s, "hostagg[%u].job", i);
    struct config_hostagg *h = &c->hostagg[i];

    if (!settings_has(s, path))
        h->number = i;
    for (unsigned other = 0; other < i; other++)
        if (c->hostagg[other].number == h->number)
            settings_fault(s, path, "%u is the number of hostagg[%u], too", h->number, other);
}

static void check_host(struct settings *s, const struct config *c, const struct config_hostagg *h, unsigned i)
{
    const char *port = settings_path(s, "hostagg[%u].host.port", i);

    config_check_peer(s, c, settings_path(s, "hostagg[%u].host", i), 1, &h->host);
    if (!settings_has(s, port))
        settings_fault(s, port, "is missing: the UDP port that the workers send to");
    else if (h->host.port >= UPLINK_CONTROL_PORT && h->host.port <= UPLINK_DATA_PORT_LAST)
        settings_fault(s, port, "%u is one of the switch's own ports, %d to %d", h->host.port,
                       UPLINK_CONTROL_PORT, UPLINK_DATA_PORT_LAST);
    else if (h->host.port >= ATP_PORT_FIRST && h->host.port <= ATP_PORT_LAST)
        settings_fault(s, port, "%u is one of ATP's ports, %d to %d", h->host.port, ATP_PORT_FIRST,
                       ATP_PORT_LAST);
}

/* No worker may have the address and port of the host, or of one before it. */
static void check_distinct(struct settings *s, const struct config_hostagg *h, unsigned rank,
                           const char *path)
{
    const struct config_peer *w = &h->worker[rank];
    const uint8_t *ip = (const uint8_t *)&w->ip;

    if (w->ip == h->host.ip && w->port == h->host.port)
        settings_fault(s, path, "has the host's address and port");
    for (unsigned other = 0; other < rank; other++)
        if (w->ip == h->worker[other].ip && w->port == h->worker[other].port)
            settings_fault(s, path,
                           "UDP port %u of %u.%u.%u.%u is workers[%u]'s, too: each needs one of its own",
                           w->port, ip[0], ip[1], ip[2], ip[3], other);
}

static void check_workers(struct settings *s, const struct config *c, const struct config_hostagg *h,
                          unsigned i)
{
    for (unsigned rank = 0; rank < h->common.workers; rank++) {
        const char *path = settings_path(s, "hostagg[%u].workers[%u]", i, rank);

        config_check_peer(s, c, path, 1, &h->worker[rank]);
        if (!settings_are_faulty(s, path))
            check_distinct(s, h, rank, path);
    }
}

/* Turns the keys into the protocol's terms; done nowhere else. */
static void make_terms(struct config_hostagg *h, uint8_t code, size_t element)
{
    const struct hag_terms terms = {.host = h->host_gets,
                                    .code = code,
                                    .slots = (uint16_t)h->slots,
                                    .chunk_bytes = (uint16_t)(h->elements * element)};

    hag_terms_build(&h->common.terms, &terms);
}

static void check_job(struct settings *s, struct config *c, unsigned i)
{
    struct config_hostagg *h = &c->hostagg[i];
    size_t element;
    uint8_t code;

    check_number(s, c, i);
    if (h->host_gets != HAG_HOST_ABSENT && !c->has_ip && !settings_are_faulty(s, "switch.ip"))
        settings_fault(s, settings_path(s, "hostagg[%u].host_gets", i),
                       "needs switch.ip, the address that the host hears from; or else let it be nothing");
    config_check_fixed(s, c, &config_hostagg_jobs, i, h->host_gets != HAG_HOST_ABSENT);
    check_host(s, c, h, i);
    check_workers(s, c, h, i);
    code = config_find_code(s, "hostagg", i);
    element = code == 0 ? 1 : agg_code_bytes(code);
    check_elements(s, c, h, i, element);
    make_terms(h, code, element);
}

/* Its members are its workers, then the host, unless it gets nothing. */
static void describe(const struct config *c, unsigned place, struct config_job *job)
{
    const struct config_hostagg *h = &c->hostagg[place];

    job->host_asks = h->host_gets != HAG_HOST_ABSENT;
    job->members += job->host_asks;
    job->number = (int)h->number;
    job->host = &h->host;
}

/* The workers hear from the host, whom they have sent to; the host from the switch. */
static struct config_member member(const struct config *c, unsigned place, unsigned rank)
{
    const struct config_hostagg *h = &c->hostagg[place];
    struct config_member m = config_member_of(rank < h->common.workers ? &h->worker[rank] : &h->host);

    m.hears_from = rank < h->common.workers ? h->host.ip : 0;
    return m;
}

const struct config_jobs_list config_hostagg_jobs = {.key = "hostagg",
                                                     CONFIG_FIXED_LIST(hostagg_jobs, hostagg),
                                                     .check = check_job,
                                                     .job = describe,
                                                     .member = member};
