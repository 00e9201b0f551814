/* The list of jobs of passing frames: what workers send to a host by a protocol of which no frame may be
 * touched. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "clone/pool.h"
#include "clone/terms.h"
#include "config/config_parts.h"
#include "settings/values.h"
#include "wire/hostagg.h"

enum { HEADERS_BYTES = AGG_IP_UDP_BYTES + HAG_HEADER_BYTES /* of the collector's packets */ };

static const struct setting_word byte_orders[] = {{"big", false}, {"little", true}, {NULL, 0}};

static void parse_match(struct settings *s, const char *path, const char *text, void *match);

static const struct setting worker = {
    .type = SETTING_PARSED, .parse = setting_parse_mac, .show = setting_show_mac, .kind = "MAC addresses"};

static void show_match(char text[SETTING_SHOWN_MAX], const void *configuration, const void *match)
{
    const uint8_t *b = match;

    (void)configuration;
    snprintf(text, SETTING_SHOWN_MAX, "-");
    for (unsigned i = 0; i < b[CLN_MATCH_MAX]; i++)
        snprintf(text + 2 * i, SETTING_SHOWN_MAX - 2 * i, "%02x", b[i]);
}

/* Offsets and elements as in the paper. */
/* clang-format off */
const struct setting config_clone_fields[] = {
    CONFIG_JOB_NAME(struct config_clone, SETTING_AT_ONCE, "`clone[0]`, ...", ""),
    {.key = "host", SETTING_MAC, .required = true, SETTING_AT(struct config_clone, host),
     .meaning = "where the frames go"},
    {.key = "ether_type", SETTING_NUMBER_AT(struct config_clone, ether_type, 0x600, UINT16_MAX, 0x88b5),
     .usual = "0x88b5", .meaning = "their type; a host may have several jobs, of different types"},
    {.key = "workers", SETTING_LIST_AT(struct config_clone, worker, common.workers, 1, CONFIG_CLONE_WORKERS_MAX),
     .required = true, .item = &worker,
     .meaning = "where they come from, in the order of the workers' numbers; each in one job only"},
    {.key = "slots", SETTING_NUMBER_AT(struct config_clone, slots, 1, CLN_MAX_SLOTS, 1024), .power_of_two = true,
     .meaning = "how far a worker may be ahead of another; a slot takes a chunk for every worker, and one for the sum, of `pool.megabytes`"},
    {.key = "sequence_at", SETTING_NUMBER_AT(struct config_clone, sequence_at, CLN_ETHERNET_BYTES, 9000, CLN_ETHERNET_BYTES),
     .meaning = "where the number of the chunk is, 32 bits: the same for all workers, and counting up"},
    {.key = "byte_order", .type = SETTING_WORD, SETTING_AT(struct config_clone, little), .words = byte_orders,
     .meaning = "of that number"},
    {.key = "elements_at", SETTING_NUMBER_AT(struct config_clone, elements_at, CLN_ETHERNET_BYTES, 9000, 64),
     .meaning = "where the elements begin"},
    {.key = "elements", SETTING_NUMBER_AT(struct config_clone, elements, 1, CLN_MAX_CHUNK_BYTES, 32),
     .meaning = "in every frame"},
    {.key = "type", .type = SETTING_LATER, SETTING_AT(struct config_clone, common.terms), .most = 15,
     .show = config_show_type, .kind = "as in [`hostagg`](#hostagg-a-list-1-to-256)", .usual = "float32",
     .meaning = "of the elements, in the byte order of [protocol.md](protocol.md#elements)"},
    {.key = "operation", .type = SETTING_LATER, SETTING_AT(struct config_clone, common.terms), .most = 15,
     .show = config_show_operation, .kind = "as in [`hostagg`](#hostagg-a-list-1-to-256)", .usual = "sum", .meaning = "what is done with them"},
    {.key = "match_at", SETTING_NUMBER_AT(struct config_clone, match_at, 0, 9000, CLN_ETHERNET_BYTES),
     .meaning = "where `match` is looked for"},
    {.key = "match", .type = SETTING_PARSED, SETTING_AT(struct config_clone, match), .most = 63, .parse = parse_match,
     .show = show_match,
     .kind = "1 to 8 bytes in hexadecimal digits",
     .meaning = "frames that have these bytes carry gradients; others of the flow are let alone. Without it all do"},
    {.key = "collector", .type = SETTING_GROUP, SETTING_AT(struct config_clone, collector),
     .fields = config_peer_fields, .kind = "group: `ip`, `mac`, `port`",
     .meaning = "who gets [sums and reports](#the-collector), from `switch.ip` and the same UDP port"},
    {.key = "missing_after_ms", SETTING_NUMBER_AT(struct config_clone, missing_after_ms, 1, 600000, 100),
     .unit = "ms",
     .meaning = "a chunk that has lacked copies for so long is reported, once (`clone_send_missing`); it is still summed if they come"},
    CONFIG_JOB_QUIET(struct config_clone,
                     "when for so long no copy came that counts, the slots start over: workers that begin to count anew wait for so long"),
    CONFIG_JOB_TENANT(struct config_clone, SETTING_AT_ONCE),
    CONFIG_JOB_VLAN(struct config_clone, SETTING_AT_ONCE,
                    "that the frames are in, and the collector: the same in another one passes unseen"),
    {.key = NULL},
};
/* clang-format on */

static_assert(offsetof(struct config_clone, match_bytes) ==
                  offsetof(struct config_clone, match) + CLN_MATCH_MAX,
              "parse_match writes both");

