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
    if (mine.resumed && (job.window != mine.window || job.chunk_bytes != mine.chunk_bytes))
        return false;
    *progress = job.first_sequence;
    return job.window >= ATP_MIN_WINDOW && job.window <= mine.window &&
           (job.window & (job.window - 1)) == 0 && job.chunk_bytes >= ATP_MIN_CHUNK_BYTES &&
           job.chunk_bytes <= mine.chunk_bytes && job.chunk_bytes % 4 == 0;
}

static struct agg_terms resume(const struct agg_terms *granted, uint32_t progress)
{
    struct agg_terms wish = *granted;
    struct atp_terms job;

    if (atp_terms_parse(&job, granted)) {
        job.resumed = true;
        job.first_sequence = progress;
        atp_terms_build(&wish, &job);
    }
    return wish;
}

const struct agg_worker atp_worker = {.accept = accept, .resume = resume};
