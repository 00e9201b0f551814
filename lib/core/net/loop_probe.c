#include "net/loop_probe.h"

enum { TYPE_EXPERIMENTAL = 0x88B5 };

static const char magic[] = "swagg looks for loops";

struct loop_probe {
    struct net_ethernet eth;
    char magic[sizeof(magic)];
    uint64_t number;
    uint8_t padding[NET_LOOP_PROBE_BYTES - sizeof(struct net_ethernet) - sizeof(magic) - sizeof(uint64_t)];
} NET_PACKED;

_Static_assert(sizeof(struct loop_probe) == NET_LOOP_PROBE_BYTES,
               "the least that an Ethernet frame can have");

void loop_probe_write(void *out, const struct net_mac *mac, uint64_t number)
{
    struct loop_probe p = {.eth = {.dst_addr = {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}},
                                   .src_addr = *mac,
                                   .ether_type = net16(TYPE_EXPERIMENTAL)},
                           .number = number};

    memcpy(p.magic, magic, sizeof(magic));
    memcpy(out, &p, sizeof(p));
}

bool loop_probe_read(const struct net_ethernet *eth, size_t bytes, uint64_t *number)
{
    const struct loop_probe *p = (const struct loop_probe *)eth;

    if (bytes < sizeof(*p) || eth->ether_type != net16(TYPE_EXPERIMENTAL) ||
        memcmp(p->magic, magic, sizeof(magic)) != 0)
        return false;
    *number = p->number;
    return true;
}
