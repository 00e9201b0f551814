/* The file of a server that sums, swagg-ps: what it has in common with a switch's, and its own. */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_check.h"
#include "config/config_value.h"

enum { MULTICAST_FROM = 224, MULTICAST_END = 240, IPV4_BITS = 32 };

/* For use within an organization (RFC 2365, section 6.2); so many that jobs hardly ever share one. */
static const char default_groups[] = "239.192.0.0/14", no_groups[] = "none";

static const struct config_number group_ttl = {"server.group_ttl", offsetof(struct config, server.group_ttl),
                                               1, 255, 1};
static const struct config_number threads = {"server.threads", offsetof(struct config, server.threads), 1,
                                             CONFIG_SERVER_THREADS_MAX, 0};

/* Any address that a socket can be bound to and packets can come from, those of this host alone (127.x) too.
 */
static void check_ip(struct config_text *t, const char *text, uint32_t *ip)
{
    struct in_addr address;

    if (inet_pton(AF_INET, text, &address) != 1)
        config_fault(t, "server.ip", "\"%s\" is no IPv4 address like 10.77.0.9", text);
    else if (ntohl(address.s_addr) >> 24 == 0 || ntohl(address.s_addr) >> 24 >= MULTICAST_FROM)
        config_fault(t, "server.ip", "%s is not an address that a host can have", text);
    else
        *ip = address.s_addr;
}

/* Whether they are groups at all, but not those that routers and hosts themselves use (224.0.0.x). */
static bool are_groups(uint32_t first, uint32_t last)
{
    return first >> 24 >= MULTICAST_FROM && last >> 24 < MULTICAST_END && first >> 8 != MULTICAST_FROM << 16;
}

/* A block of IPv4 groups as ADDRESS/PREFIX, one as ADDRESS, or the word for none. */
static void check_groups(struct config_text *t, char *text, struct config_server *server)
{
    char *slash = strchr(text, '/'), *end = NULL;
    struct in_addr address;
    unsigned long prefix = IPV4_BITS;

    if (strcmp(text, no_groups) == 0)
        return;
    if (slash != NULL) {
        *slash = '\0';
        prefix = strtoul(slash + 1, &end, 10);
    }
    const bool is_prefix =
        slash == NULL || (end != slash + 1 && *end == '\0' && prefix >= 4 && prefix <= IPV4_BITS);
    if (inet_pton(AF_INET, text, &address) != 1 || !is_prefix) {
        config_fault(t, "server.groups", "no IPv4 groups like %s, and not \"%s\"", default_groups, no_groups);
        return;
    }
    const uint32_t first = ntohl(address.s_addr), rest = prefix == IPV4_BITS ? 0 : UINT32_MAX >> prefix;
    if ((first & rest) != 0 || !are_groups(first, first | rest)) {
        config_fault(t, "server.groups", "%s/%lu is no block of groups within 224.0.1.0 to 239.255.255.255",
                     text, prefix);
        return;
    }
    server->first_group = address.s_addr;
    server->groups = rest + 1;
}

/* What of a tenant is a switch's alone. */
static void check_tenants(struct config_text *t, const struct config *c)
{
    for (unsigned i = 0; i < c->tenants; i++) {
        char path[CONFIG_PATH_MAX];

        snprintf(path, sizeof(path), "tenants[%u].weight", i);
        if (config_text_has(t, path))
            config_fault(t, path, "a server's jobs take no turns: leave it out, or bound them by quota");
        snprintf(path, sizeof(path), "tenants[%u].quota.kept_frames", i);
        if (config_text_has(t, path))
            config_fault(t, path, "a server keeps no frames: leave it out");
    }
}

void config_check_server(struct config_text *t, struct config_raw *raw)
{
    struct config *c = &raw->config;

    config_check(t, raw);
    c->server = raw->server.server;
    if (!config_text_has(t, "server.groups"))
        strcpy(raw->server.groups, default_groups);
    check_groups(t, raw->server.groups, &c->server);
    config_default_numbers(t, "", c, &group_ttl, 1);
    config_check_numbers(t, "", c, &group_ttl, 1);
    if (config_text_has(t, "server.threads"))
        config_check_numbers(t, "", c, &threads, 1);
    if (config_text_has(t, "server.ip"))
        check_ip(t, raw->server.ip, &c->server.ip);
    check_tenants(t, c);
}
