#include "source/play.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_prefetch.h>

#include "command_line.h"
#include "net/udp_frame.h"
#include "wire/bytes.h"

enum {
    SML_AT = FRAME_HEADER_BYTES,
    HEAD_BYTES = SML_AT + SML_HEADER_BYTES,
    LOW_HALF = 2, /* of an IP address */
    FROM_IP_AT = offsetof(struct frame_udp, ip.src_addr) + LOW_HALF,
    TO_IP_AT = offsetof(struct frame_udp, ip.dst_addr) + LOW_HALF,
    FROM_PORT_AT = offsetof(struct frame_udp, udp.src_port),
    TO_PORT_AT = offsetof(struct frame_udp, udp.dst_port),
};

/* By what a returned frame's worker is recognized: sums are addressed to the worker; a forwarder's frames
 * still have it as the sender. */
static void tell_workers_by(struct play *p)
{
    const struct plan *plan = &p->options->plan;

    if (plan->one_host) {
        p->worker_at = p->options->mode == SOURCE_WORKERS ? TO_PORT_AT : FROM_PORT_AT;
        p->worker_0 = plan->worker.port;
    } else {
        p->worker_at = p->options->mode == SOURCE_WORKERS ? TO_IP_AT : FROM_IP_AT;
        p->worker_0 = (uint16_t)plan->worker.ip;
    }
}

static struct play_port *port_of(struct play *p, unsigned worker)
{
    return &p->port[worker % p->ports];
}

static void put(struct play *p, struct flight *f)
{
    struct play_port *port = port_of(p, f->worker);

    if (port->n == port->room)
        return; /* it will be sent again later */
    f->sent_at = p->now;
    rte_mbuf_refcnt_update(f->m, 1); /* the device gives back one, we keep one */
    port->due[port->n++] = f->m;
}

/* Chunk by chunk, and then from the first again. */
static struct flight *take_turn(struct play *p)
{
    const unsigned workers = p->options->plan.workers, turn = p->next;

    p->next = turn + 1 < frames_count(&p->frames) ? turn + 1 : 0;
    return frames_flight(&p->frames, turn % workers, turn / workers);
}

int play_init(struct play *p, const struct source_options *o, unsigned first, unsigned ports)
{
    int rc;

    *p = (struct play){.options = o, .ports = ports, .until_check = o->check_every};
    tell_workers_by(p);
    rc = frames_build(&p->frames, o);
    if (rc < 0)
        return rc;
    p->resend_after = o->resend_ms * rte_get_tsc_hz() / MS_PER_S;
    p->now = rte_rdtsc();
    for (unsigned i = 0; i < ports; i++) {
        p->port[i].id = (uint16_t)(first + i);
        p->port[i].room = 2 * frames_count(&p->frames) + SOURCE_BURST_MAX;
        p->port[i].due = calloc(p->port[i].room, sizeof(struct rte_mbuf *));
        if (p->port[i].due == NULL)
            return -ENOMEM;
    }
    for (unsigned i = 0; !o->open_loop && i < frames_count(&p->frames); i++)
        put(p, take_turn(p)); /* later ones follow in this order, as the sums come back */
    return 0;
}

void play_free(struct play *p)
{
    for (unsigned i = 0; i < p->ports; i++)
        free(p->port[i].due);
    frames_free(&p->frames);
}

/* What a received frame is about. */
struct landing {
    struct flight *f; /* NULL: none of ours */
    uint32_t tag;
    uint8_t kind;
};

/* A device may hand over a frame in pieces, headers apart. */
static struct landing landing_of(const struct play *p, const struct rte_mbuf *m)
{
    const struct plan *plan = &p->options->plan;
    uint8_t gathered[HEAD_BYTES];
    const uint8_t *head = rte_pktmbuf_read(m, 0, HEAD_BYTES, gathered), *tag;
    struct landing l = {0};
    unsigned worker;

    if (head == NULL)
        return l;
    worker = (uint16_t)(get_be16(head + p->worker_at) - p->worker_0);
    if (worker >= plan->workers)
        return l;
    tag = head + SML_AT + 2;
    l.kind = head[SML_AT] >> 4;
    l.tag = tag[0] | (uint32_t)tag[1] << 8 | (uint32_t)tag[2] << 16 | (uint32_t)tag[3] << 24;
    l.f = frames_flight(&p->frames, worker, l.tag);
    return l;
}

