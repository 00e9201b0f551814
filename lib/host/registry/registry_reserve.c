#include "registry/registry_reserve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "monotonic.h"
#include "registry/reserved_file.h"

enum { LIVE_MAX = 3 * AGG_JOBS };

static void add_live(const struct ctl_entry *job, struct room_job to[LIVE_MAX], unsigned *n)
{
    if (ctl_entry_is_live(job) && *n < LIVE_MAX)
        to[(*n)++] = (struct room_job){.name = job->name, .tenant = job->tenant};
}

/* Jobs that have a place, those that form included, but for this one (NULL: all). */
static unsigned list_live(const struct registry_host *h, const struct ctl_entry *but,
                          struct room_job to[LIVE_MAX])
{
    const struct relay_job *relayed;
    unsigned n = 0;

    for (unsigned i = 0; i < h->config.max_jobs; i++)
        add_live(ctl_registry_entry(h->registry, i), to, &n);
    for (unsigned i = 0; (relayed = registry_host_relayed(h, i)) != NULL; i++)
        if (&relayed->entry != but)
            add_live(&relayed->entry, to, &n);
    return n;
}

static unsigned count_of(int tenant, const struct room_job job[], unsigned jobs)
{
    unsigned n = 0;

    for (unsigned i = 0; i < jobs; i++)
        n += job[i].tenant == tenant;
    return n;
}

unsigned registry_kept(void *host, int tenant, const char *name, bool of_tenant)
{
    const struct registry_host *h = host;
    const struct room_job asked = {.name = name, .tenant = tenant};
    struct room_job live[LIVE_MAX];

    return h->reserved.n == 0 ? 0
                              : reserved_places(&h->reserved, &asked, of_tenant ? tenant : -1, live,
                                                list_live(h, NULL, live));
}

/* Places that are taken beside one job, or kept from it. */
struct places {
    unsigned live, kept; /* of all */
    unsigned of_tenant;  /* both, and jobs that nobody joins */
};

/* asked: by a job of this tenant and name (NULL: of none). but: as for list_live. */
static struct places places_beside(const struct registry_host *h, const struct room_job *asked,
                                   const struct ctl_entry *but)
{
    struct room_job live[LIVE_MAX];
    const unsigned n = list_live(h, but, live);

    return (struct places){.live = n,
                           .kept = reserved_places(&h->reserved, asked, -1, live, n),
                           .of_tenant = h->tenant[asked->tenant].elsewhere +
                                        count_of(asked->tenant, live, n) +
                                        reserved_places(&h->reserved, asked, asked->tenant, live, n)};
}

/* Whether there is one more place, of all and of the tenant's. */
static bool has_place(const struct registry_host *h, int tenant, char text[AGG_TEXT_MAX])
{
    const struct ctl_tenant *t = &h->tenant[tenant];
    const struct places p = places_beside(h, &(struct room_job){.tenant = tenant}, NULL);

    if (p.live + p.kept >= h->config.max_jobs)
        snprintf(text, AGG_TEXT_MAX, "no place is left of limits.jobs, %u", h->config.max_jobs);
    else if (t->jobs != 0 && p.of_tenant >= t->jobs)
        snprintf(text, AGG_TEXT_MAX, "no place is left of tenants[%d].quota.jobs, %u", tenant, t->jobs);
    else
        return true;
    return false;
}

bool registry_admits(const struct registry_host *h, const struct ctl_entry *job, char text[CTL_TEXT_MAX])
{
    const struct ctl_tenant *t = &h->tenant[job->tenant];
    const struct places p =
        places_beside(h, &(struct room_job){.name = job->name, .tenant = job->tenant}, job);

    if (t->jobs != 0 && p.of_tenant >= t->jobs)
        snprintf(
            text, CTL_TEXT_MAX,
            "tenant %s has %u jobs and places that are reserved, as many as the tenants[%d].quota.jobs of "
            "a switch on the way allows",
            t->name, p.of_tenant, job->tenant);
    else if (p.kept > 0 && p.live + p.kept >= h->config.max_jobs)
        snprintf(
            text, CTL_TEXT_MAX,
            "a switch on the way has %u jobs and %u places that are reserved, as many as its limits.jobs "
            "allows",
            p.live, p.kept);
    else
        return true;
    return false;
}

