#include "curves/point.h"

#include <string.h>

#include "atp/reasons.h"
#include "atp_world.h"
#include "memory.h"

enum {
    CARRIED_ELEMENTS = POINT_CARRIED / 4, /* int32 */
    CHUNKS_A_CALL = 6000,                 /* of all jobs' calls together */
    CHUNKS_LEAST = 750,                   /* of one */
    GROUP_FIRST = 1,
};

const uint64_t point_bits_per_s = UINT64_C(100000000000), point_delay_ns = 1000;
const uint32_t point_queue_bytes = 4000000, point_mark_bytes = 200000;
const uint64_t point_settle_ns = 3 * MS, point_settle_jobs_ns = 20 * MS;
const uint64_t point_nap_every_ns = 100 * US, point_nap_most_ns = 10 * US;
static const uint64_t STAGGER = 300 * US, LIMIT = 100 * MS;

static unsigned per_rack(const struct point *p)
{
    return p->racks == 0 ? ATP_LEVEL : (p->workers + p->racks - 1) / p->racks;
}

static struct atp_job_config job_of(const struct point *p, unsigned i)
{
    const unsigned chunks = CHUNKS_A_CALL / p->jobs > CHUNKS_LEAST ? CHUNKS_A_CALL / p->jobs : CHUNKS_LEAST;
    struct atp_job_config job = {.number = (uint8_t)(i + 1),
                                 .workers = (uint16_t)(p->fewer > 0 && i % 2 == 1 ? p->fewer : p->workers),
                                 .servers = 1,
                                 .calls = UINT32_MAX,
                                 .lives = 1,
                                 .elements = chunks * CARRIED_ELEMENTS,
                                 .fixed_size = true,
                                 .fixed_window = p->no_control ? p->window : 0,
                                 .start = p->in_turns ? 0 : STAGGER * i,
                                 .takes_turns = p->in_turns};

    job.terms = (struct atp_terms){.window = p->window,
                                   .chunk_bytes = POINT_CARRIED,
                                   .per_rack = (uint8_t)per_rack(p),
                                   .near = p->racks == 0 || p->near_unknown ? ATP_NOT_NEAR : 0,
                                   .group = GROUP_FIRST + i,
                                   .group_port = ATP_GROUP_PORT};
    for (unsigned r = 0; r < job.workers; r++)
        job.host[r] = r;
    job.server_host[0] = p->workers;
    return job;
}

static void lay_out(const struct point *p, uint64_t chunks, struct atp_world_config *w)
{
    *w = (struct atp_world_config){.jobs = p->jobs,
                                   .measures = true,
                                   .measured_from = p->jobs > 1 ? point_settle_jobs_ns : point_settle_ns,
                                   .measured_chunks = chunks,
                                   .limit = LIMIT,
                                   .in_turns = p->in_turns};
    w->net = (struct atp_net_config){.hosts = p->workers + 1,
                                     .racks = p->racks == 0 ? 0 : p->racks - 1,
                                     .adds = {true, true, true, true, true},
                                     .senders_wait = true,
                                     .filler = POINT_CHUNK_BYTES - POINT_CARRIED,
                                     .nap_every = p->late ? point_nap_every_ns : 0,
                                     .nap_most = point_nap_most_ns};
    w->net.table = (struct atp_switch_terms){.aggregators = p->aggregators,
                                             .chunk_bytes = POINT_CARRIED,
                                             .max_age_ns = 1 * S,
                                             .parts = p->parts,
                                             .forward_ppm = p->forward_ppm,
                                             .seed = 1};
    w->net.cable = (struct link_quality){.bits_per_s = point_bits_per_s,
                                         .delay = point_delay_ns,
                                         .queue_bytes = point_queue_bytes,
                                         .mark_bytes = point_mark_bytes,
                                         .loss_ppm = p->loss_ppm};
    for (unsigned i = 0; i < p->jobs; i++)
        w->job[i] = job_of(p, i);
    for (unsigned r = 0; r < p->workers; r++)
        w->at[r] = r / per_rack(p);
}

static double share_of(double chunks, uint64_t ns)
{
    const double packet = POINT_CHUNK_BYTES + ATP_HEADER_BYTES + FRAME_WIRE_OVERHEAD;

    return chunks * packet * 8 / ((double)point_bits_per_s * (double)ns / 1e9);
}

struct point_result point_measure(const struct point *p, uint64_t chunks)
{
    struct atp_world_config *w = memory_of(sizeof *w);
    double sum = 0, squares = 0, window = 0;

    lay_out(p, chunks, w);
    const struct atp_world_result r = atp_world_play(w, 1);
    const struct atp_world_counts *c = &r.counts;
    struct point_result result = {.failed = r.failed, .events = r.events};

    memcpy(result.why, r.text, sizeof result.why);
    for (unsigned i = 0; i < p->jobs; i++) {
        const double got = (double)c->signs[i].acknowledged;
        sum += got;
        squares += got * got;
        window += r.window[i];
    }
    free(w);
    if (sum == 0) {
        result.failed = true;
        return result;
    }
    result.share = share_of(sum, c->ns);
    result.jain = sum * sum / (p->jobs * squares);
    result.to_server = (double)(c->to_server - c->overflowed) / sum;
    result.switched = (double)c->switch_reasons[ATP_SWITCH_SUM] / (double)c->reasons[ATP_SEND_ALL];
    result.overflowed = (double)c->overflowed / (double)c->to_server;
    result.window = window / p->jobs;
    return result;
}
