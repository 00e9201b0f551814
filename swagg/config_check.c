#include "config_check.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Settings that are plain numbers (uint32_t): what they may be, and what they are where the file does not
 * say. */
struct number {
    const char *path;
    size_t offset;
    uint32_t min, max, otherwise;
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
    REORDER_BY = 3,
    REORDER_BY_MAX = 1000,
    REORDER_FOR_US = 1000,
    REORDER_FOR_US_MAX = 10000000,
};

static void check_numbers(struct config_text *t, struct config *c)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const struct number *n = &numbers[i];
        uint32_t *value = (uint32_t *)((char *)c + n->offset);

        if (!config_text_has(t, n->path))
            *value = n->otherwise;
        else if (*value < n->min || *value > n->max)
            config_fault(t, n->path, "%u is out of range (%u..%u)", *value, n->min, n->max);
    }
    if (!config_text_has(t, "log_level"))
        c->log_level = CONFIG_LOG_NOTICE;
    if (!config_text_has(t, "seed"))
        c->seed = SEED;
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

/* The path of something in a port. */
static const char *port_path(char path[CONFIG_PATH_MAX], unsigned port, const char *rest)
{
    snprintf(path, CONFIG_PATH_MAX, "ports[%u].%s", port, rest);
    return path;
}

static void check_impair(struct config_text *t, const char *parent, struct impair_config *im)
{
    char path[CONFIG_PATH_MAX];

    for (unsigned k = 0; k < IMPAIR_KINDS; k++) {
        double p = im->rate[k].probability;

        snprintf(path, sizeof(path), "%s.%s", parent, impair_kind_name(k));
        if (!(p >= 0 && p <= 1)) /* nor is NaN */
            config_fault(t, path, "%g is not a probability (0..1)", p);
    }
    snprintf(path, sizeof(path), "%s.reorder_by", parent);
    if (!config_text_has(t, path))
        im->hold_frames = REORDER_BY;
    else if (im->hold_frames < 1 || im->hold_frames > REORDER_BY_MAX)
        config_fault(t, path, "%u frames is out of range (1..%u)", im->hold_frames, REORDER_BY_MAX);
    snprintf(path, sizeof(path), "%s.reorder_for_us", parent);
    if (!config_text_has(t, path))
        im->hold_for = REORDER_FOR_US;
    else if (im->hold_for < 1 || im->hold_for > REORDER_FOR_US_MAX)
        config_fault(t, path, "%llu microseconds is out of range (1..%u)", (unsigned long long)im->hold_for,
                     REORDER_FOR_US_MAX);
}

/* Bytes of the device's name proper: its arguments follow a comma. */
static size_t device_name_length(const char *device)
{
    return strcspn(device, ",");
}

static bool starts_with(const char *s, const char *start)
{
    return strncmp(s, start, strlen(start)) == 0;
}

static void check_device(struct config_text *t, const struct config *c, unsigned port)
{
    const char *device = c->port[port].device;
    const size_t length = device_name_length(device);
    char path[CONFIG_PATH_MAX];

    port_path(path, port, "device");
    if (!starts_with(device, "net_") && memchr(device, ':', length) == NULL)
        config_fault(
            t, path,
            "\"%s\" is neither a DPDK device (net_...) nor a PCI address (0000:03:00.0); for a kernel "
            "interface write net_af_packet%u,iface=%s",
            device, port, device);
    if ((starts_with(device, "net_af_packet") || starts_with(device, "net_af_xdp")) &&
        strstr(device, ",iface=") == NULL)
        config_fault(t, path, "\"%s\" does not say which interface: append ,iface=NAME", device);
    for (unsigned other = 0; other < port; other++) {
        if (device_name_length(c->port[other].device) == length &&
            strncmp(c->port[other].device, device, length) == 0)
            config_fault(t, path, "\"%.*s\" is the device of ports[%u] already%s", (int)length, device, other,
                         starts_with(device, "net_") ? "; number them: net_af_packet0, net_af_packet1, ..."
                                                     : "");
    }
}

static bool is_printable_word(const char *s)
{
    while (isgraph((unsigned char)*s))
        s++;
    return *s == '\0';
}

static void check_name(struct config_text *t, struct config *c, unsigned port)
{
    char *name = c->port[port].name;
    char path[CONFIG_PATH_MAX];

    port_path(path, port, "name");
    if (!config_text_has(t, path))
        snprintf(name, CONFIG_NAME_MAX, "port%u", port);
    if (!is_printable_word(name))
        config_fault(t, path, "\"%s\" has spaces or unprintable characters in it", name);
    if (strcmp(name, "all") == 0)
        config_fault(t, path, "\"all\" means every port in the list of lcores; choose another name");
    for (unsigned other = 0; other < port; other++) {
        if (strcmp(c->port[other].name, name) == 0)
            config_fault(t, path, "\"%s\" is the name of ports[%u] already", name, other);
    }
}

static void check_ports(struct config_text *t, struct config *c)
{
    char path[CONFIG_PATH_MAX];

    for (unsigned p = 0; p < c->ports; p++) {
        check_name(t, c, p);
        check_device(t, c, p);
        check_impair(t, port_path(path, p, "impair.rx"), &c->port[p].impair.rx);
        check_impair(t, port_path(path, p, "impair.tx"), &c->port[p].impair.tx);
    }
}

static void check_mac(struct config_text *t, const char *text, struct config *c)
{
    unsigned b[6];
    int end = 0;

    if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &end) != 6 ||
        text[end] != '\0') {
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

    check_ports(t, c);
    if (config_text_has(t, "switch.mac"))
        check_mac(t, raw->sw.mac, c);
    if (config_text_has(t, "switch.ip"))
        check_ip(t, raw->sw.ip, c);
    if (config_text_has(t, "lcores"))
        config_check_lcores(t, raw);
    check_numbers(t, c);
    check_pool(t, c);
}
