#include "history/history.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "history/minutes.h"

enum { NAME_BYTES = 64, WHO_BYTES = 64, TEXT_BYTES = 288 };

struct event {
    uint64_t number; /* of all kinds, in their order */
    uint64_t at;     /* s since 1970, the last time */
    uint64_t times;  /* the same once more */
    enum history_what what;
    char job[NAME_BYTES], tenant[NAME_BYTES], who[WHO_BYTES], text[TEXT_BYTES];
};

struct history {
    pthread_mutex_t lock;
    uint64_t (*seconds_now)(void);
    uint64_t events;
    struct ring kind[HISTORY_WHATS]; /* of struct event */
    struct minutes minutes;
};

static const char *const words[HISTORY_WHATS] = {
    [HISTORY_BEGAN] = "began",   [HISTORY_ENDED] = "ended",     [HISTORY_FAILED] = "failed",
    [HISTORY_WARNED] = "warned", [HISTORY_REFUSED] = "refused", [HISTORY_OPERATED] = "operated"};

static uint64_t seconds_of_the_machine(void)
{
    return (uint64_t)time(NULL);
}

struct history *history_new(uint64_t (*seconds_now)(void))
{
    struct history *h = calloc(1, sizeof(*h));
    bool good;

    if (h == NULL)
        return NULL;
    pthread_mutex_init(&h->lock, NULL);
    h->seconds_now = seconds_now == NULL ? seconds_of_the_machine : seconds_now;
    good = minutes_open(&h->minutes, &h->lock, HISTORY_MINUTES, HISTORY_JOB_MINUTES);
    for (unsigned k = 0; k < HISTORY_WHATS; k++)
        good &= ring_open(&h->kind[k], sizeof(struct event), HISTORY_EVENTS);
    if (good)
        return h;
    history_free(h);
    return NULL;
}

