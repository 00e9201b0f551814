#include "aggregate/engine.h"

#include <string.h>

#include "aggregate/carried.h"
#include "capture/tap.h"
#include "net/ecn.h"
#include "net/udp_frame.h"
#include "protocol/heard.h"

/* The number of a frame's source, kept in the mbuf on its way to the owner of its shard, and while it waits.
 */
static uint32_t *source_of(struct rte_mbuf *m)
{
    return &m->hash.usr;
}

/* Has the payload say what the IP header says, that the packet has met a congested queue. The UDP checksum
 * follows: the packet may go on as it is. */
static void note_congestion(const struct agg_protocol *table, struct frame_udp *f)
{
    const uint16_t before = agg_kernels_scalar.ones_sum(f->payload, table->header_bytes);
    uint16_t after;

    table->mark(f->payload, frame_payload_bytes(f));
    after = agg_kernels_scalar.ones_sum(f->payload, table->header_bytes);
    if (f->udp.dgram_cksum != 0)
        f->udp.dgram_cksum =
            net_udp_checksum(net_fold((uint32_t)(uint16_t)~f->udp.dgram_cksum + (uint16_t)~before + after));
}

/* What a protocol sees of a frame: its payload, or the whole of it. */
static inline uint8_t *payload_of(const struct agg_protocol *table, struct rte_mbuf *m, size_t *bytes)
{
    struct frame_udp *f = rte_pktmbuf_mtod(m, struct frame_udp *);

    *bytes = table->frames ? m->data_len : frame_payload_bytes(f);
    return table->frames ? (uint8_t *)f : f->payload;
}

/* A frame as its protocol sees it, and who sent it. */
static void present(const struct agg_protocol *table, struct agg_packet *p, struct rte_mbuf *m)
{
    struct frame_udp *f = rte_pktmbuf_mtod(m, struct frame_udp *);

    p->thread = 0;
    p->payload = payload_of(table, m, &p->bytes);
    if (table->frames) {
        p->from = agg_sender_of_mac(f->eth.src_addr.addr_bytes);
        p->from.network = (uint8_t)vlan_number(m);
        p->headers = NULL;
        return;
    }
    p->headers = (const uint8_t *)&f->ip;
    p->from.ip = f->ip.src_addr;
    p->from.port = f->udp.src_port;
    p->from.network = (uint8_t)vlan_number(m);
    memcpy(p->from.mac, f->eth.src_addr.addr_bytes, sizeof(p->from.mac));
    if (table->udp_ports.first == 0) {
        p->to =
            (struct agg_sender){.ip = f->ip.dst_addr, .port = f->udp.dst_port, .network = p->from.network};
        memcpy(p->to.mac, f->eth.dst_addr.addr_bytes, sizeof(p->to.mac));
    }
    if (unlikely(net_ecn_is_marked(&f->ip)) && table->mark != NULL && p->bytes >= table->header_bytes &&
        rte_mbuf_refcnt_read(m) == 1)
        note_congestion(table, f);
}

/* Whether the job keeps fewer frames here than its part: this lcore's part is that of its shards. */
static bool has_frames_left(const struct engine *e, const struct switch_job *job)
{
    const uint64_t part = __atomic_load_n(&job->frames, __ATOMIC_RELAXED);

    return (uint64_t)job->lane[e->lcore].kept * e->shards->n < part * e->shards->owned[e->lcore];
}

/* Whether the pool may keep this frame: its job may, the frame is long enough, and nobody else refers to it.
 * Buffers that a port has for itself are only as many as it needs to receive. A burst may take a job beyond
 * its part, by its own length at most. */
static bool may_keep(const struct engine *e, const struct agg_packet *p, const struct rte_mbuf *m)
{
    return p->bytes >= JOBS_ATTACH_FROM_BYTES && has_frames_left(e, jobs_of(p->job)) && RTE_MBUF_DIRECT(m) &&
           buffers_have(e->buffers, m->pool) && rte_pktmbuf_is_contiguous(m) && rte_mbuf_refcnt_read(m) == 1;
}

/* Whether the packet is of no job here: to be refused, or none of the protocol's. */
static bool is_foreign(const struct agg_protocol *table, const struct agg_packet *p)
{
    const struct agg_reason *reason = &table->reason[p->reason];

    return p->slot == NULL && (table->frames || reason->strange || reason->action == AGG_PASS_AND_KEEP);
}

