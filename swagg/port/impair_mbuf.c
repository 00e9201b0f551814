#include "port/impair_mbuf.h"

#include <rte_mbuf.h>

static struct rte_mbuf *copy_of(const struct rte_mbuf *m, struct rte_mempool *pool)
{
    return rte_pktmbuf_copy(m, pool, 0, UINT32_MAX);
}

static void flip_bit(struct rte_mbuf *m, uint32_t bit)
{
    uint32_t offset = bit / 8;

    for (; offset >= m->data_len; m = m->next)
        offset -= m->data_len;
    *rte_pktmbuf_mtod_offset(m, uint8_t *, offset) ^= (uint8_t)(1u << bit % 8);
}

/* Marks that parts of the program have put on a frame (rte_mbuf_dyn.h). */
#define MARKS ((RTE_MBUF_F_LAST_FREE << 1) - RTE_MBUF_F_FIRST_FREE)

/* Damages a private copy, since the frame's bytes may be shared with other ports' queues, or be a slot's
 * memory. What the device has said of its checksums is no longer true, nor what we have marked it as. */
static struct rte_mbuf *corrupted(struct rte_mbuf *m, uint32_t bit, struct rte_mempool *pool)
{
    struct rte_mbuf *copy = copy_of(m, pool);

    if (copy == NULL)
        return m;
    flip_bit(copy, bit);
    copy->ol_flags &= ~(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK | MARKS);
    rte_pktmbuf_free(m);
    return copy;
}

static uint16_t release_due(struct impair *im, struct rte_mbuf *out[], uint64_t now)
{
    struct rte_mbuf *held;
    uint16_t n = 0;

    while ((held = impair_release(im, now)) != NULL)
        out[n++] = held;
    return n;
}

/* Passes one frame through: at most the frame and one copy come out now. */
static uint16_t pass(struct impair *im, struct rte_mbuf *m, struct rte_mbuf *out[], struct rte_mempool *pool,
                     uint64_t now)
{
    struct impair_decision d;
    uint16_t n = 0;

    if (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) { /* merged, so received before there were impairments */
        out[0] = m;
        return 1;
    }
    d = impair_decide(im, rte_pktmbuf_pkt_len(m));
    if (d.drop) {
        rte_pktmbuf_free(m);
        return 0;
    }
    if (d.duplicate && (out[n] = copy_of(m, pool)) != NULL)
        n++;
    if (d.corrupt)
        m = corrupted(m, d.corrupt_bit, pool);
    if (d.hold)
        impair_hold(im, m, now);
    else
        out[n++] = m;
    return n;
}

uint16_t impair_mbufs(struct impair *im, struct rte_mbuf *const in[], uint16_t n, struct rte_mbuf *out[],
                      struct rte_mempool *pool, uint64_t now)
{
    uint16_t sent = 0;

    for (uint16_t i = 0; i < n; i++) {
        sent += pass(im, in[i], &out[sent], pool, now);
        sent += release_due(im, &out[sent], now);
    }
    return sent + release_due(im, &out[sent], now);
}

void impair_mbufs_flush(struct impair *im)
{
    struct rte_mbuf *held;

    while ((held = impair_flush(im)) != NULL)
        rte_pktmbuf_free(held);
}
