#include "atp_world.h"

#include <stdlib.h>
#include <string.h>

#include "atp/protocol.h"
#include "atp/reasons.h"
#include "wire/bytes.h"

enum { TICK_NS = 10000000, LOOK_NS = 10000 /* at what is measured */, OVERHEARD = 16, RESTARTS = 3 };

struct overheard {
    unsigned from, to;
    size_t bytes;
    uint8_t payload[ATP_NET_PAYLOAD];
};

struct world {
    const struct atp_world_config *cfg;
    struct sim sim;
    struct atp_net net;
    struct atp_job job[ATP_WORLD_JOBS];
    uint64_t rng;
    uint16_t victim;                       /* rank, or server, of job 0 */
    bool struck;                           /* it has died, or started over, while the job was not done */
    struct overheard overheard[OVERHEARD]; /* by a forger */
    uint64_t heard;
    struct atp_world_counts before; /* what is measured began */
    struct atp_world_result *result;
};

static void receive(void *ctx, unsigned host, const struct agg_sender *from, uint8_t *payload, size_t bytes)
{
    struct world *w = ctx;

    for (unsigned i = 0; i < w->cfg->jobs; i++)
        if (bytes >= ATP_HEADER_BYTES && get_be16(payload + 2) == w->cfg->job[i].number &&
            atp_job_receive(&w->job[i], host, payload, bytes, from))
            return;
}

static void tick(void *ctx, uint64_t argument)
{
    struct world *w = ctx;

    (void)argument;
    atp_net_tick(&w->net);
    sim_at(&w->sim, w->sim.now + TICK_NS, tick, w, 0);
}

static void restart_switch(void *ctx, uint64_t which)
{
    struct world *w = ctx;

    atp_net_restart(&w->net, (unsigned)which);
}

/* The worst happens to job 0. */
static void strike(void *ctx, uint64_t argument)
{
    struct world *w = ctx;

    (void)argument;
    if (atp_job_is_done(&w->job[0]))
        return;
    w->struck = !w->cfg->server_restarts;
    if (w->cfg->worker_dies)
        atp_job_kill(&w->job[0], w->victim);
    else if (w->cfg->server_dies)
        atp_job_kill_server(&w->job[0], w->victim);
    else
        atp_job_restart_server(&w->job[0], w->victim);
}

/* From now on the network carries nothing that is sent to all. */
static void deafen(void *ctx, uint64_t argument)
{
    struct world *w = ctx;

    (void)argument;
    for (unsigned h = 0; h < w->cfg->net.hosts; h++)
        w->net.hosts[h].deaf = true;
}

static unsigned some_rank(struct world *w, const struct atp_job_config *job)
{
    return job->host[rng_below(&w->rng, job->workers)];
}

/* Of a chunk that may be under way, or may have been, by somebody who knows all of the job but its life. Or
 * who is in another one, and sends in its life what names this one. */
static struct atp_packet intruders_packet(struct world *w, const struct atp_job *job)
{
    const struct atp_terms *here = &job->servers[0].terms;
    const struct atp_job *other = &w->job[rng_below(&w->rng, w->cfg->jobs)];
    const uint16_t fan_in[] = {0, 1, job->cfg.terms.per_rack, ATP_LEVEL};
    const bool inside = other != job && rng_below(&w->rng, 3) == 0;

    return (struct atp_packet){.kind = (uint8_t)(1 + rng_below(&w->rng, ATP_KINDS - 1)),
                               .flags = (uint8_t)(rng_next(&w->rng) & ~ATP_OPENING),
                               .job = job->cfg.number,
                               .life = inside ? other->servers[0].terms.life : (uint32_t)rng_next(&w->rng),
                               .sequence =
                                   here->first_sequence + (uint32_t)rng_magnitude(&w->rng, 1, UINT32_MAX),
                               .index = (uint16_t)rng_magnitude(&w->rng, 1, UINT16_MAX),
                               .root = rng_below(&w->rng, 2) ? ATP_ALL : (uint16_t)rng_next(&w->rng),
                               .code = agg_code(AGG_I32, AGG_SUM),
                               .exponent = (int8_t)rng_next(&w->rng),
                               .fan_in0 = (uint8_t)fan_in[rng_below(&w->rng, 4)],
                               .fan_in1 = (uint8_t)fan_in[rng_below(&w->rng, 4)],
                               .rack = (uint8_t)rng_below(&w->rng, 2),
                               .child = (uint8_t)rng_below(&w->rng, 3),
                               .bitmap0 = rng_below(&w->rng, 2) ? rng_next(&w->rng) : rng_below(&w->rng, 16),
                               .bitmap1 = rng_below(&w->rng, 2) ? rng_next(&w->rng) : rng_below(&w->rng, 16),
                               .priority = 9};
}