/* The UDP port that the job's members hear from: the one that the job says, else this one. */
static rte_be16_t heard_from(const struct agg_job *job, rte_be16_t addressed)
{
    return jobs_of(job)->heard_from != 0 ? jobs_of(job)->heard_from : addressed;
}

static void count_and_show(struct engine *e, unsigned why, const struct rte_mbuf *m)
{
    count_drop(e->counters, m->port, why, 1);
    tap_dropped(port_tap(&e->egress.send->port[m->port]), m->port, why, m, e->now);
}

/* A packet of no job: path probes are answered, others told that there is no such job. What comes from a
 * parent is not answered: it is none of this life's. */
static void refuse(struct engine *e, const struct engine_source *source, const struct agg_packet *p,
                   const struct rte_mbuf *m, uint64_t now)
{
    uint8_t reject[AGG_ANSWER_BYTES];
    size_t bytes;

    switch (source->parent ? STRANGERS_SILENT
                           : strangers_answer(&e->strangers, source->table, p, now, reject, &bytes)) {
    case STRANGERS_PATH:
        egress_back(&e->egress, m, p->payload, bytes, EVENT_PATH_ANSWERS);
        return;
    case STRANGERS_PATH_RATE:
        count_and_show(e, DROP_PATH_RATE, m);
        return;
    case STRANGERS_REJECT:
        egress_back(&e->egress, m, reject, bytes, EVENT_REJECTS);
        break;
    case STRANGERS_REJECT_RATE:
    case STRANGERS_SILENT:
        break;
    }
    count_and_show(e, drop_kind(source->table->id, p->reason), m);
}

/* Refuses packets of no job, and says which frames may be kept. */
static void admit(struct engine *e, const struct engine_source *source, struct agg_packet p[],
                  struct rte_mbuf *frames[], unsigned n, uint64_t now)
{
    unsigned ours = n;

    for (unsigned i = 0; i < n; i++) {
        if (likely(p[i].slot != NULL)) {
            if (source->parent)
                count_from_above(e->counters, source->uplink, p[i].bytes);
            p[i].buffer = may_keep(e, &p[i], frames[i]) ? frames[i] : NULL;
            continue;
        }
        if (source->table->reason[p[i].reason].strange)
            refuse(e, source, &p[i], frames[i], now);
        ours -= is_foreign(source->table, &p[i]);
    }
    if (!source->parent)
        count_event(e->counters, EVENT_GRADIENTS, ours);
}

/* Counts what the pool of this job keeps here. */
static void note_kept(const struct engine *e, const struct agg_job *job, const struct agg_verdict *v)
{
    uint32_t *kept;

    if (!v->kept && v->released == NULL)
        return;
    kept = &jobs_of(job)->lane[e->lcore].kept;
    __atomic_store_n(kept, *kept + v->kept - (v->released != NULL), __ATOMIC_RELAXED);
}

/* Of a member's packet that is dropped. */
static void note_amiss(const struct engine *e, const struct agg_protocol *table, const struct agg_packet *p)
{
    struct job_amiss *amiss;

    if (table->amiss == NULL || table->amiss[p->reason] == AGG_NOT_AMISS)
        return;
    amiss = &jobs_of(p->job)->lane[e->lcore].amiss[table->amiss[p->reason] - 1];
    counter_add(&amiss->n, 1);
    __atomic_store_n(&amiss->rank, p->rank, __ATOMIC_RELAXED);
    __atomic_store_n(&amiss->thread, p->thread, __ATOMIC_RELAXED);
    __atomic_store_n(&amiss->reason, p->reason, __ATOMIC_RELAXED);
}

/* The UDP port that members expect what follows from a packet to come from: the one that they have addressed.
 */
static rte_be16_t answers_from(const struct engine *e, const struct agg_packet *p, const struct rte_mbuf *m)
{
    return p->rank == AGG_PARENT ? egress_data_port(&e->egress, p->job->protocol, p->payload, p->bytes)
                                 : heard_from(p->job, egress_frame(m)->udp.dst_port);
}

/* Does what the verdict on a packet says. Returns the frame that is to be freed now: the packet's, or that of
 * an earlier one whose place it takes. */
