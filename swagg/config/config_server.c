/* The file of a server that sums, swagg-ps: what it has in common with a switch's, and its own. */
#include <arpa/inet.h>
#include <stddef.h>

#include "config/config_check.h"
#include "config/config_value.h"

enum { MULTICAST_FROM = 224 };

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

void config_check_server(struct config_text *t, struct config_raw *raw)
{
    struct config *c = &raw->config;

    config_check(t, raw);
    c->server = raw->server.server;
    if (config_text_has(t, "server.threads"))
        config_check_numbers(t, "", c, &threads, 1);
    c->has_ip = config_text_has(t, "server.ip");
    if (c->has_ip)
        check_ip(t, raw->server.ip, &c->ip);
}
