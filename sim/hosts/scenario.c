#include "hosts/scenario.h"

#include "reference.h"

/* Averages of halves are rounded on each host and then once more, so that what comes out is not one number.
 */
static bool is_exact(unsigned code)
{
    return agg_code_op(code) != AGG_AVG ||
           (agg_code_type(code) != AGG_F16 && agg_code_type(code) != AGG_BF16);
}

static unsigned any_code(uint64_t *r, bool whole)
{
    unsigned code;

    if (!whole)
        return agg_code(rng_below(r, 2) ? AGG_F32 : AGG_F64, AGG_SUM);
    do
        code = reference_any(r);
    while (!is_exact(code));
    return code;
}

static void place_ranks(struct hosts_scenario *s, uint64_t *r)
{
    s->hosts = (unsigned)rng_between(r, 1, HOSTS_MAX);
    if (rng_below(r, 2)) { /* host by host, as many on each */
        const unsigned each = (unsigned)rng_between(r, 1, HOSTS_RANKS_MAX / s->hosts);
        s->ranks = each * s->hosts;
        for (unsigned rank = 0; rank < s->ranks; rank++)
            s->host[rank] = rank / each;
        return;
    }
    s->ranks = (unsigned)rng_between(r, s->hosts, HOSTS_RANKS_MAX);
    for (unsigned rank = 0; rank < s->ranks; rank++)
        s->host[rank] = rank < s->hosts ? rank : (unsigned)rng_below(r, s->hosts);
}

static void draw_calls(struct hosts_scenario *s, uint64_t *r)
{
    const uint64_t most = rng_magnitude(r, 1, 6 * s->block_bytes);

    s->calls = (unsigned)rng_between(r, 1, HOSTS_CALLS_MAX);
    for (unsigned c = 0; c < s->calls; c++) {
        const unsigned code = any_code(r, s->whole);
        const bool reduce = rng_below(r, 3) == 0;
        s->call[c] = (struct xfer_call){.collective = reduce ? XFER_REDUCE : XFER_ALLREDUCE,
                                        .type = (uint8_t)agg_code_type(code),
                                        .op = (uint8_t)agg_code_op(code),
                                        .root = reduce ? (uint32_t)rng_below(r, s->ranks) : 0,
                                        .count = rng_below(r, most / agg_code_bytes(code) + 2)};
    }
}

static void draw_network(struct hosts_scenario *s, uint64_t *r)
{
    static const uint64_t speeds[] = {20000000, 200000000, 1000000000, 10000000000};

    s->quality =
        (struct link_quality){.bits_per_s = speeds[rng_below(r, 4)],
                              .delay = rng_magnitude(r, 1 * US, 1 * MS),
                              .jitter = rng_below(r, 2) ? rng_magnitude(r, 1 * US, 1 * MS) : 0,
                              .loss_ppm = rng_below(r, 2) ? (uint32_t)rng_magnitude(r, 100, 10000) : 0,
                              .duplicate_ppm = rng_below(r, 2) ? (uint32_t)rng_magnitude(r, 100, 10000) : 0,
                              .corrupt_ppm = rng_below(r, 2) ? (uint32_t)rng_magnitude(r, 100, 10000) : 0,
                              .delay_ppm = rng_below(r, 2) ? (uint32_t)rng_magnitude(r, 100, 10000) : 0,
                              .held_ns = rng_magnitude(r, 10 * US, 100 * MS)};
    s->slots = (uint16_t)rng_magnitude(r, 2, 64);
    s->chunk_bytes = (uint16_t)(4 * rng_magnitude(r, 16, 365));
    s->switch_config = (struct switch_config){.slots_max = 2048,
                                              .max_jobs = 16,
                                              .lost_after_ns = rng_magnitude(r, 500 * MS, 3 * S),
                                              .keep_ppm = (uint32_t)rng_below(r, PPM + 1),
                                              .refer = rng_below(r, 2)};
    s->restarts = s->hosts > 1 ? (unsigned)rng_below(r, HOSTS_RESTARTS_MAX + 1) : 0;
    for (unsigned i = 0; i < s->restarts; i++) {
        s->restart[i].at = rng_magnitude(r, 1 * MS, 3 * S);
        s->restart[i].lasts = rng_magnitude(r, 1 * MS, s->switch_config.lost_after_ns / 5 / s->restarts);
    }
}

static void draw_misfortune(struct hosts_scenario *s, uint64_t *r)
{
    if (s->ranks > 1 && rng_below(r, 3) == 0) {
        s->differs.does = true;
        s->differs.rank = (unsigned)rng_below(r, s->ranks);
        s->differs.call = (unsigned)rng_below(r, s->calls);
        s->differs.count = s->call[s->differs.call].count + rng_magnitude(r, 1, 4 * s->block_bytes);
    } else {
        s->deaths = (unsigned)rng_between(r, 1, HOSTS_DEATHS_MAX);
    }
    for (unsigned i = 0; i < s->deaths; i++) {
        s->death[i].rank = (unsigned)rng_below(r, s->ranks);
        s->death[i].at = rng_magnitude(r, 1, 400);
    }
}

static void draw_asides(struct hosts_scenario *s, uint64_t *r)
{
    for (unsigned c = 0; c < s->calls; c++)
        s->asides[c] = rng_below(r, 3) == 0 ? (unsigned)rng_between(r, 1, 3) : 0;
    s->differs.aside = s->differs.does && rng_below(r, 2);
}

void hosts_draw(struct hosts_scenario *s, uint64_t seed)
{
    uint64_t r = seed;

    *s = (struct hosts_scenario){.seed = seed, .benign = rng_below(&r, 3) == 0};
    s->prompt = s->benign || rng_below(&r, 2);
    place_ranks(s, &r);
    s->block_bytes = (size_t)64 << rng_below(&r, 8);
    s->whole = rng_below(&r, 2);
    s->mode = s->whole && rng_below(&r, 2) ? XFER_ON_ARRIVAL : XFER_ORDERED;
    draw_calls(s, &r);
    s->call_timeout_ns = s->prompt ? 60 * S : rng_magnitude(&r, 10 * MS, 5 * S);
    s->join_timeout_ns = 60 * S;
    s->compute_ns = rng_below(&r, 2) ? rng_magnitude(&r, 1 * US, 300 * MS) : 1;
    s->step_ns = rng_magnitude(&r, 1 * US, 2 * MS);
    draw_network(s, &r);
    if (!s->benign)
        draw_misfortune(s, &r);
    draw_asides(s, &r);
}