/* A refusal by the switch is final, so the run fails. */
static void refused(struct play *p, unsigned kind)
{
    if (kind == SML_REJECT)
        complain("the switch rejects our packets: it has no job %u with these workers", p->options->plan.job);
    else if (kind == SML_MISMATCH)
        complain("the switch says that our workers do not agree");
    p->failed |= kind == SML_REJECT || kind == SML_MISMATCH;
}

static bool is_right(const struct play *p, const struct flight *f, struct rte_mbuf *m)
{
    if (rte_pktmbuf_linearize(m) < 0)
        return complain("a frame of %u bytes came", m->pkt_len);
    return frames_check_answer(&p->frames, f, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
}

static void land(struct play *p, const struct landing *l, struct rte_mbuf *m)
{
    if (p->failed)
        return;
    if (l->f == NULL || l->kind != SML_DATA || l->tag != l->f->tag) {
        p->count.unexpected++;
        refused(p, l->kind);
        return;
    }
    p->count.answers++;
    if (p->until_check > 0 && --p->until_check == 0) {
        p->until_check = p->options->check_every;
        if (!is_right(p, l->f, m)) {
            p->failed = true;
            return;
        }
        p->count.checked++;
    }
    if (p->options->open_loop)
        return;
    frames_stamp(&p->frames, l->f, l->tag + p->options->plan.slots);
    put(p, l->f);
}

static unsigned receive(struct play *p, const struct play_port *port)
{
    struct rte_mbuf *m[SOURCE_BURST_MAX];
    struct landing l[SOURCE_BURST_MAX];
    uint16_t n = rte_eth_rx_burst(port->id, 0, m, (uint16_t)p->options->burst);

    for (unsigned i = 0; i < n; i++)
        rte_prefetch0(rte_pktmbuf_mtod(m[i], const uint8_t *));
    for (unsigned i = 0; i < n; i++) {
        l[i] = landing_of(p, m[i]);
        if (l[i].f != NULL) {
            __builtin_prefetch(l[i].f->frame, 1); /* it is in the other side's cache, unless it was copied */
            __builtin_prefetch(l[i].f->m, 1);
        }
    }
    for (unsigned i = 0; i < n; i++)
        land(p, &l[i], m[i]);
    if (n > 0)
        rte_pktmbuf_free_bulk(m, n);
    return n;
}

static unsigned transmit(struct play *p, struct play_port *port)
{
    unsigned left, sent = 0;
    uint16_t n;

    do {
        n = (uint16_t)RTE_MIN(port->n - sent, p->options->burst);
        n = n > 0 ? rte_eth_tx_burst(port->id, 0, port->due + sent, n) : 0;
        sent += n;
    } while (n == p->options->burst);
    left = port->n - sent;
    if (sent > 0)
        memmove(port->due, port->due + sent, left * sizeof(port->due[0]));
    port->n = left;
    p->count.sent += sent;
    return sent;
}

/* Called four times within the interval; a frame that is to be sent anyway is not looked at. */
static void resend(struct play *p)
{
    unsigned due = 0;

    if (p->now < p->resend_at)
        return;
    p->resend_at = p->now + p->resend_after / 4;
    for (unsigned i = 0; i < p->ports; i++)
        due += p->port[i].n;
    for (unsigned i = 0; due == 0 && i < frames_count(&p->frames); i++) {
        struct flight *f = &p->frames.flight[i];

        if (p->now - f->sent_at > p->resend_after) {
            put(p, f);
            p->count.resent++;
        }
    }
}

static bool ports_are_full(const struct play *p)
{
    for (unsigned i = 0; i < p->ports; i++)
        if (p->port[i].n >= p->options->burst)
            return true;
    return false;
}

/* Open loop: sends what is due by now, about a burst at most. While a port is full, all wait for it. Always
 * sends a chunk of all workers: an incomplete chunk has no sum, so its frames would count as lost. */
static void offer(struct play *p)
{
    const struct source_options *o = p->options;
    const double seconds = (double)(p->now - p->offered_from) / (double)rte_get_tsc_hz();
    const double due = o->rate > 0 ? seconds * o->rate : INFINITY;

    for (unsigned i = 0; i < o->burst && (double)p->offered < due && !ports_are_full(p);
         i += o->plan.workers) {
        for (unsigned w = 0; w < o->plan.workers; w++)
            put(p, take_turn(p));
        p->offered += o->plan.workers;
    }
}

static void play_round(struct play *p)
{
    unsigned work = 0;
    uint64_t now;

    for (unsigned i = 0; i < p->ports; i++)
        work += receive(p, &p->port[i]);
    if (p->options->open_loop)
        offer(p);
    for (unsigned i = 0; i < p->ports; i++)
        work += transmit(p, &p->port[i]);
    if (!p->options->open_loop)
        resend(p);
    now = rte_rdtsc();
    p->count.rounds++;
    p->count.cycles += now - p->now;
    if (work == 0) {
        p->count.idle_rounds++;
        p->count.idle_cycles += now - p->now;
    }
    p->now = now;
}

/* Whether the job's part of the measurement is over. */
static bool is_over(const struct play *p, uint64_t until, unsigned long long packets)
{
    return p->failed || p->now >= until || (packets != 0 && p->count.answers >= packets);
}

static void play_for(struct play p[], unsigned n, double seconds, unsigned long long packets,
                     const volatile bool *stop)
{
    const uint64_t now = rte_rdtsc(), until = now + (uint64_t)(seconds * (double)rte_get_tsc_hz());
    bool over = false;

    for (unsigned j = 0; j < n; j++) {
        p[j].count = (struct play_counts){0};
        p[j].offered = 0;
        p[j].now = p[j].offered_from = now;
    }
    while (!over && !*stop)
        for (unsigned j = 0; j < n; j++) {
            play_round(&p[j]);
            over |= is_over(&p[j], until, packets);
        }
}

static unsigned discard(const struct play *p, const struct play_port *port)
{
    struct rte_mbuf *m[SOURCE_BURST_MAX];
    uint16_t n = rte_eth_rx_burst(port->id, 0, m, (uint16_t)p->options->burst);

    rte_pktmbuf_free_bulk(m, n);
    return n;
}

/* Receives until nothing has come for a while: if one end of a memif leaves while frames are being copied,
 * the process at the other end may crash. */
static void drain(struct play *p)
{
    const uint64_t quiet = rte_get_tsc_hz() / 100, end = rte_rdtsc() + rte_get_tsc_hz();
    uint64_t heard_at = rte_rdtsc(), now;

    while ((now = rte_rdtsc()) < end && now - heard_at < quiet)
        for (unsigned i = 0; i < p->ports; i++)
            if (discard(p, &p->port[i]) > 0)
                heard_at = now;
}

/* Open loop: sends what has waited for a port, and receives until all answers have come. Missing ones count
 * as lost only when none has come for a while, since a switch that shares its CPU may be late. Other frames,
 * which come from a network without end, do not count. */
static void settle(struct play *p, const volatile bool *stop)
{
    const uint64_t patience = (uint64_t)(p->options->patience * (double)rte_get_tsc_hz());
    uint64_t heard_at = rte_rdtsc(), answers, now;
    unsigned waiting;

    do {
        now = rte_rdtsc();
        waiting = 0;
        answers = p->count.answers;
        for (unsigned i = 0; i < p->ports; i++) {
            receive(p, &p->port[i]);
            if (transmit(p, &p->port[i]) > 0 || p->count.answers > answers)
                heard_at = now;
            waiting += p->port[i].n;
        }
    } while (!p->failed && !*stop && (waiting > 0 || p->count.answers < p->count.sent) &&
             now - heard_at < patience);
}

static void settle_all(struct play p[], unsigned n, const volatile bool *stop)
{
    for (unsigned j = 0; j < n; j++)
        if (p[j].options->open_loop)
            settle(&p[j], stop);
}

void play_run(struct play p[], unsigned n, const volatile bool *stop)
{
    play_for(p, n, p[0].options->warmup, 0, stop);
    settle_all(p, n, stop); /* so that answers to frames of the warm-up do not count */
    play_for(p, n, p[0].options->seconds, p[0].options->packets, stop);
    settle_all(p, n, stop);
    for (unsigned j = 0; j < n; j++) {
        drain(&p[j]);
        if (!p[j].failed && !*stop && p[j].count.answers == 0) {
            complain("no answers came");
            p[j].failed = true;
        }
    }
}
