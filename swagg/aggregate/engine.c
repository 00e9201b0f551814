#include "aggregate/engine.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "aggregate/locate.h"
#include "wire/path.h"

enum {
    ANSWERS_AT_ONCE = 64,
    ANSWERS_A_SECOND = 10000,
};

/* A frame with this payload: a copy of its bytes or, where they lie in a buffer that frames share, a
 * reference to it, which the caller has counted. */
static void send_frame(struct engine *e, unsigned egress, const struct frame_header *h, rte_be16_t from_port,
                       const struct frame_payload *payload, struct rte_mbuf *body)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(e->mbufs);

    if (m == NULL) {
        rte_pktmbuf_free(body);
        count_drop(e->counters, egress, DROP_NO_MBUF, 1);
        return;
    }
    frame_write_headers(rte_pktmbuf_append(m, FRAME_HEADER_BYTES), h, from_port, payload);
    m->ol_flags = h->without_udp_sum ? 0 : e->mergeable;
    if (body == NULL) {
        memcpy(rte_pktmbuf_append(m, (uint16_t)payload->bytes), payload->at, payload->bytes);
    } else {
        m->next = body;
        m->nb_segs = 2;
        m->pkt_len += body->data_len;
    }
    send_put(e->send, egress, m);
}

/* Where the job's own checksum travels with the payload, the frames have none of UDP's. */
static struct frame_payload payload_of(const struct job *job, const void *bytes, size_t n)
{
    return job->checksum == SML_CHECKSUM_NONE ? frame_payload(bytes, n)
                                              : (struct frame_payload){.at = bytes, .bytes = n};
}

static unsigned egress_of(const struct engine *e, const struct job_member *member)
{
    int known = bridge_lookup(e->bridge, member->mac.addr_bytes);

    return known < 0 ? member->port : (unsigned)known;
}

static void send_to_member(struct engine *e, const struct work *w, uint16_t rank,
                           const struct frame_payload *payload, struct rte_mbuf *body)
{
    const struct job_member *member = &w->job->member[rank];

    send_frame(e, egress_of(e, member), &member->header, w->switch_port, payload, body);
}

static uint16_t count_wanted(const struct work *w, const struct agg_verdict *v)
{
    uint16_t wanted = 0;

    for (uint16_t rank = 0; rank < w->job->size; rank++)
        wanted += agg_wants(v, rank);
    return wanted;
}

/* The sum's own buffer, cut down to it, from now on not written to, and a reference to it for each rank that
 * wants it. */
static struct rte_mbuf *share_kept(struct rte_mbuf *body, const struct frame_payload *sum, uint16_t wanted)
{
    body->data_off = (uint16_t)((const uint8_t *)sum->at - (const uint8_t *)body->buf_addr);
    body->data_len = (uint16_t)sum->bytes;
    body->pkt_len = sum->bytes;
    body->ol_flags = 0;
    rte_mbuf_refcnt_update(body, (int16_t)wanted);
    return body;
}

/* The same of a copy. */
static struct rte_mbuf *share_copy(struct engine *e, const struct frame_payload *sum, uint16_t wanted)
{
    struct rte_mbuf *body = wanted < 2 ? NULL : rte_pktmbuf_alloc(e->mbufs);

    if (body == NULL)
        return NULL;
    memcpy(rte_pktmbuf_append(body, (uint16_t)sum->bytes), sum->at, sum->bytes);
    rte_mbuf_refcnt_set(body, wanted);
    return body;
}

/* A buffer with the sum that frames can refer to; NULL: it is to be copied into each. */
static struct rte_mbuf *share(struct engine *e, const struct work *w, const struct frame_payload *sum,
                              const struct agg_verdict *v)
{
    uint16_t wanted;

    if (!e->multi_segment || sum->bytes < JOBS_SHARE_FROM_BYTES)
        return NULL;
    wanted = count_wanted(w, v);
    return v->buffer != NULL ? share_kept(v->buffer, sum, wanted) : share_copy(e, sum, wanted);
}

