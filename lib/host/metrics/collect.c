/* What is gathered for a scrape: views of the host, then of each job, then of its ranks. */
#include <stdlib.h>

#include "metrics/families.h"
#include "metrics/metrics.h"
#include "views/listed.h"

/* The latest ranks of a job. */
struct latest {
    unsigned n, most;
    struct rank_view *row;
};

/* Of ranks that a switch below sends for together the first has the numbers. */
static uint64_t late_ns(const struct rank_view *r)
{
    return r->together ? 0 : r->late_us_log2.sum_ns;
}

static bool is_later(const struct rank_view *a, const struct rank_view *b)
{
    return late_ns(a) > late_ns(b);
}

/* Keeps it in the place of the one that is least late. What is told is told once, so that it may be added up
 * over ranks. */
static void choose_rank(void *context, const struct view_field *fields, const void *from)
{
    struct latest *latest = context;
    struct rank_view *to = latest->row;

    if (fields != views[VIEW_MEMBERS].row)
        return;
    if (latest->n < latest->most) {
        to = &latest->row[latest->n++];
    } else {
        for (struct rank_view *r = latest->row; r < latest->row + latest->n; r++)
            to = is_later(to, r) ? r : to;
        if (!is_later(from, to))
            return;
    }
    *to = *(const struct rank_view *)from;
    to->late_us_log2.of = to->delays;
    to->delays_noted = to->delays_noted && !to->together;
}

static int by_rank(const void *a, const void *b)
{
    const uint64_t rank = ((const struct rank_view *)a)->rank, other = ((const struct rank_view *)b)->rank;

    return (rank > other) - (rank < other);
}

static void take_ranks(const struct view_source *host, struct families *f, const struct listed_job *job,
                       const char *const *labels, struct latest *latest)
{
    const struct view *view = &views[VIEW_MEMBERS];
    struct view_out out;

    latest->n = 0;
    view_visit(&out, view, choose_rank, latest);
    if (host->fill(host->context, view, job->call, &out) < 0)
        return;
    qsort(latest->row, latest->n, sizeof(*latest->row), by_rank);
    families_take(f, view, labels, &out);
    for (unsigned i = 0; i < latest->n; i++)
        families_row(f, &latest->row[i]);
}

static void take_job(const struct view_source *host, struct families *f, const struct listed_job *job,
                     struct latest *latest)
{
    const char *const labels[] = {"job_name", job->name, "tenant", job->tenant, NULL};
    struct view_out out;

    families_take(f, &views[VIEW_JOB], NULL, &out);
    if (host->fill(host->context, &views[VIEW_JOB], job->call, &out) == 0)
        take_ranks(host, f, job, labels, latest);
}

static void take_jobs(const struct view_source *host, struct families *f, unsigned ranks,
                      const struct listed_jobs *list)
{
    struct latest latest = {0};

    if (list->n == 0)
        return;
    latest.most = ranks < list->n ? 1 : ranks / list->n;
    latest.row = calloc(latest.most, sizeof(*latest.row));
    for (unsigned i = 0; latest.row != NULL && i < list->n; i++)
        take_job(host, f, &list->job[i], &latest);
    free(latest.row);
}

char *metrics_collect(const struct view_source *host, unsigned ranks, bool open, size_t *bytes)
{
    struct listed_jobs *list = listed_jobs(host);
    struct families *f = families_new();
    struct view_out out;
    char *text = NULL;

    for (unsigned i = 0; f != NULL && i < VIEWS; i++) {
        if (views[i].metric == NULL || views[i].of == VIEW_OF_JOB)
            continue;
        families_take(f, &views[i], NULL, &out);
        host->fill(host->context, &views[i], NULL, &out);
    }
    if (f != NULL && list != NULL) {
        take_jobs(host, f, ranks, list);
        text = families_text(f, open, bytes);
    }
    families_free(f);
    free(list);
    return text;
}
