#include "paper_protocol.h"

#include "switchml/protocol.h"
#include "switchml/reasons.h"
#include "switchml/terms.h"

static bool footprint(const struct agg_pool_config *cfg, struct agg_footprint *f)
{
    struct sml_terms t;

    if (!sml_terms_parse(&t, &cfg->terms) || !t.plain || cfg->workers < 2 || cfg->workers > PAPER_WORKERS ||
        t.slots > PAPER_SLOTS)
        return false;
    *f = (struct agg_footprint){.bytes = (sizeof(struct paper_switch) + 63) / 64 * 64,
                                .slots = t.slots,
                                .payload_bytes = (uint16_t)(SML_HEADER_BYTES + t.chunk_bytes)};
    return true;
}

static void *init(void *mem, const struct agg_pool_config *cfg)
{
    struct sml_terms t;

    if (!sml_terms_parse(&t, &cfg->terms))
        return NULL;
    memset(mem, 0, sizeof(struct paper_switch));
    ((struct paper_switch *)mem)->n = cfg->workers;
    ((struct paper_switch *)mem)->bytes = t.chunk_bytes;
    return mem;
}

/* It keeps no frames. */
static void drain(void *pool, void (*release)(void *buffer))
{
    (void)pool;
    (void)release;
}

/* The published program knows a worker by where its packets come from, too. */
static uint8_t find(const struct agg_jobs *jobs, struct agg_packet *p)
{
    const struct sml_packet *s = (const struct sml_packet *)p->parsed;
    const struct agg_seat *seat;

    p->job = NULL;
    p->slot = NULL;
    if (sml_parse((struct sml_packet *)p->parsed, p->payload, p->bytes) != SML_OK)
        return SML_REFUSED_BAD_KIND;
    p->job = agg_jobs_find(jobs, s->job);
    if (p->job == NULL)
        return SML_REFUSED_UNKNOWN_JOB;
    seat = agg_job_find(p->job, &p->from);
    if (seat == NULL)
        return SML_REFUSED_FOREIGN_SENDER;
    p->rank = seat->rank;
    p->slot = p->job->pool;
    return SML_HELD;
}

static void locate(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        p[i].reason = find(jobs, &p[i]);
}

static enum sml_reason reason_of(struct paper_switch *s, struct agg_packet *p)
{
    const unsigned understood = s->not_understood;

    switch (paper_switch_receive(s, p->rank, p->payload, p->bytes)) {
    case PAPER_MULTICAST:
        return SML_SEND_ALL;
    case PAPER_UNICAST:
        return SML_SEND_ONE;
    default:
        return s->not_understood > understood ? SML_DROP_BAD_KIND : SML_HELD;
    }
}

/* A packet at a time: what is sent is the packet, rewritten. */
static unsigned apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v)
{
    static const uint64_t all[AGG_MAX_WORKERS / 64] = {UINT64_MAX};

    (void)n;
    (void)now;
    if (p->slot != NULL)
        p->reason = reason_of(p->slot, p);
    *v = (struct agg_verdict){.action = sml_reasons[p->reason].action,
                              .reason = p->reason,
                              .payload = p->payload,
                              .bytes = p->bytes,
                              .wants = all};
    return 1;
}

static size_t refuse(const struct agg_packet *p, uint64_t boot_id, uint8_t answer[AGG_ANSWER_BYTES])
{
    (void)p;
    (void)boot_id;
    (void)answer;
    return 0;
}

struct agg_protocol paper_protocol(void)
{
    struct agg_protocol p = sml_protocol;

    p.footprint = footprint;
    p.init = init;
    p.drain = drain;
    p.locate = locate;
    p.apply = apply;
    p.refuse = refuse;
    return p;
}
