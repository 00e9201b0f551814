#include "config_check.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Settings that are plain numbers (uint32_t): the least, the greatest, and the default. */
struct number {
    const char *path;
    size_t offset;
    uint32_t min, max, fallback;
};

static const struct number numbers[] = {
    {"mtu", offsetof(struct config, mtu), 256, 9600, 1500},
    {"pool.slots_per_job", offsetof(struct config, pool.slots_per_job), 2, 16384, 512},
    {"pool.megabytes", offsetof(struct config, pool.megabytes), 1, 1 << 20, 64},
    {"limits.jobs", offsetof(struct config, limits.jobs), 1, 256, 16},
    {"limits.workers", offsetof(struct config, limits.workers), 1, 256, 64},
    {"timers.lost_after_ms", offsetof(struct config, timers.lost_after_ms), 100, 600000, 5000},
    {"timers.mac_age_s", offsetof(struct config, timers.mac_age_s), 1, 86400, 300},
    {"memory.megabytes", offsetof(struct config, memory.megabytes), 1, 1 << 20, 256},
    {"idle.spin", offsetof(struct config, idle.spin), 1, 1 << 30, 1000},
    {"idle.max_sleep_us", offsetof(struct config, idle.max_sleep_us), 0, 100000, 1000},
};

enum {
    SEED = 1,
    MEMORY_BESIDE_POOL = 64, /* megabytes: mbufs and rings of a small set-up */
};

static uint32_t *number_at(struct config *c, const struct number *n)
{
    return (uint32_t *)((char *)c + n->offset);
}

static void set_defaults(struct config_text *t, struct config *c)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        if (!config_text_has(t, numbers[i].path))
            *number_at(c, &numbers[i]) = numbers[i].fallback;
    }
    if (!config_text_has(t, "log_level"))
        c->log_level = CONFIG_LOG_NOTICE;
    if (!config_text_has(t, "seed"))
        c->seed = SEED;
}

static void check_numbers(struct config_text *t, struct config *c)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const struct number *n = &numbers[i];
        uint32_t value = *number_at(c, n);

        if (value < n->min || value > n->max)
            config_fault(t, n->path, "%u is out of range (%u..%u)", value, n->min, n->max);
    }
}

static void check_pool(struct config_text *t, const struct config *c)
{
    uint32_t slots = c->pool.slots_per_job;

    if ((slots & (slots - 1)) != 0)
        config_fault(t, "pool.slots_per_job", "%u is not a power of two (512, 1024, ...)", slots);
    if (c->memory.megabytes < c->pool.megabytes + MEMORY_BESIDE_POOL)
        config_fault(t, "memory.megabytes",
                     "%u is too little for a pool of %u and %u for frames: make it %u, or the pool less",
                     c->memory.megabytes, c->pool.megabytes, MEMORY_BESIDE_POOL,
                     c->pool.megabytes + MEMORY_BESIDE_POOL);
}

/* Six bytes of one or two hexadecimal digits. sscanf alone would take signs and blanks, too. */
static bool parse_mac(const char *text, unsigned b[6])
{
    int end = 0;

    return text[strspn(text, "0123456789abcdefABCDEF:")] == '\0' &&
           sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &end) == 6 &&
           text[end] == '\0';
}

static void check_mac(struct config_text *t, const char *text, struct config *c)
{
    unsigned b[6];

    if (!parse_mac(text, b)) {
        config_fault(t, "switch.mac", "\"%s\" is not a MAC address (02:00:00:00:00:01)", text);
        return;
    }
    for (unsigned i = 0; i < 6; i++)
        c->mac[i] = (uint8_t)b[i];
    if (c->mac[0] & 1)
        config_fault(t, "switch.mac", "%s is a group address; the first byte must be even", text);
    else if ((b[0] | b[1] | b[2] | b[3] | b[4] | b[5]) == 0)
        config_fault(t, "switch.mac", "%s is no station's address; 02:00:00:00:00:01 would do", text);
    c->has_mac = true;
}

/* Decimal digits only, 1..32. */
static bool parse_prefix(const char *text, uint8_t *prefix)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *prefix = (uint8_t)value;
    return isdigit((unsigned char)text[0]) && *end == '\0' && value >= 1 && value <= 32;
}

/* Why ip/prefix cannot be a host's address, or NULL. */
static const char *unusable_ip(uint32_t ip, uint8_t prefix)
{
    const uint32_t host = prefix < 32 ? UINT32_MAX >> prefix : 0;

    if (ip >> 24 == 0 || ip >> 24 == 127 || ip >> 28 >= 0xE)
        return "not an address that a host can have";
    if (prefix < 31 && (ip & host) == 0)
        return "the network's own address; choose a host's";
    if (prefix < 31 && (ip & host) == host)
        return "the network's broadcast address; choose a host's";
    return NULL;
}

static void check_ip(struct config_text *t, char *text, struct config *c)
{
    char *slash = strchr(text, '/');
    const char *why;

    c->prefix = 32;
    if (slash != NULL && !parse_prefix(slash + 1, &c->prefix)) {
        config_fault(t, "switch.ip", "\"%s\": the prefix after the / must be 1..32", text);
        return;
    }
    if (slash != NULL)
        *slash = '\0';
    if (inet_pton(AF_INET, text, &c->ip) != 1) {
        config_fault(t, "switch.ip", "\"%s\" is not an IPv4 address (10.0.0.1 or 10.0.0.1/24)", text);
        return;
    }
    why = unusable_ip(ntohl(c->ip), c->prefix);
    if (why != NULL)
        config_fault(t, "switch.ip", "%s/%u is %s", text, c->prefix, why);
    c->has_ip = true;
}

void config_check(struct config_text *t, struct config_raw *raw)
{
    struct config *c = &raw->config;

    set_defaults(t, c);
    config_check_ports(t, c);
    if (config_text_has(t, "switch.mac"))
        check_mac(t, raw->sw.mac, c);
    if (config_text_has(t, "switch.ip"))
        check_ip(t, raw->sw.ip, c);
    if (config_text_has(t, "lcores"))
        config_check_lcores(t, raw);
    check_numbers(t, c);
    check_pool(t, c);
}
