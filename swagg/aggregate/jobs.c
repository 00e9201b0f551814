#include "aggregate/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "switchml/protocol.h"

static struct sml_pool_config pool_config(const struct jobs *jobs, const struct jobs_plan *plan,
                                          uint8_t number)
{
    return (struct sml_pool_config){
        .workers = plan->size,
        .slots = plan->terms.slots,
        .chunk_bytes = plan->terms.chunk_bytes,
        .job = number,
        .format = plan->terms.format,
        .mode = plan->terms.mode,
        .checksum = plan->terms.checksum,
        .first_tag = plan->terms.first_tag,
        .resumed = plan->terms.resumed,
        .tag_bits = plan->terms.tag_bits,
        .kernels = jobs->kernels,
    };
}

static void release(void *mbuf)
{
    rte_pktmbuf_free(mbuf);
}

static void free_job(struct jobs *jobs, struct job *job)
{
    if (job == NULL)
        return;
    if (job->common.pool != NULL)
        job->common.protocol->drain(job->common.pool, release);
    jobs->bytes -= job->bytes;
    jobs->frames -= job->frames;
    rte_free(job->common.pool);
    rte_free(job->common.seat);
    rte_free(job->member);
    rte_free(job);
}

static void seat_members(struct job *job, const struct jobs_plan *plan, const struct jobs_identity *us)
{
    const struct frame_end here = {.mac = us->mac, .ip = us->ip};

    for (uint16_t rank = 0; rank < job->common.size; rank++) {
        const struct jobs_member *m = &plan->member[rank];
        const struct frame_end there = {.mac = m->mac, .ip = m->ip, .port = m->udp_port};
        struct agg_sender sender = {.ip = there.ip, .port = there.port};

        frame_header_init(&job->member[rank].header, &here, &there);
        job->member[rank].header.without_udp_sum = job->checked;
        job->member[rank].mac = there.mac;
        job->member[rank].port = m->port;
        memcpy(sender.mac, there.mac.addr_bytes, sizeof(sender.mac));
        agg_job_seat(&job->common, &sender, rank);
    }
}

/* What a job might keep must not be lacking to receive into: all or nothing. */
static void reserve_frames(struct jobs *jobs, struct job *job, const struct sml_pool_config *cfg)
{
    const uint32_t frames = 2u * cfg->slots;

    if (cfg->chunk_bytes < JOBS_SHARE_FROM_BYTES || frames > jobs->frames_max - jobs->frames)
        return;
    job->in_place = true;
    job->frames = frames;
    jobs->frames += frames;
}

/* NULL: no memory. */
static struct job *make_job(struct jobs *jobs, const struct jobs_plan *plan, const struct jobs_identity *us,
                            const struct sml_pool_config *cfg)
{
    struct job *job = rte_zmalloc("job", sizeof(*job), 0);
    void *pool;

    if (job == NULL)
        return NULL;
    job->common.protocol = &sml_protocol;
    job->common.number = cfg->job;
    job->founder = plan->founder;
    job->common.size = plan->size;
    job->common.seats = agg_seats_for(plan->size);
    job->common.seat =
        rte_zmalloc("seats", job->common.seats * sizeof(*job->common.seat), RTE_CACHE_LINE_SIZE);
    job->checked = plan->terms.checksum != SML_CHECKSUM_NONE;
    job->member = rte_zmalloc("members", job->common.size * sizeof(*job->member), RTE_CACHE_LINE_SIZE);
    pool = rte_malloc("pool", sml_pool_footprint(cfg), RTE_CACHE_LINE_SIZE);
    if (pool == NULL || job->common.seat == NULL || job->member == NULL) {
        rte_free(pool);
        free_job(jobs, job);
        return NULL;
    }
    job->common.pool = sml_pool_init(pool, cfg);
    job->bytes = sml_pool_footprint(cfg);
    jobs->bytes += job->bytes;
    reserve_frames(jobs, job, cfg);
    seat_members(job, plan, us);
    return job;
}

/* The number that has been free for longest, so that late packets of an ended job meet nobody. */
static int free_number(const struct jobs *jobs, const struct jobs_plan *plan, uint8_t *number)
{
    int best = -EMFILE;

    for (int i = 0; i < JOBS_MAX; i++)
        if (agg_jobs_find(&jobs->running, (unsigned)i) == NULL &&
            (plan->unusable[i / 64] >> i % 64 & 1) == 0 &&
            (best < 0 || jobs->closed_at[i] < jobs->closed_at[best]))
            best = i;
    if (best < 0)
        return best;
    *number = (uint8_t)best;
    return 0;
}

static size_t held_by(const struct jobs *jobs, uint32_t founder)
{
    size_t bytes = 0;

    for (int i = 0; i < JOBS_MAX; i++) {
        const struct job *job = jobs_find(jobs, (uint8_t)i);

        if (job != NULL && job->founder == founder)
            bytes += job->bytes;
    }
    return bytes;
}

