#include "dpdk/data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ecn.h"
#include "net/ecn.h"
#include "net/sum.h"
#include "wire/control.h"

enum { WAITING = 2048 /* frames that have come and are not received yet: a power of two */ };

struct data {
    struct transport base;
    struct port_end end;
    struct port *port;
    pid_t owner;
    struct waker bell; /* base.socket is its sleeper */
    uint32_t switch_ip;
    uint16_t first_port, data_ports; /* of the switch, host order */
    struct agg_key_field key;        /* by which packets are dealt to data ports */
    void (*mark)(uint8_t *payload, size_t bytes);
    bool without_checksum;
    size_t packet_max;
    struct net_mac mac; /* that the headers are for */
    bool has_headers;
    struct frame_header header[CTL_DATA_PORTS_MAX];
    /* under the port's lock */
    struct {
        struct rte_mbuf *frame[WAITING];
        unsigned first, next; /* counted on; modulo WAITING */
    } waiting;
    bool rung, receiving;
    struct rte_mbuf *held[TRANSPORT_BATCH]; /* whose payloads the caller has */
    unsigned held_frames;
};

static struct data *data_of(struct port_end *end)
{
    return (struct data *)((char *)end - offsetof(struct data, end));
}

/* Only what the switch sends from its data ports. Where nobody receives just now, the bell wakes who waits.
 */
static bool data_take(struct port_end *end, struct rte_mbuf *m, struct frame_udp *frame)
{
    struct data *d = data_of(end);
    const unsigned port = (unsigned)net16(frame->udp.src_port) - d->first_port;
    if (frame->ip.src_addr != d->switch_ip || port >= d->data_ports ||
        d->waiting.next - d->waiting.first == WAITING)
        return false;
    if (d->mark && net_ecn_is_marked(&frame->ip))
        d->mark(frame->payload, frame_payload_bytes(frame));
    d->waiting.frame[d->waiting.next++ % WAITING] = m;
    if (!d->receiving && !d->rung) {
        d->rung = true;
        waker_wake(&d->bell);
    }
    return true;
}

static void make_headers(struct data *d, const struct net_mac *mac)
{
    for (unsigned i = 0; i < d->data_ports; i++) {
        struct frame_header *h = &d->header[i];
        struct frame_udp *f = (struct frame_udp *)h->bytes;
        port_header(d->port, h, mac, d->switch_ip, net16(d->first_port + i));
        h->without_udp_sum = d->without_checksum;
        if (d->mark) {
            f->ip.type_of_service = ECN_CAPABLE;
            h->ip_sum = net_ipv4_sum(&f->ip);
        }
    }
    d->mac = *mac;
    d->has_headers = true;
}

/* False: where the switch is is not known yet. */
static bool find_switch(struct data *d)
{
    const struct net_mac *mac = port_neighbour(d->port, d->switch_ip);
    if (!mac)
        return false;
    if (!d->has_headers || !net_same_mac(mac, &d->mac))
        make_headers(d, mac);
    return true;
}

static size_t packet_bytes(const struct xfer_send *p)
{
    return p->head_bytes + p->body_bytes + xfer_trailer_bytes(p->checksum);
}

static uint16_t sum_of(const struct data *d, const void *at, size_t bytes)
{
    return d->without_checksum ? 0 : port_kernels(d->port)->ones_sum(at, bytes);
}

static void write_headers(const struct data *d, const struct xfer_send *p, void *out, uint16_t sum)
{
    const unsigned port = agg_shard_key(&d->key, p->head, p->head_bytes) % d->data_ports;
    const struct frame_payload payload = {.bytes = packet_bytes(p), .sum = sum};
    frame_write_headers(out, &d->header[port], d->end.udp_port, &payload);
}

/* Makes the frame, which has room for the whole packet, one of a packet that has its body in the caller's
 * tensor, to which it refers; NULL: there is no buffer for that, and no frame any more. Sums of parts are
 * those of the whole as long as the parts before have even lengths. */
static struct rte_mbuf *refer(struct data *d, const struct xfer_send *p, struct rte_mbuf *m, const void *body)
{
    struct frame_udp *f = rte_pktmbuf_mtod(m, struct frame_udp *);
    rte_pktmbuf_trim(m, (uint16_t)p->body_bytes);
    memcpy(f->payload, p->head, p->head_bytes);
    const uint32_t sum = (uint32_t)sum_of(d, p->head, p->head_bytes) + sum_of(d, body, p->body_bytes);
    write_headers(d, p, f, net_fold(sum));
    if (port_append(d->port, m, body, p->body_bytes))
        return m;
    rte_pktmbuf_free(m);
    return NULL;
}

static bool can_refer(const struct data *d, const struct xfer_send *p)
{
    return port_reads_at_once(d->port) && p->checksum == XFER_CHECKSUM_NONE && p->body_bytes > 0 &&
           p->head_bytes % 2 == 0;
}

