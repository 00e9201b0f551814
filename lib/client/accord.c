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

int accord_all_well(struct swagg_job *job, bool well)
{
    float amiss = well ? 0 : 1;
    const int rc = accord_sum(job, &amiss, 1);
    return rc < 0 ? rc : amiss == 0;
}

void accord_forget(struct swagg_job *job)
{
    drive_lock(job);
    job->calls = job->elements = job->bytes = job->call_ns = 0;
    job_show(job);
    drive_unlock(job);
}
