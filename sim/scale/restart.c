#include "scale/restart.h"

#include "memory.h"
#include "scale/tree.h"
#include "world.h"

enum { CHUNK_BYTES = 1460, SLOTS = 512 };

static void add_program(struct scenario *s, const struct restart_config *cfg)
{
    const struct xfer_call call = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM};
    struct program *p = &s->program[s->programs++];

    *p = (struct program){.name = "job",
                          .seed = cfg->seed,
                          .size = (uint16_t)(cfg->leaves * cfg->workers),
                          .format = XFER_FORMAT_TYPED,
                          .slots = SLOTS,
                          .chunk_bytes = CHUNK_BYTES,
                          .tree = true,
                          .whole = true,
                          .call_timeout_ns = 60 * S,
                          .join_timeout_ns = 60 * S,
                          .lives = 1,
                          .calls = 2};
    p->call[0] = p->call[1] = call;
    p->call[0].count = cfg->tensor_bytes / sizeof(int32_t);
    p->call[1].count = 1; /* so that nobody leaves in the first */
    s->hosts += p->size;
}

static struct scenario scenario_of(const struct restart_config *cfg)
{
    struct scenario s = {
        .seed = cfg->seed,
        .benign = true,
        .leaves = cfg->leaves,
        .quality = {.bits_per_s = cfg->bits_per_s, .delay = cfg->delay_ns, .loss_ppm = cfg->loss_ppm},
        .switch_config = {.slots_max = SLOTS,
                          .max_jobs = 4,
                          .max_workers = CTL_RANKS_MAX,
                          .lost_after_ns = 5 * S,
                          .keep_ppm = PPM},
        .calm_at = 120 * S,
        .over_by = 240 * S,
    };

    add_program(&s, cfg);
    s.leaf_base = s.hosts;
    s.all_hosts = s.hosts + s.leaves;
    s.at = memory_of(s.all_hosts * sizeof(*s.at));
    for (unsigned h = 0; h < s.hosts; h++)
        s.at[h] = (int)(h / cfg->workers);
    for (unsigned i = 0; i < s.leaves; i++)
        s.at[s.leaf_base + i] = s.above[i] = -1;
    return s;
}

static double wire_s(const struct restart_config *cfg)
{
    const double chunks = (double)cfg->tensor_bytes / CHUNK_BYTES;

    return chunks * scale_wire_bytes(CHUNK_BYTES) * 8 / (double)cfg->bits_per_s;
}

struct restart_result restart_run(const struct restart_config *cfg)
{
    struct scenario calm = scenario_of(cfg), bad = scenario_of(cfg);
    struct restart_result result = {.usual_s = wire_s(cfg)};
    const struct world_result without = world_play_scenario(&calm, NULL);
    const uint64_t halfway = without.succeeded_first - (uint64_t)(wire_s(cfg) / 2 * (double)S);

    bad.fault[bad.faults++] = scenario_kill_switch(&bad, 1, halfway, cfg->down_ns);
    const struct world_result with = world_play_scenario(&bad, NULL);
    result.exact = !without.failed && !with.failed && with.n.faults[FAULT_KILL_SWITCH] == 1;
    result.delayed_s = ((double)with.succeeded_last - (double)without.succeeded_last) / (double)S;
    return result;
}
