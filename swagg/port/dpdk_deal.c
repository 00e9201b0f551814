#include "port/dpdk_deal.h"

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

enum {
    KEY_BYTES = 40,
    KEY_BYTES_MOST = 64,
    TABLE_MOST = RTE_ETH_RSS_RETA_SIZE_512,
    GROUPS_MOST = TABLE_MOST / RTE_ETH_RETA_GROUP_SIZE,
};

/* Toeplitz' hash: each bit of the input that is set adds (xor) the 32 bits of the key that begin at its
 * number. Of IPv4 the input is source, destination, source port, destination port: 96 bits, of which the last
 * four are those that tell ports apart. Key bit 123 is in the windows of these four alone, as bit 3 of the
 * hash for the last of them, up to bit 0 for the first: the hash is those four, the other way round. IPv6's
 * ports are further on, where the key is Microsoft's, and so the hash of IPv6 is as good as any. */
/* clang-format off */
static const uint8_t key_40[KEY_BYTES] = {
    [123 / 8] = 0x80 >> 123 % 8,
    0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};
/* clang-format on */

/* The lowest four bits of the port for which the hash is this. */
static unsigned port_of(unsigned hash)
{
    return (hash & 1) << 3 | (hash & 2) << 1 | (hash & 4) >> 1 | (hash & 8) >> 3;
}

/* Of its key. Some drivers do not say, and mean the usual. */
static uint8_t key_bytes(const struct rte_eth_dev_info *info)
{
    return info->hash_key_size == 0 ? KEY_BYTES : info->hash_key_size;
}

bool dpdk_can_deal(const struct rte_eth_dev_info *info)
{
    return info->flow_type_rss_offloads & RTE_ETH_RSS_NONFRAG_IPV4_UDP && info->reta_size >= PORT_DEALS &&
           info->reta_size <= TABLE_MOST && RTE_IS_POWER_OF_2(info->reta_size) &&
           key_bytes(info) >= KEY_BYTES && key_bytes(info) <= KEY_BYTES_MOST;
}

static int set_table(uint16_t id, unsigned size, const uint16_t queue[PORT_DEALS])
{
    struct rte_eth_rss_reta_entry64 table[GROUPS_MOST] = {0};

    for (unsigned i = 0; i < size; i++) {
        table[i / RTE_ETH_RETA_GROUP_SIZE].mask |= RTE_BIT64(i % RTE_ETH_RETA_GROUP_SIZE);
        table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = queue[port_of(i % PORT_DEALS)];
    }
    return rte_eth_dev_rss_reta_update(id, table, (uint16_t)size);
}

/* The key that a device hashes by: to be asked for, or set. */
struct hash {
    uint8_t key[KEY_BYTES_MOST];
    struct rte_eth_rss_conf conf;
};

static int ask(uint16_t id, const struct rte_eth_dev_info *info, struct hash *is)
{
    *is = (struct hash){.conf = {.rss_key = is->key, .rss_key_len = key_bytes(info)}};
    return rte_eth_dev_rss_hash_conf_get(id, &is->conf);
}

/* Some drivers take a key, and keep their own. */
static int set_key(uint16_t id, const struct rte_eth_dev_info *info, const struct hash *before)
{
    struct hash wanted = {.conf = before->conf}, is;
    int rc;

    memcpy(wanted.key, key_40, KEY_BYTES);
    wanted.conf.rss_key = wanted.key;
    rc = rte_eth_dev_rss_hash_update(id, &wanted.conf);
    if (rc == 0)
        rc = ask(id, info, &is);
    if (rc == 0 && memcmp(is.key, wanted.key, key_bytes(info)) != 0)
        rc = -ENOTSUP;
    return rc;
}

int dpdk_deal(uint16_t id, const uint16_t queue[PORT_DEALS], const char **why)
{
    struct rte_eth_dev_info info;
    struct hash before;
    int rc = rte_eth_dev_info_get(id, &info);

    *why = "its hash cannot be chosen";
    if (rc == 0 && !dpdk_can_deal(&info))
        return -ENOTSUP;
    if (rc == 0)
        rc = ask(id, &info, &before);
    if (rc == 0 && (before.conf.rss_hf & RTE_ETH_RSS_NONFRAG_IPV4_UDP) == 0)
        return -ENOTSUP;
    if (rc == 0)
        rc = set_key(id, &info, &before);
    if (rc == 0) {
        rc = set_table(id, info.reta_size, queue);
        *why = "its table of queues cannot be set";
    }
    if (rc < 0)
        rte_eth_dev_rss_hash_update(id, &before.conf);
    return rc;
}