static void send_to_all(struct engine *e, const struct work *w, const struct agg_verdict *v)
{
    const struct frame_payload sum = payload_of(w->job, v->payload, v->bytes);
    const struct frame_payload ack = payload_of(w->job, v->brief, v->brief_bytes);
    struct rte_mbuf *body = share(e, w, &sum, v);

    for (uint16_t rank = 0; rank < w->job->size; rank++) {
        if (agg_wants(v, rank))
            send_to_member(e, w, rank, &sum, body);
        else
            send_to_member(e, w, rank, &ack, NULL);
    }
    count_event(e->counters, EVENT_RESULTS, w->job->size);
}

static void send_to_sender(struct engine *e, const struct work *w, const void *bytes, size_t n,
                           enum event event)
{
    const struct frame_payload payload = payload_of(w->job, bytes, n);

    send_to_member(e, w, w->rank, &payload, NULL);
    count_event(e->counters, event, 1);
}

/* The job has frames left to keep, this one is worth it, and nobody else has it. */
static bool may_keep(const struct work *w)
{
    return w->job->in_place && w->packet.body_bytes >= JOBS_SHARE_FROM_BYTES && RTE_MBUF_DIRECT(w->m) &&
           rte_pktmbuf_is_contiguous(w->m) && rte_mbuf_refcnt_read(w->m) == 1;
}

/* Returns the frame that is to be freed now: the packet's, or that of an earlier one whose place it takes. */
static struct rte_mbuf *apply(struct engine *e, const struct work *w)
{
    struct agg_verdict v;

    if (w->slot == NULL) {
        counter_add(&e->counters->verdict[SML_DROP_BAD_SLOT], 1);
        return w->m;
    }
    sml_pool_apply(w->job->pool, w->slot, w->rank, &w->packet, may_keep(w) ? w->m : NULL, &v);
    counter_add(&e->counters->verdict[v.reason], 1);
    switch (v.reason) {
    case SML_SEND_ALL:
    case SML_RESTORED:
        send_to_all(e, w, &v);
        break;
    case SML_SEND_ONE:
        send_to_sender(e, w, v.payload, v.bytes, EVENT_RESULTS);
        break;
    case SML_SEND_ANSWER:
    case SML_SEND_QUARREL:
        send_to_sender(e, w, v.payload, v.bytes, EVENT_ANSWERS);
        break;
    default:
        break;
    }
    if (v.kept)
        return v.released;
    rte_pktmbuf_free(v.released);
    return w->m;
}

/* What nobody vouches for is answered at a rate that cannot be exceeded, whoever asks. */
static bool may_answer(struct engine *e, struct engine_allowance *a)
{
    uint64_t interval = rte_get_tsc_hz() / ANSWERS_A_SECOND, earned = (e->now - a->at) / interval;

    if (earned > 0) {
        a->credit = RTE_MIN(a->credit + earned, (uint64_t)ANSWERS_AT_ONCE);
        a->at = e->now;
    }
    if (a->credit == 0)
        return false;
    a->credit--;
    return true;
}

/* To where a frame came from. */
static void send_back(struct engine *e, const struct rte_mbuf *m, const void *answer, size_t bytes,
                      enum event event)
{
    const struct frame_payload payload = frame_payload(answer, bytes);
    struct frame_header h;
    struct frame_end from, to;

    frame_answer_ends(locate_frame(m), &from, &to);
    frame_header_init(&h, &from, &to);
    send_frame(e, m->port, &h, locate_frame(m)->udp.dst_port, &payload, NULL);
    count_event(e->counters, event, 1);
}

static void reject(struct engine *e, const struct rte_mbuf *m, const struct sml_packet *p)
{
    uint8_t answer[SML_REJECT_BYTES];
    const size_t bytes = sml_build_reject(answer, p, e->boot_id);

    if (bytes > 0 && may_answer(e, &e->rejects))
        send_back(e, m, answer, bytes, EVENT_REJECTS);
}