static struct rte_mbuf *act(struct engine *e, const struct agg_packet *p, struct rte_mbuf *m,
                            const struct agg_verdict *v)
{
    switch (v->action) {
    case AGG_TO_ALL:
        egress_to_all(&e->egress, p->job, p->thread, answers_from(e, p, m), v);
        break;
    case AGG_TO_PARENT:
        egress_to_parent(&e->egress, p, m, v);
        break;
    case AGG_REPLY:
        egress_reply(&e->egress, p, m, v);
        break;
    case AGG_PASS_ON:
        egress_pass_on(&e->egress, m, v);
        break;
    case AGG_PASS_AND_KEEP:
        egress_pass(&e->egress, m);
        break;
    case AGG_SEND_AS:
        egress_send_as(&e->egress, p->job->protocol, v);
        break;
    default:
        break;
    }
    note_kept(e, p->job, v);
    if (v->kept)
        return v->released;
    rte_pktmbuf_free(v->released);
    return m;
}

/* Handles packets from one source, which have been located. */
static void apply(struct engine *e, const struct engine_source *source, struct agg_packet p[],
                  struct rte_mbuf *frames[], unsigned n)
{
    const uint64_t now = engine_ns(e, e->now);
    uint64_t *verdicts = e->counters->verdict[source->table->id];
    struct agg_verdict v;

    admit(e, source, p, frames, n, now);
    for (unsigned done = 0; done < n;) {
        done += source->table->apply(p + done, n - done, now, &v);
        frames[done - 1] = act(e, &p[done - 1], frames[done - 1], &v);
    }
    for (unsigned i = 0; i < n; i++) {
        const enum agg_action action = source->table->reason[p[i].reason].action;

        counter_add(&verdicts[p[i].reason], 1);
        agg_heard_packet(&p[i], action);
        if (unlikely(action == AGG_DROP))
            note_amiss(e, source->table, &p[i]);
    }
    rte_pktmbuf_free_bulk(frames, n);
    e->handled += n;
}

static_assert((int)COUNTED_PROTOCOLS * (int)AGG_JOBS <= (int)SHARE_FLOWS, "a flow for every job");

/* Bytes of a turn of this job; 0: it takes none. */
static uint32_t turn(const struct agg_job *job)
{
    return __atomic_load_n(&jobs_of(job)->turn, __ATOMIC_RELAXED);
}

/* Whether a packet that has been located is to be handled now. Else its frame waits, or is dropped, for want
 * of a place. Who is none of a job's members takes nothing from it. */
static bool is_its_turn(struct engine *e, unsigned source, const struct agg_packet *p, struct rte_mbuf *m)
{
    const struct agg_protocol *table = e->source[source].table;
    const uint32_t quantum = p->job == NULL || is_foreign(table, p) ? 0 : turn(p->job);
    const unsigned flow = quantum == 0 ? 0 : table->id * AGG_JOBS + p->job->number;

    if (quantum == 0 || fair_pass(&e->fair, flow, quantum, m))
        return true;
    *source_of(m) = source;
    if (!fair_put(&e->fair, flow, m)) {
        count_and_show(e, DROP_OVER_SHARE, m);
        rte_pktmbuf_free(m);
    }
    return false;
}

/* Of packets that have been located, leaves those whose jobs may be served now. Returns how many. */
static unsigned take_turns(struct engine *e, struct engine_ready *r)
{
    unsigned now = 0;

    for (unsigned i = 0; i < r->n; i++) {
        if (!is_its_turn(e, r->source, &r->packet[i], r->frame[i]))
            continue;
        if (now != i) {
            r->packet[now] = r->packet[i];
            r->frame[now] = r->frame[i];
        }
        now++;
    }
    return now;
}

/* Handles the packets that lie ready; in turns: those whose jobs may be served now. */
static void handle_ready(struct engine *e, bool in_turns)
{
    struct engine_ready *r = &e->ready;
    const struct engine_source *source = &e->source[r->source];

    if (r->n == 0)
        return;
    source->table->locate(source->jobs, r->packet, r->n);
    if (in_turns)
        r->n = take_turns(e, r);
    if (r->n > 0)
        apply(e, source, r->packet, r->frame, r->n);
    r->n = 0;
}

/* A packet of this lcore's shards: behind those that lie ready, which are handled when they are enough, or
 * before, if they are another source's. */
