/* The sum that a lane collects, of parts that come in any order, some of them twice. */
#include <string.h>

#include "atp/collector_state.h"

static uint8_t *aside(const struct atp_collector *c, struct atp_lane *lane)
{
    return atp_lane_sum(c, lane) + c->cfg.chunk_bytes;
}

/* Ordered mode: where a rank's contribution waits. */
static uint8_t *place(const struct atp_collector *c, struct atp_lane *lane, unsigned rank)
{
    return atp_lane_sum(c, lane) + (size_t)rank * c->cfg.chunk_bytes;
}

static void clear(uint64_t set[], unsigned words)
{
    memset(set, 0, words * sizeof *set);
}

/* The sum becomes this part. */
static void start(const struct atp_collector *c, struct atp_lane *lane, const struct atp_part *part)
{
    const struct agg_operation *op = atp_operation(c, lane->first.code);

    if (agg_is_wide(op))
        op->start(atp_lane_sum(c, lane), part->elements, part->bytes);
    else
        memcpy(atp_lane_sum(c, lane), part->elements, part->bytes);
    memcpy(lane->in, part->ranks, c->words * sizeof *lane->in);
    lane->exponent = part->exponent;
}

static void add(const struct atp_collector *c, struct atp_lane *lane, const struct atp_part *part)
{
    atp_operation(c, lane->first.code)->fold(atp_lane_sum(c, lane), part->elements, part->bytes);
    ranks_unite(lane->in, part->ranks, c->words);
    if (part->exponent > lane->exponent)
        lane->exponent = part->exponent;
}

static void put_aside(const struct atp_collector *c, struct atp_lane *lane, const struct atp_part *part)
{
    memcpy(aside(c, lane), part->elements, part->bytes);
    memcpy(lane->aside, part->ranks, c->words * sizeof *lane->aside);
    lane->aside_exponent = part->exponent;
}

/* Whether this part and the one aside are all ranks, each once. */
static bool completes_aside(const struct atp_collector *c, const struct atp_lane *lane,
                            const struct atp_part *part)
{
    const unsigned n = ranks_count(lane->aside, c->words);

    return n > 0 && !ranks_meet(lane->aside, part->ranks, c->words) &&
           n + ranks_count(part->ranks, c->words) == c->cfg.topology.workers;
}

static void use_aside(const struct atp_collector *c, struct atp_lane *lane, const struct atp_part *part)
{
    struct atp_part other = {
        .elements = aside(c, lane), .bytes = part->bytes, .exponent = lane->aside_exponent};

    memcpy(other.ranks, lane->aside, sizeof other.ranks);
    start(c, lane, &other);
    add(c, lane, part);
    clear(lane->aside, c->words);
}

static enum atp_brought take_part(const struct atp_collector *c, struct atp_lane *lane,
                                  const struct atp_part *part)
{
    if (completes_aside(c, lane, part))
        use_aside(c, lane, part);
    else if (ranks_within(part->ranks, lane->in, c->words))
        return ATP_BROUGHT_NOTHING;
    else if (ranks_within(lane->in, part->ranks, c->words)) /* also of nobody */
        start(c, lane, part);
    else if (!ranks_meet(lane->in, part->ranks, c->words))
        add(c, lane, part);
    else {
        if (ranks_count(part->ranks, c->words) > ranks_count(lane->aside, c->words))
            put_aside(c, lane, part);
        return ATP_BROUGHT_OVERLAP;
    }
    if (ranks_within(lane->aside, lane->in, c->words))
        clear(lane->aside, c->words);
    return ATP_BROUGHT_SOMETHING;
}

static unsigned only_rank(const struct atp_collector *c, const uint64_t set[])
{
    for (unsigned i = 0; i < c->words; i++)
        if (set[i] != 0)
            return 64 * i + (unsigned)__builtin_ctzll(set[i]);
    return 0;
}

/* Contributions come singly. */
static enum atp_brought take_single(const struct atp_collector *c, struct atp_lane *lane,
                                    const struct atp_part *part)
{
    const bool first = ranks_count(lane->in, c->words) == 0;

    if (ranks_count(part->ranks, c->words) != 1)
        return ATP_BROUGHT_SUM;
    if (ranks_within(part->ranks, lane->in, c->words))
        return ATP_BROUGHT_NOTHING;
    if (c->cfg.mode == XFER_ORDERED) {
        memcpy(place(c, lane, only_rank(c, part->ranks)), part->elements, part->bytes);
        ranks_unite(lane->in, part->ranks, c->words);
        lane->exponent = first || part->exponent > lane->exponent ? part->exponent : lane->exponent;
    } else if (first) {
        start(c, lane, part);
    } else {
        add(c, lane, part);
    }
    return ATP_BROUGHT_SOMETHING;
}

enum atp_brought atp_lane_take(const struct atp_collector *c, struct atp_lane *lane,
                               const struct atp_part *part)
{
    if (c->cfg.mode == XFER_ORDERED || agg_is_wide(atp_operation(c, lane->first.code)))
        return take_single(c, lane, part);
    return take_part(c, lane, part);
}

void atp_lane_finish(const struct atp_collector *c, struct atp_lane *lane, uint8_t *out, size_t bytes)
{
    const struct agg_operation *op = atp_operation(c, lane->first.code);
    const uint16_t n = c->cfg.topology.workers;
    const void *in[ATP_MAX_WORKERS];

    if (c->cfg.mode == XFER_ORDERED) {
        for (unsigned rank = 0; rank < n; rank++)
            in[rank] = place(c, lane, rank);
        op->reduce(out, in, n, bytes);
        if (op->finish != NULL && !agg_is_wide(op))
            op->finish(out, out, n, bytes);
    } else if (op->finish != NULL) {
        op->finish(out, atp_lane_sum(c, lane), n, bytes);
    } else {
        memcpy(out, atp_lane_sum(c, lane), bytes);
    }
}