/* What is neither a gradient packet nor of a member may be a path probe. */
static bool is_path_probe(const struct rte_mbuf *m, enum drop why)
{
    const struct frame_udp *f = locate_frame(m);

    return why == DROP_SML_BAD_KIND && path_is_question(f->payload, frame_payload_bytes(f));
}

static void answer_path_probe(struct engine *e, struct rte_mbuf *m)
{
    struct frame_udp *f = rte_pktmbuf_mtod(m, struct frame_udp *);

    if (!may_answer(e, &e->path_answers)) {
        count_drop(e->counters, m->port, DROP_PATH_RATE, 1);
        return;
    }
    path_answer(f->payload, e->data_ports);
    send_back(e, m, f->payload, frame_payload_bytes(f), EVENT_PATH_ANSWERS);
}

/* A frame that is not a member's. */
static void refuse(struct engine *e, const struct work *w, enum drop why)
{
    if (is_path_probe(w->m, why)) {
        answer_path_probe(e, w->m);
    } else {
        count_drop(e->counters, w->m->port, why, 1);
        if (why == DROP_SML_UNKNOWN_JOB || why == DROP_SML_FOREIGN_SENDER)
            reject(e, w->m, &w->packet);
    }
    rte_pktmbuf_free(w->m);
}

static void process(struct engine *e, struct rte_mbuf *frames[], unsigned n)
{
    struct work work[ENGINE_BURST];
    unsigned located = 0;

    for (unsigned i = 0; i < n; i++) {
        struct work *w = &work[located];
        enum drop why;

        w->m = frames[i];
        why = locate(e->jobs, w);
        if (why == DROP_REASONS)
            located++;
        else
            refuse(e, w, why);
    }
    for (unsigned i = 0; i < located; i++)
        frames[i] = apply(e, &work[i]);
    count_event(e->counters, EVENT_GRADIENTS, located);
    rte_pktmbuf_free_bulk(frames, located);
}

static void work_off(struct engine *e, unsigned owner)
{
    struct rte_mbuf **frames = e->to[owner].frame;
    unsigned n = e->to[owner].n, taken;

    e->to[owner].n = 0;
    e->waiting &= ~RTE_BIT64(owner);
    if (owner == e->lcore) {
        process(e, frames, n);
        return;
    }
    taken = rte_ring_enqueue_burst(e->shards->inbox[owner], (void **)frames, n, NULL);
    for (unsigned i = taken; i < n; i++)
        count_drop(e->counters, frames[i]->port, DROP_RING_FULL, 1);
    rte_pktmbuf_free_bulk(frames + taken, n - taken);
}

void engine_steer(struct engine *e, unsigned port, struct rte_mbuf *m)
{
    const struct frame_udp *f = locate_frame(m);
    unsigned owner;

    if (frame_payload_bytes(f) < SML_HEADER_BYTES) {
        count_drop(e->counters, port, DROP_SML_TOO_SHORT, 1);
        rte_pktmbuf_free(m);
        return;
    }
    m->port = (uint16_t)port; /* from here on our number, not the device's */
    owner = e->shards->owner[sml_peek_slot(f->payload) % e->shards->n];
    e->to[owner].frame[e->to[owner].n++] = m;
    e->waiting |= RTE_BIT64(owner);
    if (e->to[owner].n == ENGINE_BURST)
        work_off(e, owner);
}

void engine_flush(struct engine *e)
{
    while (e->waiting != 0)
        work_off(e, rte_bsf64(e->waiting));
}

unsigned engine_collect(struct engine *e)
{
    struct rte_mbuf *frames[ENGINE_BURST];
    struct rte_ring *inbox = e->shards->inbox[e->lcore];
    unsigned n;

    if (inbox == NULL)
        return 0;
    n = rte_ring_dequeue_burst(inbox, (void **)frames, ENGINE_BURST, NULL);
    if (n > 0)
        process(e, frames, n);
    return n;
}
