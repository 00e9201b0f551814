/* A device without flow rules, whose hash brings packets to queues by their UDP port: its key and its table,
 * read back, are put through the hash as DPDK has it in software. */
#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_thash.h>

#include "port/port.h"
#include "port/steer.h"
#include "small_eal.h"
#include "unit.h"

enum { QUEUES = 4, FIRST = 48864, PACKETS = 1000, TABLE_MOST = 512, MTU = 1500 };

static struct config cfg = {
    .ports = 1,
    .mtu = MTU,
    .port = {{.name = "p", .device = "net_null0", .rx_queues = QUEUES, .tx_queues = 1}}};
static struct rte_mempool *mbufs;
static struct port port;
static uint8_t key[40];
static struct rte_eth_rss_reta_entry64 table[TABLE_MOST / RTE_ETH_RETA_GROUP_SIZE];
static unsigned entries;

static void set_up(void)
{
    port = (struct port){0};
    CU_ASSERT_EQUAL_FATAL(port_open(&port, 0, &cfg, &(struct port_resources){.mbufs = mbufs}), 0);
    CU_ASSERT_EQUAL_FATAL(port_start(&port), 0);
}

static void read_back(void)
{
    struct rte_eth_rss_conf conf = {.rss_key = key, .rss_key_len = sizeof(key)};
    struct rte_eth_dev_info info;
    uint16_t id;

    CU_ASSERT_EQUAL_FATAL(rte_eth_dev_get_port_by_name("net_null0", &id), 0);
    CU_ASSERT_EQUAL_FATAL(rte_eth_dev_info_get(id, &info), 0);
    CU_ASSERT_EQUAL_FATAL(rte_eth_dev_rss_hash_conf_get(id, &conf), 0);
    entries = info.reta_size;
    for (unsigned i = 0; i < entries / RTE_ETH_RETA_GROUP_SIZE; i++)
        table[i].mask = UINT64_MAX;
    CU_ASSERT_EQUAL_FATAL(rte_eth_dev_rss_reta_query(id, table, info.reta_size), 0);
}

static unsigned queue_of(uint32_t *input, unsigned words)
{
    const unsigned i = rte_softrss(input, words, key) % entries;

    return table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
}

static uint32_t any(void)
{
    return (uint32_t)rand() << 16 ^ (uint32_t)rand();
}

/* Words in host order, as rte_softrss takes them. */
static unsigned queue_of_udp(uint16_t to_port)
{
    uint32_t input[] = {any(), any(), (any() & 0xFFFF) << 16 | to_port};

    return queue_of(input, RTE_DIM(input));
}

TEST(whoever_sends_to_a_shards_port_reaches_its_queue)
{
    const struct steer_queues to = {
        .data = {.first = FIRST, .count = 16}, .shards = 4, .queue = {2, 0, 3, 1}};

    set_up();
    steer_port(&port, &to);
    read_back();
    for (unsigned i = 0; i < PACKETS; i++)
        CU_ASSERT_EQUAL(queue_of_udp((uint16_t)(FIRST + i % 16)), (unsigned)to.queue[i % 16 % 4]);
    port_close(&port);
}

TEST(other_packets_are_spread)
{
    const struct steer_queues to = {.data = {.first = FIRST, .count = 16}, .shards = 2, .queue = {0, 1}};
    unsigned ipv4[QUEUES] = {0}, ipv6[QUEUES] = {0};

    set_up();
    steer_port(&port, &to);
    read_back();
    for (unsigned i = 0; i < PACKETS; i++) {
        uint32_t input[9];

        for (unsigned w = 0; w < RTE_DIM(input); w++)
            input[w] = any();
        ipv4[queue_of_udp((uint16_t)any())]++;
        ipv6[queue_of(input, RTE_DIM(input))]++;
    }
    for (unsigned q = 0; q < 2; q++) {
        CU_ASSERT(ipv4[q] > PACKETS / 4);
        CU_ASSERT(ipv6[q] > PACKETS / 4);
    }
    port_close(&port);
}

TEST(without_an_lcore_that_receives_and_adds_the_hash_stays)
{
    const struct steer_queues to = {.data = {.first = FIRST, .count = 16}, .shards = 2, .queue = {-1, -1}};
    uint8_t before[sizeof(key)];

    set_up();
    read_back();
    memcpy(before, key, sizeof(key));
    steer_port(&port, &to);
    read_back();
    CU_ASSERT_EQUAL(memcmp(before, key, sizeof(key)), 0);
    port_close(&port);
}

int main(void)
{
    if (small_eal_start(64) < 0)
        return 1;
    mbufs = rte_pktmbuf_pool_create("mbufs", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    return mbufs == NULL ? 1 : unit_main();
}
