/* A frame that the kernel has merged out of many and that is switched as it came: the kernel cuts it into the
 * same frames again just before the device (generic segmentation offload, GSO), or has the device do that.
 * Its mbuf says how, in DPDK's fields for segmentation: the flag RTE_MBUF_F_TX_TCP_SEG, tso_segsz, l2_len,
 * l3_len, l4_len. The kernel's gso_type is in hash.usr. Its checksum field holds only the sum of the pseudo
 * header, as the kernel expects it.
 */
#pragma once

#include <linux/virtio_net.h>
#include <rte_mbuf.h>

#include "port/linux/split.h"

static inline bool linux_gso_is_merged(const struct rte_mbuf *m)
{
    return m->ol_flags & RTE_MBUF_F_TX_TCP_SEG;
}

static inline unsigned linux_gso_header_bytes(const struct rte_mbuf *m)
{
    return m->l2_len + m->l3_len + m->l4_len;
}

/* How many frames it stands for. */
static inline unsigned linux_gso_frames(const struct rte_mbuf *m)
{
    if (!linux_gso_is_merged(m))
        return 1;
    return (m->pkt_len - linux_gso_header_bytes(m) + m->tso_segsz - 1) / m->tso_segsz;
}

/* The same of several. */
static inline unsigned linux_gso_count(struct rte_mbuf *const frames[], unsigned n)
{
    unsigned count = 0;

    for (unsigned i = 0; i < n; i++)
        count += linux_gso_frames(frames[i]);
    return count;
}

/* The bytes of all frames that it stands for. */
static inline uint64_t linux_gso_bytes(const struct rte_mbuf *m)
{
    if (!linux_gso_is_merged(m))
        return m->pkt_len;
    return m->pkt_len + (uint64_t)(linux_gso_frames(m) - 1) * linux_gso_header_bytes(m);
}

/* Whether the kernel cuts it into the same frames again, byte for byte. It does so with TCP segments without
 * VLAN tags; over IPv4 only if their identifications count up. */
bool linux_gso_may_pass(const struct split *s, const struct virtio_net_hdr *how);

void linux_gso_mark(struct rte_mbuf *m, const struct split *s, const struct virtio_net_hdr *how);

/* The header that tells the kernel how to cut such a frame. */
struct virtio_net_hdr linux_gso_describe(const struct rte_mbuf *m);