void history_free(struct history *h)
{
    if (h == NULL)
        return;
    minutes_close(&h->minutes);
    for (unsigned k = 0; k < HISTORY_WHATS; k++)
        ring_close(&h->kind[k]);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

void history_look(struct history *h, const struct view_source *host)
{
    if (h != NULL)
        minutes_look(&h->minutes, host, h->seconds_now());
}

/* --- events -------------------------------------------------------------------------------------------- */

static bool same(const struct event *a, const struct event *b)
{
    return strcmp(a->job, b->job) == 0 && strcmp(a->tenant, b->tenant) == 0 && strcmp(a->who, b->who) == 0 &&
           strcmp(a->text, b->text) == 0;
}

/* What comes again and again takes one place. */
static void add(struct history *h, struct event *e)
{
    struct ring *ring = &h->kind[e->what];
    struct event *last = ring->put == 0 ? NULL : ring_at(ring, ring_count(ring) - 1);

    e->number = ++h->events;
    if (last == NULL || !same(last, e))
        last = ring_put(ring);
    else
        e->times += last->times;
    *last = *e;
}

void history_note(struct history *h, const struct history_note *note)
{
    struct event e = {.what = note->what, .times = 1};

    if (h == NULL)
        return;
    e.at = h->seconds_now();
    snprintf(e.job, sizeof(e.job), "%s", note->job);
    snprintf(e.tenant, sizeof(e.tenant), "%s", note->tenant);
    snprintf(e.who, sizeof(e.who), "%s", note->who);
    snprintf(e.text, sizeof(e.text), "%s", note->text);
    pthread_mutex_lock(&h->lock);
    add(h, &e);
    pthread_mutex_unlock(&h->lock);
}

void history_note_job(struct history *h, const char *tenant, const struct ctl_entry *job,
                      const struct ctl_event *event)
{
    static const enum history_what what[] = {[CTL_EVENT_WARNING] = HISTORY_WARNED,
                                             [CTL_EVENT_BEGINS] = HISTORY_BEGAN,
                                             [CTL_EVENT_ENDS] = HISTORY_ENDED,
                                             [CTL_EVENT_FAILS] = HISTORY_FAILED};
    char who[WHO_BYTES] = "";

    if (event->kind == CTL_EVENT_NOTE)
        return;
    if (event->rank != CTL_NO_RANK)
        snprintf(who, sizeof(who), "rank %u", event->rank);
    history_note(h, &(struct history_note){what[event->kind], job->name, tenant, who, event->text});
}

/* --- what is shown ------------------------------------------------------------------------------------- */

static void show_time(char text[VIEW_TIME_MAX], uint64_t seconds, const char *form)
{
    const time_t t = (time_t)seconds;
    struct tm utc;

    gmtime_r(&t, &utc);
    strftime(text, VIEW_TIME_MAX, form, &utc);
}

/* Of this job; "": none. */
static void show_rank(char text[VIEW_NUMBER_MAX], const char *job, uint64_t rank)
{
    if (job[0] != '\0')
        snprintf(text, VIEW_NUMBER_MAX, "%" PRIu64, rank);
}

static void show_minute(void *out, const struct minute *minute)
{
    struct minute_view row = {.whole = !minute->is_job,
                              .drops = minute->drops,
                              .job = minute->is_job ? minute->job : NULL,
                              .tenant = minute->is_job ? minute->tenant : NULL,
                              .jobs = minute->jobs,
                              .bytes = minute->bytes,
                              .bytes_per_s = minute->bytes / minute->seconds,
                              .lost_up = minute->lost_up,
                              .lost_down = minute->lost_down,
                              .dropped = minute->dropped,
                              .late_us_mean = minute->late_us_mean};

    show_time(row.time, minute->begin, "%Y-%m-%dT%H:%MZ");
    if (row.whole) {
        row.latest_job = minute->latest_job;
        row.lossy_job = minute->lossy_job;
    }
    show_rank(row.latest_rank, minute->latest_job, minute->latest_rank);
    show_rank(row.lossy_rank, minute->lossy_job, minute->lossy_rank);
    view_row(out, &row);
}

static void show_event(const struct event *e, struct view_out *out)
{
    struct event_view row = {.what = words[e->what],
                             .job = e->job,
                             .tenant = e->tenant,
                             .who = e->who,
                             .text = e->text,
                             .times = e->times};

    show_time(row.time, e->at, "%Y-%m-%dT%H:%M:%SZ");
    view_row(out, &row);
}

/* The oldest of all kinds that has not been shown; NULL: all have been. */
static const struct event *next_event(const struct history *h, unsigned shown[HISTORY_WHATS])
{
    const struct event *oldest = NULL;
    unsigned of = 0;

    for (unsigned k = 0; k < HISTORY_WHATS; k++) {
        const struct event *e = shown[k] < ring_count(&h->kind[k]) ? ring_at(&h->kind[k], shown[k]) : NULL;

        if (e != NULL && (oldest == NULL || e->number < oldest->number)) {
            oldest = e;
            of = k;
        }
    }
    shown[of] += oldest != NULL;
    return oldest;
}

static unsigned show_events(const struct history *h, const char *job, struct view_out *out)
{
    unsigned shown[HISTORY_WHATS] = {0}, n = 0;
    const struct event *e;

    while ((e = next_event(h, shown)) != NULL) {
        if (job != NULL && !listed_is_called(e->job, e->tenant, job))
            continue;
        show_event(e, out);
        n++;
    }
    return n;
}

bool history_has(const struct view *view)
{
    return view == &views[VIEW_HISTORY] || view == &views[VIEW_EVENTS];
}

int history_show(struct history *h, const char *job, struct view_out *out)
{
    unsigned n = 0;

    if (h != NULL) {
        pthread_mutex_lock(&h->lock);
        n = out->view == &views[VIEW_HISTORY] ? minutes_visit(&h->minutes, job, show_minute, out)
                                              : show_events(h, job, out);
        pthread_mutex_unlock(&h->lock);
    }
    return n == 0 && job != NULL ? -ENOENT : 0;
}
