/* What a seed stands for. */
#include "atp/table.h"
#include "atp_world.h"
#include "random.h"

static const uint32_t tables[] = {1, 2, 7, 64, 1024};

static struct link_quality draw_cable(uint64_t *rng)
{
    struct link_quality q = {
        .bits_per_s = rng_magnitude(rng, 1000000000, 20000000000),
        .delay = rng_between(rng, 500, 20 * US),
        .jitter = rng_below(rng, 3) == 0 ? rng_below(rng, 50 * US) : 0,
        .queue_bytes = (uint32_t)rng_between(rng, 20000, 200000),
    };

    q.mark_bytes = rng_below(rng, 2) ? q.queue_bytes / 4 : 0;
    if (rng_below(rng, 2))
        q.loss_ppm = (uint32_t)rng_magnitude(rng, 50, 30000);
    q.loss_burst = (uint32_t)rng_below(rng, 6);
    if (rng_below(rng, 2))
        q.duplicate_ppm = (uint32_t)rng_magnitude(rng, 50, 20000);
    if (rng_below(rng, 3) == 0)
        q.corrupt_ppm = (uint32_t)rng_magnitude(rng, 50, 5000);
    if (rng_below(rng, 3) == 0) {
        q.delay_ppm = (uint32_t)rng_magnitude(rng, 50, 5000);
        q.held_ns = rng_magnitude(rng, MS, 500 * MS);
    }
    return q;
}

static void draw_job(struct atp_world_config *cfg, unsigned number, uint64_t *rng)
{
    struct atp_job_config *job = &cfg->job[number];
    unsigned *hosts = &cfg->net.hosts;
    const unsigned racks = cfg->net.racks;

    *job =
        (struct atp_job_config){.number = (uint8_t)(number + 3),
                                .workers = (uint16_t)rng_between(rng, 1, 8),
                                .servers = (uint8_t)rng_between(rng, 1, 1 + rng_below(rng, ATP_JOB_SERVERS)),
                                .calls = (unsigned)rng_between(rng, 1, 4),
                                .lives = (unsigned)rng_between(rng, 1, 2),
                                .elements = (unsigned)rng_magnitude(rng, 1, 6000),
                                .pause = rng_magnitude(rng, 1, 5 * MS)};
    job->terms = (struct atp_terms){.mode = rng_below(rng, 8) == 0 ? XFER_ORDERED : XFER_ON_ARRIVAL,
                                    .mapping = (enum atp_mapping)rng_below(rng, ATP_MAPPINGS),
                                    .window = (uint16_t)(ATP_MIN_WINDOW << rng_below(rng, 5)),
                                    .chunk_bytes = (uint16_t)(4 * rng_between(rng, 16, 360)),
                                    .per_rack = ATP_LEVEL,
                                    .near = ATP_NOT_NEAR,
                                    .priority = (uint8_t)rng_below(rng, 3)};
    if (racks > 0) {
        job->terms.per_rack = (uint8_t)((job->workers + racks - 1) / racks);
        if (rng_below(rng, 2))
            job->terms.near =
                (uint8_t)rng_below(rng, (job->workers + job->terms.per_rack - 1u) / job->terms.per_rack);
    }
    for (unsigned r = 0; r < job->workers; r++) {
        const unsigned rack = r / job->terms.per_rack;
        job->host[r] = (*hosts)++;
        cfg->at[job->host[r]] = racks == 0 || rack == job->terms.near ? 0 : 1 + rack;
    }
    for (unsigned i = 0; i < job->servers; i++) {
        job->server_host[i] = (*hosts)++;
        cfg->at[job->server_host[i]] = 0;
    }
}

/* Hosts that cannot hear a group, and networks that stop to carry them. */
static void draw_deafness(struct atp_world_config *cfg, uint64_t *rng)
{
    const bool some = rng_below(rng, 3) == 0;

    for (unsigned h = 0; h < cfg->net.hosts; h++)
        cfg->deaf[h] = some && rng_below(rng, 4) == 0;
    if (rng_below(rng, 4) == 0)
        cfg->deafened_at = rng_magnitude(rng, 100 * US, 100 * MS);
}

