#include "source/ports.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_memory.h>

#include "command_line.h"

enum {
    BUFFERS = 4096,
    /* for a full ring, if the device takes buffers in advance, and for frames in flight */
    BUFFERS_A_PORT = 2048,
    BUFFER_STEP = 2048, /* a memif copies in one piece if our buffers are no smaller than its own */
    RING = 1024,
    LINK_SECONDS = 30,
};

static int start(uint16_t id, struct rte_mempool *pool)
{
    const struct rte_eth_conf conf = {0};
    uint16_t rx = RING, tx = RING;
    int rc = rte_eth_dev_configure(id, 1, 1, &conf);

    if (rc == 0)
        rc = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx);
    if (rc == 0)
        rc = rte_eth_rx_queue_setup(id, 0, rx, SOCKET_ID_ANY, NULL, pool);
    if (rc == 0)
        rc = rte_eth_tx_queue_setup(id, 0, tx, SOCKET_ID_ANY, NULL);
    if (rc == 0)
        rc = rte_eth_dev_start(id);
    if (rc == 0)
        rc = rte_eth_promiscuous_enable(id);
    if (rc == -ENOTSUP) /* a memif has no promiscuous mode: it receives everything */
        rc = 0;
    if (rc < 0)
        complain("port %u does not start: %s", id, rte_strerror(-rc));
    return rc;
}

static bool link_becomes(uint16_t id, unsigned status, const volatile bool *stop)
{
    struct rte_eth_link link = {0};

    for (unsigned i = 0; i < LINK_SECONDS * 100 && !*stop; i++) {
        if (rte_eth_link_get_nowait(id, &link) == 0 && link.link_status == status)
            return true;
        rte_delay_us_sleep(10000);
    }
    return false;
}

static int wait_for_link(uint16_t id, const volatile bool *stop)
{
    if (link_becomes(id, RTE_ETH_LINK_UP, stop))
        return 0;
    complain("port %u: no link: start what is to be at its other end", id);
    return -ENOLINK;
}

static int take_file(const struct rte_memseg_list *list, const struct rte_memseg *segment, void *fd)
{
    (void)list;
    *(int *)fd = rte_memseg_get_fd_thread_unsafe(segment);
    return *(int *)fd >= 0;
}

/* The file of DPDK's memory; negative: there is none. There is one with --single-file-segments, which
 * zero-copy memifs need. */
static int memory_file(void)
{
    int fd = -1;

    rte_memseg_walk(take_file, &fd);
    return fd;
}

/* A zero-copy memif of DPDK 22.11 shares the memory with its peer, and then closes the EAL's own file, which
 * the next port's needs, too. */
static int open_port(uint16_t id, struct rte_mempool *pool, const volatile bool *stop)
{
    int fd = memory_file(), copy = fd < 0 ? -1 : dup(fd), rc = start(id, pool);

    if (rc == 0)
        rc = wait_for_link(id, stop);
    if (copy >= 0) {
        dup2(copy, fd);
        close(copy);
    }
    return rc;
}

int ports_open(size_t frame_bytes, const volatile bool *stop)
{
    const uint16_t ports = rte_eth_dev_count_avail();
    struct rte_mempool *pool;
    int rc = 0;

    if (ports == 0) {
        complain("there is no port: give the EAL one, with --vdev, say");
        return -ENODEV;
    }
    pool = rte_pktmbuf_pool_create(
        "received", BUFFERS + ports * BUFFERS_A_PORT, 256, 0,
        (uint16_t)(RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(frame_bytes, BUFFER_STEP)), SOCKET_ID_ANY);
    if (pool == NULL) {
        complain("no memory for buffers: give the EAL more (-m)");
        return -ENOMEM;
    }
    for (uint16_t id = 0; id < ports && rc == 0; id++)
        rc = open_port(id, pool, stop);
    if (rc < 0)
        ports_close();
    return rc < 0 ? rc : ports;
}

void ports_close(void)
{
    uint16_t id;

    RTE_ETH_FOREACH_DEV(id)
    {
        rte_eth_dev_stop(id);
        rte_eth_dev_close(id);
    }
}

static void on_alarm(void *rang)
{
    atomic_store((atomic_bool *)rang, true);
}

/* A memif whose peer leaves says that its link is down, and then the EAL's interrupt thread still frees what
 * it shared with it. Who closes the port meanwhile frees it, too. Alarms come in that thread, after what it
 * does. */
static void let_interrupts_end(void)
{
    atomic_bool rang = false;

    if (rte_eal_alarm_set(1, on_alarm, &rang) == 0)
        while (!atomic_load(&rang))
            rte_delay_us_sleep(1000);
}

void ports_await_end(const volatile bool *stop)
{
    uint16_t id;

    RTE_ETH_FOREACH_DEV(id)
    link_becomes(id, RTE_ETH_LINK_DOWN, stop);
    let_interrupts_end();
}
