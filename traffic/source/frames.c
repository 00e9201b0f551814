#include "source/frames.h"

#include <errno.h>
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

/* The first element of a worker's chunk; its sums are exact in any type and order. */
static int64_t first_of(unsigned worker, uint32_t tag)
{
    return (tag & 0x7FFF) + worker;
}

static int64_t first_of_sum(unsigned workers, uint32_t tag)
{
    return (int64_t)workers * (tag & 0x7FFF) + workers * (workers - 1) / 2;
}

static void write_first(unsigned type, uint8_t *body, int64_t value)
{
    bool is_float = element_type(type)->is_float;

    element_write(type, body, is_float ? (union element){.f = (double)value} : (union element){.i = value});
}

static uint16_t sum_words(const uint8_t *p, size_t bytes)
{
    return agg_kernels_scalar.ones_sum(p, bytes);
}

void frames_stamp(const struct frames *fr, struct flight *f, uint32_t tag)
{
    const struct plan *p = &fr->options->plan;
    uint8_t *frame = f->frame;
    const size_t element = agg_element_size(p->type, AGG_SUM);
    uint32_t sum;
    uint16_t checksum;

    f->tag = tag;
    for (unsigned i = 0; i < 4; i++)
        frame[TAG + i] = (uint8_t)(tag >> 8 * i);
    put_be16(frame + POOL_INDEX, (uint16_t)(sml_tag_ver(tag, p->slots) << 15 | sml_tag_slot(tag, p->slots)));
    write_first(p->type, frame + BODY, first_of(f->worker, tag));
    if (fr->options->no_udp_checksum)
        return;
    sum = f->unstamped + sum_words(frame + TAG, NUMBERS_BYTES) + sum_words(frame + BODY, element);
    checksum = net_udp_checksum(net_fold(sum));
    memcpy(frame + UDP_CHECKSUM, &checksum, sizeof(checksum));
}

/* Sets everything that a stamp writes to zero, and returns the sum for the UDP checksum of what is left. */
static uint16_t sum_unstamped(const struct frames *fr, uint8_t *frame)
{
    const struct frame_udp *f = (const void *)frame;

    memset(frame + UDP_CHECKSUM, 0, 2);
    memset(frame + TAG, 0, NUMBERS_BYTES);
    memset(frame + BODY, 0, element_type(fr->options->plan.type)->bytes);
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

/* Sums a chunk by plain arithmetic, on the frames as they are sent; not by the core's kernels, which this is
 * to check. */
static void add_up(struct frames *fr, unsigned chunk)
{
    const struct plan *p = &fr->options->plan;
    const struct element_type *type = element_type(p->type);
    uint8_t *sum = fr->sum + chunk * fr->body_bytes;

    for (size_t at = 0; at < fr->body_bytes; at += type->bytes) {
        union element total = {0};

        for (unsigned w = 0; w < p->workers; w++) {
            union element e = element_read(p->type, frames_flight(fr, w, chunk)->frame + BODY + at);

            if (type->is_float)
                total.f += e.f;
            else
                total.i += e.i;
        }
        element_write(p->type, sum + at, total);
    }
}

int frames_build(struct frames *fr, const struct source_options *o)
{
    int rc = 0;

    *fr = (struct frames){.options = o,
                          .body_bytes = o->plan.elements * element_type(o->plan.type)->bytes,
                          .chunks = o->open_loop ? plan_chunks(&o->plan) : o->plan.slots};
    fr->pool =
        rte_pktmbuf_pool_create("sent", frames_count(fr), 0, 0,
                                (uint16_t)(RTE_PKTMBUF_HEADROOM + BODY + fr->body_bytes + 64), SOCKET_ID_ANY);
    fr->flight = calloc(frames_count(fr), sizeof(*fr->flight));
    fr->sum = calloc(fr->chunks, fr->body_bytes);
    if (fr->pool == NULL || fr->flight == NULL || fr->sum == NULL)
        return -ENOMEM;
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
}

static bool wrong(const struct flight *f, const char *what)
{
    complain("worker %u, chunk %u: %s", f->worker, f->tag, what);
    return false;
}

static bool check_elements(const struct frames *fr, const struct flight *f, const uint8_t *body)
{
    const struct plan *p = &fr->options->plan;
    const size_t element = element_type(p->type)->bytes;
    const uint8_t *sum = fr->sum + (f->tag & (fr->chunks - 1)) * fr->body_bytes;
    uint8_t first[8];
    char got[64], expected[64];

    write_first(p->type, first, first_of_sum(p->workers, f->tag));
    if (memcmp(body, first, element) == 0 &&
        memcmp(body + element, sum + element, fr->body_bytes - element) == 0)
        return true;
    for (unsigned i = 0; i < p->elements; i++) {
        const uint8_t *right = i == 0 ? first : sum + i * element;

        if (memcmp(body + i * element, right, element) == 0)
            continue;
        element_print(got, sizeof(got), p->type, element_read(p->type, body + i * element));
        element_print(expected, sizeof(expected), p->type, element_read(p->type, right));
        complain("worker %u, chunk %u, element %u of %u: WRONG SUM %s, not %s", f->worker, f->tag, i,
                 p->elements, got, expected);
        break;
    }
    return false;
}

/* In the published format the header has the largest exponents: those of the chunks that the frames were
 * built for. */
static bool check_header(const struct frames *fr, const struct flight *f, const struct sml_packet *s)
{
    const struct plan *p = &fr->options->plan;
    const uint8_t *sent = f->frame + UDP_HEADERS_BYTES;
    uint8_t e0 = sent[8];

    for (unsigned w = 0; w < p->workers && p->format == SML_FORMAT_INT32; w++) {
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