/* Hexadecimal digits, two a byte; behind the bytes, how many they are. */
static void parse_match(struct settings *s, const char *path, const char *text, void *match)
{
    const size_t digits = strlen(text);
    uint8_t *to = match;
    unsigned byte;

    if (digits > 2 * CLN_MATCH_MAX || digits % 2 != 0 ||
        text[strspn(text, "0123456789abcdefABCDEF")] != '\0') {
        settings_fault(s, path, "\"%s\" is not 1 to %d bytes in hexadecimal digits, two each", text,
                       CLN_MATCH_MAX);
        return;
    }
    for (size_t b = 0; b < digits / 2 && sscanf(text + 2 * b, "%2x", &byte) == 1; b++)
        to[b] = (uint8_t)byte;
    to[CLN_MATCH_MAX] = (uint8_t)(digits / 2);
}

/* No frame of the flow is longer than ports carry, nor is what the collector is sent. */
static void check_offsets(struct settings *s, const struct config *cfg, const struct config_clone *c,
                          unsigned i, size_t element)
{
    const size_t bytes = c->elements * element, most = (size_t)cfg->mtu + CLN_ETHERNET_BYTES;
    const char *path = settings_path(s, "clone[%u].elements", i);

    if (settings_are_faulty(s, "mtu") || settings_are_faulty(s, path))
        return;
    if (c->elements_at + bytes > most)
        settings_fault(s, path, "%u from byte %u on end behind a frame of %zu bytes, the longest at mtu %u",
                       c->elements, c->elements_at, most, cfg->mtu);
    else if (bytes > CLN_MAX_CHUNK_BYTES)
        settings_fault(s, path, "%u have %zu bytes, more than the %d that a chunk may have", c->elements,
                       bytes, CLN_MAX_CHUNK_BYTES);
    else if (c->has_collector && bytes + HEADERS_BYTES > cfg->mtu)
        settings_fault(s, path, "%u make packets of %zu bytes for the collector, and mtu is %u", c->elements,
                       bytes + HEADERS_BYTES, cfg->mtu);
}

static void check_worker(struct settings *s, const struct config *cfg, unsigned i, unsigned w)
{
    const struct config_clone *c = &cfg->clone[i];
    const char *path = settings_path(s, "clone[%u].workers[%u]", i, w);

    if (cfg->has_mac && memcmp(c->worker[w], cfg->mac, sizeof(cfg->mac)) == 0)
        settings_fault(s, path, "is switch.mac, the switch's own");
    for (unsigned job = 0; job <= i; job++)
        for (unsigned other = 0; other < (job < i ? cfg->clone[job].common.workers : w); other++)
            if (cfg->clone[job].common.network == c->common.network &&
                memcmp(c->worker[w], cfg->clone[job].worker[other], sizeof(c->worker[w])) == 0)
                settings_fault(s, path, "%s is clone[%u].workers[%u], too", settings_text(s, path), job,
                               other);
}

static void check_collector(struct settings *s, const struct config *cfg, struct config_clone *c, unsigned i)
{
    const char *path = settings_path(s, "clone[%u].collector", i);

    if (!c->has_collector) {
        c->collector = (struct config_peer){0};
        return;
    }
    config_check_peer(s, cfg, path, 1, &c->collector);
    if (!cfg->has_ip && !settings_are_faulty(s, "switch.ip"))
        settings_fault(s, path, "needs switch.ip, the address that it hears from");
}

static void check_flow(struct settings *s, const struct config *cfg, unsigned i)
{
    const struct config_clone *c = &cfg->clone[i];

    for (unsigned other = 0; other < i; other++)
        if (cfg->clone[other].common.network == c->common.network &&
            cfg->clone[other].ether_type == c->ether_type &&
            memcmp(cfg->clone[other].host, c->host, sizeof(c->host)) == 0)
            settings_fault(s, settings_path(s, "clone[%u].host", i),
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
    cln_terms_build(&c->common.terms, &terms);
}

static void check_job(struct settings *s, struct config *cfg, unsigned i)
{
    struct config_clone *c = &cfg->clone[i];
    size_t element;
    uint8_t code;

    c->has_collector = settings_has(s, settings_path(s, "clone[%u].collector", i));
    config_check_fixed(s, cfg, &config_clone_jobs, i, c->has_collector);
    for (unsigned w = 0; w < c->common.workers; w++)
        check_worker(s, cfg, i, w);
    check_flow(s, cfg, i);
    check_collector(s, cfg, c, i);
    code = config_find_code(s, "clone", i);
    element = code == 0 ? 1 : agg_code_bytes(code);
    check_offsets(s, cfg, c, i, element);
    make_terms(c, code, element);
}

static void describe(const struct config *cfg, unsigned place, struct config_job *job)
{
    const struct config_clone *c = &cfg->clone[place];

    job->members += c->has_collector;
    job->heard_from = (uint16_t)c->collector.port;
    job->station = c->host;
    job->ether_type = (uint16_t)c->ether_type;
}

/* Workers are known by their MAC addresses, and are sent nothing. */
static struct config_member member(const struct config *cfg, unsigned place, unsigned rank)
{
    const struct config_clone *c = &cfg->clone[place];
    struct config_member m;
    struct agg_sender sender;

    if (rank == c->common.workers)
        return config_member_of(&c->collector);
    sender = agg_sender_of_mac(c->worker[rank]);
    m = (struct config_member){.port = sender.port, .ip = sender.ip};
    memcpy(m.mac, sender.mac, sizeof(m.mac));
    return m;
}

const struct config_jobs_list config_clone_jobs = {.key = "clone",
                                                   CONFIG_FIXED_LIST(clone_jobs, clone),
                                                   .starts_over = true,
                                                   .check = check_job,
                                                   .job = describe,
                                                   .member = member};
