#include "scale/plan.h"

#include "sim.h"

enum { CABLE_NS = 1000, SLOTS_LEAST = 2048, SLOTS_MOST = 16384, JUMBO_FROM_GBPS = 100 };
enum { CHUNK_BYTES = 1460, CHUNK_BYTES_JUMBO = 8960 };

const struct plan plan_whole = {
    .tree = {{.levels = 2, .fan_in = {15, 16}}, {.levels = 3, .fan_in = {15, 15, 16}}},
    .chunks = {{12000, 12000, 12000}, {1200, 1200, 600}},
    .speeds = 3,
    .gbps = {10, 100, 400},
    .losses = 3,
    .loss_ppm = {0, 100, 1000},
    .main_speed = 1,
};

/* For the test suite. */
const struct plan plan_small = {
    .tree = {{.levels = 2, .fan_in = {2, 3}}, {.levels = 3, .fan_in = {2, 2, 3}}},
    .chunks = {{4000, 4000}, {4000, 4000}},
    .speeds = 2,
    .gbps = {10, 100},
    .losses = 2,
    .loss_ppm = {0, 1000},
    .main_speed = 1,
};

/* In ns, of the packets of a chunk at the switch with the most: its contributions, and the result from above.
 */
static double service_ns(const struct scale_config *cfg, unsigned level)
{
    const unsigned packets = cfg->tree.fan_in[level] + (level > 0);

    return packets * (double)costs_ps(cfg->costs, scale_frame_bytes(cfg->chunk_bytes)) / 1e3;
}

static double wire_ns(const struct scale_config *cfg)
{
    return scale_wire_bytes(cfg->chunk_bytes) * 8e9 / (double)cfg->bits_per_s;
}

static unsigned lcores_for(const struct scale_config *cfg)
{
    double most = 0;

    for (unsigned l = 0; l < cfg->tree.levels; l++)
        most = service_ns(cfg, l) > most ? service_ns(cfg, l) : most;
    const double need = 1.1 * most / wire_ns(cfg);
    return need >= PLAN_LCORES_MAX ? PLAN_LCORES_MAX : (unsigned)need + 1;
}

static uint16_t slots_for(const struct scale_config *cfg)
{
    double round_ns = 0;
    unsigned slots = SLOTS_LEAST;

    for (unsigned l = 0; l < cfg->tree.levels; l++)
        round_ns += service_ns(cfg, l) + 2 * (wire_ns(cfg) + (double)cfg->delay_ns);
    while (slots < SLOTS_MOST && slots < 4 * round_ns / wire_ns(cfg))
        slots *= 2;
    return (uint16_t)slots;
}

struct scale_config plan_config(const struct plan *p, unsigned tree, unsigned speed, unsigned loss,
                                const struct costs *costs)
{
    struct scale_config cfg = {.tree = p->tree[tree],
                               .bits_per_s = p->gbps[speed] * UINT64_C(1000000000),
                               .delay_ns = CABLE_NS,
                               .loss_ppm = p->loss_ppm[loss],
                               .chunk_bytes =
                                   p->gbps[speed] < JUMBO_FROM_GBPS ? CHUNK_BYTES : CHUNK_BYTES_JUMBO,
                               .costs = costs,
                               .chunks = p->chunks[tree][loss],
                               .seed = 1};

    cfg.lcores = lcores_for(&cfg);
    cfg.slots = slots_for(&cfg);
    return cfg;
}

double plan_ring_s(const struct scale_config *cfg)
{
    const double n = scale_workers(&cfg->tree), cables_s = 2 * (double)cfg->delay_ns / (double)S;

    return 2 * (n - 1) * (scale_ideal_s(cfg) / n + cables_s);
}