/* Fills in what it takes. */
static bool has_room(const struct registry_host *h, struct reservation *wanted, char text[AGG_TEXT_MAX])
{
    const struct config *cfg = h->parts.cfg;
    struct room_job asked = {.tenant = wanted->tenant};

    if (h->parts.kind->has_room == NULL)
        snprintf(text, AGG_TEXT_MAX, "nothing can be reserved here: the chip's tables are no pool");
    else if (wanted->ranks < 1 || wanted->ranks > ctl_registry_workers(&h->config))
        snprintf(text, AGG_TEXT_MAX, "ranks: 1 to %u (limits.workers)", ctl_registry_workers(&h->config));
    else if (wanted->slots < 2 || !reserved_measure(cfg, wanted) || wanted->slots > cfg->pool.slots_per_job)
        snprintf(text, AGG_TEXT_MAX, "slots: 2 to %u (pool.slots_per_job)", cfg->pool.slots_per_job);
    else if (!config_could_fit(&cfg->tenant[wanted->tenant].jobs, wanted->pattern))
        snprintf(text, AGG_TEXT_MAX, "job=%s: no job of %s can have such a name: tenants[%d].jobs says which",
                 wanted->pattern, cfg->tenant[wanted->tenant].name, wanted->tenant);
    else if (has_place(h, wanted->tenant, text)) {
        asked.slots = wanted->slots;
        asked.bytes = wanted->bytes;
        return h->parts.kind->has_room(h, &asked, text);
    }
    return false;
}

bool registry_reserve(struct registry_host *h, const struct reservation *wanted, uint32_t seconds,
                      char text[AGG_TEXT_MAX])
{
    struct reservation r = *wanted;
    int rc;

    if (!has_room(h, &r, text))
        return false;
    r.until = h->now + (uint64_t)seconds * NS_PER_SECOND;
    rc = reserved_add(&h->reserved, &r);
    if (rc < 0) {
        snprintf(text, AGG_TEXT_MAX, "%s",
                 rc == -EEXIST ? "there is a reservation of this name" : "no more reservations are possible");
        return false;
    }
    rc = registry_reserved_keep(h);
    if (rc < 0) {
        reserved_drop(&h->reserved, r.name);
        snprintf(text, AGG_TEXT_MAX,
                 "it could not be kept in %.80s (state): %s: the next start would not know of it",
                 h->parts.cfg->state, strerror(-rc));
    }
    return rc == 0;
}

bool registry_release(struct registry_host *h, const char *name, int *kept)
{
    if (!reserved_drop(&h->reserved, name))
        return false;
    *kept = registry_reserved_keep(h);
    return true;
}

int registry_reserved_keep(const struct registry_host *h)
{
    return reserved_file_write(&h->reserved, h->parts.cfg, h->now);
}

void registry_expire(struct registry_host *h)
{
    struct reservation gone;
    const unsigned before = h->reserved.n;

    while (reserved_expire(&h->reserved, h->now, &gone)) {
        log_notice("reservation %s: its time is over", gone.name);
        history_note(h->parts.history,
                     &(struct history_note){HISTORY_ENDED, gone.name, h->tenant[gone.tenant].name, "",
                                            "the reservation's time is over"});
    }
    if (h->reserved.n != before)
        registry_reserved_keep(h);
}

void registry_show_reserved(const struct registry_host *h, struct view_out *out)
{
    for (unsigned i = 0; i < h->reserved.n; i++) {
        const struct reservation *r = &h->reserved.at[i];
        struct room_job live[LIVE_MAX];
        const unsigned n = list_live(h, NULL, live);
        struct reserved_view row = {.name = r->name,
                                    .job = r->pattern,
                                    .tenant = h->tenant[r->tenant].name,
                                    .ranks = r->ranks,
                                    .slots = r->slots,
                                    .bytes = r->bytes,
                                    .left_s = r->until > h->now ? (r->until - h->now) / NS_PER_SECOND : 0};

        for (unsigned j = 0; j < n; j++)
            row.jobs += reserved_is_for(r, &live[j]);
        view_row(out, &row);
    }
}
