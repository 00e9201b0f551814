/* What the page shows (page.html): views as one object of JSON, as much of it as is bounded. */
#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"
#include "monotonic.h"
#include "views/listed.h"

enum { JOBS_SHOWN = 64 };

/* A view, of the job of this name; NULL: there is none. */
static json_t *whole(const struct view_source *host, enum view_id id, const char *name)
{
    json_t *object, *counters;
    struct view_out out;
    int rc;

    view_begin(&out, &views[id]);
    rc = host->fill(host->context, &views[id], name, &out);
    if (view_end(&out, &object, &counters) < 0)
        return NULL;
    json_decref(counters);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* Of a view its table alone. */
static json_t *rows_of(const struct view_source *host, enum view_id id, const char *name)
{
    json_t *object = whole(host, id, name), *rows = json_incref(json_object_get(object, views[id].name));

    json_decref(object);
    return rows;
}

static void put(json_t *object, const char *key, json_t *value)
{
    if (value != NULL)
        json_object_set_new(object, key, value);
}

/* As many jobs, and ranks of them, as there is room for. */
static json_t *jobs_of(const struct view_source *host, unsigned ranks)
{
    struct listed_jobs *list = listed_jobs(host);
    json_t *jobs = json_array();

    for (unsigned i = 0; list != NULL && i < list->n && i < JOBS_SHOWN; i++) {
        const struct listed_job *of = &list->job[i];
        json_t *job = whole(host, VIEW_JOB, of->call);

        if (job == NULL)
            continue; /* it has ended meanwhile */
        if (of->size <= ranks) {
            put(job, "ranks", rows_of(host, VIEW_MEMBERS, of->call));
            ranks -= (unsigned)of->size;
        }
        json_array_append_new(jobs, job);
    }
    free(list);
    return jobs;
}

char *metrics_live(const struct view_source *host, unsigned ranks, size_t *bytes)
{
    json_t *live = json_object();
    char *text;

    put(live, "made_ms", json_integer((json_int_t)(monotonic_ns() / NS_PER_MS)));
    put(live, "status", whole(host, VIEW_STATUS, NULL));
    put(live, "ports", rows_of(host, VIEW_PORTS, NULL));
    put(live, "lcores", rows_of(host, VIEW_LCORES, NULL));
    put(live, "uplinks", rows_of(host, VIEW_UPLINKS, NULL));
    put(live, "peers", rows_of(host, VIEW_PEERS, NULL));
    put(live, "drops", whole(host, VIEW_DROPS, NULL));
    put(live, "jobs", jobs_of(host, ranks));
    text = json_dumps(live, JSON_COMPACT);
    json_decref(live);
    *bytes = text == NULL ? 0 : strlen(text);
    return text;
}

void metrics_show_peers(const struct config_metrics *cfg, struct view_out *out)
{
    struct peer_view row;

    for (unsigned i = 0; i < cfg->switches; i++) {
        view_address(row.address, cfg->tree[i].ip, cfg->tree[i].port, 1);
        view_row(out, &row);
    }
}
