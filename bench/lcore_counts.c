#include "lcore_counts.h"

#include <stdio.h>

#include "net/udp_frame.h"

/* Kernels are called without a context. */
static struct lcore_counts *here;
static agg_fold_fn *fold;
static agg_ones_sum_fn *ones_sum;
static struct port_device counting;
static const struct port_device *device;

static void count_fold(void *acc, const void *in, size_t bytes)
{
    here->added += bytes;
    fold(acc, in, bytes);
}

/* Headers are summed, too; those of IPv4, and of a frame that is made, are shorter. */
static uint16_t count_ones_sum(const void *bytes, size_t n)
{
    here->summed += n > FRAME_HEADER_BYTES ? n : 0;
    return ones_sum(bytes, n);
}

static uint16_t count_received(const struct port *port, uint16_t queue, struct rte_mbuf **frames,
                               uint16_t max)
{
    const uint16_t n = device->receive(port, queue, frames, max);

    here->received += n;
    for (unsigned i = 0; i < n; i++)
        here->handed_out += frames[i]->pkt_len - FRAME_HEADER_BYTES;
    return n;
}

static struct port_refused count_sent(const struct port *port, uint16_t queue, struct rte_mbuf **frames,
                                      uint16_t n)
{
    here->sent += n;
    for (unsigned i = 0; i < n; i++) {
        here->written += frames[i]->data_len - FRAME_HEADER_BYTES;
        here->referred += frames[i]->pkt_len - frames[i]->data_len;
    }
    return device->send(port, queue, frames, n);
}

void lcore_counts_begin(struct lcore_counts *counts, struct agg_kernels *kernels, uint8_t code,
                        struct port *port)
{
    here = counts;
    *counts = (struct lcore_counts){0};
    fold = kernels->operations[code].fold;
    ones_sum = kernels->ones_sum;
    kernels->operations[code].fold = count_fold;
    kernels->ones_sum = count_ones_sum;
    device = port->device;
    counting = *device;
    counting.receive = count_received;
    counting.send = count_sent;
    port->device = &counting;
}

/* A contribution that was added to nothing has begun a sum: where it lies, if frames refer to that, or copied
 * to the slot. */
void lcore_counts_print(const struct lcore_counts *c, unsigned frames, unsigned element_bytes)
{
    const uint64_t begun = c->referred > 0 ? 0 : c->received * element_bytes - c->added;
    const uint64_t read = 2 * c->added + c->summed + begun + c->written;
    const uint64_t written = c->added + begun + c->written;
    const double sums = (double)c->sent / frames, received = (double)c->received;

    printf("\"sent_per_received\": %.4f, \"payload\": %.0f, \"read\": %.0f, \"written\": %.0f, "
           "\"copied_out\": %.0f, \"referred\": %.0f}\n",
           (double)c->sent / received, (double)c->handed_out / received, (double)read / sums,
           (double)written / sums, (double)c->written / sums, (double)c->referred / sums);
}
