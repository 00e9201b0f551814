#include "aggregate/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "aggregate/jobs_share.h"
#include "base/counter.h"
#include "wire/roce.h"

static_assert((int)CONFIG_VLANS_MAX <= (int)AGG_NETWORKS, "each VLAN is a network of its own");

static void release(void *mbuf)
{
    rte_pktmbuf_free(mbuf);
}

static void free_job(struct jobs *jobs, struct switch_job *job)
{
    if (job == NULL)
        return;
    if (job->common.pool != NULL)
        job->common.protocol->drain(job->common.pool, release);
    jobs->bytes -= job->bytes;
    rte_free(job->common.pool);
    rte_free(job->common.seat);
    rte_free(job->common.heard);
    rte_free(job->member);
    rte_free(job->parent);
    rte_free(job->lane);
    rte_free((void *)job->made_of.particulars.at);
    rte_free(job);
}

static unsigned threads_of(const struct jobs_plan *plan)
{
    return plan->threads == 0 ? 1 : plan->threads;
}

/* Gives a seat to who sends from the member's UDP port and so many more, and fills in *to, where it is
 * reached. */
static void seat(struct switch_job *job, const struct jobs_member *m, unsigned more,
                 const struct jobs_identity *us, unsigned rank, struct job_member *to)
{
    const uint16_t udp_port = (uint16_t)(rte_be_to_cpu_16(m->udp_port) + more);
    const struct frame_end here = {.mac = us->mac, .ip = m->hears_from == 0 ? us->ip : m->hears_from};
    const struct frame_end there = {
        .mac = m->mac, .ip = m->ip, .port = rte_cpu_to_be_16(m->queue_pair != 0 ? ROCE_PORT : udp_port)};
    struct agg_sender sender = {.ip = there.ip, .port = rte_cpu_to_be_16(udp_port), .network = job->network};

    frame_header_init(&to->header, &here, &there);
    to->header.without_udp_sum = job->without_udp_sum || m->queue_pair != 0;
    to->queue_pair = m->queue_pair;
    to->mac = there.mac;
    to->port = m->port;
    to->network = job->network;
    memcpy(sender.mac, there.mac.addr_bytes, sizeof(sender.mac));
    agg_job_seat(&job->common, &sender, rank, rank == AGG_PARENT ? 0 : more);
}

static void seat_members(struct switch_job *job, const struct jobs_plan *plan, const struct jobs_identity *us)
{
    for (unsigned thread = 0; thread < threads_of(plan); thread++)
        for (unsigned rank = 0; rank < job->common.size; rank++)
            seat(job, &plan->member[rank], thread, us, rank, &job->member[thread * job->common.size + rank]);
}

/* For pools that are made anew. False: no memory. */
static bool keep_particulars(struct switch_job *job, const struct agg_particulars *p)
{
    void *copy = p->bytes == 0 ? NULL : rte_malloc("particulars", p->bytes, RTE_CACHE_LINE_SIZE);

    job->made_of.particulars = (struct agg_particulars){.at = copy, .bytes = copy == NULL ? 0 : p->bytes};
    if (copy != NULL)
        memcpy(copy, p->at, p->bytes);
    return copy != NULL || p->bytes == 0;
}

static bool has_parent(const struct jobs_plan *plan)
{
    return plan->tree != NULL && plan->tree->has_parent;
}

static void seat_parent(struct switch_job *job, const struct jobs_plan *plan, const struct jobs_identity *us)
{
    struct job_parent *parent = job->parent;

    *parent = (struct job_parent){.uplink = plan->parent.uplink,
                                  .number = plan->tree->parent_job,
                                  .ports = plan->parent.ports,
                                  .from_port = plan->parent.from_port};
    for (unsigned port = 0; port < parent->ports; port++)
        seat(job, &plan->parent.at, port, us, AGG_PARENT, &parent->at[port]);
}

static uint32_t seats_of(const struct jobs_plan *plan)
{
    return agg_seats_for(plan->size * threads_of(plan) + (has_parent(plan) ? plan->parent.ports : 0));
}

