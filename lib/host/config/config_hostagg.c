/* The list of host-addressed jobs: flows of workers to a host. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/uplink_ports.h"
#include "config/config_check.h"
#include "config/config_peer.h"
#include "config/config_value.h"
#include "hostagg/terms.h"
#include "wire/atp.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { HEADERS_BYTES = 20 + 8 + HAG_HEADER_BYTES /* IPv4, UDP, ours */ };

/* job and elements have no defaults of their own. */
static const struct config_number numbers[] = {
    {"job", offsetof(struct config_hostagg, number), 0, AGG_JOBS - 1, 0},
    {"slots", offsetof(struct config_hostagg, slots), 1, HAG_MAX_SLOTS, 64},
    {"elements", offsetof(struct config_hostagg, elements), 1, HAG_MAX_CHUNK_BYTES, 1},
};

static const char *key_path(char path[CONFIG_PATH_MAX], unsigned job, const char *key)
{
    snprintf(path, CONFIG_PATH_MAX, "hostagg[%u].%s", job, key);
    return path;
}

/* Sets how many elements a packet has, unless they are given. */
static void check_elements(struct config_text *t, const struct config *c, struct config_hostagg *h,
                           unsigned i, size_t element)
{
    const size_t room = c->mtu <= HEADERS_BYTES ? 0 : c->mtu - HEADERS_BYTES;
    char path[CONFIG_PATH_MAX];

    if (!config_text_has(t, key_path(path, i, "elements")))
        h->elements = (uint32_t)((room < HAG_MAX_CHUNK_BYTES ? room : HAG_MAX_CHUNK_BYTES) / element);
    if (config_text_is_faulty(t, path) || config_text_is_faulty(t, "mtu"))
        return;
    if (h->elements * element > HAG_MAX_CHUNK_BYTES)
        config_fault(t, path, "%u take %zu bytes, and a packet has room for %d", h->elements,
                     h->elements * element, HAG_MAX_CHUNK_BYTES);
    else if (h->elements * element > room)
        config_fault(t, path, "%u make packets of %zu bytes, and mtu is %u: raise it, or have fewer elements",
                     h->elements, h->elements * element + HEADERS_BYTES, c->mtu);
}

static void check_number(struct config_text *t, struct config *c, unsigned i)
{
    struct config_hostagg *h = &c->hostagg[i];
    char path[CONFIG_PATH_MAX];

    if (!config_text_has(t, key_path(path, i, "job")))
        h->number = i;
    for (unsigned other = 0; other < i; other++)
        if (c->hostagg[other].number == h->number)
            config_fault(t, path, "%u is the number of hostagg[%u], too", h->number, other);
}

/* Member m, of those before which it stands none may have its address and port. */
static void check_distinct(struct config_text *t, const struct config_hostagg *h, unsigned i, unsigned rank)
{
    const struct config_peer *w = &h->worker[rank];
    const uint8_t *ip = (const uint8_t *)&w->ip;
    char path[CONFIG_PATH_MAX], key[32];

    snprintf(key, sizeof(key), "workers[%u]", rank);
    key_path(path, i, key);
    if (w->ip == h->host.ip && w->port == h->host.port)
        config_fault(t, path, "has the host's address and port");
    for (unsigned other = 0; other < rank; other++)
        if (w->ip == h->worker[other].ip && w->port == h->worker[other].port)
            config_fault(t, path,
                         "UDP port %u of %u.%u.%u.%u is workers[%u]'s, too: each needs one of its own",
                         w->port, ip[0], ip[1], ip[2], ip[3], other);
}

static void check_members(struct config_text *t, const struct config *c, struct config_raw_hostagg *raw,
                          struct config_hostagg *h, unsigned i)
{
    char path[CONFIG_PATH_MAX], key[32];

    config_check_peer(t, c, key_path(path, i, "host"), 1, &raw->host, &h->host);
    if (!config_text_has(t, key_path(path, i, "host.port")))
        config_fault(t, path, "is missing: the UDP port that the workers send to");
    else if (h->host.port >= UPLINK_CONTROL_PORT && h->host.port <= UPLINK_DATA_PORT_LAST)
        config_fault(t, path, "%u is one of the switch's own ports, %d to %d", h->host.port,
                     UPLINK_CONTROL_PORT, UPLINK_DATA_PORT_LAST);
    else if (h->host.port >= ATP_PORT_FIRST && h->host.port <= ATP_PORT_LAST)
        config_fault(t, path, "%u is one of ATP's ports, %d to %d", h->host.port, ATP_PORT_FIRST,
                     ATP_PORT_LAST);
    for (unsigned rank = 0; rank < h->workers; rank++) {
        snprintf(key, sizeof(key), "workers[%u]", rank);
        config_check_peer(t, c, key_path(path, i, key), 1, &raw->worker[rank], &h->worker[rank]);
        if (!config_text_is_faulty(t, path))
            check_distinct(t, h, i, rank);
    }
}

/* Turns the keys into the protocol's terms; done nowhere else. */
static void make_terms(struct config_hostagg *h, uint8_t code, size_t element)
{
    const struct hag_terms terms = {.host = h->host_gets,
                                    .code = code,
                                    .slots = (uint16_t)h->slots,
                                    .chunk_bytes = (uint16_t)(h->elements * element)};

    hag_terms_build(&h->terms, &terms);
}

static void check_job(struct config_text *t, struct config_raw *raw, unsigned i)
{
    struct config *c = &raw->config;
    struct config_hostagg *h = &c->hostagg[i];
    char path[CONFIG_PATH_MAX];
    size_t element;
    uint8_t code;

    *h = raw->hostagg[i].job;
    config_check_name(t, &(struct config_names){"hostagg", c->hostagg[0].name, sizeof(*h)}, i);
    config_default_numbers(t, key_path(path, i, ""), h, numbers, COUNT(numbers));
    config_check_numbers(t, path, h, numbers, COUNT(numbers));
    config_check_power_of_two(t, key_path(path, i, "slots"), h->slots);
    check_number(t, c, i);
    if (!config_text_has(t, key_path(path, i, "host_gets")))
        h->host_gets = HAG_HOST_HEARS;
    if (h->host_gets != HAG_HOST_ABSENT && !c->has_ip && !config_text_is_faulty(t, "switch.ip"))
        config_fault(t, path,
                     "needs switch.ip, the address that the host hears from; or else let it be nothing");
    config_check_job_vlan(t, key_path(path, i, "vlan"), c, h->vlan, h->host_gets != HAG_HOST_ABSENT,
                          &h->network);
    h->tenant = config_check_tenant_name(t, key_path(path, i, "tenant"), c, raw->hostagg[i].tenant);
    check_members(t, c, &raw->hostagg[i], h, i);
    code = config_check_code(t, key_path(path, i, ""), raw->hostagg[i].type, raw->hostagg[i].operation);
    element = code == 0 ? 1 : agg_code_bytes(code);
    check_elements(t, c, h, i, element);
    make_terms(h, code, element);
}

void config_check_hostagg(struct config_text *t, struct config_raw *raw)
{
    for (unsigned i = 0; i < raw->config.hostagg_jobs; i++)
        check_job(t, raw, i);
}
