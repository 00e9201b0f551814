#include "added.h"

#include <stdlib.h>

#include "base/log.h"
#include "membership.h"
#include "operator/added_job.h"
#include "registry/registry_added.h"
#include "setup.h"

/* What the helper is told of the job that is alone in a configuration; NULL after logging what this switch
 * cannot do. */
static json_t *describe(const struct config *alone)
{
    if (alone->static_jobs > 0)
        return setup_describe_static(&alone->static_job[0]);
    log_error("this switch has jobs of the list static alone: it sums no RDMA messages");
    return NULL;
}

/* next: as the running configuration, and with the job after that. 0, or -errno after logging. */
static int check(struct registry_host *h, struct config *next, const struct config *alone)
{
    const char *name = alone->static_job[0].common.name;
    int rc = config_take_added(next, alone);

    if (rc == 0)
        rc = registry_check_quota(h, next, name);
    return rc == 0 ? registry_check_senders(h, &next->static_job[next->static_jobs - 1]) : rc;
}

/* The job becomes one of the running configuration's. NULL after logging why not. */
static json_t *take(const struct common_host *host, const struct config *alone)
{
    struct config *running = host->reload->running, *next = malloc(sizeof(*next));
    json_t *described = next == NULL ? NULL : describe(alone);

    if (next == NULL)
        log_error("no memory");
    else
        *next = *running;
    if (described != NULL && check(host->registry, next, alone) < 0) {
        json_decref(described);
        described = NULL;
    }
    if (described != NULL)
        *running = *next;
    free(next);
    return described;
}

json_t *added_begin(const struct common_host *host, const struct request *request, struct reply *reply)
{
    struct config *alone = added_job_read(host->reload->running, request, reply);
    struct hearing hearing;
    json_t *described;

    if (alone == NULL)
        return NULL;
    hearing_begin(&hearing);
    described = take(host, alone);
    hearing_end(&hearing, described != NULL, reply);
    free(alone);
    return described == NULL ? NULL : json_pack("{s:s,s:o}", "do", "add", "static", described);
}

bool added_end(const struct common_host *host, const char *name, bool done, uint64_t now)
{
    if (done)
        log_notice("job %s: added by the operator", name);
    else
        config_delete_added(host->reload->running, name);
    return membership_follow((struct membership *)host->registry, now);
}

json_t *added_begin_to_delete(const struct common_host *host, const char *name, struct reply *reply)
{
    struct hearing hearing;
    int rc;

    hearing_begin(&hearing);
    rc = config_check_added(host->reload->running, name);
    hearing_end(&hearing, rc == 0, reply);
    return rc < 0 ? NULL : json_pack("{s:s,s:s}", "do", "remove", "static", name);
}

bool added_end_to_delete(const struct common_host *host, const char *name, bool done, uint64_t now)
{
    if (!done)
        return true;
    config_delete_added(host->reload->running, name);
    log_notice("job %s: deleted by the operator", name);
    return membership_follow((struct membership *)host->registry, now);
}
