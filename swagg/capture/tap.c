#include "capture/tap.h"

#include <stdlib.h>
#include <string.h>

#include "net/udp_frame.h"
#include "protocols.h"
#include "wire/control.h"

enum { FRAMES_MIN = 64 };

struct tap *tap_new(const struct tap_filter *filter, uint32_t snap, size_t bytes)
{
    const size_t least = FRAMES_MIN * records_room_of(sizeof(struct tap_frame) + snap);
    struct tap *tap = aligned_alloc(alignof(struct tap), sizeof(*tap));

    if (tap == NULL)
        return NULL;
    *tap = (struct tap){.filter = *filter, .snap = snap};
    if (records_init(&tap->taken, RTE_MAX(bytes, least)) < 0) {
        tap_free(tap);
        return NULL;
    }
    return tap;
}

void tap_free(struct tap *tap)
{
    if (tap == NULL)
        return;
    records_free(&tap->taken);
    free(tap);
}

static bool is_data_port(rte_be16_t port)
{
    const uint16_t p = rte_be_to_cpu_16(port);
    unsigned n;
    const struct agg_protocol *const *protocol = agg_protocols(&n);

    for (unsigned i = 0; i < n; i++)
        if (p >= protocol[i]->udp_ports.first && p <= protocol[i]->udp_ports.last)
            return true;
    return false;
}

static bool is_udp(const struct frame_udp *f, size_t bytes)
{
    return bytes >= sizeof(*f) && f->eth.ether_type == net16(NET_TYPE_IPV4) &&
           f->ip.next_proto_id == NET_PROTOCOL_UDP;
}

static enum tap_kind kind_of(const struct frame_udp *f, size_t bytes)
{
    if (!is_udp(f, bytes))
        return TAP_OTHER;
    if (is_data_port(f->udp.dst_port) || is_data_port(f->udp.src_port))
        return TAP_DATA;
    if (f->udp.dst_port == net16(CTL_PORT) || f->udp.src_port == net16(CTL_PORT))
        return TAP_CONTROL;
    return TAP_OTHER;
}

/* Whether this is a member that is asked for. */
static bool is_wanted(const struct tap_filter *filter, const struct agg_seat *seat)
{
    return seat != NULL && (filter->rank == 0 || seat->rank + 1u == filter->rank);
}

/* Whether a packet is from or to a member of the job. */
static bool is_of_job(const struct tap_filter *filter, const struct frame_udp *f, size_t bytes)
{
    const struct agg_sender receiver = {
        .ip = f->ip.dst_addr, .port = f->udp.dst_port, .network = filter->network};
    const struct agg_job *job = agg_jobs_find(filter->jobs, filter->job);
    struct agg_sender sender = {.ip = f->ip.src_addr, .port = f->udp.src_port, .network = filter->network};

    if (job == NULL || job->seats == 0 || !is_udp(f, bytes))
        return false;
    if (is_data_port(f->udp.dst_port))
        sender = agg_seated(job->protocol, &sender);
    return is_wanted(filter, agg_job_find(job, &sender)) || is_wanted(filter, agg_job_find(job, &receiver));
}

static bool passes(const struct tap_filter *filter, const struct rte_mbuf *m)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(m, const struct net_ethernet *);
    const uint16_t tag =
        m->data_len >= sizeof(*eth) && eth->ether_type == net16(NET_TYPE_TAG) ? sizeof(struct net_tag) : 0;
    /* Behind a tag the packet begins later. Nobody looks at its addresses. */
    const struct frame_udp *f = rte_pktmbuf_mtod_offset(m, const struct frame_udp *, tag);
    const enum tap_kind kind = kind_of(f, m->data_len - tag);

    if (filter->jobs == NULL)
        return (filter->kinds & kind) != 0;
    return (filter->kinds & TAP_DATA) != 0 && kind != TAP_CONTROL && is_of_job(filter, f, m->data_len);
}

static void take(struct tap *tap, unsigned port, unsigned direction, const struct rte_mbuf *m, uint64_t now)
{
    const uint32_t kept = RTE_MIN(tap->snap, m->pkt_len);
    struct tap_frame *f = records_begin(&tap->taken, sizeof(*f) + kept);
    const void *data;

    __atomic_fetch_add(&tap->port[port].seen, 1, __ATOMIC_RELAXED);
    if (f == NULL) {
        __atomic_fetch_add(&tap->port[port].lost, 1, __ATOMIC_RELAXED);
        return;
    }
    *f = (struct tap_frame){.tsc = now,
                            .bytes = m->pkt_len,
                            .kept = kept,
                            .port = (uint8_t)port,
                            .direction = (uint8_t)direction};
    data = rte_pktmbuf_read(m, 0, kept, f->data); /* copies what does not lie in one piece */
    if (data != f->data)
        memcpy(f->data, data, kept);
    records_end(f);
}

void tap_take(struct tap *tap, unsigned port, unsigned direction, struct rte_mbuf *const frames[], unsigned n,
              uint64_t now)
{
    for (unsigned i = 0; i < n && !tap->filter.dropped; i++)
        if (passes(&tap->filter, frames[i]))
            take(tap, port, direction, frames[i], now);
}

void tap_take_dropped(struct tap *tap, unsigned port, unsigned reason, const struct rte_mbuf *frame,
                      uint64_t now)
{
    if (tap->filter.dropped && tap->filter.reason == reason && passes(&tap->filter, frame))
        take(tap, port, PCAPNG_RECEIVED, frame, now);
}

struct tap_frame *tap_next(struct tap *tap)
{
    return records_next(&tap->taken);
}

void tap_give_back(struct tap *tap, struct tap_frame *frame)
{
    records_give_back(&tap->taken, frame);
}

bool tap_kind_of(const char *name, unsigned *kind)
{
    static const struct {
        const char *name;
        enum tap_kind kind;
    } kinds[] = {{"data", TAP_DATA}, {"control", TAP_CONTROL}, {"other", TAP_OTHER}};

    for (unsigned i = 0; i < RTE_DIM(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0) {
            *kind = kinds[i].kind;
            return true;
        }
    return false;
}