/* Memory for this job: what is left, and of it to a new one only as much as leaves a quarter of all to jobs
 * that were founded from other addresses. */
static size_t room_for(const struct jobs *jobs, const struct jobs_plan *plan)
{
    const size_t left = jobs->bytes_max - jobs->bytes, held = held_by(jobs, plan->founder),
                 share = jobs->bytes_max - jobs->bytes_max / 4;

    if (plan->terms.resumed || plan->founder == 0)
        return left;
    return RTE_MIN(left, share > held ? share - held : 0);
}

/* Halves the slots until a pool is within what is left and memory has one piece for it; a resumed job has no
 * choice. NULL: there is no such pool. */
static struct job *fit(struct jobs *jobs, const struct jobs_plan *plan, const struct jobs_identity *us,
                       struct sml_pool_config *cfg)
{
    const uint16_t least = plan->terms.resumed ? cfg->slots : RTE_MIN(cfg->slots, 2u);
    const size_t room = room_for(jobs, plan);

    for (; cfg->slots >= least; cfg->slots /= 2) {
        const size_t bytes = sml_pool_footprint(cfg);
        struct job *job = bytes > 0 && bytes <= room ? make_job(jobs, plan, us, cfg) : NULL;

        if (job != NULL)
            return job;
    }
    return NULL;
}

/* cfg: of the pool that was wished for. */
static void say_no_memory(const struct jobs *jobs, const struct jobs_plan *plan,
                          const struct sml_pool_config *cfg, char text[AGG_TEXT_MAX])
{
    const size_t bytes = sml_pool_footprint(cfg);
    const uint8_t *ip = (const uint8_t *)&plan->founder;

    if (room_for(jobs, plan) < jobs->bytes_max - jobs->bytes)
        snprintf(
            text, AGG_TEXT_MAX,
            "jobs of %u.%u.%u.%u hold %zu KB of the switch's %zu pool.megabytes, and one host may hold three "
            "quarters of them",
            ip[0], ip[1], ip[2], ip[3], held_by(jobs, plan->founder) >> 10, jobs->bytes_max >> 20);
    else if (bytes <= jobs->bytes_max - jobs->bytes)
        snprintf(text, AGG_TEXT_MAX,
                 "the switch's memory.megabytes have no piece of %zu KB left for %u slots of %u ranks",
                 bytes >> 10, cfg->slots, cfg->workers);
    else
        snprintf(
            text, AGG_TEXT_MAX,
            "the switch's pool.megabytes, %zu, are used up: other jobs hold %zu KB of them, and %u slots "
            "for %u ranks take %zu KB",
            jobs->bytes_max >> 20, jobs->bytes >> 10, cfg->slots, cfg->workers, bytes >> 10);
}

int jobs_open(struct jobs *jobs, struct jobs_plan *plan, const struct jobs_identity *us, uint8_t *number,
              char text[AGG_TEXT_MAX])
{
    struct sml_pool_config cfg;
    struct job *job;
    int rc = free_number(jobs, plan, number);

    if (jobs->retired != NULL) { /* their memory may be what is lacking */
        rte_rcu_qsbr_synchronize(jobs->rcu, RTE_QSBR_THRID_INVALID);
        jobs_reclaim(jobs);
    }
    if (rc < 0) {
        snprintf(text, AGG_TEXT_MAX, "all %d job numbers of the switch are in use", JOBS_MAX);
        return rc;
    }
    cfg = pool_config(jobs, plan, *number);
    job = fit(jobs, plan, us, &cfg);
    if (job == NULL) {
        cfg.slots = plan->terms.slots;
        say_no_memory(jobs, plan, &cfg, text);
        return -ENOSPC;
    }
    plan->terms.slots = cfg.slots;
    agg_jobs_set(&jobs->running, *number, &job->common);
    return 0;
}

void jobs_close(struct jobs *jobs, uint8_t number)
{
    struct job *job = (struct job *)agg_jobs_find(&jobs->running, number);

    agg_jobs_set(&jobs->running, number, NULL);
    jobs->closed_at[number] = ++jobs->closes;
    job->retired_at = rte_rcu_qsbr_start(jobs->rcu);
    job->next_retired = jobs->retired;
    jobs->retired = job;
    jobs_reclaim(jobs);
}

void jobs_reclaim(struct jobs *jobs)
{
    struct job **link = &jobs->retired;

    while (*link != NULL) {
        struct job *job = *link;

        if (rte_rcu_qsbr_check(jobs->rcu, job->retired_at, false) == 1) {
            *link = job->next_retired;
            free_job(jobs, job);
        } else {
            link = &job->next_retired;
        }
    }
}

void jobs_free(struct jobs *jobs)
{
    for (unsigned i = 0; i < JOBS_MAX; i++)
        free_job(jobs, (struct job *)agg_jobs_find(&jobs->running, i));
    while (jobs->retired != NULL) {
        struct job *job = jobs->retired;

        jobs->retired = job->next_retired;
        free_job(jobs, job);
    }
}
