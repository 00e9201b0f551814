/* The file of a server that sums, swagg-ps: what it has in common with a switch's, and its own. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "config/config_parts.h"
#include "settings/values.h"

enum { MULTICAST_FROM = 224, MULTICAST_END = 240, IPV4_BITS = 32 };

/* For use within an organization (RFC 2365, section 6.2); so many that jobs hardly ever share one. */
static const char default_groups[] = "239.192.0.0/14", no_groups[] = "none";

static void parse_ip(struct settings *s, const char *path, const char *text, void *ip);
static void parse_groups(struct settings *s, const char *path, const char *text, void *server);
static void show_groups(char text[SETTING_SHOWN_MAX], const void *configuration, const void *server);

/* clang-format off */
const struct setting config_server_fields[] = {
    {.key = "ip", .type = SETTING_PARSED, .required = true, SETTING_AT(struct config_server, ip), .most = 63,
     .parse = parse_ip, .show = setting_show_ip, .kind = "IPv4 address",
     .meaning = "an address of this host, which workers send to"},
    {.key = "threads", SETTING_NUMBER_AT(struct config_server, threads, 1, CONFIG_SERVER_THREADS_MAX, 0),
     .usual = "as many as CPUs, at most 16",
     .meaning = "each sums its share of every job's slots, and has a UDP port of its own for each protocol"},
    {.key = "groups", .type = SETTING_PARSED, .most = 63, .parse = parse_groups, .show = show_groups,
     .initial = default_groups, .kind = "IPv4 groups as ADDRESS/PREFIX, or `none`",
     .meaning = "of which each job of [ATP](libswagg.md#atp) gets one, so that a [result is one packet for all ranks](server.md#results-by-multicast); none of 224.0.0.x"},
    {.key = "group_ttl", SETTING_NUMBER_AT(struct config_server, group_ttl, 1, 255, 1),
     .meaning = "into how many networks these packets may get: with 1 not beyond a router"},
    {.key = NULL},
};
/* clang-format on */

/* Any address that a socket can be bound to and packets can come from, those of this host alone (127.x) too.
 */
static void parse_ip(struct settings *s, const char *path, const char *text, void *ip)
{
    struct in_addr address;

    if (inet_pton(AF_INET, text, &address) != 1)
        settings_fault(s, path, "\"%s\" is no IPv4 address like 10.77.0.9", text);
    else if (ntohl(address.s_addr) >> 24 == 0 || ntohl(address.s_addr) >> 24 >= MULTICAST_FROM)
        settings_fault(s, path, "%s is not an address that a host can have", text);
    else
        memcpy(ip, &address.s_addr, sizeof(address.s_addr));
}

/* Whether they are groups at all, but not those that routers and hosts themselves use (224.0.0.x). */
static bool are_groups(uint32_t first, uint32_t last)
{
    return first >> 24 >= MULTICAST_FROM && last >> 24 < MULTICAST_END && first >> 8 != MULTICAST_FROM << 16;
}

/* A block of IPv4 groups as ADDRESS/PREFIX, one as ADDRESS, or the word for none. */
static void parse_groups(struct settings *s, const char *path, const char *text, void *value)
{
    struct config_server *server = value;
    struct setting_address address = {0};
    char alone[64];

    server->first_group = server->groups = 0;
    if (strcmp(text, no_groups) == 0)
        return;
    if (setting_split_address(text, 4, alone, &address) < 0) {
        settings_fault(s, path, "no IPv4 groups like %s, and not \"%s\"", default_groups, no_groups);
        return;
    }
    const uint32_t first = ntohl(address.ip),
                   rest = address.prefix == IPV4_BITS ? 0 : UINT32_MAX >> address.prefix;
    if ((first & rest) != 0 || !are_groups(first, first | rest)) {
        settings_fault(s, path, "%s/%u is no block of groups within 224.0.1.0 to 239.255.255.255", alone,
                       address.prefix);
        return;
    }
    server->first_group = address.ip;
    server->groups = rest + 1;
}

static void show_groups(char text[SETTING_SHOWN_MAX], const void *configuration, const void *value)
{
    const struct config_server *server = value;
    const uint8_t *b = (const uint8_t *)&server->first_group;

    (void)configuration;
    if (server->groups == 0)
        snprintf(text, SETTING_SHOWN_MAX, "%s", no_groups);
    else
        snprintf(text, SETTING_SHOWN_MAX, "%u.%u.%u.%u/%d", b[0], b[1], b[2], b[3],
                 IPV4_BITS - __builtin_ctz(server->groups));
}

/* What of a tenant is a switch's alone. */
void config_check_server(struct settings *s, struct config *c)
{
    for (unsigned i = 0; i < c->tenants; i++) {
        const char *weight = settings_path(s, "tenants[%u].weight", i),
                   *kept = settings_path(s, "tenants[%u].quota.kept_frames", i);

        if (settings_has(s, weight))
            settings_fault(s, weight, "a server's jobs take no turns: leave it out, or bound them by quota");
        if (settings_has(s, kept))
            settings_fault(s, kept, "a server keeps no frames: leave it out");
    }
}
