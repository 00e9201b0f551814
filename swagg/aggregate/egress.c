#include "aggregate/egress.h"

#include <string.h>

#include "aggregate/carried.h"
#include "bridge/forward.h"
#include "net/ecn.h"
#include "port/frame.h"

/* Makes a frame with this payload of an empty buffer: with a copy of its bytes, or with a reference to the
 * buffer that they lie in, which the caller has counted. */
static inline void fill_frame(const struct egress *e, struct rte_mbuf *m, const struct frame_header *h,
                              const struct frame_fields *fields, const struct frame_payload *payload,
                              struct rte_mbuf *body)
{
    uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

    frame_write_fields(frame, h, fields);
    m->ol_flags = h->without_udp_sum ? 0 : e->mergeable;
    m->pkt_len = FRAME_HEADER_BYTES + (uint32_t)payload->bytes;
    m->data_len = FRAME_HEADER_BYTES;
    if (body == NULL) {
        memcpy(frame + FRAME_HEADER_BYTES, payload->at, payload->bytes);
        m->data_len = (uint16_t)m->pkt_len;
    } else {
        m->next = body;
        m->nb_segs = 2;
    }
}

/* An empty buffer for a frame to this port; NULL: none is free, which is counted as a drop. */
static struct rte_mbuf *take(struct egress *e, unsigned port)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(e->mbufs);

    if (m == NULL)
        count_drop(e->counters, port, DROP_NO_MBUF, 1);
    return m;
}

static struct rte_mbuf *make_frame(struct egress *e, unsigned port, const struct frame_header *h,
                                   rte_be16_t from_port, const struct frame_payload *payload)
{
    const struct frame_fields fields = frame_fields(from_port, payload);
    struct rte_mbuf *m = take(e, port);

    if (m != NULL)
        fill_frame(e, m, h, &fields, payload, NULL);
    return m;
}

/* Empty buffers for frames that are made one after another, as they come from the pool: to be reset. */
struct taken {
    unsigned n;
    struct rte_mbuf *m[32];
};

/* Takes buffers for so many frames, or some of them, and asks for their headers. There may be none. */
static void take_many(const struct egress *e, struct taken *t, unsigned frames)
{
    const unsigned n = RTE_MIN(frames, (unsigned)RTE_DIM(t->m));

    if (rte_mempool_get_bulk(e->mbufs, (void **)t->m, n) < 0)
        return;
    t->n = n;
    for (unsigned i = 0; i < n; i++) {
        rte_mbuf_prefetch_part1(t->m[i]);
        rte_mbuf_prefetch_part2(t->m[i]);
        rte_prefetch0((const uint8_t *)(t->m[i] + 1) + RTE_PKTMBUF_HEADROOM);
    }
}

/* If the job's frames have no UDP checksum, nothing needs to be summed. */
static struct frame_payload payload_of(const struct egress *e, const struct switch_job *job,
                                       const void *bytes, size_t n)
{
    return job->without_udp_sum ? (struct frame_payload){.at = bytes, .bytes = n}
                                : frame_payload(bytes, n, e->ones_sum);
}

/* Negative: nobody knows yet. */
static int port_of(const struct egress *e, const struct job_member *member)
{
    const int known = bridge_lookup(bridge_of(e->bridge, member->network), member->mac.addr_bytes);

    return known >= 0 || member->port == JOBS_PORT_UNKNOWN ? known : member->port;
}

/* By rank, of this job's members, of whom this is the first. */
static const int8_t *ports_of(struct egress *e, const struct job_member member[], unsigned size)
{
    if (likely(e->found == member))
        return e->port;
    for (unsigned rank = 0; rank < size; rank++)
        e->port[rank] = (int8_t)port_of(e, &member[rank]);
    e->found = member;
    return e->port;
}

/* The frame is for this member, whose port is known, or negative. */
static void put(struct egress *e, const struct job_member *member, int port, struct rte_mbuf *m)
{
    vlan_put(m, member->network);
    if (port >= 0)
        send_put(e->send, (unsigned)port, m);
    else
        forward_to_all(e->send, SEND_TO_ALL, m);
}

