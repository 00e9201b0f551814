#include "atp/worker.h"

#include "atp/terms.h"

static bool accept(const struct agg_terms *wish, const struct agg_terms *granted, uint32_t *progress)
{
    struct atp_terms mine, job;

    if (!atp_terms_parse(&mine, wish) || !atp_terms_parse(&job, granted))
        return false;
    if (job.mode != mine.mode || job.format != mine.format || job.checksum != mine.checksum ||
        (job.keyed && !mine.keyed) || job.mapping != mine.mapping || job.per_rack != mine.per_rack ||
        job.near != mine.near || job.server != mine.server || job.servers != mine.servers)
        return false;
    *progress = job.first_sequence;
    return job.window >= ATP_MIN_WINDOW && job.window <= mine.window &&
           (job.window & (job.window - 1)) == 0 && job.chunk_bytes >= ATP_MIN_CHUNK_BYTES &&
           job.chunk_bytes <= mine.chunk_bytes && job.chunk_bytes % 4 == 0;
}

/* A server that has restarted has no job to resume (atp_terms_check): the wish says only who asks. */
static struct agg_terms resume(const struct agg_terms *granted, uint32_t progress)
{
    (void)progress;
    return *granted;
}

const struct agg_worker atp_worker = {.accept = accept, .resume = resume};
