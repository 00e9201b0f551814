#include "fake_port.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

static struct rte_mbuf *first_of(struct fake_frames *f)
{
    struct rte_mbuf *first;

    if (f->n == 0)
        return NULL;
    first = f->frame[0];
    memmove(f->frame, f->frame + 1, --f->n * sizeof(f->frame[0]));
    return first;
}

static uint16_t fake_receive(const struct port *port, uint16_t queue, struct rte_mbuf **frames, uint16_t max)
{
    struct fake_port *fake = port->state;
    uint16_t n = 0;

    while (n < max && (frames[n] = first_of(&fake->arriving[queue])) != NULL)
        n++;
    return n;
}

static struct port_refused fake_send(const struct port *port, uint16_t queue, struct rte_mbuf **frames,
                                     uint16_t n)
{
    struct fake_port *fake = port->state;
    struct fake_frames *sent = &fake->sent[queue];
    const unsigned room = fake->down ? 0 : fake->room - sent->n;
    const uint16_t taken = (uint16_t)RTE_MIN(n, room);
    const unsigned refused = n - taken;

    memcpy(sent->frame + sent->n, frames, taken * sizeof(frames[0]));
    sent->n += taken;
    rte_pktmbuf_free_bulk(frames + taken, refused);
    return fake->down ? (struct port_refused){.down = refused} : (struct port_refused){.full = refused};
}

static uint64_t fake_waiting(const struct port *port, uint16_t queue)
{
    (void)queue;
    return ((const struct fake_port *)port->state)->waiting;
}

static bool fake_is_up(const struct port *port)
{
    return !((const struct fake_port *)port->state)->down;
}

static void fake_stats(const struct port *port, struct port_stats *stats)
{
    (void)port;
    *stats = (struct port_stats){0};
}

static int fake_steer(const struct port *port, uint16_t udp_port, uint16_t queue, const char **why)
{
    struct fake_port *fake = port->state;

    if (fake->rules == RTE_MIN(fake->rules_max, RTE_DIM(fake->rule_port))) {
        *why = "no room for more rules";
        return -ENOSPC;
    }
    fake->rule_port[fake->rules] = udp_port;
    fake->rule_queue[fake->rules++] = queue;
    return 0;
}

static void fake_steer_no_more(const struct port *port)
{
    ((struct fake_port *)port->state)->rules = 0;
}

static int fake_deal(const struct port *port, const uint16_t queue[PORT_DEALS], const char **why)
{
    struct fake_port *fake = port->state;

    *why = NULL;
    if (!fake->deals)
        return -ENOTSUP;
    memcpy(fake->dealt_queue, queue, sizeof(fake->dealt_queue));
    return 0;
}

static uint64_t fake_missed(struct port *port)
{
    (void)port;
    return 0;
}

static const struct port_device fake_device = {.receive = fake_receive,
                                               .send = fake_send,
                                               .waiting = fake_waiting,
                                               .is_up = fake_is_up,
                                               .stats = fake_stats,
                                               .steer = fake_steer,
                                               .steer_no_more = fake_steer_no_more,
                                               .deal = fake_deal,
                                               .missed = fake_missed};

bool fake_port_init(struct port *port, struct fake_port *fake, const char *name, unsigned queues)
{
    assert(queues <= FAKE_PORT_QUEUES);
    *fake = (struct fake_port){.room = FAKE_PORT_FRAMES, .rules_max = UINT_MAX};
    *port = (struct port){.device = &fake_device,
                          .state = fake,
                          .max_frame = 1518,
                          .rx_queues = (uint16_t)queues,
                          .tx_queues = (uint16_t)queues,
                          .multi_segment = true,
                          .mac = {{0x02, 0, 0, 0, 0xFA, 0xCE}}};
    snprintf(port->name, sizeof(port->name), "%s", name);
    /* Whole cache lines, as each entry is. */
    port->rx = aligned_alloc(RTE_CACHE_LINE_SIZE, 2 * queues * sizeof(*port->rx));
    if (port->rx == NULL)
        return false;
    memset(port->rx, 0, 2 * queues * sizeof(*port->rx));
    port->tx = port->rx + queues;
    return true;
}

void fake_port_close(struct port *port)
{
    struct fake_port *fake = port->state;

    for (unsigned q = 0; q < FAKE_PORT_QUEUES; q++) {
        rte_pktmbuf_free_bulk(fake->arriving[q].frame, fake->arriving[q].n);
        rte_pktmbuf_free_bulk(fake->sent[q].frame, fake->sent[q].n);
    }
    free(port->rx);
}

void fake_port_arrive(struct fake_port *fake, unsigned queue, struct rte_mbuf *frame)
{
    struct fake_frames *arriving = &fake->arriving[queue];

    assert(arriving->n < FAKE_PORT_FRAMES);
    arriving->frame[arriving->n++] = frame;
}

struct rte_mbuf *fake_port_take(struct fake_port *fake, unsigned queue)
{
    return first_of(&fake->sent[queue]);
}
