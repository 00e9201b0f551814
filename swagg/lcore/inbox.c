#include "lcore/inbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/eventfd.h>

#include "base/many_to_one.h"
#include "base/uplink_ports.h"
#include "port/frame.h"
#include "port/vlans.h"
#include "registry/anteroom.h"

int inbox_add(struct inbox *in, unsigned port)
{
    char name[RTE_RING_NAMESIZE];

    for (enum inbox_line line = 0; line < INBOX_LINES; line++) {
        if (in->ring[line][port] != NULL)
            continue;
        snprintf(name, sizeof(name), "to_control_%u_%u", line, port);
        in->ring[line][port] = rte_ring_create(name, INBOX_RING_SIZE, SOCKET_ID_ANY, MANY_TO_ONE);
        in->ports = RTE_MAX(in->ports, port + 1);
        if (in->ring[line][port] == NULL)
            return -ENOMEM;
    }
    return 0;
}

int inbox_open(struct inbox *in, unsigned ports)
{
    int rc = 0;

    in->wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (in->wakeup < 0)
        return -errno;
    in->ports = 0;
    for (unsigned p = 0; p < ports && rc == 0; p++)
        rc = inbox_add(in, p);
    return rc;
}

static void close_line(struct inbox *in, enum inbox_line line)
{
    struct rte_mbuf *frame[INBOX_BURST];
    unsigned n;

    while ((n = inbox_take(in, line, frame)) > 0)
        rte_pktmbuf_free_bulk(frame, n);
    for (unsigned p = 0; p < in->ports; p++) {
        rte_ring_free(in->ring[line][p]);
        in->ring[line][p] = NULL;
    }
}

void inbox_close(struct inbox *in)
{
    for (enum inbox_line line = 0; line < INBOX_LINES; line++)
        close_line(in, line);
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

struct ctl_endpoint inbox_sender(const struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    struct ctl_endpoint from = {.port = (uint8_t)m->port,
                                .network = (uint8_t)vlan_number(m),
                                .ip = f->ip.src_addr,
                                .udp_port = rte_be_to_cpu_16(f->udp.src_port)};

    memcpy(from.mac, f->eth.src_addr.addr_bytes, sizeof(from.mac));
    return from;
}

bool inbox_is_from_above(const struct rte_mbuf *m)
{
    return rte_pktmbuf_mtod(m, const struct frame_udp *)->udp.dst_port == RTE_BE16(UPLINK_CONTROL_PORT);
}

static enum drop put(struct inbox *in, enum inbox_line line, struct rte_mbuf *m)
{
    return rte_ring_enqueue(in->ring[line][m->port], m) == 0 ? DROP_REASONS : DROP_CONTROL_FULL;
}

/* DROP_REASONS: it is there. */
static enum drop let_in(struct inbox *in, struct ctl_intake *intake, struct rte_mbuf *m, uint64_t now)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    const struct ctl_endpoint from = inbox_sender(m);
    const enum ctl_intake_verdict verdict =
        ctl_intake_admit(intake, &from, inbox_is_from_above(m), f->payload, frame_payload_bytes(f), now);
    const enum drop refusal = anteroom_refusal(verdict);

    if (refusal != DROP_REASONS)
        return refusal;
    return put(in, verdict == CTL_INTAKE_MEMBER ? INBOX_MEMBERS : INBOX_STRANGERS, m);
}

void inbox_receive(struct inbox *in, struct ctl_intake *intake, struct counters *counters, unsigned port,
                   struct facts *const burst[], unsigned n, uint64_t now)
{
    bool any = false;

    for (unsigned i = 0; i < n; i++) {
        struct rte_mbuf *m = burst[i]->m;
        enum drop why;

        m->port = (uint16_t)port; /* from here on our number, not the device's */
        why = let_in(in, intake, m, now);
        any |= why == DROP_REASONS;
        if (why == DROP_REASONS)
            continue;
        count_drop(counters, port, why, 1);
        rte_pktmbuf_free(m);
    }
    if (any)
        inbox_wake(in);
}

unsigned inbox_take(struct inbox *in, enum inbox_line line, struct rte_mbuf *taken[INBOX_BURST])
{
    unsigned *next = &in->next[line], n = 0;

    for (unsigned i = 0; i < in->ports && n < INBOX_BURST; i++) {
        if (in->ring[line][*next] != NULL)
            n += rte_ring_dequeue_burst(in->ring[line][*next], (void **)(taken + n),
                                        RTE_MIN((unsigned)INBOX_SHARE, INBOX_BURST - n), NULL);
        *next = (*next + 1) % in->ports;
    }
    return n;
}
