#include "settings/values.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Six bytes of one or two hexadecimal digits each. sscanf alone would also accept signs and blanks. */
static bool scan_mac(const char *text, unsigned b[6])
{
    int end = 0;

    return text[strspn(text, "0123456789abcdefABCDEF:")] == '\0' &&
           sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &end) == 6 &&
           text[end] == '\0';
}

void setting_parse_mac(struct settings *s, const char *path, const char *text, void *mac)
{
    unsigned b[6], any = 0;

    if (!scan_mac(text, b)) {
        settings_fault(s, path, "\"%s\" is not a MAC address (\"02:00:00:00:00:01\")", text);
        return;
    }
    for (unsigned i = 0; i < 6; i++) {
        ((uint8_t *)mac)[i] = (uint8_t)b[i];
        any |= b[i];
    }
    if (b[0] & 1)
        settings_fault(s, path, "%s is a group address; the first byte must be even", text);
    else if (any == 0)
        settings_fault(s, path, "%s is no station's address; \"02:00:00:00:00:01\" would do", text);
}

void setting_show_mac(char text[SETTING_SHOWN_MAX], const void *configuration, const void *mac)
{
    static const uint8_t none[6];
    const uint8_t *b = mac;

    (void)configuration;
    if (memcmp(b, none, sizeof(none)) == 0)
        snprintf(text, SETTING_SHOWN_MAX, "-");
    else
        snprintf(text, SETTING_SHOWN_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4],
                 b[5]);
}

/* Decimal digits only, least..32. */
static bool parse_prefix(const char *text, unsigned least, uint8_t *prefix)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);

    *prefix = (uint8_t)value;
    return isdigit((unsigned char)text[0]) && *end == '\0' && value >= least && value <= 32;
}

int setting_split_address(const char *text, unsigned least, char alone[64], struct setting_address *address)
{
    const char *slash = strchr(text, '/');

    snprintf(alone, 64, "%.*s", (int)strcspn(text, "/"), text);
    address->prefix = 32;
    if (slash != NULL && !parse_prefix(slash + 1, least, &address->prefix))
        return -ERANGE;
    return inet_pton(AF_INET, alone, &address->ip) == 1 ? 0 : -EINVAL;
}

const char *setting_unusable_ip(uint32_t address, uint8_t prefix)
{
    const uint32_t ip = ntohl(address), host = prefix < 32 ? UINT32_MAX >> prefix : 0;

    if (ip >> 24 == 0 || ip >> 24 == 127 || ip >> 28 >= 0xE)
        return "not an address that a host can have";
    if (prefix < 31 && (ip & host) == 0)
        return "the network's own address; choose a host's";
    if (prefix < 31 && (ip & host) == host)
        return "the network's broadcast address; choose a host's";
    return NULL;
}

void setting_parse_address(struct settings *s, const char *path, const char *text, void *address)
{
    struct setting_address *to = address;
    char alone[64];
    const char *why;
    const int rc = setting_split_address(text, 1, alone, to);

    if (rc == -ERANGE)
        settings_fault(s, path, "\"%s\": the prefix after the / must be 1..32", text);
    else if (rc < 0)
        settings_fault(s, path, "\"%s\" is not an IPv4 address (10.0.0.1 or 10.0.0.1/24)", alone);
    else if ((why = setting_unusable_ip(to->ip, to->prefix)) != NULL)
        settings_fault(s, path, "%s/%u is %s", alone, to->prefix, why);
}

void setting_show_address(char text[SETTING_SHOWN_MAX], const void *configuration, const void *address)
{
    const struct setting_address *a = address;
    const uint8_t *b = (const uint8_t *)&a->ip;

    (void)configuration;
    if (a->ip == 0)
        snprintf(text, SETTING_SHOWN_MAX, "-");
    else
        snprintf(text, SETTING_SHOWN_MAX, "%u.%u.%u.%u/%u", b[0], b[1], b[2], b[3], a->prefix);
}

void setting_parse_ip(struct settings *s, const char *path, const char *text, void *ip)
{
    struct setting_address address = {0};

    setting_parse_address(s, path, text, &address);
    memcpy(ip, &address.ip, sizeof(address.ip));
}

void setting_show_ip(char text[SETTING_SHOWN_MAX], const void *configuration, const void *ip)
{
    const uint8_t *b = ip;

    (void)configuration;
    if ((b[0] | b[1] | b[2] | b[3]) == 0)
        snprintf(text, SETTING_SHOWN_MAX, "-");
    else
        snprintf(text, SETTING_SHOWN_MAX, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
}
