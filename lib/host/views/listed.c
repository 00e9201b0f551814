#include "views/listed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list_job(void *context, const struct view_field *fields, const void *from)
{
    struct listed_jobs *list = context;
    const struct jobs_view *row = from;
    const char *tenant = row->tenant == NULL ? "" : row->tenant;
    struct listed_job *job = &list->job[list->n];

    if (fields != views[VIEW_JOBS].row || list->n == LISTED_JOBS_MAX)
        return;
    list->n++;
    snprintf(job->name, sizeof(job->name), "%s", row->name);
    snprintf(job->tenant, sizeof(job->tenant), "%s", tenant);
    snprintf(job->call, sizeof(job->call), "%s%s%s", tenant, row->tenant == NULL ? "" : "/", row->name);
    job->size = row->size;
}

struct listed_jobs *listed_jobs(const struct view_source *host)
{
    struct listed_jobs *list = calloc(1, sizeof(*list));
    struct view_out out;

    if (list == NULL)
        return NULL;
    view_visit(&out, &views[VIEW_JOBS], list_job, list);
    host->fill(host->context, &views[VIEW_JOBS], NULL, &out);
    return list;
}

bool listed_is_called(const char *name, const char *tenant, const char *called)
{
    const size_t n = strlen(tenant);

    return strcmp(name, called) == 0 ||
           (strncmp(tenant, called, n) == 0 && called[n] == '/' && strcmp(name, called + n + 1) == 0);
}