/* What packets end with, and who imitates those that are keyed. */
static void draw_trailers(struct atp_world_config *cfg, uint64_t *rng)
{
    for (unsigned i = 0; i < cfg->jobs; i++) {
        cfg->job[i].terms.keyed = rng_below(rng, 5) == 0;
        cfg->job[i].terms.checksum = rng_below(rng, 3) == 0 ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE;
    }
    cfg->forged = rng_below(rng, 2) ? (unsigned)rng_between(rng, 1, 300) : 0;
}

/* Floats as scaled integers or halves, whose exponents travel ahead. */
static void draw_formats(struct atp_world_config *cfg, uint64_t *rng)
{
    for (unsigned i = 0; i < cfg->jobs; i++)
        cfg->job[i].terms.format =
            (enum xfer_format)(rng_below(rng, 2) ? XFER_FORMAT_TYPED : rng_below(rng, XFER_FORMATS));
}

/* Jobs that do not know which of their racks is the server's. */
static void forget_near(struct atp_world_config *cfg, uint64_t *rng)
{
    for (unsigned i = 0; i < cfg->jobs; i++)
        if (rng_below(rng, 3) == 0)
            cfg->job[i].terms.near = ATP_NOT_NEAR;
}

void atp_world_draw(struct atp_world_config *cfg, uint64_t seed)
{
    uint64_t rng = splitmix_hash(seed);
    const unsigned levels = (unsigned)rng_below(&rng, 3);
    const unsigned fate = (unsigned)rng_below(&rng, 20);

    *cfg = (struct atp_world_config){.jobs = (unsigned)rng_between(&rng, 1, 3), .limit = 60 * S};
    cfg->net.racks = levels == 2 ? (unsigned)rng_between(&rng, 2, ATP_NET_RACKS) : 0;
    for (unsigned i = 0; i <= cfg->net.racks; i++)
        cfg->net.adds[i] = levels > 0 && rng_below(&rng, 8) != 0;
    cfg->net.table = (struct atp_switch_terms){.aggregators = tables[rng_below(&rng, 5)],
                                               .chunk_bytes = (uint16_t)(rng_below(&rng, 4) ? 1440 : 200),
                                               .max_age_ns = rng_magnitude(&rng, 5 * MS, 2 * S),
                                               .preempt = rng_below(&rng, 2)};
    cfg->net.cable = draw_cable(&rng);
    for (unsigned i = 0; i < cfg->jobs; i++)
        draw_job(cfg, i, &rng);
    cfg->at[cfg->net.hosts++] = (unsigned)rng_below(&rng, 1 + cfg->net.racks);
    cfg->net.table.parts = (uint16_t)rng_below(&rng, 4);
    cfg->net.table.forward_ppm = rng_below(&rng, 4) == 0 ? (uint32_t)rng_below(&rng, ATP_ALL_CHUNKS + 1) : 0;
    cfg->restarts = rng_below(&rng, 3) == 0 ? (unsigned)rng_between(&rng, 1, 5) : 0;
    cfg->strangers = rng_below(&rng, 3) == 0 ? (unsigned)rng_between(&rng, 1, 300) : 0;
    cfg->worker_dies = fate < 2 && cfg->job[0].workers > 1;
    cfg->server_dies = fate == 2;
    cfg->server_restarts = fate >= 3 && fate < 7;
    if (rng_below(&rng, 2))
        for (unsigned i = 0; i < cfg->jobs; i++)
            cfg->job[i].terms.group = 1 + i;
    draw_deafness(cfg, &rng);
    draw_trailers(cfg, &rng);
    draw_formats(cfg, &rng);
    forget_near(cfg, &rng);
}
