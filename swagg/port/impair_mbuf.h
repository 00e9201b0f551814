/* Carries out on mbufs what impair.h decides. One owner, like struct impair. */
#pragma once

#include "impair/impair.h"

struct rte_mbuf;
struct rte_mempool;

enum { IMPAIR_BURST_MAX = 64, IMPAIR_OUT_MAX = 2 * IMPAIR_BURST_MAX + IMPAIR_HELD_MAX };

/* Puts in[0..n-1] (n <= IMPAIR_BURST_MAX) through the impairments and writes what comes out, in order, to out
 * (IMPAIR_OUT_MAX places); returns their number. Dropped frames are freed here. Call it with n = 0 in idle
 * rounds, so that frames held back come out in time. Duplicates and frames to be damaged that are shared are
 * copied from pool; without a free mbuf the frame passes untouched. So does a merged one, which is many
 * frames (RTE_MBUF_F_TX_TCP_SEG): a copy would have more segments than a device takes, damage would be hidden
 * by the checksums that are made where it is cut. in and out must not overlap. */
uint16_t impair_mbufs(struct impair *im, struct rte_mbuf *const in[], uint16_t n, struct rte_mbuf *out[],
                      struct rte_mempool *pool, uint64_t now);

/* Frees the frames still held. */
void impair_mbufs_flush(struct impair *im);