/* Sends what he likes, to a server or a rank, in his own name or that of another. */
static void intrude(void *ctx, uint64_t argument)
{
    struct world *w = ctx;
    const struct atp_job *job = &w->job[rng_below(&w->rng, w->cfg->jobs)];
    const struct atp_job_config *cfg = &job->cfg;
    const unsigned himself = w->cfg->net.hosts - 1,
                   server = cfg->server_host[rng_below(&w->rng, cfg->servers)];
    const bool to_server = rng_below(&w->rng, 3) != 0, as_himself = rng_below(&w->rng, 2);
    const unsigned other = to_server ? some_rank(w, &w->cfg->job[rng_below(&w->rng, w->cfg->jobs)]) : server;
    const struct atp_packet p = intruders_packet(w, job);
    uint8_t payload[ATP_HEADER_BYTES + 64];
    size_t bytes = sizeof payload;

    (void)argument;
    for (unsigned i = 0; i < sizeof payload; i++)
        payload[i] = (uint8_t)rng_next(&w->rng);
    if (rng_below(&w->rng, 8))
        atp_build_header(payload, &p);
    if (rng_below(&w->rng, 4) == 0 || p.kind == ATP_ASK || p.kind == ATP_GROUP)
        bytes = ATP_HEADER_BYTES;
    atp_net_forge(&w->net, himself, as_himself ? himself : other, to_server ? server : some_rank(w, cfg),
                  payload, bytes);
}

static const struct atp_job_config *keyed_job(const struct world *w, const uint8_t *payload, size_t bytes)
{
    for (unsigned i = 0; i < w->cfg->jobs && bytes >= ATP_HEADER_BYTES; i++)
        if (get_be16(payload + 2) == w->cfg->job[i].number && w->cfg->job[i].terms.keyed)
            return &w->cfg->job[i];
    return NULL;
}

/* Somebody sees every packet of keyed jobs, and keeps the last ones. */
static void overhear(void *ctx, unsigned from, unsigned to, const uint8_t *payload, size_t bytes)
{
    struct world *w = ctx;
    struct overheard *o = &w->overheard[w->heard % OVERHEARD];

    if (keyed_job(w, payload, bytes) == NULL || to == ATP_NET_ALL)
        return;
    *o = (struct overheard){.from = from, .to = to, .bytes = bytes};
    memcpy(o->payload, payload, bytes);
    w->heard++;
}

/* Who a packet of a job is for, or from, as a forger likes it: a rank, or the server that it went to. */
static unsigned somebody(struct world *w, const struct atp_job_config *job, unsigned likely)
{
    return rng_below(&w->rng, 3) ? likely : job->host[rng_below(&w->rng, job->workers)];
}

/* He sends one again: as it was, changed, without what proves it, as an end of the job; to and from others.
 */
static void forge(void *ctx, uint64_t argument)
{
    struct world *w = ctx;

    (void)argument;
    if (w->heard == 0)
        return;
    struct overheard o =
        w->overheard[rng_below(&w->rng, w->heard < OVERHEARD ? w->heard : (uint64_t)OVERHEARD)];
    const struct atp_job_config *job = keyed_job(w, o.payload, o.bytes);
    switch (rng_below(&w->rng, 4)) {
    case 0:
        break;
    case 1:
        o.payload[rng_below(&w->rng, o.bytes)] ^= (uint8_t)(1u << rng_below(&w->rng, 8));
        break;
    case 2:
        o.payload[23] = XFER_CHECKSUM_NONE;
        o.bytes -= XFER_AUTH_BYTES;
        o.payload[o.bytes - 1]++;
        break;
    default:
        o.payload[0] = ATP_REJECT;
        o.payload[23] = XFER_CHECKSUM_NONE;
        o.bytes = ATP_HEADER_BYTES + ATP_BOOT_ID_BYTES;
    }
    atp_net_forge(&w->net, w->cfg->net.hosts - 1, somebody(w, job, o.from), somebody(w, job, o.to), o.payload,
                  o.bytes);
}

static bool all_done(const struct world *w)
{
    for (unsigned i = 0; i < w->cfg->jobs; i++)
        if (!atp_job_is_done(&w->job[i]) && !(i == 0 && w->struck))
            return false;
    return true;
}

