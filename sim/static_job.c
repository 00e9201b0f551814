#include "static_job.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "carry.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "sim.h"

/* By address, all threads of all members. */
static void publish_senders(struct static_job *f, struct agg_jobs *jobs)
{
    const uint32_t entries = agg_seats_for(f->cfg->workers * f->cfg->threads);
    struct agg_senders *senders = memory_of(sizeof(*senders) + entries * sizeof(senders->entry[0]));

    senders->entries = entries;
    for (uint32_t i = 0; i < f->job->seats; i++)
        if (f->job->seat[i].sender != 0)
            agg_senders_add(senders, f->job->seat[i].sender, f->job->number);
    jobs->senders = senders;
}

void static_job_open(struct static_job *f, struct agg_jobs *jobs, const struct agg_protocol *protocol,
                     const struct published_config *cfg, uint8_t number, uint64_t now)
{
    const struct sml_terms terms = published_terms(cfg);
    struct agg_sender *members = memory_of(cfg->workers * sizeof(*members));

    *f = (struct static_job){.cfg = cfg, .heard_at = now};
    f->pool = (struct agg_pool_config){
        .job = number, .workers = (uint16_t)cfg->workers, .delays = true, .kernels = kernels_or_exit()};
    sml_terms_build(&f->pool.terms, &terms);
    for (unsigned r = 0; r < cfg->workers; r++) {
        const struct ctl_endpoint at = star_endpoint(cfg->first_host + r, PUBLISHED_PORT);
        members[r] = carry_sender(at.mac, at.ip, at.udp_port);
    }
    f->job = carry_open(jobs, protocol, &f->pool, members, NULL);
    free(members);
    if (f->job == NULL)
        sim_die("the terms of a static job are out of range");
    carry_seat_threads(f->job, cfg->threads);
    publish_senders(f, jobs);
}

void static_job_close(struct static_job *f, struct agg_jobs *jobs)
{
    if (f->job == NULL)
        return;
    carry_close(jobs, f->job);
    free(jobs->senders);
    jobs->senders = NULL;
    f->job = NULL;
}

bool static_job_tick(struct static_job *f, uint64_t now)
{
    if (f->job == NULL)
        return false;
    if (f->job->protocol->heard(f->job->pool)) {
        f->worked = true;
        f->heard_at = now;
    }
    if (!f->worked || now - f->heard_at < f->cfg->quiet_ns)
        return false;
    f->job->pool = f->job->protocol->init(f->job->pool, &f->pool);
    f->worked = false;
    f->runs++;
    return true;
}