/* How many frames the job could keep. */
static uint32_t frames_wanted(const struct jobs *jobs, const struct agg_footprint *f)
{
    if (f->payload_bytes < JOBS_ATTACH_FROM_BYTES)
        return 0;
    return jobs->quota.frames_a_job == 0 ? f->buffers : RTE_MIN(f->buffers, jobs->quota.frames_a_job);
}

static void describe(struct switch_job *job, const struct jobs *jobs, const struct jobs_plan *plan,
                     const struct agg_footprint *f)
{
    memcpy(job->name, plan->name, sizeof(job->name));
    job->network = plan->network;
    job->tenant = plan->tenant;
    job->takes_turns = plan->tenant >= 0 || plan->is_static;
    job->founder = plan->founder;
    job->heard_from = plan->heard_from;
    job->without_udp_sum = f->checked || plan->without_udp_sum;
    job->is_static = plan->is_static;
    job->bytes = f->bytes;
    job->slots = f->slots;
    job->frame_bytes = FRAME_HEADER_BYTES + f->payload_bytes;
    job->frames_wanted = frames_wanted(jobs, f);
}

/* What a job has beside its pool; false: no memory. */
static bool make_parts(struct switch_job *job, const struct jobs_plan *plan)
{
    job->common.seats = seats_of(plan);
    job->common.seat =
        rte_zmalloc("seats", job->common.seats * sizeof(*job->common.seat), RTE_CACHE_LINE_SIZE);
    job->common.heard =
        rte_zmalloc("heard", RTE_MAX(plan->size, 1u) * sizeof(*job->common.heard), RTE_CACHE_LINE_SIZE);
    job->lane = rte_zmalloc("lanes", SWAGG_MAX_LCORES * sizeof(*job->lane), RTE_CACHE_LINE_SIZE);
    job->member = rte_zmalloc("members", RTE_MAX(threads_of(plan) * plan->size, 1u) * sizeof(*job->member),
                              RTE_CACHE_LINE_SIZE);
    if (has_parent(plan))
        job->parent = rte_zmalloc("parent", sizeof(*job->parent), RTE_CACHE_LINE_SIZE);
    return job->common.seat != NULL && job->common.heard != NULL && job->lane != NULL &&
           job->member != NULL && (job->parent != NULL || !has_parent(plan));
}

