#include "switch_node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keeping.h"

/* A running job, as the engine sees it. */
struct switch_job {
    struct sml_pool *pool;
    struct keeping keeping;
    uint16_t size, slots;
    bool unsummed; /* its packets have a checksum of their own in the place of UDP's */
    struct {
        unsigned host;
        uint16_t data_port;
    } member[];
};

/* Hosts' addresses are their numbers. */
static struct ctl_endpoint endpoint_of(unsigned host, uint16_t udp_port)
{
    return (struct ctl_endpoint){.mac = {2, 0, 0, 0, (uint8_t)(host >> 8), (uint8_t)host},
                                 .port = (uint8_t)host,
                                 .ip = host + 1,
                                 .udp_port = udp_port};
}

static unsigned host_of(const struct ctl_endpoint *e)
{
    return e->ip - 1;
}

/* The registry's actions */

static void send_message(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct switch_node *s = ctx;

    star_send_down(s->star, host_of(to), to->udp_port, CTL_PORT, payload, bytes, false);
}

/* The free number that was freed longest ago. */
static int free_number(const struct switch_node *s, const struct ctl_job *job)
{
    int best = -1;

    for (int i = 0; i < 256; i++)
        if (s->jobs[i] == NULL && !ctl_job_had_number(job, (uint8_t)i) &&
            (best < 0 || s->freed[i] < s->freed[best]))
            best = i;
    return best;
}

static int open_pool(void *ctx, const struct ctl_job *job, uint16_t *slots, uint8_t *number,
                     char text[CTL_TEXT_MAX])
{
    struct switch_node *s = ctx;
    int n = free_number(s, job);

    while (!job->resumed && *slots > 2 && *slots > s->cfg.slots_max - s->slots_used)
        *slots /= 2;
    if (n < 0 || *slots > s->cfg.slots_max - s->slots_used) {
        snprintf(text, CTL_TEXT_MAX, "%u of %u slots are in use", s->slots_used, s->cfg.slots_max);
        return n < 0 ? -EMFILE : -ENOSPC;
    }
    struct sml_pool_config cfg = {
        .workers = job->size,
        .slots = *slots,
        .chunk_bytes = job->chunk_bytes,
        .job = (uint8_t)n,
        .format = job->format,
        .mode = job->mode,
        .checksum = job->checksum,
        .first_tag = job->first_tag,
        .resumed = job->resumed,
        .kernels = agg_kernels_best(),
    };
    struct switch_job *j = sim_alloc(sizeof(*j) + job->size * sizeof(j->member[0]));
    j->pool = sml_pool_init(sim_alloc(sml_pool_footprint(&cfg)), &cfg);
    keeping_init(&j->keeping, *slots, &s->broken);
    j->size = job->size;
    j->slots = *slots;
    j->unsummed = job->checksum != SML_CHECKSUM_NONE;
    for (unsigned r = 0; r < job->size; r++) {
        j->member[r].host = host_of(&job->members[r].endpoint);
        j->member[r].data_port = job->members[r].data_port;
    }
    s->jobs[n] = j;
    s->slots_used += *slots;
    *number = (uint8_t)n;
    sim_trace(s->sim, "switch", "job %s: pool %d of %u slots, first tag %u%s", job->name, n, *slots,
              job->first_tag, job->resumed ? ", resumed" : "");
    return 0;
}

static void free_job(struct switch_node *s, unsigned number)
{
    struct switch_job *j = s->jobs[number];

    s->slots_used -= j->slots;
    s->jobs[number] = NULL;
    s->freed[number] = ++s->frees;
    keeping_fini(&j->keeping, j->pool);
    free(j->pool);
    free(j);
}

static void close_pool(void *ctx, const struct ctl_job *job)
{
    struct switch_node *s = ctx;

    sim_trace(s->sim, "switch", "job %s: pool %u closed", job->name, job->number);
    free_job(s, job->number);
}

static void event(void *ctx, const struct ctl_job *job, const char *what)
{
    struct switch_node *s = ctx;

    sim_trace(s->sim, "switch", "job %s, epoch %u: %s", job->name, job->epoch, what);
}

static uint64_t next_random(void *ctx)
{
    struct switch_node *s = ctx;

    return rng_next(&s->rng);
}

/* Life and death */

static void tick(void *ctx, uint64_t boot)
{
    struct switch_node *s = ctx;

    if (boot != s->boots || !switch_is_up(s))
        return;
    ctl_registry_tick(s->registry, s->sim->now);
    sim_at(s->sim, s->sim->now + s->cfg.lost_after_ns / 10, tick, s, boot);
}

void switch_init(struct switch_node *s, struct sim *sim, struct star *star, struct rng *rng,
                 const struct switch_config *cfg)
{
    *s = (struct switch_node){.cfg = *cfg, .sim = sim, .star = star, .rng = rng_fork(rng)};
    s->keeps = rng_fork(&s->rng);
}

void switch_start(struct switch_node *s)
{
    struct ctl_registry_config cfg = {
        .max_jobs = s->cfg.max_jobs,
        .boot_id = rng_next(&s->rng) | 1,
        .lost_after_ns = s->cfg.lost_after_ns,
        .data_port = SML_PORT_FIRST,
        .actions = {s, send_message, open_pool, close_pool, next_random, event},
    };

    switch_kill(s);
    s->boot_id = cfg.boot_id;
    s->boots++;
    s->registry = ctl_registry_init(sim_alloc(ctl_registry_footprint(&cfg)), &cfg);
    sim_trace(s->sim, "switch", "starts");
    tick(s, s->boots);
}

