#include "lcore/inbox.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <sys/eventfd.h>

#include "base/many_to_one.h"

int inbox_add(struct inbox *in, unsigned port)
{
    char name[RTE_RING_NAMESIZE];

    if (in->ring[port] != NULL)
        return 0;
    snprintf(name, sizeof(name), "to_control_%u", port);
    in->ring[port] = rte_ring_create(name, INBOX_RING_SIZE, SOCKET_ID_ANY, MANY_TO_ONE);
    if (in->ring[port] == NULL)
        return -ENOMEM;
    in->ports = RTE_MAX(in->ports, port + 1);
    return 0;
}

int inbox_open(struct inbox *in, unsigned ports)
{
    int rc = 0;

    in->wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (in->wakeup < 0)
        return -ENOMEM;
    in->ports = 0;
    for (unsigned p = 0; p < ports && rc == 0; p++)
        rc = inbox_add(in, p);
    return rc;
}

void inbox_close(struct inbox *in)
{
    struct rte_mbuf *frame[INBOX_BURST];
    unsigned n;

    while ((n = inbox_take(in, frame)) > 0)
        rte_pktmbuf_free_bulk(frame, n);
    for (unsigned p = 0; p < in->ports; p++) {
        rte_ring_free(in->ring[p]);
        in->ring[p] = NULL;
    }
    if (in->wakeup >= 0)
        close(in->wakeup);
    in->ports = 0;
    in->wakeup = -1;
}

void inbox_wake(struct inbox *in)
{
    eventfd_write(in->wakeup, 1);
}

void inbox_clear(struct inbox *in)
{
    eventfd_t wakeups;

    eventfd_read(in->wakeup, &wakeups);
}

bool inbox_put(struct inbox *in, unsigned port, struct rte_mbuf *m)
{
    if (rte_ring_enqueue(in->ring[port], m) != 0)
        return false;
    inbox_wake(in);
    return true;
}

unsigned inbox_take(struct inbox *in, struct rte_mbuf *taken[INBOX_BURST])
{
    unsigned n = 0;

    for (unsigned i = 0; i < in->ports && n < INBOX_BURST; i++) {
        if (in->ring[in->next] != NULL)
            n += rte_ring_dequeue_burst(in->ring[in->next], (void **)(taken + n),
                                        RTE_MIN((unsigned)INBOX_SHARE, INBOX_BURST - n), NULL);
        in->next = (in->next + 1) % in->ports;
    }
    return n;
}