static bool any_failed(struct world *w)
{
    for (unsigned i = 0; i < w->cfg->jobs; i++)
        if (w->job[i].failed) {
            snprintf(w->result->text, sizeof w->result->text, "job %u: %.150s", i, w->job[i].why);
            w->result->failed = true;
        }
    return w->result->failed;
}

static void play_until(struct world *w, uint64_t until)
{
    while (w->sim.now < until && !any_failed(w) && sim_step(&w->sim))
        ;
}

static void fail(struct world *w, const char *why)
{
    if (w->result->failed)
        return;
    snprintf(w->result->text, sizeof w->result->text, "%s", why);
    w->result->failed = true;
}

/* Of a rank that waits for ever: does it know for whom? */
static bool names_the_victim(const struct world *w, const struct atp_job_worker *rank)
{
    uint16_t missing[ATP_JOB_WORKERS];

    for (unsigned i = 0; i < rank->job->cfg.servers; i++) {
        const enum xfer_status status = atp_stream_status(rank->stream[i]);
        const unsigned n = atp_stream_missing(rank->stream[i], missing, ATP_JOB_WORKERS);
        if (w->cfg->worker_dies ? n == 1 && missing[0] == w->victim : n > 0) /* those know of the server */
            return true;
        if (w->cfg->server_dies && i == w->victim && status == XFER_RUNNING)
            return true;
    }
    return false;
}

static void judge_the_struck(struct world *w)
{
    for (unsigned r = 0; r < w->cfg->job[0].workers; r++) {
        const struct atp_job_worker *rank = &w->job[0].workers[r];
        if (rank->calling && !rank->dead && !names_the_victim(w, rank))
            fail(w, "a rank waits, and does not know for whom");
    }
}

static void plan(struct world *w)
{
    const struct atp_world_config *cfg = w->cfg;
    const bool strikes = cfg->worker_dies || cfg->server_dies || cfg->server_restarts;

    w->victim = (uint16_t)rng_below(&w->rng, cfg->worker_dies ? cfg->job[0].workers : cfg->job[0].servers);
    for (unsigned i = 0; i < (cfg->server_restarts ? RESTARTS : strikes); i++)
        sim_at(&w->sim, rng_magnitude(&w->rng, 10 * US, 100 * MS), strike, w, 0);
    for (unsigned i = 0; i < cfg->restarts; i++)
        sim_at(&w->sim, rng_magnitude(&w->rng, 10 * US, 200 * MS), restart_switch, w,
               rng_below(&w->rng, 1 + cfg->net.racks));
    for (unsigned i = 0; i < cfg->strangers; i++)
        sim_at(&w->sim, rng_magnitude(&w->rng, US, 100 * MS), intrude, w, 0);
    for (unsigned i = 0; i < cfg->forged; i++)
        sim_at(&w->sim, rng_magnitude(&w->rng, 10 * US, 100 * MS), forge, w, 0);
    for (unsigned h = 0; h < cfg->net.hosts; h++)
        w->net.hosts[h].deaf = cfg->deaf[h];
    if (cfg->deafened_at > 0)
        sim_at(&w->sim, cfg->deafened_at, deafen, w, 0);
    sim_at(&w->sim, TICK_NS, tick, w, 0);
}

/* Jobs that have come to their end, or to none, leave no aggregator behind. */
static void judge_the_tables(struct world *w)
{
    const uint64_t looks = 1 + w->cfg->net.table.aggregators / 64;

    for (unsigned r = 0; r < w->cfg->job[0].workers; r++)
        w->job[0].workers[r].dead = true;
    play_until(w, w->sim.now + w->cfg->net.cable.held_ns + w->cfg->net.table.max_age_ns +
                      (looks + 3) * TICK_NS + S);
    if (atp_net_taken(&w->net) > 0)
        fail(w, "an aggregator is left");
}

static void count(const struct world *w, struct atp_world_counts *c)
{
    const struct link_stats *server = &w->net.hosts[w->cfg->job[0].server_host[0]].down.stats;

    *c = (struct atp_world_counts){
        .ns = w->sim.now, .to_server = server->sent, .overflowed = server->overflowed};
    for (unsigned s = 0; s <= w->cfg->net.racks; s++)
        for (unsigned i = 0; i < AGG_MAX_REASONS; i++)
            c->switch_reasons[i] += w->net.switches[s].reasons[i];
    for (unsigned j = 0; j < w->cfg->jobs; j++) {
        c->bytes[j] = w->job[j].bytes;
        atp_stream_signs(w->job[j].workers[0].stream[0], &c->signs[j]);
        for (unsigned s = 0; s < w->cfg->job[j].servers; s++)
            for (unsigned i = 0; i < AGG_MAX_REASONS; i++)
                c->reasons[i] += w->job[j].servers[s].reasons[i];
    }
}