void switch_kill(struct switch_node *s)
{
    if (!switch_is_up(s))
        return;
    sim_trace(s->sim, "switch", "is killed");
    for (unsigned i = 0; i < 256; i++)
        if (s->jobs[i] != NULL)
            free_job(s, i);
    memset(s->freed, 0, sizeof(s->freed));
    s->frees = 0;
    free(s->registry);
    s->registry = NULL;
    s->boot_id = 0;
}

unsigned switch_jobs(const struct switch_node *s)
{
    unsigned n = 0;

    for (unsigned i = 0; switch_is_up(s) && i < s->cfg.max_jobs; i++)
        n += ctl_registry_job(s->registry, i)->state != CTL_JOB_FREE;
    return n;
}

/* Data packets */

static void send_data(struct switch_node *s, const struct switch_job *j, unsigned rank,
                      const struct frame *answered, const uint8_t *payload, size_t bytes)
{
    star_send_down(s->star, j->member[rank].host, j->member[rank].data_port, answered->switch_port, payload,
                   bytes, j->unsummed);
}

/* A result: a reference to the buffer that it lies in, or a copy. */
static void send_result(struct switch_node *s, const struct switch_job *j, unsigned rank,
                        const struct frame *answered, const struct agg_verdict *v)
{
    if (v->buffer == NULL || !s->cfg.refer) {
        send_data(s, j, rank, answered, v->payload, v->bytes);
        return;
    }
    s->referred++;
    link_send(&s->star->down[j->member[rank].host],
              frame_around(j->member[rank].host, answered->switch_port, j->member[rank].data_port,
                           buffer_hold(v->buffer), j->unsummed));
}

static void reject(struct switch_node *s, const struct frame *f, const struct sml_packet *p)
{
    uint8_t payload[SML_REJECT_BYTES];
    size_t bytes = sml_build_reject(payload, p, s->boot_id);

    star_send_down(s->star, f->host, f->host_port, f->switch_port, payload, bytes, false);
}

static int rank_of(const struct switch_job *j, const struct frame *f)
{
    for (unsigned r = 0; r < j->size; r++)
        if (j->member[r].host == f->host && j->member[r].data_port == f->host_port)
            return (int)r;
    return -1;
}

/* Nobody else has it, and the job has frames left to keep. */
static bool may_keep(struct switch_node *s, const struct frame *f)
{
    return f->buffer->holders == 1 && rng_chance(&s->keeps, s->cfg.keep_ppm);
}

static void apply(struct switch_node *s, struct switch_job *j, unsigned rank, const struct frame *f,
                  const struct sml_packet *p)
{
    struct sml_slot *slot = sml_pool_locate(j->pool, p);
    struct agg_verdict v = {.reason = SML_DROP_BAD_SLOT};

    if (slot != NULL) {
        struct buffer *offered = may_keep(s, f) ? f->buffer : NULL;
        sml_pool_apply(j->pool, slot, (uint16_t)rank, p, offered, &v);
        keeping_settle(&j->keeping, p, offered, &v);
        s->kept += v.kept;
    }
    if (f->damaged) {
        s->damaged++;
        s->deceived += v.reason != SML_DROP_BAD_CHECKSUM && slot != NULL;
    } else {
        s->verdicts[v.reason]++;
    }
    sim_trace(s->sim, "switch", "job %u, rank %u: kind %u of tag %u: %s", p->job, rank, p->kind, p->tag,
              sml_reasons[v.reason].name);
    switch (v.reason) {
    case SML_SEND_ALL:
    case SML_RESTORED:
        for (unsigned r = 0; r < j->size; r++)
            if (agg_wants(&v, r))
                send_result(s, j, r, f, &v);
            else
                send_data(s, j, r, f, v.brief, v.brief_bytes);
        break;
    case SML_SEND_ONE:
        send_data(s, j, rank, f, v.payload, v.bytes);
        break;
    case SML_SEND_ANSWER:
    case SML_SEND_QUARREL:
        send_data(s, j, rank, f, v.payload, v.bytes);
        break;
    default:
        break;
    }
}

static void receive_data(struct switch_node *s, const struct frame *f)
{
    struct sml_packet p;

    if (sml_parse(&p, f->payload, f->bytes) != SML_OK) {
        s->malformed += !f->damaged;
        s->damaged += f->damaged;
        return;
    }
    struct switch_job *j = s->jobs[p.job];
    int rank = j != NULL ? rank_of(j, f) : -1;
    if (rank < 0) {
        s->unknown_job += j == NULL;
        s->foreign_sender += j != NULL;
        reject(s, f, &p);
        return;
    }
    apply(s, j, (unsigned)rank, f, &p);
}

void switch_receive(void *ctx, struct frame *f)
{
    struct switch_node *s = ctx;

    if (frame_is_dropped(f)) {
        s->damaged++;
    } else if (switch_is_up(s) && f->switch_port == CTL_PORT) {
        struct ctl_endpoint from = endpoint_of(f->host, f->host_port);
        s->malformed +=
            ctl_registry_receive(s->registry, &from, f->payload, f->bytes, s->sim->now) != CTL_PARSED;
    } else if (switch_is_up(s)) {
        receive_data(s, f);
    }
    frame_free(f);
}