/* A packet that is different for each receiver; false: the protocol holds it back. */
static bool send_wrapped(struct egress *e, const struct agg_job *job, unsigned thread, uint16_t rank,
                         rte_be16_t from_port, const struct agg_verdict *v)
{
    const struct job_member *member = jobs_member(jobs_of(job), thread, rank);
    const int port = port_of(e, member);
    struct frame_payload whole = {0};
    struct agg_wrapping w;
    struct rte_mbuf *m;
    struct frame_udp *f;

    if (!job->protocol->wrap(job, rank, v, &w))
        return false;
    m = take(e, (unsigned)RTE_MAX(port, 0));
    if (m == NULL)
        return true;
    whole.bytes = w.head_bytes + v->bytes + w.tail_bytes;
    f = (struct frame_udp *)(void *)rte_pktmbuf_append(m, (uint16_t)(FRAME_HEADER_BYTES + whole.bytes));
    frame_write_headers(f, &member->header, from_port, &whole);
    memcpy(f->payload, w.head, w.head_bytes);
    memcpy(f->payload + w.head_bytes, v->payload, v->bytes);
    job->protocol->seal(v, (const uint8_t *)&f->ip, sizeof(f->ip) + sizeof(f->udp) + w.head_bytes,
                        f->payload + w.head_bytes + v->bytes);
    put(e, member, port, m);
    return true;
}

static void wrapped_to_all(struct egress *e, const struct agg_job *job, unsigned thread, rte_be16_t from_port,
                           const struct agg_verdict *v)
{
    unsigned sent = 0;

    for (uint16_t rank = 0; rank < job->size; rank++)
        sent += agg_wants(v, rank) && send_wrapped(e, job, thread, rank, from_port, v);
    count_event(e->counters, EVENT_RESULTS, sent);
}

/* The same for this member, whose NIC may be the receiver: that is sent a copy. */
static inline void fill_for_member(const struct egress *e, struct rte_mbuf *m,
                                   const struct job_member *member, const struct frame_fields *fields,
                                   const struct frame_payload *payload, struct rte_mbuf *body)
{
    if (likely(member->queue_pair == 0)) {
        fill_frame(e, m, &member->header, fields, payload, body);
        return;
    }
    carried_fill(m, member, payload->at, payload->bytes);
    rte_pktmbuf_free(body);
}

static void send_to_member(struct egress *e, const struct job_member *member, rte_be16_t from_port,
                           const struct frame_payload *payload, struct rte_mbuf *body)
{
    const struct frame_fields fields = frame_fields(from_port, payload);
    const int port = port_of(e, member);
    struct rte_mbuf *m = take(e, (unsigned)RTE_MAX(port, 0));

    if (m == NULL) {
        rte_pktmbuf_free(body);
        return;
    }
    fill_for_member(e, m, member, &fields, payload, body);
    put(e, member, port, m);
}

static uint16_t count_wanted(const struct agg_job *job, const struct agg_verdict *v)
{
    uint16_t wanted = 0;

    for (unsigned i = 0; i < ranks_words(job->size); i++)
        wanted += (uint16_t)__builtin_popcountll(v->wants[i] & ranks_below(job->size, i));
    return wanted;
}

/* The buffer that the sum was made in, trimmed to the sum, with one reference for each rank that wants it. It
 * is read only from now on. */
static struct rte_mbuf *share_kept(struct rte_mbuf *body, const struct frame_payload *sum, uint16_t wanted)
{
    body->data_off = (uint16_t)((const uint8_t *)sum->at - (const uint8_t *)body->buf_addr);
    body->data_len = (uint16_t)sum->bytes;
    body->pkt_len = sum->bytes;
    body->ol_flags = 0;
    rte_mbuf_refcnt_update(body, (int16_t)wanted);
    return body;
}

/* The same with a copy of the sum. */
static struct rte_mbuf *share_copy(struct egress *e, const struct frame_payload *sum, uint16_t wanted)
{
    struct rte_mbuf *body = wanted < 2 ? NULL : rte_pktmbuf_alloc(e->mbufs);

    if (body == NULL)
        return NULL;
    memcpy(rte_pktmbuf_append(body, (uint16_t)sum->bytes), sum->at, sum->bytes);
    rte_mbuf_refcnt_set(body, wanted);
    return body;
}

/* A buffer with the sum, for frames to refer to; NULL: the sum is to be copied into each frame. kept: that
 * the sum lies in, or NULL. */
