/* The list of jobs of passing frames: what workers send to a host by a protocol of which no frame may be
 * touched. */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "clone/pool.h"
#include "clone/terms.h"
#include "config/config_check.h"
#include "config/config_peer.h"
#include "config/config_value.h"
#include "wire/hostagg.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { ETHERNET_BYTES = 14, HEADERS_BYTES = 20 + 8 + HAG_HEADER_BYTES /* of the collector's packets */ };

/* quiet_ms has no default of its own; offsets and elements as in the paper. */
static const struct config_number numbers[] = {
    {"ether_type", offsetof(struct config_clone, ether_type), 0x600, UINT16_MAX, 0x88b5},
    {"slots", offsetof(struct config_clone, slots), 1, CLN_MAX_SLOTS, 1024},
    {"sequence_at", offsetof(struct config_clone, sequence_at), ETHERNET_BYTES, 9000, ETHERNET_BYTES},
    {"elements_at", offsetof(struct config_clone, elements_at), ETHERNET_BYTES, 9000, 64},
    {"elements", offsetof(struct config_clone, elements), 1, CLN_MAX_CHUNK_BYTES, 32},
    {"match_at", offsetof(struct config_clone, match_at), 0, 9000, ETHERNET_BYTES},
    {"missing_after_ms", offsetof(struct config_clone, missing_after_ms), 1, 600000, 100},
    {"quiet_ms", offsetof(struct config_clone, quiet_ms), 100, 600000, 0},
};

static const char *key_path(char path[CONFIG_PATH_MAX], unsigned job, const char *key)
{
    snprintf(path, CONFIG_PATH_MAX, "clone[%u].%s", job, key);
    return path;
}

/* Hexadecimal digits, two a byte. */
static void check_match(struct config_text *t, const char *text, struct config_clone *c, unsigned i)
{
    const size_t digits = strlen(text);
    char path[CONFIG_PATH_MAX];
    unsigned byte;

    if (!config_text_has(t, key_path(path, i, "match")))
        return;
    if (digits == 0 || digits > 2 * CLN_MATCH_MAX || digits % 2 != 0 ||
        text[strspn(text, "0123456789abcdefABCDEF")] != '\0') {
        config_fault(t, path, "\"%s\" is not 1 to %d bytes in hexadecimal digits, two each", text,
                     CLN_MATCH_MAX);
        return;
    }
    for (size_t b = 0; b < digits / 2 && sscanf(text + 2 * b, "%2x", &byte) == 1; b++)
        c->match[b] = (uint8_t)byte;
    c->match_bytes = (uint8_t)(digits / 2);
}

/* No frame of the flow is longer than ports carry, nor is what the collector is sent. */
static void check_offsets(struct config_text *t, const struct config *cfg, const struct config_clone *c,
                          unsigned i, size_t element)
{
    const size_t bytes = c->elements * element, most = (size_t)cfg->mtu + ETHERNET_BYTES;
    char path[CONFIG_PATH_MAX];

    if (config_text_is_faulty(t, "mtu") || config_text_is_faulty(t, key_path(path, i, "elements")))
        return;
    if (c->elements_at + bytes > most)
        config_fault(t, path, "%u from byte %u on end behind a frame of %zu bytes, the longest at mtu %u",
                     c->elements, c->elements_at, most, cfg->mtu);
    else if (bytes > CLN_MAX_CHUNK_BYTES)
        config_fault(t, path, "%u have %zu bytes, more than the %d that a chunk may have", c->elements, bytes,
                     CLN_MAX_CHUNK_BYTES);
    else if (c->has_collector && bytes + HEADERS_BYTES > cfg->mtu)
        config_fault(t, path, "%u make packets of %zu bytes for the collector, and mtu is %u", c->elements,
                     bytes + HEADERS_BYTES, cfg->mtu);
}

static void check_workers(struct config_text *t, const struct config *cfg, struct config_raw_clone *raw,
                          struct config_clone *c, unsigned i)
{
    char path[CONFIG_PATH_MAX], key[32];

