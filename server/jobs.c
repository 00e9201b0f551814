#include "jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/entry.h"
#include "protocol/heard.h"
#include "protocols.h"
#include "registry/terms.h"
#include "sodium_keys.h"

enum { ALIGNMENT = 64, EVERY_JOB = AGG_PROTOCOL_IDS * AGG_JOBS };

static void *aligned_zeroes(size_t bytes)
{
    const size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, room);

    if (memory != NULL)
        memset(memory, 0, room);
    return memory;
}

static void keeps_nothing(void *buffer)
{
    (void)buffer; /* packets are handed over without one */
}

static void free_job(struct jobs *jobs, struct server_job *job)
{
    if (job == NULL)
        return;
    if (job->common.pool != NULL)
        job->common.protocol->drain(job->common.pool, keeps_nothing);
    jobs->bytes -= job->holds.bytes;
    free(job->common.pool);
    free(job->common.seat);
    free(job->common.heard);
    free(job);
}

static bool is_usable(const struct jobs *jobs, const struct ctl_entry *joined, unsigned number)
{
    return agg_jobs_find(&jobs->running[joined->protocol->id], number) == NULL &&
           !ctl_entry_had_number(joined, (uint8_t)number);
}

static int free_number(const struct jobs *jobs, const struct ctl_entry *joined, uint8_t *number)
{
    const uint64_t *closed_at = jobs->closed_at[joined->protocol->id];
    int best = -1;

    for (int i = 0; i < AGG_JOBS; i++)
        if (is_usable(jobs, joined, (unsigned)i) && (best < 0 || closed_at[i] < closed_at[best]))
            best = i;
    *number = (uint8_t)best;
    return best < 0 ? -EMFILE : 0;
}

static void seat_members(struct server_job *job, const struct ctl_entry *joined)
{
    for (uint16_t rank = 0; rank < joined->size; rank++) {
        const struct ctl_member *m = &joined->members[rank];
        const struct agg_sender sender = {.ip = m->endpoint.ip, .port = htons(m->data_port)};

        job->member[rank] = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_addr.s_addr = sender.ip, .sin_port = sender.port};
        agg_job_seat(&job->common, &sender, rank, 0);
    }
}

static struct room_job asks_for(const struct ctl_entry *joined, const struct agg_footprint *f)
{
    return (struct room_job){.name = joined->name,
                             .tenant = joined->tenant,
                             .founder = ctl_entry_debtor(joined),
                             .slots = f->slots,
                             .bytes = f->bytes};
}

/* NULL: no memory. */
static struct server_job *make(struct jobs *jobs, const struct ctl_entry *joined,
                               const struct agg_pool_config *cfg, const struct agg_footprint *f)
{
    struct server_job *job = calloc(1, sizeof(*job) + joined->size * sizeof(job->member[0]));

    if (job == NULL)
        return NULL;
    job->common = (struct agg_job){.protocol = joined->protocol,
                                   .number = cfg->job,
                                   .size = joined->size,
                                   .seats = agg_seats_for(joined->size)};
    job->footprint = *f;
    snprintf(job->name, sizeof(job->name), "%s", joined->name);
    job->group = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = f->group, .sin_port = htons(f->group_port)};
    job->common.seat = aligned_zeroes(job->common.seats * sizeof(*job->common.seat));
    job->common.heard = aligned_zeroes(joined->size * sizeof(*job->common.heard));
    void *pool = aligned_zeroes(f->bytes);
    if (job->common.seat == NULL || job->common.heard == NULL || pool == NULL) {
        free(pool);
        free_job(jobs, job);
        return NULL;
    }
    job->common.pool = joined->protocol->init(pool, cfg);
    job->holds = asks_for(joined, f);
    job->holds.name = job->name;
    jobs->bytes += f->bytes;
    seat_members(job, joined);
    return job;
}

/* Of all protocols; n counts through them. NULL: there is none. */
static struct server_job *running_job(const struct jobs *jobs, unsigned n)
{
    return (struct server_job *)agg_jobs_find(&jobs->running[n / AGG_JOBS], n % AGG_JOBS);
}

static unsigned list(const struct jobs *jobs, struct room_job to[EVERY_JOB])
{
    unsigned n = 0;

    for (unsigned i = 0; i < EVERY_JOB; i++) {
        const struct server_job *job = running_job(jobs, i);

        if (job != NULL)
            to[n++] = job->holds;
    }
    return n;
}

bool jobs_have_room_for(const struct jobs *jobs, const struct room_job *asked, char text[AGG_TEXT_MAX])
{
    struct room_job running[EVERY_JOB + RESERVED_MAX];
    unsigned n = list(jobs, running);
    const uint64_t kept = reserved_append(jobs->reserved, asked, running, &n);
    const struct config *cfg = jobs->cfg;
    const struct room room = {.whose = "the server",
                              .bytes = (uint64_t)cfg->pool.megabytes << 20,
                              .held = jobs->bytes + kept,
                              .bytes_a_job = (uint64_t)cfg->pool.megabytes_per_job << 20,
                              .tenants = cfg->tenants + cfg->leaving,
                              .tenant = cfg->tenant,
                              .jobs = n,
                              .job = running};

    return room_for(&room, asked, text);
}

static bool has_room(const struct jobs *jobs, const struct ctl_entry *joined, const struct agg_footprint *f,
                     char text[CTL_TEXT_MAX])
{
    const struct room_job asked = asks_for(joined, f);

    return jobs_have_room_for(jobs, &asked, text);
}

