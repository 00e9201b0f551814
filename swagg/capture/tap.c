#include "capture/tap.h"

#include <stdlib.h>
#include <string.h>

#include "net/udp_frame.h"
#include "protocols.h"
#include "wire/control.h"

enum { FRAMES_MIN = 64, FRAMES_MAX = 1 << 16 };

static struct rte_ring *make_ring(unsigned frames)
{
    const ssize_t bytes = rte_ring_get_memsize(frames);
    struct rte_ring *ring = bytes < 0 ? NULL : aligned_alloc(RTE_CACHE_LINE_SIZE, (size_t)bytes);

    if (ring != NULL)
        rte_ring_init(ring, "tap", frames, RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ);
    return ring;
}

static size_t place_bytes(uint32_t snap)
{
    return RTE_ALIGN_CEIL(sizeof(struct tap_frame) + snap, RTE_CACHE_LINE_SIZE);
}

/* All places are touched now, so that no polling lcore has to wait for the kernel's pages. */
static void lay_out(struct tap *tap, unsigned frames)
{
    memset(tap->memory, 0, frames * place_bytes(tap->snap));
    for (unsigned i = 0; i + 1 < frames; i++) /* a ring has room for one less */
        rte_ring_enqueue(tap->unused, (uint8_t *)tap->memory + i * place_bytes(tap->snap));
}

struct tap *tap_new(const struct tap_filter *filter, uint32_t snap, size_t bytes)
{
    struct tap *tap = calloc(1, sizeof(*tap));
    unsigned frames = FRAMES_MIN;

    while (frames < FRAMES_MAX && 2 * frames * place_bytes(snap) <= bytes)
        frames *= 2;
    if (tap == NULL)
        return NULL;
    tap->filter = *filter;
    tap->snap = snap;
    tap->unused = make_ring(frames);
    tap->taken = make_ring(frames);
    tap->memory = aligned_alloc(RTE_CACHE_LINE_SIZE, frames * place_bytes(snap));
    if (tap->unused == NULL || tap->taken == NULL || tap->memory == NULL) {
        tap_free(tap);
        return NULL;
    }
    lay_out(tap, frames);
    return tap;
}

void tap_free(struct tap *tap)
{
    if (tap == NULL)
        return;
    free(tap->unused);
    free(tap->taken);
    free(tap->memory);
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

/* Whether a packet is from or to a member of the job. */
static bool is_of_job(const struct tap_filter *filter, const struct frame_udp *f, size_t bytes)
{
    const struct agg_sender sender = {.ip = f->ip.src_addr,
                                      .port = f->udp.src_port,
                                      .network = filter->network},
                            receiver = {
                                .ip = f->ip.dst_addr, .port = f->udp.dst_port, .network = filter->network};
    const struct agg_job *job = agg_jobs_find(filter->jobs, filter->job);

    if (job == NULL || job->seats == 0 || !is_udp(f, bytes))
        return false;
    return agg_job_find(job, &sender) != NULL || agg_job_find(job, &receiver) != NULL;
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

static void copy(struct tap_frame *to, const struct rte_mbuf *m, uint32_t snap)
{
    to->bytes = m->pkt_len;
    to->kept = 0;
    for (; m != NULL && to->kept < snap; m = m->next) {
        const uint32_t n = RTE_MIN(snap - to->kept, (uint32_t)m->data_len);

        memcpy(to->data + to->kept, rte_pktmbuf_mtod(m, const void *), n);
        to->kept += n;
    }
}

static void take(struct tap *tap, unsigned port, unsigned direction, const struct rte_mbuf *m, uint64_t now)
{
    void *place;

    __atomic_fetch_add(&tap->port[port].seen, 1, __ATOMIC_RELAXED);
    if (rte_ring_dequeue(tap->unused, &place) < 0) {
        __atomic_fetch_add(&tap->port[port].lost, 1, __ATOMIC_RELAXED);
        return;
    }
    copy(place, m, tap->snap);
    ((struct tap_frame *)place)->tsc = now;
    ((struct tap_frame *)place)->port = (uint8_t)port;
    ((struct tap_frame *)place)->direction = (uint8_t)direction;
    rte_ring_enqueue(tap->taken, place);
}

void tap_take(struct tap *tap, unsigned port, unsigned direction, struct rte_mbuf *const frames[], unsigned n,
              uint64_t now)
{
    for (unsigned i = 0; i < n; i++)
        if (passes(&tap->filter, frames[i]))
            take(tap, port, direction, frames[i], now);
}

struct tap_frame *tap_next(struct tap *tap)
{
    void *frame;

    return rte_ring_dequeue(tap->taken, &frame) < 0 ? NULL : frame;
}

void tap_give_back(struct tap *tap, struct tap_frame *frame)
{
    rte_ring_enqueue(tap->unused, frame);
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
