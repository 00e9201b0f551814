#include "aggregate/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>

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
        agg_job_seat(&job->common, &sender, rank, 0);
    }
}

/* Reserves all frames that the job may keep, or none, so that enough buffers are always left to receive into.
 */
static void reserve_frames(struct jobs *jobs, struct job *job, const struct agg_footprint *f)
{
    if (f->buffers == 0 || f->payload_bytes < JOBS_SHARE_FROM_BYTES ||
        f->buffers > jobs->frames_max - jobs->frames)
        return;
    job->in_place = true;
    job->frames = f->buffers;
    jobs->frames += f->buffers;
}

/* NULL: no memory. f: of the pool. */
static struct job *make_job(struct jobs *jobs, const struct jobs_plan *plan, const struct jobs_identity *us,
                            const struct agg_pool_config *cfg, const struct agg_footprint *f)
{
    struct job *job = rte_zmalloc("job", sizeof(*job), 0);
    void *pool;

    if (job == NULL)
        return NULL;
    job->common.protocol = plan->protocol;
    job->common.number = cfg->job;
    job->founder = plan->founder;
    job->common.size = plan->size;
    job->common.seats = agg_seats_for(plan->size);
    job->common.seat =
        rte_zmalloc("seats", job->common.seats * sizeof(*job->common.seat), RTE_CACHE_LINE_SIZE);
    job->checked = f->checked;
    job->member = rte_zmalloc("members", job->common.size * sizeof(*job->member), RTE_CACHE_LINE_SIZE);
    pool = rte_malloc("pool", f->bytes, RTE_CACHE_LINE_SIZE);
    if (pool == NULL || job->common.seat == NULL || job->member == NULL) {
        rte_free(pool);
        free_job(jobs, job);
        return NULL;
    }
    job->common.pool = plan->protocol->init(pool, cfg);
    job->bytes = f->bytes;
    jobs->bytes += job->bytes;
    reserve_frames(jobs, job, f);
    seat_members(job, plan, us);
    return job;
}

/* The number that has been free for longest, so that late packets of an ended job reach no other. */
static int free_number(const struct jobs *jobs, const struct jobs_plan *plan, uint8_t *number)
{
    const unsigned protocol = plan->protocol->id;
    const uint64_t *closed_at = jobs->closed_at[protocol];
    int best = -EMFILE;

    for (int i = 0; i < JOBS_MAX; i++)
        if (jobs_find(jobs, protocol, (unsigned)i) == NULL && (plan->unusable[i / 64] >> i % 64 & 1) == 0 &&
            (best < 0 || closed_at[i] < closed_at[best]))
            best = i;
    if (best < 0)
        return best;
    *number = (uint8_t)best;
    return 0;
}

static size_t held_by(const struct jobs *jobs, uint32_t founder)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < COUNTED_PROTOCOLS * JOBS_MAX; i++) {
        const struct job *job = jobs_find(jobs, i / JOBS_MAX, i % JOBS_MAX);

        if (job != NULL && job->founder == founder)
            bytes += job->bytes;
    }
    return bytes;
}

/* How much memory this job may have: all that is left; but a new job must leave a quarter of the whole to
 * jobs that were founded from other addresses. */
static size_t room_for(const struct jobs *jobs, const struct jobs_plan *plan)
{
    const size_t left = jobs->bytes_max - jobs->bytes, held = held_by(jobs, plan->founder),
                 share = jobs->bytes_max - jobs->bytes_max / 4;

    if (plan->as_it_is || plan->founder == 0)
        return left;
    return RTE_MIN(left, share > held ? share - held : 0);
}

/* Makes the pool, with lower terms as long as there is not enough memory, in one piece, for it. NULL: no pool
 * fits. */
static struct job *fit(struct jobs *jobs, struct jobs_plan *plan, const struct jobs_identity *us,
                       struct agg_pool_config *cfg)
{
    const size_t room = room_for(jobs, plan);