/* NULL: no memory. f: of the pool. */
static struct switch_job *make_job(struct jobs *jobs, const struct jobs_plan *plan,
                                   const struct jobs_identity *us, const struct agg_pool_config *cfg,
                                   const struct agg_footprint *f)
{
    struct switch_job *job = rte_zmalloc("job", sizeof(*job), 0);
    void *pool;

    if (job == NULL)
        return NULL;
    job->common.protocol = plan->protocol;
    job->common.number = cfg->job;
    job->made_of = *cfg;
    job->made_of.shared = NULL; /* is gone when the pool is made */
    job->made_of.tree = NULL;   /* the plan's */
    job->common.size = plan->size;
    job->ranks = plan->tree == NULL ? plan->size : plan->tree->ranks;
    pool = keep_particulars(job, &cfg->particulars) && make_parts(job, plan)
               ? rte_malloc("pool", f->bytes, RTE_CACHE_LINE_SIZE)
               : NULL;
    if (pool == NULL) {
        free_job(jobs, job);
        return NULL;
    }
    job->common.pool = plan->protocol->init(pool, cfg);
    describe(job, jobs, plan, f);
    jobs->bytes += job->bytes;
    seat_members(job, plan, us);
    if (has_parent(plan))
        seat_parent(job, plan, us);
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

/* Makes the pool, with lower terms as long as a quota has no room, or memory no piece, for it. NULL: no pool
 * fits. */
static struct switch_job *fit(struct jobs *jobs, struct jobs_plan *plan, const struct jobs_identity *us,
                              struct agg_pool_config *cfg)
{
    do {
        struct agg_footprint f;
        struct switch_job *job = plan->protocol->footprint(cfg, &f) && jobs_have_room(jobs, plan, &f, NULL)
                                     ? make_job(jobs, plan, us, cfg, &f)
                                     : NULL;

        if (job != NULL)
            return job;
    } while (!plan->as_it_is && plan->protocol->lower(&cfg->terms));
    return NULL;
}

/* wished: what the pool would have taken. */
static void say_no_room(const struct jobs *jobs, const struct jobs_plan *plan,
                        const struct agg_footprint *wished, char text[AGG_TEXT_MAX])
{
    if (jobs_have_room(jobs, plan, wished, text))
        snprintf(text, AGG_TEXT_MAX,
                 "the switch's memory.megabytes have no piece of %zu KB left for %u slots of %u ranks",
                 wished->bytes >> 10, wished->slots, plan->size);
}

/* The table in which what comes from the parent finds its jobs. */
static struct agg_jobs *above(struct jobs *jobs, const struct switch_job *job)
{
    return &jobs->above[job->parent->uplink][job->common.protocol->id];
}

/* From now on packets find the job; or, with `as` NULL, not any more. */
static void publish(struct jobs *jobs, const struct switch_job *job, struct agg_job *as)
{
    const unsigned protocol = job->common.protocol->id;

    agg_jobs_set(&jobs->running[protocol], job->common.number, as);
    /* The parent may have given the number of a job that has ended there to another already. */
    if (job->parent != NULL &&
        (as != NULL || agg_jobs_find(above(jobs, job), job->parent->number) == &job->common))
        agg_jobs_set(above(jobs, job), job->parent->number, as);
}

static const struct switch_job *static_job(const struct jobs *jobs, unsigned protocol, unsigned number)
{
    const struct switch_job *job = jobs_find(jobs, protocol, number);

    return job != NULL && job->is_static ? job : NULL;
}

/* Seats of a job are twice as many as its members' threads, or more. */
static uint32_t entries_for(const struct jobs *jobs, unsigned protocol)
{
    uint32_t seats = 0;

    for (unsigned n = 0; n < JOBS_MAX; n++)
        if (static_job(jobs, protocol, n) != NULL)
            seats += static_job(jobs, protocol, n)->common.seats;
    return seats == 0 ? 0 : rte_align32pow2(seats);
}

static void add_members(struct agg_senders *senders, const struct switch_job *job)
{
    for (uint32_t i = 0; i < job->common.seats; i++)
        if (job->common.seat[i].sender != 0)
            agg_senders_add(senders, job->common.seat[i].sender, job->common.number);
}

/* Publishes the table for the static jobs of this protocol that run now; frees the one before once every
 * lcore has let go of it. 0, or -ENOMEM: nothing has changed. */
static int publish_senders(struct jobs *jobs, unsigned protocol)
{
    const uint32_t entries = entries_for(jobs, protocol);
    struct agg_senders *made = NULL, *before;

    if (entries > 0) {
        made = calloc(1, sizeof(*made) + entries * sizeof(made->entry[0]));
        if (made == NULL)
            return -ENOMEM;
        made->entries = entries;
    }
    for (unsigned n = 0; n < JOBS_MAX; n++)
        if (static_job(jobs, protocol, n) != NULL)
            add_members(made, static_job(jobs, protocol, n));
    before = __atomic_exchange_n(&jobs->running[protocol].senders, made, __ATOMIC_ACQ_REL);
    if (before != NULL)
        rte_rcu_qsbr_synchronize(jobs->rcu, RTE_QSBR_THRID_INVALID);
    free(before);
    return 0;
}

const struct switch_job *jobs_of_sender(const struct jobs *jobs, const struct agg_sender *sender,
                                        const struct agg_seat **seat)
{
    for (unsigned i = 0; i < COUNTED_PROTOCOLS * JOBS_MAX; i++) {
        const struct switch_job *job = static_job(jobs, i / JOBS_MAX, i % JOBS_MAX);

        *seat = job == NULL ? NULL : agg_job_find(&job->common, sender);
        if (*seat != NULL)
            return job;
    }
    return NULL;
}

static void free_senders(struct jobs *jobs)
{
    for (unsigned p = 0; p < COUNTED_PROTOCOLS; p++) {
        free(jobs->running[p].senders);
        jobs->running[p].senders = NULL;
    }
}

static int open_numbered(struct jobs *jobs, struct jobs_plan *plan, const struct jobs_identity *us,
                         uint8_t number, char text[AGG_TEXT_MAX])
{
    struct agg_pool_config cfg = {.job = number,
                                  .workers = plan->size,
                                  .shards = jobs->shards,
                                  .delays = jobs->delays,
                                  .tree = plan->tree,
                                  .terms = plan->terms,
                                  .kernels = jobs->kernels,
                                  .particulars = plan->particulars,
                                  .shared = plan->shared};
    struct agg_footprint wished;
    struct switch_job *job;

    if (!plan->protocol->footprint(&cfg, &wished)) {
        snprintf(text, AGG_TEXT_MAX, "no pool of %s serves %u ranks under these terms", plan->protocol->name,
                 plan->size);
        return -EINVAL;
    }
    job = fit(jobs, plan, us, &cfg);
    if (job == NULL) {
        say_no_room(jobs, plan, &wished, text);
        return -ENOSPC;
    }
    plan->terms = cfg.terms;
    publish(jobs, job, &job->common);
    jobs_share_out(jobs);
    if (!plan->is_static || publish_senders(jobs, plan->protocol->id) == 0)
        return 0;
    snprintf(text, AGG_TEXT_MAX, "no memory for the addresses of static jobs");
    jobs_close(jobs, plan->protocol->id, number);
    return -ENOMEM;
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

bool jobs_renew(struct jobs *jobs, unsigned protocol, uint8_t number, bool unless_heard)
{
    struct switch_job *job = (struct switch_job *)agg_jobs_find(&jobs->running[protocol], number);
    bool renewed;

    agg_jobs_set(&jobs->running[protocol], number, NULL);
    rte_rcu_qsbr_synchronize(jobs->rcu, RTE_QSBR_THRID_INVALID);
    renewed = !(unless_heard && job->common.protocol->heard(job->common.pool));
    if (renewed) {
        job->common.protocol->drain(job->common.pool, release);
        for (unsigned l = 0; l < SWAGG_MAX_LCORES; l++)
            __atomic_store_n(&job->lane[l].kept, 0, __ATOMIC_RELAXED);
        job->common.pool = job->common.protocol->init(job->common.pool, &job->made_of);
    }
    agg_jobs_set(&jobs->running[protocol], number, &job->common);
    return renewed;
}

void jobs_close(struct jobs *jobs, unsigned protocol, uint8_t number)
{
    struct switch_job *job = (struct switch_job *)agg_jobs_find(&jobs->running[protocol], number);

    publish(jobs, job, NULL);
    jobs->closed_at[protocol][number] = ++jobs->closes;
    if (job->is_static)
        publish_senders(jobs, protocol); /* if there is no memory: addresses of no job, which harm nobody */
    job->retired_at = rte_rcu_qsbr_start(jobs->rcu);
    job->next_retired = jobs->retired;
    jobs->retired = job;
    jobs_reclaim(jobs);
    jobs_share_out(jobs);
}

/* A member's MAC address changes while its job runs: what the lcores know of members is made anew, and
 * replaced as a whole. */
static void *copy_of(const char *name, const void *from, size_t bytes)
{
    void *copy = rte_malloc(name, bytes, RTE_CACHE_LINE_SIZE);

    if (copy != NULL)
        memcpy(copy, from, bytes);
    return copy;
}

static void move_seat(struct agg_seat seat[], uint32_t seats, unsigned rank, const struct net_mac *mac)
{
    for (uint32_t i = 0; i < seats; i++)
        if (seat[i].sender != 0 && seat[i].rank == rank)
            memcpy(seat[i].mac, mac->addr_bytes, sizeof(seat[i].mac));
}

static void move_member(struct job_member *member, const struct jobs_location *to)
{
    struct net_ethernet *eth = (struct net_ethernet *)(void *)member->header.bytes;

    eth->dst_addr = to->mac;
    member->mac = to->mac;
    member->port = to->port;
}

/* Gives the job these seats. old: what was beside the former ones, and is replaced already. */
static void replace_seats(struct jobs *jobs, struct switch_job *job, struct agg_seat *seat, void *old)
{
    struct agg_seat *old_seat = __atomic_exchange_n(&job->common.seat, seat, __ATOMIC_ACQ_REL);

    rte_rcu_qsbr_synchronize(jobs->rcu, RTE_QSBR_THRID_INVALID);
    rte_free(old_seat);
    rte_free(old);
}

/* Copies of the seats, and of what is beside them; false: no memory. */
static bool copy_both(const struct switch_job *job, struct agg_seat **seat, const void *beside, size_t bytes,
                      void **copy)
{
    *seat = copy_of("seats", job->common.seat, job->common.seats * sizeof(**seat));
    *copy = copy_of("members", beside, bytes);
    if (*seat != NULL && *copy != NULL)
        return true;
    rte_free(*seat);
    rte_free(*copy);
    return false;
}

int jobs_move_parent(struct jobs *jobs, unsigned protocol, uint8_t number, const struct jobs_location *to)
{
    struct switch_job *job = (struct switch_job *)agg_jobs_find(&jobs->running[protocol], number);
    struct job_parent *parent;
    struct agg_seat *seat;
    void *copy;

    if (job == NULL || job->parent == NULL)
        return 0; /* it has ended */
    if (!copy_both(job, &seat, job->parent, sizeof(*parent), &copy))
        return -ENOMEM;
    parent = copy;
    move_seat(seat, job->common.seats, AGG_PARENT, &to->mac);
    for (unsigned port = 0; port < parent->ports; port++)
        move_member(&parent->at[port], to);
    replace_seats(jobs, job, seat, __atomic_exchange_n(&job->parent, parent, __ATOMIC_ACQ_REL));
    return 0;
}

int jobs_move(struct jobs *jobs, unsigned protocol, uint8_t number, unsigned rank,
              const struct jobs_location *to)
{
    struct switch_job *job = (struct switch_job *)agg_jobs_find(&jobs->running[protocol], number);
    struct job_member *member;
    struct agg_seat *seat;
    void *copy;

    if (job == NULL)
        return 0; /* it has ended */
    if (!copy_both(job, &seat, job->member, job->common.size * sizeof(*member), &copy))
        return -ENOMEM;
    member = copy;
    move_seat(seat, job->common.seats, rank, &to->mac);
    move_member(&member[rank], to);
    replace_seats(jobs, job, seat, __atomic_exchange_n(&job->member, member, __ATOMIC_ACQ_REL));
    return 0;
}

void jobs_reclaim(struct jobs *jobs)
{
    struct switch_job **link = &jobs->retired;

    while (*link != NULL) {
        struct switch_job *job = *link;

        if (rte_rcu_qsbr_check(jobs->rcu, job->retired_at, false) == 1) {
            *link = job->next_retired;
            free_job(jobs, job);
        } else {
            link = &job->next_retired;
        }
    }
    jobs_divide_frames(jobs);
}

void jobs_free(struct jobs *jobs)
{
    free_senders(jobs);
    for (unsigned i = 0; i < COUNTED_PROTOCOLS * JOBS_MAX; i++)
        free_job(jobs, (struct switch_job *)agg_jobs_find(&jobs->running[i / JOBS_MAX], i % JOBS_MAX));
    while (jobs->retired != NULL) {
        struct switch_job *job = jobs->retired;

        jobs->retired = job->next_retired;
        free_job(jobs, job);
    }
}

struct job_amiss jobs_amiss(const struct switch_job *job, enum agg_amiss kind)
{
    struct job_amiss sum = {0};
    uint64_t most = 0;

    for (unsigned l = 0; l < SWAGG_MAX_LCORES; l++) {
        const struct job_amiss *a = &job->lane[l].amiss[kind - 1];
        const uint64_t n = counter_read(&a->n);

        sum.n += n;
        if (n <= most)
            continue;
        most = n;
        sum.rank = __atomic_load_n(&a->rank, __ATOMIC_RELAXED);
        sum.thread = __atomic_load_n(&a->thread, __ATOMIC_RELAXED);
        sum.reason = __atomic_load_n(&a->reason, __ATOMIC_RELAXED);
    }
    return sum;
}
