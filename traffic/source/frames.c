#include "source/frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "elements.h"
#include "net/sum.h"
#include "net/udp_frame.h"
#include "wire/bytes.h"

enum {
    BODY = UDP_HEADERS_BYTES + SML_HEADER_BYTES,
    UDP_CHECKSUM = UDP_HEADERS_BYTES - 2,
    /* Offsets of what a stamp changes (docs/protocol.md): */
    TAG = UDP_HEADERS_BYTES + 2,
    POOL_INDEX = UDP_HEADERS_BYTES + 6,
    NUMBERS_BYTES = 6, /* both */
};

static uint16_t sum_words(const uint8_t *p, size_t bytes)
{
    return agg_kernels_scalar.ones_sum(p, bytes);
}

void frames_stamp(const struct frames *fr, struct flight *f, uint32_t tag)
{
    const struct plan *p = &fr->options->plan;
    uint8_t *frame = f->frame;
    uint32_t sum;
    uint16_t checksum;

    f->tag = tag;
    for (unsigned i = 0; i < 4; i++)
        frame[TAG + i] = (uint8_t)(tag >> 8 * i);
    put_be16(frame + POOL_INDEX, (uint16_t)(sml_tag_ver(tag, p->slots) << 15 | sml_tag_slot(tag, p->slots)));
    memcpy(frame + BODY, fr->first + (f->worker * FIRSTS + tag % FIRSTS) * fr->element, fr->element);
    if (fr->options->no_udp_checksum)
        return;
    sum = f->unstamped + sum_words(frame + TAG, NUMBERS_BYTES) + sum_words(frame + BODY, fr->element);
    checksum = net_udp_checksum(net_fold(sum));
    memcpy(frame + UDP_CHECKSUM, &checksum, sizeof(checksum));
}

/* Sets everything that a stamp writes to zero, and returns the sum for the UDP checksum of what is left. */
static uint16_t sum_unstamped(const struct frames *fr, uint8_t *frame)
{
    const struct frame_udp *f = (const void *)frame;

    memset(frame + UDP_CHECKSUM, 0, 2);
    memset(frame + TAG, 0, NUMBERS_BYTES);
    memset(frame + BODY, 0, fr->element);
    return net_udp_sum(&f->ip, &f->udp, agg_kernels_scalar.ones_sum);
}

static int build(struct frames *fr, const struct plan *p, unsigned worker, unsigned chunk)
{
    struct flight *f = frames_flight(fr, worker, chunk);

    f->worker = (uint16_t)worker;
    f->m = rte_pktmbuf_alloc(fr->pool);
    if (f->m == NULL)
        return -ENOMEM;
    f->frame = rte_pktmbuf_mtod(f->m, uint8_t *);
    fr->frame_bytes = plan_frame(p, worker, chunk, f->frame);
    f->m->data_len = (uint16_t)fr->frame_bytes;
    f->m->pkt_len = (uint32_t)fr->frame_bytes;
    f->unstamped = sum_unstamped(fr, f->frame);
    frames_stamp(fr, f, chunk);
    return 0;
}

/* In bridge mode, workers send to each other: 0 and 1, 2 and 3, and so on. */
static struct plan plan_for(const struct source_options *o, unsigned worker)
{
    struct plan p = o->plan;

    if (o->mode == SOURCE_BRIDGE)
        p.sw = plan_worker(&o->plan, worker ^ 1);
    return p;
}

/* What becomes of a chunk, by plain arithmetic on the frames as they are sent; not by the core's kernels,
 * which this is to check. */
static void add_up(struct frames *fr, unsigned chunk)
{
    const struct plan *p = &fr->options->plan;
    const uint8_t *in[AGG_MAX_WORKERS];

    for (unsigned w = 0; w < p->workers; w++)
        in[w] = frames_flight(fr, w, chunk)->frame + BODY;
    elements_reduce(plan_code(p), fr->sum + chunk * fr->body_bytes, in, p->workers, p->elements);
}

/* Of a chunk number that no chunk's other elements are made of. */
static void make_firsts(struct frames *fr)
{
    const struct plan *p = &fr->options->plan;
    const uint8_t *in[AGG_MAX_WORKERS];

    for (unsigned w = 0; w < p->workers; w++) {
        uint8_t *first = fr->first + w * FIRSTS * fr->element;

        elements_invent(plan_code(p), p->seed, w, UINT32_MAX, first, FIRSTS);
        in[w] = first;
    }
    elements_reduce(plan_code(p), fr->outcome, in, p->workers, FIRSTS);
}