static uint64_t acknowledged(const struct world *w)
{
    uint64_t chunks = 0;

    for (unsigned j = 0; j < w->cfg->jobs; j++) {
        struct atp_stream_signs signs;
        atp_stream_signs(w->job[j].workers[0].stream[0], &signs);
        chunks += signs.acknowledged;
    }
    return chunks;
}

static void play_measurement(struct world *w)
{
    const struct atp_world_config *cfg = w->cfg;

    play_until(w, cfg->measured_from);
    count(w, &w->before);
    const uint64_t until = cfg->measured_chunks > 0 ? acknowledged(w) + cfg->measured_chunks : UINT64_MAX;
    while (w->sim.now < cfg->limit && acknowledged(w) < until && !w->result->failed)
        play_until(w, w->sim.now + LOOK_NS < cfg->limit ? w->sim.now + LOOK_NS : cfg->limit);
}

static void play(struct world *w)
{
    if (w->cfg->measures) {
        play_measurement(w);
        return;
    }
    while (!all_done(w) && w->sim.now < w->cfg->limit && !w->result->failed)
        play_until(w, w->sim.now + MS);
    if (!all_done(w))
        fail(w, "not done in time");
    if (w->struck && !atp_job_is_done(&w->job[0])) {
        play_until(w, w->sim.now + 10 * S);
        judge_the_struck(w);
    }
    judge_the_tables(w);
}

/* What has happened since. */
static void subtract(struct atp_world_counts *c, const struct atp_world_counts *before)
{
    uint64_t *from = (uint64_t *)c;

    for (size_t i = 0; i < sizeof *c / sizeof *from; i++)
        from[i] -= ((const uint64_t *)before)[i];
}

static void sum_up(struct world *w)
{
    struct atp_world_result *r = w->result;
    struct atp_world_counts *c = &r->counts;

    count(w, c);
    if (c->reasons[ATP_SEND_MISMATCH] > 0 ||
        (c->switch_reasons[ATP_SWITCH_DIFFERS] > 0 && w->cfg->forged == 0))
        fail(w, "packets of one chunk differ, though all ranks call the same");
    if (c->reasons[ATP_DROP_AHEAD] + c->reasons[ATP_DROP_BAD_RANKS] + c->reasons[ATP_DROP_SUMMED] > 0)
        fail(w, "a server has had packets that no worker and no switch may send");
    subtract(c, &w->before);
    r->events = w->sim.events;
    r->simulated_ns = w->sim.now;
    for (unsigned j = 0; j < w->cfg->jobs; j++) {
        struct xfer_stats stats;
        r->sums += w->job[j].sums;
        atp_stream_stats(w->job[j].workers[0].stream[0], &stats);
        r->window[j] = stats.window;
    }
    r->frames = w->net.frames;
    r->lost = w->net.lost;
    r->marked = w->net.marked;
    r->to_groups = w->net.to_all;
}

struct atp_world_result atp_world_play(const struct atp_world_config *cfg, uint64_t seed)
{
    struct atp_world_result result = {0};
    struct world *w = calloc(1, sizeof *w);

    if (w == NULL)
        sim_die("out of memory");
    w->cfg = cfg;
    w->rng = seed;
    w->result = &result;
    sim_init(&w->sim, NULL);
    atp_net_init(&w->net, &w->sim, &cfg->net, cfg->at, &w->rng, receive, w);
    for (unsigned i = 0; i < cfg->jobs; i++)
        atp_job_init(&w->job[i], &w->net, &cfg->job[i], rng_fork(&w->rng));
    w->net.overhear = cfg->forged > 0 ? overhear : NULL;
    if (cfg->in_turns)
        atp_job_take_turns(w->job, cfg->jobs);
    plan(w);
    play(w);
    atp_net_fini(&w->net);
    sum_up(w);
    for (unsigned i = 0; i < cfg->jobs; i++)
        atp_job_fini(&w->job[i]);
    sim_fini(&w->sim);
    free(w);
    return result;
}
