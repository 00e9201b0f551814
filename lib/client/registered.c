/* Memory of the program's that the job's NIC may read, by all transports of the job: those of its threads,
 * too. */
#include <errno.h>
#include <string.h>

#include "drive.h"
#include "job.h"
#include "lanes.h"

typedef int step(struct transport *t, const void *memory, size_t bytes);

static int show(struct transport *t, const void *memory, size_t bytes)
{
    return t->ops->show ? t->ops->show(t, memory, bytes) : 0;
}

static int hide(struct transport *t, const void *memory, size_t bytes)
{
    (void)bytes;
    return t->ops->hide ? t->ops->hide(t, memory) : 0;
}

/* Takes all steps, and returns the first error. */
static int for_transports(struct swagg_job *job, step *one, const void *memory, size_t bytes)
{
    int first = 0;
    drive_lock(job);
    for (unsigned i = 0; i < job->part_count; i++) {
        const int rc = one(job->parts[i].transport, memory, bytes);
        first = first < 0 ? first : rc;
    }
    drive_unlock(job);
    return first;
}

static int for_all(struct swagg_job *job, step *one, const void *memory, size_t bytes)
{
    int first = for_transports(job, one, memory, bytes);
    for (unsigned i = 0; job->lanes && i < job->lanes->n; i++) {
        const int rc = for_transports(job->lanes->lane[i], one, memory, bytes);
        first = first < 0 ? first : rc;
    }
    return first;
}

static int check(const struct swagg_job *job, const void *memory, size_t bytes)
{
    const int rc = job_check_own(job);
    if (rc == SWAGG_OK && (!memory || bytes == 0))
        return client_fail(SWAGG_ERR_ARGUMENT, "memory is NULL, or bytes is 0");
    return rc;
}

int swagg_register(struct swagg_job *job, const void *memory, size_t bytes)
{
    int rc = check(job, memory, bytes);
    if (rc < 0)
        return rc;
    rc = for_all(job, show, memory, bytes);
    if (rc == -EEXIST)
        return client_fail(SWAGG_ERR_ARGUMENT, "job '%s': memory at %p is registered already",
                           job->options.job, memory);
    if (rc == 0)
        return SWAGG_OK;
    for_all(job, hide, memory, bytes);
    return client_fail(SWAGG_ERR_SYSTEM, "job '%s': %zu bytes of memory are not registered: %s%s",
                       job->options.job, bytes, strerror(-rc), rc == -ENOMEM ? " (ulimit -l)" : "");
}

int swagg_unregister(struct swagg_job *job, const void *memory)
{
    int rc = check(job, memory, 1);
    if (rc < 0)
        return rc;
    rc = for_all(job, hide, memory, 0);
    if (rc == -ENOENT)
        return client_fail(SWAGG_ERR_ARGUMENT, "job '%s': no memory that begins at %p is registered",
                           job->options.job, memory);
    return rc < 0 ? client_fail(SWAGG_ERR_SYSTEM, "job '%s': the NIC does not let go of memory: %s",
                                job->options.job, strerror(-rc))
                  : SWAGG_OK;
}
