#include "tally.h"

#include <stdio.h>
#include <string.h>

enum { TERMS_VERSION = 1, TERMS_BYTES = 1 };

struct tally_slot {
    uint8_t count;
    uint64_t heard_at; /* 0: nothing to report */
};

struct tally_pool {
    uint8_t slots;
    struct tally_slot slot[];
};

static const struct agg_reason tally_reasons[TALLY_REASONS] = {
    [TALLY_COUNTED] = {"counted", "one more", AGG_PASS_ON, false},
    [TALLY_WATCHED] = {"watched", "one more, but nobody is to see it", AGG_PASS_AND_KEEP, false},
    [TALLY_FORGOTTEN] = {"forgotten", "start again from 0", AGG_DROP, false},
    [TALLY_QUIET] = {"quiet", "nothing has come for a while: tell the parent", AGG_TO_PARENT, false},
    [TALLY_SHORT] = {"tally_short", "not three bytes", AGG_DROP, true},
    [TALLY_NO_JOB] = {"tally_no_job", "nobody tallies under this number", AGG_DROP, true},
};

struct agg_terms tally_terms(uint8_t slots)
{
    return (struct agg_terms){
        .protocol = TALLY, .version = TERMS_VERSION, .bytes = TERMS_BYTES, .data = {slots}};
}

uint8_t tally_slots(const struct agg_terms *terms)
{
    return terms->data[0];
}

static bool tally_check(const struct agg_terms *wish, bool resumes, char why[AGG_TEXT_MAX])
{
    snprintf(why, AGG_TEXT_MAX, "a tally has slots, and is not resumed");
    return wish->bytes == TERMS_BYTES && tally_slots(wish) > 0 && !resumes;
}

static bool tally_differ(const struct agg_terms *wish, const struct agg_terms *other,
                         struct agg_difference *d)
{
    (void)wish;
    (void)other;
    (void)d;
    return false;
}

static bool tally_grant(const struct agg_terms wish[], uint16_t n, const struct agg_limits *limits,
                        struct agg_terms *granted, struct agg_refusal *why)
{
    (void)n;
    (void)limits;
    (void)why;
    *granted = wish[0];
    return true;
}

static bool tally_lower(struct agg_terms *granted)
{
    if (tally_slots(granted) < 2)
        return false;
    granted->data[0]--;
    return true;
}

static unsigned tally_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS])
{
    list[0] = (struct agg_term){.name = "slots", .number = tally_slots(terms)};
    return 1;
}

static bool tally_footprint(const struct agg_pool_config *cfg, struct agg_footprint *f)
{
    const uint8_t slots = tally_slots(&cfg->terms);

    *f = (struct agg_footprint){.bytes = sizeof(struct tally_pool) + slots * sizeof(struct tally_slot),
                                .slots = slots,
                                .payload_bytes = TALLY_BYTES};
    return slots > 0;
}

static void *tally_init(void *mem, const struct agg_pool_config *cfg)
{
    struct tally_pool *pool = mem;

    pool->slots = tally_slots(&cfg->terms);
    memset(pool->slot, 0, pool->slots * sizeof(pool->slot[0]));
    return pool;
}

static void tally_drain(void *pool, void (*release)(void *buffer))
{
    (void)pool;
    (void)release;
}

static void tally_locate(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        p[i].slot = NULL;
        p[i].reason = TALLY_SHORT;
        if (p[i].bytes != TALLY_BYTES)
            continue;
        p[i].job = agg_jobs_find(jobs, p[i].payload[0]);
        p[i].reason = TALLY_NO_JOB;
        if (p[i].job != NULL) {
            struct tally_pool *pool = p[i].job->pool;
            p[i].slot = &pool->slot[p[i].payload[1] % pool->slots];
        }
    }
}

static unsigned tally_apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v)
{
    static const enum tally_reason reasons[] = {TALLY_COUNTED, TALLY_WATCHED, TALLY_FORGOTTEN};
    unsigned i = 0;

    v->kept = false;
    v->released = NULL;
    for (; i < n; i++) {
        struct tally_slot *slot = p[i].slot;
        if (slot == NULL)
            continue;
        p[i].reason = reasons[p[i].payload[2] % 3];
        slot->heard_at = now;
        slot->count = p[i].reason == TALLY_FORGOTTEN ? 0 : slot->count + 1;
        if (p[i].reason != TALLY_FORGOTTEN)
            break;
    }
    i = i == n ? n - 1 : i;
    if (p[i].reason == TALLY_COUNTED)
        p[i].payload[2] = ((struct tally_slot *)p[i].slot)->count;
    v->payload = p[i].payload;
    v->bytes = p[i].bytes;
    v->reason = p[i].reason;
    v->action = tally_reasons[v->reason].action;
    return i + 1;
}

static bool tally_tick(const struct agg_job *job, unsigned shard, unsigned shards, uint64_t now,
                       struct agg_verdict *v)
{
    struct tally_pool *pool = job->pool;

    for (unsigned i = shard; i < pool->slots; i += shards) {
        struct tally_slot *slot = &pool->slot[i];
        if (slot->heard_at == 0 || now - slot->heard_at < TALLY_QUIET_NS)
            continue;
        slot->heard_at = 0;
        *v = (struct agg_verdict){.action = AGG_TO_PARENT, .reason = TALLY_QUIET};
        v->answer[0] = (uint8_t)i;
        v->answer[1] = slot->count;
        v->payload = v->answer;
        v->bytes = 2;
        return true;
    }
    return false;
}

static bool tally_view(const void *pool, uint32_t i, struct agg_slot_view *view)
{
    const struct tally_pool *p = pool;

    *view = (struct agg_slot_view){.chunk = i};
    return i < p->slots;
}

const struct agg_protocol tally = {
    .name = "tally",
    .id = TALLY,
    .udp_ports = {.first = TALLY_UDP_PORT, .last = TALLY_UDP_PORT},
    .header_bytes = TALLY_BYTES,
    .reason = tally_reasons,
    .reasons = TALLY_REASONS,
    .shard_key = {.at = 0, .mask = 0x00ff},
    .check = tally_check,
    .differ = tally_differ,
    .grant = tally_grant,
    .lower = tally_lower,
    .list = tally_list,
    .footprint = tally_footprint,
    .init = tally_init,
    .drain = tally_drain,
    .locate = tally_locate,
    .apply = tally_apply,
    .tick = tally_tick,
    .view = tally_view,
};
