/* The options of transports that are not the kernel's. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static const char by_dpdk[] = "dpdk:", by_roce[] = "roce";

static int copy_text(char to[CLIENT_ARGUMENTS_MAX], const char *what, const char *text)
{
    if (strlen(text) >= CLIENT_ARGUMENTS_MAX)
        return client_fail(SWAGG_ERR_ARGUMENT, "options.%s has %zu characters: at most %d fit", what,
                           strlen(text), CLIENT_ARGUMENTS_MAX - 1);
    memcpy(to, text, strlen(text) + 1);
    return SWAGG_OK;
}

static bool read_address(struct in_addr *out, const char *text, size_t length)
{
    char copy[INET_ADDRSTRLEN] = "";
    if (length < sizeof copy)
        memcpy(copy, text, length);
    return inet_pton(AF_INET, copy, out) == 1;
}

/* "10.0.0.1/24" */
static int read_own(struct client_port *out, const char *text)
{
    const size_t length = strcspn(text, "/");
    char *end = NULL;
    const unsigned long prefix = text[length] ? strtoul(text + length + 1, &end, 10) : 0;
    if (!read_address(&out->address, text, length) || !end || *end || prefix < 1 || prefix > 32)
        return client_fail(
            SWAGG_ERR_ARGUMENT,
            "options.address is '%.64s': it must be this rank's own IPv4 address and its subnet's "
            "prefix length, like 10.0.0.1/24",
            text);
    out->netmask = htonl(UINT32_MAX << (32 - prefix));
    return SWAGG_OK;
}

/* Each node must be on the device's link, or behind a gateway that is. */
static int check_reach(const struct client_port *p, const struct client_nodes *nodes)
{
    for (unsigned i = 0; i < nodes->n; i++) {
        const struct client_node *node = &nodes->at[i];
        if (node->ip.s_addr == p->address.s_addr)
            return client_fail(SWAGG_ERR_ARGUMENT, "options.address is that of the %s, %s", node->what,
                               node->text);
        if (((node->ip.s_addr ^ p->address.s_addr) & p->netmask) != 0 && p->gateway.s_addr == 0)
            return client_fail(
                SWAGG_ERR_ARGUMENT,
                "options.address: the %s %s is not in its subnet, and there is no options.gateway",
                node->what, node->text);
    }
    return SWAGG_OK;
}

static int check_kernels(const struct swagg_options *in)
{
    const char *what = in->address ? "address" : in->gateway ? "gateway" : in->eal ? "eal" : NULL;
    if (!what)
        return SWAGG_OK;
    return client_fail(
        SWAGG_ERR_ARGUMENT,
        "options.%s is for devices of DPDK's: with the kernel's sockets and RoCE leave it at its "
        "default, or set options.transport",
        what);
}

/* "roce", "roce:mlx5_0" */
static int resolve_roce(struct client_options *out, const struct swagg_options *in)
{
    const char *device = in->transport + strlen(by_roce);
    struct client_port *p = &out->port;
    int rc = check_kernels(in);
    if (rc)
        return rc;
    if (in->protocol != SWAGG_PROTOCOL_SWITCHML)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.transport is '%.64s': by RoCE only SwitchML's packets go, so set "
                           "options.protocol to that, or the transport to kernel",
                           in->transport);
    if (out->in_switch.n > 1)
        return client_fail(
            SWAGG_ERR_ARGUMENT,
            "options.transport is '%.64s': a NIC's queue pair leads to one switch, so name one in "
            "options.switch_ip, or set the transport to kernel",
            in->transport);
    p->driver = "libswagg-verbs.so";
    p->message_packets = (unsigned)in->message_packets;
    return copy_text(p->device, "transport", device[0] == ':' ? device + 1 : device);
}

static bool is_roce(const char *text)
{
    const size_t n = strlen(by_roce);
    return strncmp(text, by_roce, n) == 0 && (text[n] == '\0' || (text[n] == ':' && text[n + 1] != '\0'));
}

int client_port_resolve(struct client_options *out, const struct swagg_options *in)
{
    struct client_port *p = &out->port;
    const char *text = in->transport;
    int rc;
    if (!text || strcmp(text, "kernel") == 0)
        return check_kernels(in);
    if (is_roce(text))
        return resolve_roce(out, in);
    if (strncmp(text, by_dpdk, strlen(by_dpdk)) != 0 || !text[strlen(by_dpdk)])
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.transport is '%.64s': it must be kernel; or roce, or roce: and an RDMA "
                           "device, like roce:mlx5_0; or dpdk: and a device, like dpdk:0000:03:00.0 or "
                           "dpdk:net_memif0,role=client",
                           text);
    if (!in->address)
        return client_fail(
            SWAGG_ERR_ARGUMENT,
            "options.address is missing: a device that DPDK drives has no address of the kernel's, so "
            "set this rank's own, like 10.0.0.1/24");
    p->driver = "libswagg-dpdk.so";
    if ((rc = copy_text(p->device, "transport", text + strlen(by_dpdk))) ||
        (rc = copy_text(p->eal, "eal", in->eal ? in->eal : "")) || (rc = read_own(p, in->address)))
        return rc;
    if (in->gateway && (!read_address(&p->gateway, in->gateway, strlen(in->gateway)) ||
                        ((p->gateway.s_addr ^ p->address.s_addr) & p->netmask) != 0))
        return client_fail(
            SWAGG_ERR_ARGUMENT,
            "options.gateway is '%.64s': it must be an IPv4 address in the subnet of options.address",
            in->gateway);
    p->mtu = (unsigned)in->mtu;
    return (rc = check_reach(p, &out->in_switch)) ? rc : check_reach(p, &out->in_servers);
}