/* Makes the pool, with lower terms as long as there is no room for it. NULL: none fits. */
static struct server_job *fit(struct jobs *jobs, const struct ctl_entry *joined, struct agg_pool_config *cfg)
{
    do {
        struct agg_footprint f;
        struct server_job *job = joined->protocol->footprint(cfg, &f) && has_room(jobs, joined, &f, NULL)
                                     ? make(jobs, joined, cfg, &f)
                                     : NULL;

        if (job != NULL)
            return job;
    } while (!joined->resumed && joined->protocol->lower(&cfg->terms));
    return NULL;
}

/* Makes its pool under these terms, which it lowers to what there is room for. 0, or -ENOSPC. */
static int open_job(struct jobs *jobs, const struct ctl_entry *joined, struct agg_pool_config *cfg,
                    char text[CTL_TEXT_MAX])
{
    struct agg_footprint wished;
    struct server_job *job;

    joined->protocol->footprint(cfg, &wished); /* terms_check has seen that there is one */
    job = fit(jobs, joined, cfg);
    if (job != NULL)
        agg_jobs_set(&jobs->running[joined->protocol->id], cfg->job, &job->common);
    else if (has_room(jobs, joined, &wished, text))
        snprintf(text, CTL_TEXT_MAX, "the server's host has no %zu KB left for %u slots of %u ranks",
                 wished.bytes >> 10, wished.slots, joined->size);
    return job == NULL ? -ENOSPC : 0;
}

int jobs_open(struct jobs *jobs, const struct ctl_entry *joined, struct agg_terms *terms, uint8_t *number,
              char text[CTL_TEXT_MAX])
{
    struct keys_secret shared = {.library = keys_sodium()};
    struct agg_pool_config cfg = {.workers = joined->size,
                                  .shards = (uint16_t)jobs->threads,
                                  .delays = jobs->cfg->pool.delays,
                                  .terms = *terms,
                                  .kernels = jobs->kernels,
                                  .shared = joined->keyed ? &shared : NULL};
    int rc = free_number(jobs, joined, number);

    if (rc < 0) {
        snprintf(text, CTL_TEXT_MAX, "all %d job numbers of the server are in use", AGG_JOBS);
        return rc;
    }
    if (ctl_tree_has_switches(joined)) {
        snprintf(text, CTL_TEXT_MAX,
                 "a server is in no tree of switches: let ranks join it, not the switch below");
        return -EINVAL;
    }
    cfg.job = *number;
    memcpy(shared.secret, joined->secret, sizeof(shared.secret));
    rc = terms_check(jobs->cfg, joined->protocol, joined->size, cfg.shared, &cfg.terms, text);
    if (rc == 0)
        rc = open_job(jobs, joined, &cfg, text);
    keys_erase(&shared, sizeof(shared));
    if (rc == 0)
        *terms = cfg.terms;
    return rc;
}

/* Waits until every thread has left the turn that it is in. A turn never waits, so that is soon. Who enters
 * one later finds the job no more: taking it out, finding it and the turns are all sequentially consistent.
 */
static void synchronize(const struct jobs *jobs)
{
    static const struct timespec moment = {.tv_nsec = 10000};

    for (unsigned t = 0; t < jobs->threads; t++) {
        const uint64_t now = atomic_load(&jobs->turn[t].n);

        while ((now & 1) != 0 && atomic_load(&jobs->turn[t].n) == now)
            nanosleep(&moment, NULL);
    }
}

void jobs_close(struct jobs *jobs, const struct agg_protocol *protocol, uint8_t number)
{
    struct agg_job *job = agg_jobs_find(&jobs->running[protocol->id], number);

    agg_jobs_set(&jobs->running[protocol->id], number, NULL);
    jobs->closed_at[protocol->id][number] = ++jobs->closes;
    synchronize(jobs);
    free_job(jobs, (struct server_job *)job);
}

bool jobs_heard(const struct jobs *jobs, const struct ctl_entry *joined, unsigned rank)
{
    const struct agg_job *job = agg_jobs_find(&jobs->running[joined->protocol->id], joined->number);

    return agg_heard_take(&job->heard[rank]);
}

const struct agg_job *jobs_running(const struct jobs *jobs, const struct ctl_entry *joined)
{
    return joined->state == CTL_ENTRY_RUNNING
               ? agg_jobs_find(&jobs->running[joined->protocol->id], joined->number)
               : NULL;
}

void jobs_follow(struct jobs *jobs, const int tenant[])
{
    for (unsigned i = 0; i < EVERY_JOB; i++)
        if (running_job(jobs, i) != NULL)
            running_job(jobs, i)->holds.tenant = tenant[running_job(jobs, i)->holds.tenant];
}

struct jobs_held jobs_held_by(const struct jobs *jobs, int tenant)
{
    struct jobs_held held = {0};

    for (unsigned i = 0; i < EVERY_JOB; i++) {
        const struct server_job *job = running_job(jobs, i);

        if (job != NULL && job->holds.tenant == tenant) {
            held.slots += job->holds.slots;
            held.bytes += job->holds.bytes;
        }
    }
    return held;
}

void jobs_free(struct jobs *jobs)
{
    unsigned protocols;
    const struct agg_protocol *const *protocol = agg_protocols(&protocols);

    for (unsigned p = 0; p < protocols; p++)
        for (unsigned n = 0; n < AGG_JOBS; n++)
            free_job(jobs, (struct server_job *)agg_jobs_find(&jobs->running[protocol[p]->id], n));
}