int frames_build(struct frames *fr, const struct source_options *o)
{
    char name[16];
    int rc = 0;

    snprintf(name, sizeof(name), "sent_%u", o->plan.job);
    *fr = (struct frames){.options = o,
                          .element = agg_code_bytes(plan_code(&o->plan)),
                          .body_bytes = o->plan.elements * agg_code_bytes(plan_code(&o->plan)),
                          .chunks = o->open_loop ? plan_chunks(&o->plan) : o->plan.slots};
    fr->pool =
        rte_pktmbuf_pool_create(name, frames_count(fr), 0, 0,
                                (uint16_t)(RTE_PKTMBUF_HEADROOM + BODY + fr->body_bytes + 64), SOCKET_ID_ANY);
    fr->flight = calloc(frames_count(fr), sizeof(*fr->flight));
    fr->sum = calloc(fr->chunks, fr->body_bytes);
    fr->first = calloc((size_t)o->plan.workers * FIRSTS, fr->element);
    fr->outcome = calloc(FIRSTS, fr->element);
    if (fr->pool == NULL || fr->flight == NULL || fr->sum == NULL || fr->first == NULL || fr->outcome == NULL)
        return -ENOMEM;
    make_firsts(fr);
    for (unsigned w = 0; w < o->plan.workers; w++) {
        const struct plan p = plan_for(o, w);

        for (unsigned chunk = 0; chunk < fr->chunks && rc == 0; chunk++)
            rc = build(fr, &p, w, chunk);
    }
    for (unsigned chunk = 0; chunk < fr->chunks && rc == 0; chunk++)
        add_up(fr, chunk);
    return rc;
}

void frames_free(struct frames *fr)
{
    rte_mempool_free(fr->pool);
    free(fr->flight);
    free(fr->sum);
    free(fr->first);
    free(fr->outcome);
}

static bool wrong(const struct flight *f, const char *what)
{
    return complain("worker %u, chunk %u: %s", f->worker, f->tag, what);
}

/* The element that a result must have at i, in order of the wire. */
static const uint8_t *expected_at(const struct frames *fr, const struct flight *f, unsigned i)
{
    return i == 0 ? fr->outcome + f->tag % FIRSTS * fr->element
                  : fr->sum + (f->tag & (fr->chunks - 1)) * fr->body_bytes + i * fr->element;
}

/* Zeros are the same whatever their sign. */
static bool check_elements(const struct frames *fr, const struct flight *f, const uint8_t *body)
{
    const struct plan *p = &fr->options->plan;
    const size_t element = fr->element;
    char got[80], expected[80];

    if (memcmp(body, expected_at(fr, f, 0), element) == 0 &&
        memcmp(body + element, expected_at(fr, f, 1), fr->body_bytes - element) == 0)
        return true;
    for (unsigned i = 0; i < p->elements; i++) {
        const uint8_t *right = expected_at(fr, f, i);

        if (element_is_result(plan_code(p), body + i * element, &right, 1))
            continue;
        element_print(got, sizeof(got), plan_code(p), body + i * element);
        element_print(expected, sizeof(expected), plan_code(p), right);
        return complain("worker %u, chunk %u, element %u of %u: WRONG %s %s, not %s", f->worker, f->tag, i,
                        p->elements, agg_op_name(p->op), got, expected);
    }
    return true;
}

/* Where the header has exponents they are the largest: of those that the frames were built with. */
static bool check_header(const struct frames *fr, const struct flight *f, const struct sml_packet *s)
{
    const struct plan *p = &fr->options->plan;
    const uint8_t *sent = f->frame + UDP_HEADERS_BYTES;
    uint8_t e0 = sent[8];

    for (unsigned w = 0; w < p->workers && xfer_has_exponents(p->format); w++) {
        uint8_t theirs = frames_flight(fr, w, f->tag)->frame[UDP_HEADERS_BYTES + 8];

        e0 = (int8_t)theirs > (int8_t)e0 ? theirs : e0;
    }
    return s->kind == SML_DATA && s->size_code == (sent[0] & 7) && s->job == p->job && s->tag == f->tag &&
           s->slot == sml_tag_slot(f->tag, p->slots) && s->ver == sml_tag_ver(f->tag, p->slots) &&
           s->e0 == e0 && s->e1 == 0;
}

static bool check_sum(const struct frames *fr, const struct flight *f, const uint8_t *frame, size_t bytes)
{
    const struct frame_udp *u = (const void *)frame;
    struct sml_packet s;

    if (bytes < fr->frame_bytes || frame_payload_bytes(u) != SML_HEADER_BYTES + fr->body_bytes)
        return wrong(f, "a result of another length");
    if (net_ipv4_sum(&u->ip) != NET_SUM_RIGHT)
        return wrong(f, "a result with a wrong IPv4 checksum");
    if (u->udp.dgram_cksum != 0 && net_udp_sum(&u->ip, &u->udp, agg_kernels_scalar.ones_sum) != NET_SUM_RIGHT)
        return wrong(f, "a result with a wrong UDP checksum");
    if (sml_parse(&s, frame + UDP_HEADERS_BYTES, SML_HEADER_BYTES + fr->body_bytes) != SML_OK ||
        !check_header(fr, f, &s))
        return wrong(f, "a result with a wrong header");
    return check_elements(fr, f, frame + BODY);
}

bool frames_check_answer(const struct frames *fr, const struct flight *f, const uint8_t *frame, size_t bytes)
{
    const size_t macs = 2 * sizeof(struct net_mac);

    if (fr->options->mode == SOURCE_WORKERS)
        return check_sum(fr, f, frame, bytes);
    if (bytes != fr->frame_bytes || memcmp(frame + macs, f->frame + macs, bytes - macs) != 0)
        return wrong(f, "the frame came back CHANGED");
    return true;
}