static struct rte_mbuf *share(struct egress *e, const struct frame_payload *sum, struct rte_mbuf *kept,
                              uint16_t wanted)
{
    if (!e->multi_segment || sum->bytes < JOBS_ATTACH_FROM_BYTES)
        return NULL;
    return kept != NULL ? share_kept(kept, sum, wanted) : share_copy(e, sum, wanted);
}

/* What ranks of a job are sent after TO_ALL. */
struct to_all {
    struct frame_payload payload;
    struct frame_fields fields;
    rte_be16_t from_port;
    struct rte_mbuf *body; /* that the payload lies in, counted; NULL: it is copied */
};

static struct to_all prepare(const struct egress *e, const struct switch_job *job, rte_be16_t from_port,
                             const uint8_t *bytes, size_t n)
{
    struct to_all a = {.payload = payload_of(e, job, bytes, n), .from_port = from_port};

    a.fields = frame_fields(from_port, &a.payload);
    return a;
}

/* To this rank, which is at this port, in a buffer that was taken, or, NULL, in one of its own. */
static inline void send_to_rank(struct egress *e, const struct to_all *a, const struct job_member *member,
                                int port, struct rte_mbuf *m)
{
    if (unlikely(m == NULL)) {
        send_to_member(e, member, a->from_port, &a->payload, a->body);
        return;
    }
    rte_pktmbuf_reset(m);
    fill_for_member(e, m, member, &a->fields, &a->payload, a->body);
    put(e, member, port, m);
}

/* Buffers are asked for before the sum's checksum is made, and arrive meanwhile. */
void egress_to_all(struct egress *e, const struct agg_job *job, unsigned thread, rte_be16_t from_port,
                   const struct agg_verdict *v)
{
    const struct switch_job *ours = jobs_of(job);
    const struct job_member *member = jobs_member(ours, thread, 0);
    const uint16_t wanted = count_wanted(job, v);
    const unsigned frames = v->brief_bytes > 0 ? job->size : wanted;
    const int8_t *port;
    struct to_all sum, brief;
    struct taken t;
    unsigned left = frames;

    if (job->protocol->wrap != NULL) {
        wrapped_to_all(e, job, thread, from_port, v);
        return;
    }
    t.n = 0;
    take_many(e, &t, left);
    sum = prepare(e, ours, from_port, v->payload, v->bytes);
    sum.body = share(e, &sum.payload, v->buffer, wanted);
    if (v->brief_bytes > 0)
        brief = prepare(e, ours, from_port, v->brief, v->brief_bytes);
    port = ports_of(e, member, job->size);
    for (unsigned rank = 0; left > 0; rank++) {
        const bool wants = agg_wants(v, rank);

        if (!wants && v->brief_bytes == 0)
            continue;
        if (t.n == 0)
            take_many(e, &t, left);
        send_to_rank(e, wants ? &sum : &brief, &member[rank], port[rank], t.n > 0 ? t.m[--t.n] : NULL);
        left--;
    }
    count_event(e->counters, EVENT_RESULTS, frames);
}

void egress_back(struct egress *e, const struct rte_mbuf *m, const void *payload, size_t bytes,
                 enum event event)
{
    const struct frame_payload body = frame_payload(payload, bytes, e->ones_sum);
    struct frame_header h;
    struct frame_end from, to;
    struct rte_mbuf *answer;

    frame_answer_ends(egress_frame(m), &from, &to);
    frame_header_init(&h, &from, &to);
    answer = make_frame(e, m->port, &h, egress_frame(m)->udp.dst_port, &body);
    if (answer != NULL) {
        vlan_put_like(answer, m);
        send_put(e->send, m->port, answer);
    }
    count_event(e->counters, event, 1);
}

static void answer(struct egress *e, const struct agg_packet *p, const struct rte_mbuf *m,
                   const uint8_t *bytes, size_t n, enum event event)
{
    const struct switch_job *job = jobs_of(p->job);
    struct frame_payload payload;

    if (job->member == NULL) { /* nobody has joined it */
        egress_back(e, m, bytes, n, event);
        return;
    }
    payload = payload_of(e, job, bytes, n);
    send_to_member(e, jobs_member(job, p->thread, p->rank), egress_frame(m)->udp.dst_port, &payload, NULL);
    count_event(e->counters, event, 1);
}