static inline void make_ready(struct engine *e, unsigned source, struct rte_mbuf *m, bool in_turns)
{
    struct engine_ready *r = &e->ready;

    if (unlikely(r->source != source)) {
        handle_ready(e, in_turns);
        r->source = source;
    }
    present(e->source[source].table, &r->packet[r->n], m);
    r->frame[r->n++] = m;
    if (r->n == ENGINE_AT_ONCE)
        handle_ready(e, in_turns);
}

/* Frames that have waited, in whatever place. */
static void handle_frames(struct engine *e, struct rte_mbuf *frames[], unsigned n, bool in_turns)
{
    for (unsigned i = 0; i < n; i++)
        make_ready(e, *source_of(frames[i]), frames[i], in_turns);
    handle_ready(e, in_turns);
}

/* Bytes of a turn of the job that this flow is, or was. */
static uint32_t turn_of(const struct engine *e, unsigned flow)
{
    const struct agg_job *job = agg_jobs_find(e->source[flow / AGG_JOBS].jobs, flow % AGG_JOBS);

    return job == NULL || turn(job) == 0 ? FAIR_TURN_FRAMES * FAIR_FRAME_BYTES : turn(job);
}

/* Handles frames of the next line that are to be served now; returns how many. */
static unsigned serve_line(struct engine *e)
{
    struct rte_mbuf *frames[ENGINE_BURST];
    const unsigned n = fair_take(&e->fair, turn_of(e, fair_flow(&e->fair)), frames, ENGINE_BURST);

    handle_frames(e, frames, n, false);
    return n;
}

unsigned engine_serve(struct engine *e)
{
    unsigned served = 0, in_vain = 0; /* lines that were looked at since one was served */

    while (e->fair.held > 0 && served < ENGINE_SERVE) {
        if (in_vain == e->fair.lines) {
            if (e->handled >= ENGINE_BURST) /* others keep it busy, who have not had their part */
                break;
            share_turns_next(&e->fair.turns);
            in_vain = 0;
        }
        const unsigned n = serve_line(e);

        served += n;
        in_vain = n > 0 ? 0 : in_vain + 1;
    }
    return served;
}

/* Puts what was gathered for another lcore into its ring. */
static void hand_over(struct engine *e, unsigned owner)
{
    struct rte_mbuf **frames = e->to[owner].frame;
    const unsigned n = e->to[owner].n,
                   taken = rte_ring_enqueue_burst(e->shards->inbox[owner], (void **)frames, n, NULL);

    e->to[owner].n = 0;
    e->waiting &= ~RTE_BIT64(owner);
    for (unsigned i = taken; i < n; i++)
        count_and_show(e, DROP_RING_FULL, frames[i]);
    rte_pktmbuf_free_bulk(frames + taken, n - taken);
    if (e->shards->bell[owner] != NULL)
        bell_ring(e->shards->bell[owner]);
}

static void gather(struct engine *e, unsigned owner, unsigned source, struct rte_mbuf *m)
{
    *source_of(m) = source;
    e->to[owner].frame[e->to[owner].n++] = m;
    e->waiting |= RTE_BIT64(owner);
    if (e->to[owner].n == ENGINE_BURST)
        hand_over(e, owner);
}

/* The lcore that has the shard of a packet. */
static inline unsigned owner_of(const struct engine *e, const struct facts *f)
{
    const uint8_t *payload;
    size_t bytes;

    if (e->shards->n == 1)
        return e->shards->owner[0];
    payload = payload_of(e->source[f->source].table, f->m, &bytes);
    return e->shards->owner[agg_shard_key(f->key, payload, bytes) % e->shards->n];
}

/* What a member's NIC carries is a packet of the protocol that is in it from here on, addressed as by UDP. */
static void uncover(const struct engine *e, struct facts *f)
{
    const struct engine_source *within = &e->source[engine_from_members(e->source[f->source].table->carries)];
    struct frame_udp *frame;
    size_t bytes;
    const uint8_t *payload;

    if (within->table == NULL || !carried_uncover(f->m))
        return;
    f->source = (uint8_t)(within - e->source);
    f->key = &within->table->shard_key;
    frame = rte_pktmbuf_mtod(f->m, struct frame_udp *);
    payload = payload_of(within->table, f->m, &bytes);
    frame->udp.dst_port = egress_data_port(&e->egress, within->table, payload, bytes);
}