/* The body is made, or copied, at its place in the frame, unless the frame can refer to it. */
static struct rte_mbuf *frame_of(struct data *d, const struct xfer_send *p)
{
    const size_t bytes = packet_bytes(p);
    struct rte_mbuf *m = port_frame(d->port, FRAME_HEADER_BYTES + bytes);
    if (!m)
        return NULL;
    struct frame_udp *f = rte_pktmbuf_mtod(m, struct frame_udp *);
    uint8_t *place = f->payload + p->head_bytes;
    const void *body = xfer_send_body(p, place);
    if (body != place && can_refer(d, p))
        return refer(d, p, m, body);
    memcpy(f->payload, p->head, p->head_bytes);
    if (body != place)
        memcpy(place, body, p->body_bytes);
    if (p->checksum != XFER_CHECKSUM_NONE)
        xfer_send_trailer(p, place, place + p->body_bytes);
    write_headers(d, p, f, sum_of(d, f->payload, bytes));
    return m;
}

static int data_send(struct transport *t, const struct xfer_send packets[], unsigned n)
{
    struct data *d = (struct data *)t;
    struct rte_mbuf *frame[TRANSPORT_BATCH];
    unsigned made = 0;
    port_lock(d->port);
    if (!find_switch(d)) {
        t->trouble = EHOSTUNREACH;
        n = 0;
    }
    for (unsigned i = 0; i < n; i++)
        if ((frame[made] = frame_of(d, &packets[i])))
            made++;
    port_send(d->port, frame, made);
    port_unlock(d->port);
    return 0;
}

static void give_back(struct data *d)
{
    rte_pktmbuf_free_bulk(d->held, d->held_frames);
    d->held_frames = 0;
}

/* What waits, in place. */
static int hand_over(struct data *d, struct transport_packet packets[TRANSPORT_BATCH])
{
    int n = 0;
    for (; n < TRANSPORT_BATCH && d->waiting.first != d->waiting.next; n++) {
        struct rte_mbuf *m = d->held[d->held_frames++] = d->waiting.frame[d->waiting.first++ % WAITING];
        struct frame_udp *f = rte_pktmbuf_mtod(m, struct frame_udp *);
        packets[n] = (struct transport_packet){.payload = f->payload, .bytes = frame_payload_bytes(f)};
    }
    return n;
}

static int data_receive(struct transport *t, struct transport_packet packets[TRANSPORT_BATCH])
{
    struct data *d = (struct data *)t;
    port_lock(d->port);
    give_back(d);
    d->receiving = true;
    if (d->waiting.first == d->waiting.next)
        port_poll(d->port);
    d->receiving = false;
    if (d->rung)
        waker_drain(&d->bell);
    d->rung = false;
    const int n = hand_over(d, packets);
    port_unlock(d->port);
    if (n > 0)
        t->trouble = 0;
    return n;
}

static int data_set_ports(struct transport *t, uint16_t first, unsigned n)
{
    struct data *d = (struct data *)t;
    port_lock(d->port);
    d->first_port = first;
    d->data_ports = (uint16_t)n;
    d->has_headers = false;
    port_unlock(d->port);
    return 0;
}

static void data_close(struct transport *t)
{
    struct data *d = (struct data *)t;
    if (d->owner == getpid()) {
        port_lock(d->port);
        port_remove(d->port, &d->end);
        give_back(d);
        while (d->waiting.first != d->waiting.next)
            rte_pktmbuf_free(d->waiting.frame[d->waiting.first++ % WAITING]);
        port_unlock(d->port);
    }
    waker_close(&d->bell);
    free(d);
}

static const struct transport_ops data_ops = {
    .send = data_send, .receive = data_receive, .set_ports = data_set_ports, .close = data_close};

int data_open(struct transport **out, struct port *port, const struct transport_config *config)
{
    struct data *d = calloc(1, sizeof *d);
    if (!d)
        return -ENOMEM;
    d->base = (struct transport){
        .ops = &data_ops, .socket = OWN_FD_NONE, .group = OWN_FD_NONE, .mtu = config->mtu, .polled = true};
    d->port = port;
    d->owner = getpid();
    d->end = (struct port_end){.take = data_take, .fd = -1};
    d->switch_ip = config->switch_ip.s_addr;
    d->first_port = config->port;
    d->data_ports = 1;
    d->key = config->key;
    d->mark = config->mark;
    d->without_checksum = config->checksum != XFER_CHECKSUM_NONE;
    int rc = waker_open(&d->bell);
    if (rc == 0) {
        port_lock(port);
        rc = port_add(port, &d->end);
        port_unlock(port);
    }
    if (rc < 0) {
        waker_close(&d->bell);
        free(d);
        return rc;
    }
    d->base.socket = d->bell.sleeper;
    d->base.local_port = net16(d->end.udp_port);
    *out = &d->base;
    return 0;
}
