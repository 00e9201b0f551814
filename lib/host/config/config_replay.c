/* The list of replayed jobs. */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>

#include "config/config_check.h"
#include "config/config_value.h"
#include "switchml/terms.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The same defaults as in `swagg-pcap gen`. */
static const struct config_number numbers[] = {
    {"workers", offsetof(struct config_replay, workers), 1, 1024, 2},
    {"slots", offsetof(struct config_replay, slots), 1, 16384, 64},
    {"phases", offsetof(struct config_replay, phases), 4, 1 << 24, 4},
    {"worker_port", offsetof(struct config_replay, worker_port), 1, 65535, 30000},
};

enum {
    PHASES_TIMES_SLOTS_MAX = 1 << 30,
    CHUNK_BYTES_MIN = 64,
    CHUNK_BYTES_MAX = 8960,
    HEADERS_BYTES = 20 + 8 + 10, /* IPv4, UDP, SwitchML */
    WORKER_IP = 0x0A4D0001,      /* 10.77.0.1 */
};
static const uint8_t worker_mac[6] = {2, 0, 0, 0, 1, 1};

static const char *replay_path(char path[CONFIG_PATH_MAX], unsigned i, const char *key)
{
    snprintf(path, CONFIG_PATH_MAX, "replay[%u].%s", i, key);
    return path;
}

/* Default: the longest chunk that fits into a packet of the MTU. */
static void check_chunk_bytes(struct config_text *t, const char *path, struct config_replay *r, uint32_t mtu)
{
    const uint32_t fits = (mtu - HEADERS_BYTES) / 4 * 4;
    const uint32_t max = fits < CHUNK_BYTES_MAX ? fits : CHUNK_BYTES_MAX;

    if (!config_text_has(t, path))
        r->chunk_bytes = max;
    else if (!config_text_is_faulty(t, "mtu") &&
             (r->chunk_bytes < CHUNK_BYTES_MIN || r->chunk_bytes > max || r->chunk_bytes % 4 != 0))
        config_fault(t, path, "%u must be a multiple of 4 within %u..%u (mtu less headers)", r->chunk_bytes,
                     CHUNK_BYTES_MIN, max);
}

static void check_workers_address(struct config_text *t, unsigned i, struct config_raw_replay *raw,
                                  struct config_replay *r)
{
    char path[CONFIG_PATH_MAX];
    uint8_t prefix;

    r->worker_ip = htonl(WORKER_IP);
    for (unsigned b = 0; b < 6; b++)
        r->worker_mac[b] = worker_mac[b];
    if (config_text_has(t, replay_path(path, i, "worker_mac")))
        config_parse_mac(t, path, raw->worker_mac, r->worker_mac);
    if (config_text_has(t, replay_path(path, i, "worker_ip")))
        config_parse_ip(t, path, raw->worker_ip, &r->worker_ip, &prefix);
}

/* Turns the keys into the protocol's terms; done nowhere else. */
static void make_terms(struct config_replay *r)
{
    const uint64_t tags = (uint64_t)r->slots * r->phases;
    const struct sml_terms terms = {
        .format = r->format,
        .mode = r->ordered ? XFER_ORDERED : XFER_ON_ARRIVAL,
        .slots = (uint16_t)r->slots,
        .chunk_bytes = (uint16_t)r->chunk_bytes,
        .tag_bits = tags == 0 ? 0 : (uint8_t)(63 - __builtin_clzll(tags)),
    };

    sml_terms_build(&r->terms, &terms);
}

void config_check_replay(struct config_text *t, struct config_raw *raw)
{
    struct config *c = &raw->config;
    char path[CONFIG_PATH_MAX];

    if (c->replays > 0 && !c->has_ip && !config_text_is_faulty(t, "switch.ip"))
        config_fault(t, "replay", "needs switch.ip, the address that the packets are sent to");
    for (unsigned i = 0; i < c->replays; i++) {
        struct config_replay *r = &c->replay[i];

        *r = raw->replay[i].replay;
        config_default_numbers(t, replay_path(path, i, ""), r, numbers, COUNT(numbers));
        config_check_numbers(t, path, r, numbers, COUNT(numbers));
        config_check_power_of_two(t, replay_path(path, i, "slots"), r->slots);
        config_check_power_of_two(t, replay_path(path, i, "phases"), r->phases);
        if ((uint64_t)r->slots * r->phases > PHASES_TIMES_SLOTS_MAX)
            config_fault(t, path, "%u phases of %u slots are more chunks than %u", r->phases, r->slots,
                         PHASES_TIMES_SLOTS_MAX);
        check_chunk_bytes(t, replay_path(path, i, "chunk_bytes"), r, c->mtu);
        check_workers_address(t, i, &raw->replay[i], r);
        r->tenant = config_check_tenant_name(t, replay_path(path, i, "tenant"), c, raw->replay[i].tenant);
        make_terms(r);
    }
}
