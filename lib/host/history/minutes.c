#include "history/minutes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 60 };

/* A rank as its job's view showed it last, and what has come of it in this minute. */
struct watched_rank {
    uint64_t contributions, bytes, delayed_us, lost_up, lost_down;
    uint64_t came, late_us, lost;
};

struct watched {
    struct watched *next;
    struct listed_job job;
    bool there; /* at this look */
    uint64_t bytes, lost_up, lost_down;
    unsigned ranks;
    struct watched_rank *rank;
};

static void forget(struct watched *w)
{
    free(w->rank);
    free(w);
}

bool minutes_open(struct minutes *m, pthread_mutex_t *lock, unsigned of_host, unsigned of_jobs)
{
    *m = (struct minutes){.lock = lock};
    return ring_open(&m->host, sizeof(struct minute), of_host) &
           ring_open(&m->jobs, sizeof(struct minute), of_jobs);
}

void minutes_close(struct minutes *m)
{
    while (m->watched != NULL) {
        struct watched *w = m->watched;

        m->watched = w->next;
        forget(w);
    }
    ring_close(&m->host);
    ring_close(&m->jobs);
}

/* --- what a minute says -------------------------------------------------------------------------------- */

static bool came(const struct watched *w)
{
    return (w->bytes | w->lost_up | w->lost_down) != 0;
}

/* Of the minute that goes on. */
static uint64_t seconds_until_now(const struct minutes *m)
{
    return m->now > m->begin ? m->now - m->begin : 1;
}

static void choose_rank(struct minute *to, const struct watched *w, unsigned rank)
{
    const struct watched_rank *r = &w->rank[rank];

    if (r->late_us > to->late_us) {
        to->late_us = r->late_us;
        to->late_us_mean = r->came == 0 ? 0 : r->late_us / r->came;
        to->latest_rank = rank;
        snprintf(to->latest_job, sizeof(to->latest_job), "%s", w->job.call);
    }
    if (r->lost > to->lost_most) {
        to->lost_most = r->lost;
        to->lossy_rank = rank;
        snprintf(to->lossy_job, sizeof(to->lossy_job), "%s", w->job.call);
    }
}

static void add_job(struct minute *to, const struct watched *w)
{
    if (!came(w))
        return;
    to->jobs++;
    to->bytes += w->bytes;
    to->lost_up += w->lost_up;
    to->lost_down += w->lost_down;
    for (unsigned rank = 0; rank < w->ranks; rank++)
        choose_rank(to, w, rank);
}

static struct minute of_job(const struct minutes *m, uint64_t seconds, const struct watched *w)
{
    struct minute minute = {.begin = m->begin, .seconds = seconds, .is_job = true};

    memcpy(minute.job, w->job.name, sizeof(minute.job));
    memcpy(minute.tenant, w->job.tenant, sizeof(minute.tenant));
    add_job(&minute, w);
    return minute;
}

static struct minute of_host(const struct minutes *m, uint64_t seconds)
{
    struct minute minute = {.begin = m->begin, .seconds = seconds, .dropped = m->dropped, .drops = m->drops};

    for (const struct watched *w = m->watched; w != NULL; w = w->next)
        add_job(&minute, w);
    return minute;
}

static bool is_empty(const struct minute *minute)
{
    return minute->jobs == 0 && minute->dropped == 0;
}

static unsigned show(const struct minute *minute, const char *job, minute_visitor *visit, void *context)
{
    if (is_empty(minute) || (job != NULL && !listed_is_called(minute->job, minute->tenant, job)))
        return 0;
    visit(context, minute);
    return 1;
}

unsigned minutes_visit(const struct minutes *m, const char *job, minute_visitor *visit, void *context)
{
    const struct ring *past = job == NULL ? &m->host : &m->jobs;
    struct minute present = of_host(m, seconds_until_now(m));
    unsigned n = 0;

    for (unsigned i = 0; i < ring_count(past); i++)
        n += show(ring_at(past, i), job, visit, context);
    if (job == NULL)
        return n + show(&present, NULL, visit, context);
    for (const struct watched *w = m->watched; w != NULL; w = w->next) {
        present = of_job(m, seconds_until_now(m), w);
        n += show(&present, job, visit, context);
    }
    return n;
}

/* --- looks --------------------------------------------------------------------------------------------- */

static void keep(struct ring *ring, const struct minute *minute)
{
    if (!is_empty(minute))
        *(struct minute *)ring_put(ring) = *minute;
}

static void empty(struct watched *w)
{
    w->bytes = w->lost_up = w->lost_down = 0;
    for (struct watched_rank *r = w->rank; r < w->rank + w->ranks; r++)
        r->came = r->late_us = r->lost = 0;
}

