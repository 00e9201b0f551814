/* Sums of workers' gradients as libswagg (compress.h) and the switch would make them, compressed. */
#include <stdlib.h>
#include <string.h>

#include "random/splitmix.h"
#include "switchml/worker.h"
#include "transfer/chunks.h"
#include "workers.h"

enum { MTU = 1500 };

static uint16_t chunk_bytes(void)
{
    return sml_worker_chunk_bytes(MTU, XFER_CHECKSUM_NONE);
}

static struct compress *first(const struct workers *w)
{
    return &w->worker[0].compress;
}

/* Of those in time. */
static void agree_on_norms(struct workers *w)
{
    const uint64_t parts = w->worker[0].call->parts;
    unsigned from = 0;

    while (w->is_late[from])
        from++;
    float *largest = w->worker[from].call->norms;
    for (unsigned i = from + 1; i < w->cfg.workers; i++)
        for (uint64_t k = 0; k < parts && !w->is_late[i]; k++)
            if (w->worker[i].call->norms[k] > largest[k])
                largest[k] = w->worker[i].call->norms[k];
    for (unsigned i = 0; i < w->cfg.workers; i++)
        if (i != from)
            memcpy(w->worker[i].call->norms, largest, parts * sizeof *largest);
}

/* What the switch does with a worker's indices. */
static void look_up(struct workers *w, struct worker *one)
{
    struct compress *c = &one->compress;
    const struct xfer_call call = compress_call_indices(c, one->call);
    const struct sml_element e = sml_element_of(call.op << 4 | call.type);

    for (struct thc_part p = {0}; p.at < thc_filled(one->call->floats); p.at += p.block) {
        p = thc_part_at(one->call->floats, c->options.block, p.at);
        const uint8_t *packed = one->call->packed + p.at / SML_GROUP * e.in;
        uint8_t *sums = w->sums + p.at / SML_GROUP * e.out;

        thc_codec_resize(&c->codec, p.block);
        if (c->options.sum_bits == 8)
            thc_add8(&c->codec, sums, packed);
        else
            thc_add16(&c->codec, (uint16_t *)sums, packed);
    }
}

static bool is_lost(struct workers *w)
{
    return (double)(splitmix_next(&w->random) >> 11) * 0x1p-53 < w->cfg.loss;
}

/* Elements in a packet. */
static uint64_t in_packet(const struct workers *w)
{
    return chunk_bytes() / (SML_GROUP * first(w)->options.sum_bits / 8u);
}

/* On the way to the switch: a sum for which it waits too long comes to nobody. */
static void lose_contributions(struct workers *w, uint64_t elements)
{
    memset(w->lost, 0, elements);
    for (uint64_t at = 0; at < elements && w->cfg.loss > 0; at += in_packet(w))
        for (unsigned i = 0; i < w->cfg.workers; i++)
            if (is_lost(w))
                memset(w->lost + at, 1, elements - at < in_packet(w) ? elements - at : in_packet(w));
}

/* Packets with sums come to a worker, or do not. */
static void deliver(struct workers *w, struct worker *one, uint64_t elements)
{
    const size_t out = SML_GROUP * one->compress.options.sum_bits / 8u;

    memcpy(one->call->sums, w->sums, elements * out);
    for (uint64_t at = 0; at < elements && w->cfg.loss > 0; at += in_packet(w)) {
        const uint64_t n = elements - at < in_packet(w) ? elements - at : in_packet(w);

        if (!is_lost(w) && w->lost[at] == 0)
            continue;
        compress_miss(one->call, at, n);
        w->missed += n * SML_GROUP;
    }
}

static void begin(struct worker *one, struct xfer_segment *gradient)
{
    const struct network *n = &one->learner.network;

    *gradient = (struct xfer_segment){.in = n->gradient, .out = n->gradient, .count = n->parameters};
    one->call = compress_begin(&one->compress, gradient, 1, false, chunk_bytes(), &(struct compress_how){0});
    if (!one->call)
        abort(); /* no memory */
    compress_norm(&one->compress, one->call, UINT64_MAX);
}

static void call_out(struct xfer_roll roll[], size_t element, uint64_t elements, struct xfer_roll all)
{
    const uint64_t chunks = xfer_chunk_count(chunk_bytes(), element, elements * element);

    for (uint64_t i = 0; i < chunks; i++)
        roll[i] = all;
}

/* Who is in the sums, as the switch would tell a worker: all packets of one that is late come too late. */
static void call_roll(const struct workers *w, unsigned worker, uint64_t elements)
{
    const struct compress *c = &w->worker[worker].compress;
    const struct compress_call *call = w->worker[worker].call;
    const struct xfer_roll all = {.ranks = (w->cfg.workers - w->cfg.late) & 0x7fff,
                                  .mine = !w->is_late[worker]};

    if (!c->quorum)
        return;
    call_out(call->norm_roll, sizeof(float), call->parts, all);
    call_out(call->roll, SML_GROUP * c->options.sum_bits / 8u, elements, all);
}

void workers_sum_compressed(struct workers *w)
{
    for (unsigned i = 0; i < w->cfg.workers; i++)
        begin(&w->worker[i], &w->gradient[i]);
    agree_on_norms(w);
    const uint64_t elements = compress_call_indices(first(w), w->worker[0].call).count;
    memset(w->sums, 0, elements * SML_GROUP * first(w)->options.sum_bits / 8u);
    for (unsigned i = 0; i < w->cfg.workers; i++) {
        compress_encode(&w->worker[i].compress, w->worker[i].call, UINT64_MAX, UINT64_MAX);
        if (!w->is_late[i])
            look_up(w, &w->worker[i]);
    }
    lose_contributions(w, elements);
    for (unsigned i = 0; i < w->cfg.workers; i++) {
        call_roll(w, i, elements);
        deliver(w, &w->worker[i], elements);
        compress_end(&w->worker[i].compress, w->worker[i].call, NULL);
    }
}
