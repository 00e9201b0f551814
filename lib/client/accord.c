#include "accord.h"

#include "await.h"
#include "drive.h"
#include "monotonic.h"

int accord_sum(struct swagg_job *job, float *floats, size_t n)
{
    const uint64_t now = monotonic_ns();
    struct swagg_request request = {
        .job = job,
        .call = {.collective = XFER_ALLREDUCE, .type = AGG_F32, .op = AGG_SUM, .count = n},
        .only = {.in = floats, .out = floats, .count = n},
        .segments = &request.only,
        .n = 1,
        .began = now,
        .deadline = now + job->options.call_timeout_ns,
    };
    return await_call(&request);
}

int accord_all_well(struct swagg_job *job, const char *why, const char *otherwise)
{
    float amiss = why[0] == '\0' ? 0 : 1;
    const int rc = accord_sum(job, &amiss, 1);
    if (rc == SWAGG_OK && amiss != 0) /* one rank says it for all who have nothing to say themselves */
        logger_write(&job->options.log, why[0] || job->options.rank == 0 ? SWAGG_LOG_WARN : SWAGG_LOG_INFO,
                     "job '%s': %s: %s", job->options.job, otherwise, why[0] ? why : "some rank cannot");
    return rc < 0 ? rc : amiss == 0;
}

void accord_forget(struct swagg_job *job)
{
    drive_lock(job);
    job->calls = job->elements = job->bytes = job->call_ns = 0;
    job_show(job);
    drive_unlock(job);
}