/* The minute is over: keeps what came, and forgets jobs that are gone. */
static void end_minute(struct minutes *m)
{
    const struct minute host = of_host(m, SECONDS);

    keep(&m->host, &host);
    m->dropped = 0;
    for (struct watched **at = &m->watched, *w; (w = *at) != NULL;) {
        const struct minute job = of_job(m, SECONDS, w);

        keep(&m->jobs, &job);
        empty(w);
        if (w->there) {
            at = &w->next;
        } else {
            *at = w->next;
            forget(w);
        }
    }
}

static uint64_t growth(uint64_t *before, uint64_t now)
{
    const uint64_t grown = now >= *before ? now - *before : now; /* less: it has begun anew */

    *before = now;
    return grown;
}

static void add_rank(struct watched *w, const struct rank_view *row)
{
    struct watched_rank *r = &w->rank[row->rank];
    const uint64_t up = growth(&r->lost_up, row->lost_up), down = growth(&r->lost_down, row->lost_down);

    w->bytes += growth(&r->bytes, row->bytes);
    w->lost_up += up;
    w->lost_down += down;
    r->lost += up + down;
    r->came += growth(&r->contributions, row->contributions);
    r->late_us += growth(&r->delayed_us, row->delayed_us);
}

struct look {
    struct minutes *m;
    struct watched *of;
};

static void look_at_rank(void *context, const struct view_field *fields, const void *from)
{
    const struct look *look = context;
    const struct rank_view *row = from;

    if (fields != views[VIEW_MEMBERS].row || !row->delays_noted || row->rank >= look->of->ranks)
        return;
    pthread_mutex_lock(look->m->lock);
    add_rank(look->of, row);
    pthread_mutex_unlock(look->m->lock);
}

static void look_at_drops(void *context, const struct view_field *fields, const void *from)
{
    struct minutes *m = context;
    const struct counted_view *drops = from;
    uint64_t sum = 0;

    (void)fields;
    for (unsigned i = 0; i < drops->counts.n; i++)
        sum += drops->counts.of[i].n;
    pthread_mutex_lock(m->lock);
    m->drops = true;
    m->dropped += growth(&m->dropped_before, sum);
    pthread_mutex_unlock(m->lock);
}

static struct watched *find(struct minutes *m, const struct listed_job *job)
{
    struct watched *w = m->watched;

    while (w != NULL && strcmp(w->job.call, job->call) != 0)
        w = w->next;
    return w;
}

/* With room for all its ranks; NULL: no memory. A job may come again with more of them. */
static struct watched *watch(struct minutes *m, const struct listed_job *job)
{
    struct watched *w = find(m, job);
    struct watched_rank *rank;

    if (w == NULL) {
        w = calloc(1, sizeof(*w));
        if (w == NULL)
            return NULL;
        w->next = m->watched;
        m->watched = w;
    }
    w->job = *job;
    w->there = true;
    if (job->size <= w->ranks)
        return w;
    rank = realloc(w->rank, job->size * sizeof(*rank));
    if (rank == NULL)
        return NULL;
    memset(rank + w->ranks, 0, (job->size - w->ranks) * sizeof(*rank));
    w->rank = rank;
    w->ranks = (unsigned)job->size;
    return w;
}

static void look_at_job(struct minutes *m, const struct view_source *host, const struct listed_job *job)
{
    struct look look = {.m = m};
    struct view_out out;

    pthread_mutex_lock(m->lock);
    look.of = watch(m, job);
    pthread_mutex_unlock(m->lock);
    if (look.of == NULL)
        return;
    view_visit(&out, &views[VIEW_MEMBERS], look_at_rank, &look);
    host->fill(host->context, &views[VIEW_MEMBERS], job->call, &out);
}

static void begin_look(struct minutes *m, uint64_t now)
{
    pthread_mutex_lock(m->lock);
    if (m->now != 0 && now / SECONDS * SECONDS != m->begin)
        end_minute(m);
    m->begin = now / SECONDS * SECONDS;
    m->now = now;
    for (struct watched *w = m->watched; w != NULL; w = w->next)
        w->there = false;
    pthread_mutex_unlock(m->lock);
}

void minutes_look(struct minutes *m, const struct view_source *host, uint64_t now)
{
    struct listed_jobs *list = listed_jobs(host);
    struct view_out out;

    begin_look(m, now);
    view_visit(&out, &views[VIEW_DROPS], look_at_drops, m);
    host->fill(host->context, &views[VIEW_DROPS], NULL, &out);
    for (unsigned i = 0; list != NULL && i < list->n; i++)
        look_at_job(m, host, &list->job[i]);
    free(list);
}
