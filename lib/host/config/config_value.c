#include "config/config_value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *number_path(char path[CONFIG_PATH_MAX], const char *prefix, const struct config_number *n)
{
    snprintf(path, CONFIG_PATH_MAX, "%s%s", prefix, n->key);
    return path;
}

void config_default_numbers(struct config_text *t, const char *prefix, void *base,
                            const struct config_number numbers[], size_t count)
{
    char path[CONFIG_PATH_MAX];

    for (size_t i = 0; i < count; i++) {
        if (!config_text_has(t, number_path(path, prefix, &numbers[i])))
            *(uint32_t *)((char *)base + numbers[i].offset) = numbers[i].fallback;
    }
}

void config_check_numbers(struct config_text *t, const char *prefix, const void *base,
                          const struct config_number numbers[], size_t count)
{
    char path[CONFIG_PATH_MAX];

    for (size_t i = 0; i < count; i++) {
        const struct config_number *n = &numbers[i];
        const uint32_t value = *(const uint32_t *)((const char *)base + n->offset);

        if (value < n->min || value > n->max)
            config_fault(t, number_path(path, prefix, n), "%u is out of range (%u..%u)", value, n->min,
                         n->max);
    }
}

void config_check_power_of_two(struct config_text *t, const char *path, uint32_t value)
{
    if ((value & (value - 1)) != 0)
        config_fault(t, path, "%u is not a power of two (512, 1024, ...)", value);
}

void config_check_word(struct config_text *t, const char *path, const char *word)
{
    const char *s = word;

    while (isgraph((unsigned char)*s))
        s++;
    if (*s != '\0')
        config_fault(t, path, "\"%s\" has spaces or unprintable characters in it", word);
}

/* Six bytes of one or two hexadecimal digits each. sscanf alone would also accept signs and blanks. */
static bool scan_mac(const char *text, unsigned b[6])
{
    int end = 0;

    return text[strspn(text, "0123456789abcdefABCDEF:")] == '\0' &&
           sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &end) == 6 &&
           text[end] == '\0';
}

void config_parse_mac(struct config_text *t, const char *path, const char *text, uint8_t mac[6])
{
    unsigned b[6], any = 0;

    if (!scan_mac(text, b)) {
        config_fault(t, path, "\"%s\" is not a MAC address (\"02:00:00:00:00:01\")", text);
        return;
    }
    for (unsigned i = 0; i < 6; i++) {
        mac[i] = (uint8_t)b[i];
        any |= b[i];
    }
    if (mac[0] & 1)
        config_fault(t, path, "%s is a group address; the first byte must be even", text);
    else if (any == 0)
        config_fault(t, path, "%s is no station's address; \"02:00:00:00:00:01\" would do", text);
}

/* Decimal digits only, least..32. */
static bool parse_prefix(const char *text, unsigned least, uint8_t *prefix)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *prefix = (uint8_t)value;
    return isdigit((unsigned char)text[0]) && *end == '\0' && value >= least && value <= 32;
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

void config_parse_ip(struct config_text *t, const char *path, char *text, uint32_t *ip, uint8_t *prefix)
{
    char *slash = strchr(text, '/');
    const char *why;

    *prefix = 32;
    if (slash != NULL && !parse_prefix(slash + 1, 1, prefix)) {
        config_fault(t, path, "\"%s\": the prefix after the / must be 1..32", text);
        return;
    }
    if (slash != NULL)
        *slash = '\0';
    if (inet_pton(AF_INET, text, ip) != 1) {
        config_fault(t, path, "\"%s\" is not an IPv4 address (10.0.0.1 or 10.0.0.1/24)", text);
        return;
    }
    why = unusable_ip(ntohl(*ip), *prefix);
    if (why != NULL)
        config_fault(t, path, "%s/%u is %s", text, *prefix, why);
}

void config_parse_network(struct config_text *t, const char *path, char *text, uint32_t *network,
                          uint32_t *mask)
{
    char *slash = strchr(text, '/');
    uint8_t prefix = 32;

    if (slash != NULL && !parse_prefix(slash + 1, 0, &prefix)) {
        config_fault(t, path, "\"%s\": the prefix after the / must be 0..32", text);
        return;
    }
    if (slash != NULL)
        *slash = '\0';
    if (inet_pton(AF_INET, text, network) != 1) {
        config_fault(t, path, "\"%s\" is neither an IPv4 address (10.0.0.1) nor a network (10.0.0.0/24)",
                     text);
        return;
    }
    *mask = prefix == 0 ? 0 : htonl(UINT32_MAX << (32 - prefix));
    if ((*network & ~*mask) != 0) {
        const uint32_t first = *network & *mask;
        char meant[INET_ADDRSTRLEN];

        inet_ntop(AF_INET, &first, meant, sizeof(meant));
        config_fault(t, path, "%s/%u is a host in a network; write %s/%u for all of it, %s for the host",
                     text, prefix, meant, prefix, text);
    }
}

void config_parse_patterns(struct config_text *t, const char *path, char *const text[], unsigned n,
                           struct config_patterns *patterns)
{
    char item[CONFIG_PATH_MAX];

    *patterns = (struct config_patterns){.n = n};
    for (unsigned i = 0; i < n; i++) {
        snprintf(item, sizeof(item), "%s[%u]", path, i);
        if (strlen(text[i]) >= CONFIG_JOB_MAX)
            config_fault(t, item, "is longer than %d characters", CONFIG_JOB_MAX - 1);
        snprintf(patterns->text[i], CONFIG_JOB_MAX, "%s", text[i]);
    }
    if (!config_text_has(t, path))
        *patterns = (struct config_patterns){.n = 1, .text = {"*"}};
}

bool config_fits(const struct config_patterns *patterns, const char *name)
{
    for (unsigned i = 0; i < patterns->n; i++)
        if (fnmatch(patterns->text[i], name, 0) == 0)
            return true;
    return false;
}