void egress_reply(struct egress *e, const struct agg_packet *p, const struct rte_mbuf *m,
                  const struct agg_verdict *v)
{
    if (p->job->protocol->wrap != NULL) {
        if (send_wrapped(e, p->job, p->thread, p->rank, egress_frame(m)->udp.dst_port, v))
            count_event(e->counters, EVENT_RESULTS, 1);
        return;
    }
    answer(e, p, m, v->payload, v->bytes, v->payload == v->answer ? EVENT_ANSWERS : EVENT_RESULTS);
}

void egress_to_parent(struct egress *e, const struct agg_packet *p, const struct rte_mbuf *m,
                      const struct agg_verdict *v)
{
    const struct switch_job *job = jobs_of(p->job);
    const struct job_parent *parent = __atomic_load_n(&job->parent, __ATOMIC_ACQUIRE);
    const unsigned port = agg_shard_key(&p->job->protocol->shard_key, v->payload, v->bytes) % parent->ports;
    const struct frame_payload payload = payload_of(e, job, v->payload, v->bytes);

    send_to_member(e, &parent->at[port], parent->from_port, &payload, NULL);
    count_sent_up(e->counters, parent->uplink, v->bytes);
    if (v->brief_bytes > 0)
        answer(e, p, m, v->brief, v->brief_bytes, EVENT_ANSWERS);
}

rte_be16_t egress_data_port(const struct egress *e, const struct agg_protocol *protocol,
                            const uint8_t *payload, size_t bytes)
{
    return rte_cpu_to_be_16(
        (uint16_t)(protocol->udp_ports.first +
                   agg_shard_key(&protocol->shard_key, payload, bytes) % RTE_MAX(e->data_ports, 1u)));
}

/* Where the bridge knows the station that a frame is for. */
static int known_port(const struct egress *e, const struct rte_mbuf *m)
{
    return bridge_lookup(bridge_of(e->bridge, vlan_number(m)),
                         rte_pktmbuf_mtod(m, const struct net_ethernet *)->dst_addr.addr_bytes);
}

static struct net_ipv4 *ip_of(struct rte_mbuf *m)
{
    return &rte_pktmbuf_mtod(m, struct frame_udp *)->ip;
}

void egress_pass_on(struct egress *e, const struct rte_mbuf *m, const struct agg_verdict *v)
{
    const struct frame_payload payload = frame_payload(v->payload, v->bytes, e->ones_sum);
    const struct frame_udp *f = egress_frame(m);
    const rte_be16_t from_port = f->udp.src_port;
    struct frame_end sender, receiver;
    struct rte_mbuf *onward;
    struct frame_header h;

    frame_answer_ends(f, &receiver, &sender);
    frame_header_init(&h, &sender, &receiver);
    onward = make_frame(e, m->port, &h, from_port, &payload);
    if (onward == NULL)
        return;
    if (f->ip.type_of_service != 0)
        net_set_type_of_service(ip_of(onward), f->ip.type_of_service);
    vlan_put_like(onward, m);
    forward(e->send, m->port, known_port(e, onward), onward);
}

static struct frame_end end_of(const struct agg_sender *s)
{
    struct frame_end end = {.ip = s->ip, .port = s->port};

    memcpy(end.mac.addr_bytes, s->mac, sizeof(s->mac));
    return end;
}

void egress_send_as(struct egress *e, const struct agg_protocol *protocol, const struct agg_verdict *v)
{
    const struct frame_payload payload = frame_payload(v->payload, v->bytes, e->ones_sum);
    const struct frame_end from = end_of(&v->as->from), to = end_of(&v->as->to);
    const int port = bridge_lookup(bridge_of(e->bridge, v->as->from.network), v->as->to.mac);
    struct frame_header h;
    struct rte_mbuf *m;

    frame_header_init(&h, &from, &to);
    m = make_frame(e, (unsigned)RTE_MAX(port, 0), &h, from.port, &payload);
    if (m == NULL)
        return;
    if (protocol->mark != NULL)
        net_set_type_of_service(ip_of(m), NET_ECN_CAPABLE);
    vlan_put(m, v->as->from.network);
    if (port >= 0)
        send_put(e->send, (unsigned)port, m);
    else
        forward_to_all(e->send, SEND_TO_ALL, m);
}

void egress_pass(struct egress *e, struct rte_mbuf *m)
{
    rte_mbuf_refcnt_update(m, 1);
    forward(e->send, m->port, known_port(e, m), m);
}