    do {
        struct agg_footprint f;
        struct job *job =
            plan->protocol->footprint(cfg, &f) && f.bytes <= room ? make_job(jobs, plan, us, cfg, &f) : NULL;

        if (job != NULL)
            return job;
    } while (!plan->as_it_is && plan->protocol->lower(&cfg->terms));
    return NULL;
}

/* wished: what the pool would have taken. */
static void say_no_memory(const struct jobs *jobs, const struct jobs_plan *plan,
                          const struct agg_footprint *wished, char text[AGG_TEXT_MAX])
{
    const uint8_t *ip = (const uint8_t *)&plan->founder;

    if (room_for(jobs, plan) < jobs->bytes_max - jobs->bytes)
        snprintf(
            text, AGG_TEXT_MAX,
            "jobs of %u.%u.%u.%u hold %zu KB of the switch's %zu pool.megabytes, and one host may hold three "
            "quarters of them",
            ip[0], ip[1], ip[2], ip[3], held_by(jobs, plan->founder) >> 10, jobs->bytes_max >> 20);
    else if (wished->bytes <= jobs->bytes_max - jobs->bytes)
        snprintf(text, AGG_TEXT_MAX,
                 "the switch's memory.megabytes have no piece of %zu KB left for %u slots of %u ranks",
                 wished->bytes >> 10, wished->slots, plan->size);
    else
        snprintf(
            text, AGG_TEXT_MAX,
            "the switch's pool.megabytes, %zu, are used up: other jobs hold %zu KB of them, and %u slots "
            "for %u ranks take %zu KB",
            jobs->bytes_max >> 20, jobs->bytes >> 10, wished->slots, plan->size, wished->bytes >> 10);
}

static int open_numbered(struct jobs *jobs, struct jobs_plan *plan, const struct jobs_identity *us,
                         uint8_t number, char text[AGG_TEXT_MAX])
{
    struct agg_pool_config cfg = {
        .job = number, .workers = plan->size, .terms = plan->terms, .kernels = jobs->kernels};
    struct agg_footprint wished;
    struct job *job;

    if (!plan->protocol->footprint(&cfg, &wished)) {
        snprintf(text, AGG_TEXT_MAX, "no pool of %s serves %u ranks under these terms", plan->protocol->name,
                 plan->size);
        return -EINVAL;
    }
    job = fit(jobs, plan, us, &cfg);
    if (job == NULL) {
        say_no_memory(jobs, plan, &wished, text);
        return -ENOSPC;
    }
    plan->terms = cfg.terms;
    agg_jobs_set(&jobs->running[plan->protocol->id], number, &job->common);
    return 0;
}

int jobs_open(struct jobs *jobs, struct jobs_plan *plan, const struct jobs_identity *us, uint8_t *number,
              char text[AGG_TEXT_MAX])
{
    int rc = free_number(jobs, plan, number);

    if (jobs->retired != NULL) { /* freeing them may make enough room */
        rte_rcu_qsbr_synchronize(jobs->rcu, RTE_QSBR_THRID_INVALID);
        jobs_reclaim(jobs);
    }
    if (rc == 0)
        return open_numbered(jobs, plan, us, *number, text);
    snprintf(text, AGG_TEXT_MAX, "all %d job numbers of the switch are in use", JOBS_MAX);
    return rc;
}

void jobs_close(struct jobs *jobs, unsigned protocol, uint8_t number)
{
    struct job *job = (struct job *)agg_jobs_find(&jobs->running[protocol], number);

    agg_jobs_set(&jobs->running[protocol], number, NULL);
    jobs->closed_at[protocol][number] = ++jobs->closes;
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
    for (unsigned i = 0; i < COUNTED_PROTOCOLS * JOBS_MAX; i++)
        free_job(jobs, (struct job *)agg_jobs_find(&jobs->running[i / JOBS_MAX], i % JOBS_MAX));
    while (jobs->retired != NULL) {
        struct job *job = jobs->retired;

        jobs->retired = job->next_retired;
        free_job(jobs, job);
    }
}