void engine_receive(struct engine *e, unsigned port, struct facts *const burst[], unsigned n)
{
    egress_begin(&e->egress); /* the bridge has learned from these frames */
    for (unsigned i = 0; i < n; i++) {
        struct facts *f = burst[i];

        if (unlikely(e->source[f->source].table->carries != 0))
            uncover(e, f);
        const unsigned owner = owner_of(e, f);

        f->m->port = (uint16_t)port; /* from here on our number, not the device's */
        if (likely(owner == e->lcore))
            make_ready(e, f->source, f->m, e->sharing);
        else
            gather(e, owner, f->source, f->m);
    }
}

void engine_flush(struct engine *e)
{
    handle_ready(e, e->sharing);
    while (e->waiting != 0)
        hand_over(e, rte_bsf64(e->waiting));
}

unsigned engine_collect(struct engine *e)
{
    struct rte_mbuf *frames[ENGINE_BURST];
    struct rte_ring *inbox = e->shards->inbox[e->lcore];
    unsigned n;

    if (inbox == NULL)
        return 0;
    n = rte_ring_dequeue_burst(inbox, (void **)frames, ENGINE_BURST, NULL);
    handle_frames(e, frames, n, e->sharing);
    e->pressed |= n == ENGINE_BURST;
    return n;
}

/* What is due in a job's slots of one shard. */
static void tick_shard(struct engine *e, const struct agg_job *job, unsigned shard, uint64_t now)
{
    const struct agg_protocol *protocol = job->protocol;
    struct agg_verdict v;

    while (protocol->tick(job, shard, e->shards->n, now, &v)) {
        counter_add(&e->counters->verdict[protocol->id][v.reason], 1);
        if (v.action == AGG_TO_ALL)
            egress_to_all(&e->egress, job, 0, heard_from(job, rte_cpu_to_be_16(protocol->udp_ports.first)),
                          &v);
        else if (v.action == AGG_SEND_AS)
            egress_send_as(&e->egress, protocol, &v);
        note_kept(e, job, &v);
        rte_pktmbuf_free(v.released);
    }
}

static void tick_job(struct engine *e, const struct agg_job *job, uint64_t now)
{
    for (unsigned s = 0; s < e->shards->n; s++)
        if (e->shards->owner[s] == e->lcore)
            tick_shard(e, job, s, now);
}

/* In one of this lcore's shards. */
static bool ticks(const struct engine *e, const struct agg_job *job)
{
    for (unsigned s = 0; s < e->shards->n; s++)
        if (e->shards->owner[s] == e->lcore &&
            (job->protocol->ticks == NULL || job->protocol->ticks(job->pool, s)))
            return true;
    return false;
}

static bool has_ticking_jobs(const struct engine *e, const struct engine_source *s)
{
    for (unsigned n = 0; s->table->tick != NULL && n < AGG_JOBS; n++) {
        const struct agg_job *job = agg_jobs_find(s->jobs, n);

        if (job != NULL && job->protocol->tick != NULL && ticks(e, job))
            return true;
    }
    return false;
}

uint64_t engine_due_at(const struct engine *e)
{
    for (const struct engine_source *s = e->source; s < e->source + COUNTED_PROTOCOLS; s++)
        if (s->table != NULL && has_ticking_jobs(e, s))
            return e->ticked_at + (uint64_t)(ENGINE_TICK_NS / e->ns_per_cycle);
    return UINT64_MAX;
}

bool engine_is_wanted(const struct engine *e)
{
    const struct rte_ring *inbox = e->shards->inbox[e->lcore];

    return inbox != NULL && !rte_ring_empty(inbox);
}

void engine_tick(struct engine *e)
{
    if (engine_ns(e, e->now - e->ticked_at) < ENGINE_TICK_NS)
        return;
    e->ticked_at = e->now;
    for (const struct engine_source *p = e->source; p < e->source + COUNTED_PROTOCOLS; p++)
        for (unsigned n = 0; p->table != NULL && p->table->tick != NULL && n < AGG_JOBS; n++) {
            const struct agg_job *job = agg_jobs_find(p->jobs, n);

            if (job != NULL && job->protocol->tick != NULL)
                tick_job(e, job, engine_ns(e, e->now));
        }
}
