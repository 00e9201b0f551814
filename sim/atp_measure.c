#include "atp_measure.h"

#include <stdio.h>

#include "atp/reasons.h"
#include "atp_world.h"

enum { WORKERS_RACK = 0, SERVERS_RACK = 1, CHUNK = 1024 };

static const uint64_t BITS_PER_S = 10000000000, STAGGER = 5 * MS, SETTLE = 60 * MS, MEASURED = 60 * MS;

/* Workers at one switch, which adds; servers at another one, so that what goes between the two shares a link.
 */
static void lay_out(const struct atp_fairness_config *cfg, struct atp_world_config *w)
{
    *w = (struct atp_world_config){.jobs = cfg->jobs, .measures = true};
    w->net.racks = 1;
    w->net.adds[WORKERS_RACK] = cfg->aggregators > 0;
    w->net.table = (struct atp_switch_terms){
        .aggregators = cfg->aggregators, .chunk_bytes = CHUNK, .max_age_ns = 50 * MS};
    w->net.cable = (struct link_quality){
        .bits_per_s = BITS_PER_S, .delay = 5 * US, .queue_bytes = 400000, .mark_bytes = 60000};
    for (unsigned i = 0; i < cfg->jobs; i++) {
        struct atp_job_config *job = &w->job[i];
        *job = (struct atp_job_config){.number = (uint8_t)(i + 1),
                                       .workers = (uint16_t)cfg->workers,
                                       .servers = 1,
                                       .calls = 1000000,
                                       .lives = 1,
                                       .elements = ATP_JOB_ELEMENTS,
                                       .fixed_size = true,
                                       .fixed_window = cfg->fixed_window,
                                       .start = STAGGER * i};
        job->terms = (struct atp_terms){.mapping = cfg->mapping,
                                        .window = cfg->window,
                                        .chunk_bytes = CHUNK,
                                        .per_rack = ATP_LEVEL,
                                        .near = ATP_NOT_NEAR};
        for (unsigned r = 0; r < cfg->workers; r++) {
            job->host[r] = w->net.hosts;
            w->at[w->net.hosts++] = WORKERS_RACK;
        }
        job->server_host[0] = w->net.hosts;
        w->at[w->net.hosts++] = SERVERS_RACK;
    }
}

/* The elements of results that such a link, which brings one to each worker, can carry in that time. */
static double link_bytes(const struct atp_fairness_config *cfg)
{
    const double packet = CHUNK + ATP_HEADER_BYTES + FRAME_WIRE_OVERHEAD;

    return (double)BITS_PER_S / 8 * ((double)MEASURED / 1e9) * CHUNK / packet / cfg->workers;
}

struct atp_fairness atp_measure(const struct atp_fairness_config *cfg)
{
    struct atp_world_config w;
    struct atp_fairness share = {0};
    double sum = 0, squares = 0;
    uint64_t chunks, acknowledged = 0, marks = 0;

    lay_out(cfg, &w);
    w.measured_from = cfg->jobs * STAGGER + SETTLE;
    w.limit = w.measured_from + MEASURED;
    const struct atp_world_counts c = atp_world_play(&w, cfg->seed).counts;
    for (unsigned i = 0; i < cfg->jobs; i++) {
        const double got = (double)c.bytes[i] / cfg->workers;
        sum += got;
        squares += got * got;
        acknowledged += c.signs[i].acknowledged;
        marks += c.signs[i].marks;
    }
    chunks = c.reasons[ATP_SEND_ALL];
    if (squares > 0)
        share.jain = sum * sum / (cfg->jobs * squares);
    share.of_link = sum / link_bytes(cfg);
    if (chunks > 0)
        share.switched = (double)c.switch_reasons[ATP_SWITCH_SUM] / (double)chunks;
    if (acknowledged > 0)
        share.marked = (double)marks / (double)acknowledged;
    return share;
}

bool atp_is_fair(void)
{
    struct atp_fairness_config cfg = {.jobs = 3, .workers = 4, .window = 256, .seed = 1};
    bool fair = true;

    for (; cfg.aggregators <= 64; cfg.aggregators += 64) {
        const struct atp_fairness s = atp_measure(&cfg);
        fair &= s.jain >= 0.9 && s.of_link >= 0.8;
    }
    return fair;
}

static void print_shares(void)
{
    printf("jobs that share a link, 4 workers each: 1,024 aggregators, none, one for three jobs\n"
           "jobs  aggregators  Jain   of the link  summed in the switch  marked\n");
    for (unsigned jobs = 2; jobs <= 4; jobs++)
        for (uint32_t aggregators = 0; aggregators <= 1024; aggregators += aggregators == 0 ? 64 : 960) {
            const struct atp_fairness_config cfg = {
                .jobs = jobs, .workers = 4, .aggregators = aggregators, .window = 256, .seed = 1};
            const struct atp_fairness s = atp_measure(&cfg);
            printf("%4u  %11u  %.3f  %11.3f  %20.3f  %6.3f\n", jobs, aggregators, s.jain, s.of_link,
                   s.switched, s.marked);
        }
}

static void print_mappings(void)
{
    printf("\nfour jobs with a window of 64 each, by the choice of aggregators\n"
           "choice  aggregators  of the link  summed in the switch\n");
    for (unsigned mapping = 0; mapping < ATP_MAPPINGS; mapping++)
        for (uint32_t aggregators = 64; aggregators <= 1024; aggregators *= 2) {
            const struct atp_fairness_config cfg = {.jobs = 4,
                                                    .workers = 4,
                                                    .aggregators = aggregators,
                                                    .window = 64,
                                                    .mapping = (enum atp_mapping)mapping,
                                                    .seed = 1};
            const struct atp_fairness s = atp_measure(&cfg);
            printf("%-6s  %11u  %11.3f  %20.3f\n", atp_mapping_name((enum atp_mapping)mapping), aggregators,
                   s.of_link, s.switched);
        }
}

bool atp_measure_table(void)
{
    print_shares();
    print_mappings();
    return true;
}
