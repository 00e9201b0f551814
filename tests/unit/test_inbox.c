/* Frames for the main lcore: none is lost but where a port's own ring is full, ports take turns, and who
 * sleeps is woken. */
#include <poll.h>

#include "lcore_rig.h"

enum { PORTS = 3 };

static struct inbox inbox;
static struct ctl_intake intake;
static struct counters counters;
static uint32_t addresses; /* that have sent something */

static void open_inbox(unsigned ports)
{
    inbox.wakeup = -1;
    ctl_intake_rules_init(&inbox.rules, 1, 1);
    ctl_intake_init(&intake, &inbox.rules);
    CU_ASSERT_FATAL(inbox_open(&inbox, ports) == 0);
}

static void close_inbox(void)
{
    inbox_close(&inbox);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(rig_mbufs), 0);
}

/* Numbered, each from another address; returns how many there was room for. */
static unsigned put(unsigned port, unsigned frames)
{
    for (unsigned i = 0; i < frames; i++) {
        const struct frame_end from = {.ip = ++addresses, .port = 1}, to = rig_switch(CTL_PORT);
        struct rte_mbuf *m = rig_frame(&from, &to, "x", 1);

        struct facts f = {.m = m}, *burst[] = {&f};

        m->hash.usr = i;
        inbox_receive(&inbox, &intake, &counters, port, burst, 1, 0);
        if (counters.drop[port][DROP_CONTROL_FULL] != 0) {
            counters = (struct counters){0};
            return i;
        }
    }
    return frames;
}

static bool is_awake(void)
{
    struct pollfd wakeup = {.fd = inbox.wakeup, .events = POLLIN};

    return poll(&wakeup, 1, 0) == 1;
}

/* Takes a burst; how many were of this port. */
static unsigned take(unsigned port, unsigned *all)
{
    struct rte_mbuf *taken[INBOX_BURST];
    unsigned of_port = 0;

    *all = inbox_take(&inbox, INBOX_STRANGERS, taken);
    for (unsigned i = 0; i < *all; i++)
        of_port += taken[i]->port == port;
    rte_pktmbuf_free_bulk(taken, *all);
    return of_port;
}

EACH_TEST(rig_start, NULL)

TEST(frames_come_in_order)
{
    struct rte_mbuf *taken[INBOX_BURST];
    unsigned n;

    open_inbox(PORTS);
    CU_ASSERT_EQUAL(put(1, INBOX_SHARE), INBOX_SHARE);
    n = inbox_take(&inbox, INBOX_STRANGERS, taken);
    CU_ASSERT_EQUAL(n, INBOX_SHARE);
    for (unsigned i = 0; i < n; i++)
        CU_ASSERT_EQUAL(taken[i]->hash.usr, i);
    rte_pktmbuf_free_bulk(taken, n);
    CU_ASSERT_EQUAL(inbox_take(&inbox, INBOX_STRANGERS, taken), 0);
    close_inbox();
}

TEST(a_full_ring_is_its_ports_alone)
{
    open_inbox(PORTS);
    CU_ASSERT_EQUAL(put(0, INBOX_RING_SIZE), INBOX_RING_SIZE - 1);
    CU_ASSERT_EQUAL(put(2, 5), 5);
    close_inbox(); /* with all that is in it */
}

TEST(no_port_has_more_than_its_share_of_a_burst)
{
    unsigned all, of_flooder = 0, of_other = 0;

    open_inbox(PORTS);
    put(0, 10 * INBOX_BURST);
    put(2, INBOX_SHARE + 1);
    for (unsigned i = 0; i < 2; i++) {
        struct rte_mbuf *taken[INBOX_BURST];

        all = inbox_take(&inbox, INBOX_STRANGERS, taken);
        CU_ASSERT(all <= 2 * INBOX_SHARE);
        for (unsigned j = 0; j < all; j++) {
            of_flooder += taken[j]->port == 0;
            of_other += taken[j]->port == 2;
        }
        rte_pktmbuf_free_bulk(taken, all);
    }
    CU_ASSERT_EQUAL(of_flooder, 2 * INBOX_SHARE);
    CU_ASSERT_EQUAL(of_other, INBOX_SHARE + 1);
    close_inbox();
}

TEST(ports_take_turns_where_a_burst_is_too_short_for_all)
{
    enum { MANY = INBOX_BURST / INBOX_SHARE + 1 };
    unsigned all, of_last = 0;

    open_inbox(MANY);
    for (unsigned port = 0; port < MANY; port++)
        put(port, 10 * INBOX_SHARE);
    CU_ASSERT_EQUAL(take(MANY - 1, &all), 0);
    CU_ASSERT_EQUAL(all, INBOX_BURST);
    for (unsigned i = 0; i < MANY; i++)
        of_last += take(MANY - 1, &all);
    CU_ASSERT(of_last >= INBOX_BURST);
    close_inbox();
}

TEST(who_sleeps_is_woken)
{
    unsigned all;

    open_inbox(PORTS);
    CU_ASSERT(!is_awake());
    put(1, 2);
    CU_ASSERT(is_awake());
    inbox_clear(&inbox);
    CU_ASSERT(!is_awake());
    CU_ASSERT_EQUAL(take(1, &all), 2);
    inbox_wake(&inbox);
    inbox_wake(&inbox);
    CU_ASSERT(is_awake());
    inbox_clear(&inbox);
    CU_ASSERT(!is_awake());
    close_inbox();
}

TEST(one_that_was_never_opened_can_be_closed)
{
    memset(&inbox, 0, sizeof(inbox));
    inbox.wakeup = -1;
    inbox_close(&inbox);
    CU_ASSERT_EQUAL(inbox.wakeup, -1);
}
