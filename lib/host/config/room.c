#include "config/room.h"

#include <stdio.h>

#include "share/quota.h"

enum { QUOTAS_MAX = 8, HOLDERS_MAX = 8 * AGG_JOBS };

/* The jobs that a quota counts; 0 and -1: whoever founded it, whosever it is. */
struct scope {
    uint32_t founder;
    int tenant;
    bool none; /* only what is asked for now */
};

struct quotas {
    unsigned n;
    struct share_quota quota[QUOTAS_MAX];
    struct scope scope[QUOTAS_MAX];
};

static bool counts(const struct scope *s, const struct room_job *job)
{
    return !s->none && (s->founder == 0 || job->founder == s->founder) &&
           (s->tenant < 0 || job->tenant == s->tenant);
}

static uint64_t holds(const struct room_job *job, enum share_kind kind)
{
    return kind == SHARE_SLOTS ? job->slots : job->bytes;
}

/* Adds a quota, whose key and whose fields the caller then writes. */
static struct share_quota *add(struct quotas *q, const struct room *room, const struct scope *s,
                               enum share_kind kind, uint64_t max)
{
    struct share_quota *quota = &q->quota[q->n];

    q->scope[q->n++] = *s;
    *quota = (struct share_quota){.kind = kind, .max = max};
    for (unsigned i = 0; max != 0 && i < room->jobs; i++)
        quota->held += counts(s, &room->job[i]) ? holds(&room->job[i], kind) : 0;
    return quota;
}

static void add_of_all(struct quotas *q, const struct room *room)
{
    static const struct scope all = {.tenant = -1}, none = {.tenant = -1, .none = true};
    struct share_quota *quota = add(q, room, &all, SHARE_BYTES, room->bytes);

    quota->max = room->bytes == 0 ? 1 : room->bytes; /* nothing at all is a quota, too */
    quota->held = room->held;
    snprintf(quota->key, SHARE_WORDS_MAX, "pool.megabytes");
    snprintf(quota->whose, SHARE_WORDS_MAX, "%s", room->whose);
    quota = add(q, room, &all, SHARE_SLOTS, room->slots);
    snprintf(quota->key, SHARE_WORDS_MAX, "pool.slots");
    snprintf(quota->whose, SHARE_WORDS_MAX, "%s", room->whose);
    quota = add(q, room, &none, SHARE_BYTES, room->bytes_a_job);
    snprintf(quota->key, SHARE_WORDS_MAX, "pool.megabytes_per_job");
    snprintf(quota->whose, SHARE_WORDS_MAX, "a job");
}

static void add_of_tenant(struct quotas *q, const struct room *room, int tenant)
{
    const struct scope its = {.tenant = tenant};
    const struct config_tenant *t;
    struct share_quota *quota;

    if (tenant < 0 || (unsigned)tenant >= room->tenants)
        return;
    t = &room->tenant[tenant];
    quota = add(q, room, &its, SHARE_BYTES, (uint64_t)t->quota.megabytes << 20);
    snprintf(quota->key, SHARE_WORDS_MAX, "tenants[%d].quota.megabytes", tenant);
    snprintf(quota->whose, SHARE_WORDS_MAX, "tenant %s", t->name);
    quota = add(q, room, &its, SHARE_SLOTS, t->quota.slots);
    snprintf(quota->key, SHARE_WORDS_MAX, "tenants[%d].quota.slots", tenant);
    snprintf(quota->whose, SHARE_WORDS_MAX, "tenant %s", t->name);
}

/* A new job leaves a quarter of the whole to jobs that were founded from other addresses. */
static void add_of_founder(struct quotas *q, const struct room *room, uint32_t founder)
{
    const uint8_t *ip = (const uint8_t *)&founder;
    const struct scope its = {.founder = founder, .tenant = -1};
    struct share_quota *quota;

    if (founder == 0)
        return;
    quota = add(q, room, &its, SHARE_BYTES, room->bytes - room->bytes / 4);
    snprintf(quota->key, SHARE_WORDS_MAX, "3/4 of pool.megabytes");
    snprintf(quota->whose, SHARE_WORDS_MAX, "one host, %u.%u.%u.%u,", ip[0], ip[1], ip[2], ip[3]);
}

static void refuse(const struct room *room, const struct share_quota *lacking, const struct scope *scope,
                   const struct room_job *asked, char text[AGG_TEXT_MAX])
{
    struct share_holder holder[HOLDERS_MAX];
    unsigned n = 0;

    for (unsigned i = 0; i < room->jobs && n < HOLDERS_MAX; i++)
        if (counts(scope, &room->job[i]))
            holder[n++] =
                (struct share_holder){.name = room->job[i].name, .held = holds(&room->job[i], lacking->kind)};
    share_refusal(text, AGG_TEXT_MAX, lacking, holds(asked, lacking->kind), holder, n);
}

bool room_for(const struct room *room, const struct room_job *asked, char text[AGG_TEXT_MAX])
{
    const uint64_t wanted[SHARE_KINDS] = {[SHARE_SLOTS] = asked->slots, [SHARE_BYTES] = asked->bytes};
    const struct share_quota *lacking;
    struct quotas q = {0};

    add_of_all(&q, room);
    add_of_tenant(&q, room, asked->tenant);
    add_of_founder(&q, room, asked->founder);
    lacking = share_exceeded(q.quota, q.n, wanted);
    if (lacking != NULL && text != NULL)
        refuse(room, lacking, &q.scope[lacking - q.quota], asked, text);
    return lacking == NULL;
}
