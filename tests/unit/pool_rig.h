/* A pool in memory of exactly its footprint, and packets for it whose sums are easy to compute. */
#pragma once

#include "placed.h"

#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "unit.h"

enum { RIG_JOB = 42, RIG_CODE = AGG_SUM << 4 | AGG_I64 };

static struct {
    struct sml_pool_config cfg;
    struct sml_pool *pool;
    struct sml_slot *slot; /* of the last packet */
    uint64_t now;          /* when the next one comes, ns */
    struct agg_verdict v;  /* on the last packet */
    uint8_t body[SML_MAX_CHUNK_BYTES + 64];
} rig;

static inline void rig_stop(void)
{
    free(rig.pool);
    rig.pool = NULL;
}

EACH_TEST(NULL, rig_stop)

/* A pool as cfg says, instead of the one before; what cfg leaves 0 gets a small default. */
static inline void rig_start(struct sml_pool_config cfg)
{
    if (cfg.workers == 0)
        cfg.workers = 2;
    if (cfg.slots == 0)
        cfg.slots = 4;
    if (cfg.chunk_bytes == 0)
        cfg.chunk_bytes = 64;
    cfg.job = RIG_JOB;
    cfg.kernels = kernels_or_exit();
    rig_stop();
    rig.cfg = cfg;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg) % 64, 0);
    rig.pool = pool_of(&cfg);
}

/* A packet for this chunk, without a body. */
static inline struct sml_packet rig_packet(enum sml_kind kind, uint32_t tag)
{
    return (struct sml_packet){
        .kind = kind,
        .size_code = SML_SIZE_AGREED,
        .job = RIG_JOB,
        .tag = tag,
        .slot = sml_tag_slot(tag, rig.cfg.slots),
        .ver = sml_tag_ver(tag, rig.cfg.slots),
        .e0 = RIG_CODE,
        .e1 = SML_FLAG_WANT,
        .body = rig.body,
    };
}

/* Elements i64 value, 2 * value, 3 * value, ...: behind the call of an opening packet. */
static inline void rig_elements(struct sml_packet *p, size_t call_bytes, int64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t x = value * (int64_t)(i + 1);
        memcpy(rig.body + call_bytes + i * sizeof x, &x, sizeof x);
    }
    p->body_bytes = call_bytes + n * sizeof value;
}

static inline enum sml_reason rig_apply(uint16_t rank, const struct sml_packet *p)
{
    rig.slot = sml_pool_locate(rig.pool, p, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rig.slot);
    sml_pool_apply(rig.pool, rig.slot, rank, p, NULL, rig.now, &rig.v);
    return rig.v.reason;
}

static inline enum sml_reason rig_data(uint16_t rank, uint32_t tag, int64_t value)
{
    struct sml_packet p = rig_packet(SML_DATA, tag);

    rig_elements(&p, 0, value, 8);
    return rig_apply(rank, &p);
}

static inline enum sml_reason rig_open(uint16_t rank, uint32_t tag, const struct xfer_call *call,
                                       int64_t value)
{
    struct sml_packet p = rig_packet(SML_OPEN, tag);

    xfer_build_call(rig.body, call);
    rig_elements(&p, XFER_CALL_BYTES, value, 5);
    return rig_apply(rank, &p);
}

static inline enum sml_reason rig_probe(uint16_t rank, uint32_t tag)
{
    struct sml_packet p = rig_packet(SML_PROBE, tag);

    return rig_apply(rank, &p);
}

/* The last verdict's result is a DATA packet for this chunk with this sum in it. */
static inline bool rig_result_is(uint32_t tag, int64_t sum)
{
    struct sml_packet p;

    if (sml_parse(&p, rig.v.payload, rig.v.bytes) != SML_OK || p.kind != SML_DATA || p.job != RIG_JOB ||
        p.size_code != SML_SIZE_AGREED || p.tag != tag || p.slot != sml_tag_slot(tag, rig.cfg.slots) ||
        p.ver != sml_tag_ver(tag, rig.cfg.slots) || p.e0 != RIG_CODE || p.e1 != 0 || p.body_bytes != 64 ||
        rig.v.brief_bytes != SML_HEADER_BYTES)
        return false;
    for (size_t i = 0; i < 8; i++) {
        int64_t x;
        memcpy(&x, p.body + i * sizeof x, sizeof x);
        if (x != sum * (int64_t)(i + 1))
            return false;
    }
    return true;
}

/* All ranks from `first` on contribute value * (rank + 1); the last one completes the chunk, whose sum is
 * checked. */
static inline void rig_complete(uint16_t first, uint32_t tag, int64_t value)
{
    uint16_t n = rig.cfg.workers;

    for (uint16_t r = first; r < n - 1; r++)
        CU_ASSERT_EQUAL(rig_data(r, tag, value * (r + 1)), SML_HELD);
    CU_ASSERT_EQUAL_FATAL(rig_data(n - 1, tag, value * n), SML_SEND_ALL);
    CU_ASSERT(rig_result_is(tag, value * n * (n + 1) / 2));
}

/* Runs a test body for both modes. */
#define RIG_FOR_EACH_MODE(...)                                                                               \
    for (int m_ = XFER_ON_ARRIVAL;                                                                           \
         m_ <= XFER_ORDERED &&                                                                               \
         (rig_start((struct sml_pool_config){.format = XFER_FORMAT_TYPED, .mode = m_, __VA_ARGS__}), 1);     \
         m_++)
