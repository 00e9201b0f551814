/* Sums of frames that pass by: any sequence of frames and times. What a worker's frame of a number carries is
 * always the same, so every sum must be the right one for its number. An input is the configuration, then for
 * each frame a byte and its arguments. */

#include <string.h>

#include "clone/pool.h"
#include "clone/reasons.h"
#include "fuzz.h"
#include "gather/gather.h"
#include "kernels_chosen.h"
#include "random/splitmix.h"
#include "wire/bytes.h"
#include "wire/hostagg.h"

enum { STEPS_MAX = 400, WORKERS_MAX = 5, WORDS = 4, ELEMENTS_AT = 24, FRAME = ELEMENTS_AT + 4 * WORDS };

static uint32_t word(unsigned worker, uint32_t sequence, size_t i)
{
    return (uint32_t)splitmix_hash((uint64_t)sequence << 8 ^ worker << 4 ^ i);
}

static void check_report(const struct cln_pool_config *cfg, const struct agg_verdict *v)
{
    struct hag_packet p;

    REQUIRE(agg_wants(v, cfg->workers) && v->brief == NULL);
    REQUIRE(hag_parse(&p, v->payload, v->bytes));
    if (p.kind == HAG_WAITING) {
        REQUIRE(p.body_bytes == (cfg->workers + 7u) / 8 && p.body[0] != 0 &&
                p.body[0] < (1 << cfg->workers) - 1);
        return;
    }
    REQUIRE(p.kind == HAG_SUM && p.body_bytes == 4 * WORDS);
    for (size_t i = 0; i < WORDS; i++) {
        uint32_t sum = 0, got;

        for (unsigned worker = 0; worker < cfg->workers; worker++)
            sum += word(worker, p.sequence, i);
        memcpy(&got, p.body + 4 * i, sizeof got);
        REQUIRE(got == sum);
    }
}

static void apply(struct cln_pool *pool, const struct cln_pool_config *cfg, uint16_t worker,
                  const uint8_t *frame, size_t bytes, uint64_t now)
{
    struct agg_slot_view view;
    struct agg_verdict v;
    struct cln_copy copy;

    if (cln_pool_find(pool, frame, bytes, &copy) != CLN_FOUND)
        return;
    cln_pool_apply(pool, cln_pool_locate(pool, copy.sequence), worker, &copy, now, &v);
    REQUIRE(v.reason < CLN_REASONS && !v.kept);
    if (cln_reasons[v.reason].action == AGG_TO_ALL)
        check_report(cfg, &v);
    REQUIRE(gather_view(pool, copy.sequence % cfg->slots, &view) && view.contributed < cfg->workers);
}

static void step(struct cln_pool *pool, const struct cln_pool_config *cfg, struct input *in, uint64_t *now)
{
    const uint8_t what = take8(in);
    const uint16_t worker = take8(in) % (cfg->workers + 1);
    const uint32_t sequence = take8(in) + (what & 2 ? UINT32_MAX - 100 : 0);
    const size_t bytes = what & 4 ? take8(in) % (FRAME + 1) : FRAME;
    uint8_t *frame = malloc(FRAME);
    struct agg_verdict v;

    memset(frame, 0, FRAME);
    frame[14] = what & 8 ? take8(in) : 1;
    put_be32(frame + 16, cfg->layout.little ? __builtin_bswap32(sequence) : sequence);
    for (size_t i = 0; i < WORDS; i++) {
        const uint32_t value = word(worker, sequence, i);

        memcpy(frame + ELEMENTS_AT + 4 * i, &value, sizeof value);
    }
    frame = realloc(frame, bytes + (bytes == 0)); /* nothing may be read behind its end */
    apply(pool, cfg, worker, frame, bytes, *now);
    free(frame);
    *now += what >> 4;
    while (what & 1 && cln_pool_tick(pool, what % cfg->shards, *now, &v))
        check_report(cfg, &v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    const struct cln_pool_config cfg = {.workers = 1 + take8(&in) % WORKERS_MAX,
                                        .slots = (uint16_t)(1 << take8(&in) % 4),
                                        .shards = 1 + take8(&in) % 3,
                                        .chunk_bytes = 4 * WORDS,
                                        .code = agg_code(AGG_U32, AGG_SUM),
                                        .collector = true,
                                        .missing_after_ns = 20,
                                        .layout = {.sequence_at = 16,
                                                   .little = take8(&in) & 1,
                                                   .elements_at = ELEMENTS_AT,
                                                   .match_at = 14,
                                                   .match_bytes = 1,
                                                   .match = {1}},
                                        .kernels = kernels_or_exit()};
    void *memory = aligned_alloc(64, cln_pool_footprint(&cfg));
    struct cln_pool *pool = cln_pool_init(memory, &cfg);
    uint64_t now = 0;

    for (unsigned i = 0; i < STEPS_MAX && in.left > 0; i++)
        step(pool, &cfg, &in, &now);
    free(memory);
    return 0;
}