    config_parse_mac(t, key_path(path, i, "host"), raw->host, c->host);
    c->workers = raw->workers_count;
    for (unsigned w = 0; w < c->workers; w++) {
        snprintf(key, sizeof(key), "workers[%u]", w);
        config_parse_mac(t, key_path(path, i, key), raw->workers[w], c->worker[w]);
        if (cfg->has_mac && memcmp(c->worker[w], cfg->mac, sizeof(cfg->mac)) == 0)
            config_fault(t, path, "is switch.mac, the switch's own");
        for (unsigned job = 0; job <= i; job++)
            for (unsigned other = 0; other < (job < i ? cfg->clone[job].workers : w); other++)
                if (cfg->clone[job].network == c->network &&
                    memcmp(c->worker[w], cfg->clone[job].worker[other], sizeof(c->worker[w])) == 0)
                    config_fault(t, path, "%s is clone[%u].workers[%u], too", raw->workers[w], job, other);
    }
}

static void check_collector(struct config_text *t, const struct config *cfg, struct config_raw_clone *raw,
                            struct config_clone *c, unsigned i)
{
    char path[CONFIG_PATH_MAX];

    if (!c->has_collector)
        return;
    config_check_peer(t, cfg, key_path(path, i, "collector"), 1, &raw->collector, &c->collector);
    if (!cfg->has_ip && !config_text_is_faulty(t, "switch.ip"))
        config_fault(t, path, "needs switch.ip, the address that it hears from");
}

static void check_flow(struct config_text *t, const struct config *cfg, unsigned i)
{
    const struct config_clone *c = &cfg->clone[i];
    char path[CONFIG_PATH_MAX];

    for (unsigned other = 0; other < i; other++)
        if (cfg->clone[other].network == c->network && cfg->clone[other].ether_type == c->ether_type &&
            memcmp(cfg->clone[other].host, c->host, sizeof(c->host)) == 0)
            config_fault(t, key_path(path, i, "host"),
                         "has the frames of this ether_type for clone[%u] already", other);
}

/* Turns the keys into the protocol's terms; done nowhere else. */
static void make_terms(struct config_clone *c, uint8_t code, size_t element)
{
    struct cln_terms terms = {.code = code,
                              .collector = c->has_collector,
                              .slots = (uint16_t)c->slots,
                              .chunk_bytes = (uint16_t)(c->elements * element),
                              .missing_after_ms = c->missing_after_ms,
                              .layout = {.sequence_at = (uint16_t)c->sequence_at,
                                         .little = c->little,
                                         .elements_at = (uint16_t)c->elements_at,
                                         .match_at = (uint16_t)c->match_at,
                                         .match_bytes = c->match_bytes,
                                         .ether_type = (uint16_t)c->ether_type}};

    memcpy(terms.layout.match, c->match, sizeof(c->match));
    memcpy(terms.layout.host, c->host, sizeof(c->host));
    cln_terms_build(&c->terms, &terms);
}

static void check_job(struct config_text *t, struct config_raw *raw, unsigned i)
{
    struct config *cfg = &raw->config;
    struct config_clone *c = &cfg->clone[i];
    struct config_raw_clone *from = &raw->clone[i];
    char path[CONFIG_PATH_MAX];
    size_t element;
    uint8_t code;

    *c = from->job;
    config_check_name(t, &(struct config_names){"clone", cfg->clone[0].name, sizeof(*c)}, i);
    config_default_numbers(t, key_path(path, i, ""), c, numbers, COUNT(numbers));
    if (!config_text_has(t, key_path(path, i, "quiet_ms")))
        c->quiet_ms = cfg->timers.lost_after_ms;
    config_check_numbers(t, key_path(path, i, ""), c, numbers, COUNT(numbers));
    config_check_power_of_two(t, key_path(path, i, "slots"), c->slots);
    c->has_collector = config_text_has(t, key_path(path, i, "collector"));
    config_check_job_vlan(t, key_path(path, i, "vlan"), cfg, c->vlan, c->has_collector, &c->network);
    c->tenant = config_check_tenant_name(t, key_path(path, i, "tenant"), cfg, from->tenant);
    check_workers(t, cfg, from, c, i);
    check_flow(t, cfg, i);
    check_collector(t, cfg, from, c, i);
    check_match(t, from->match, c, i);
    code = config_check_code(t, key_path(path, i, ""), from->type, from->operation);
    element = code == 0 ? 1 : agg_code_bytes(code);
    check_offsets(t, cfg, c, i, element);
    make_terms(c, code, element);
}

void config_check_clone(struct config_text *t, struct config_raw *raw)
{
    for (unsigned i = 0; i < raw->config.clone_jobs; i++)
        check_job(t, raw, i);
}
