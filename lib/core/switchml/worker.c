#include "switchml/worker.h"

#include <string.h>

#include "switchml/terms.h"

/* A switch that knows of no tables grants none: its jobs have no compressed calls, which is for the rank to
 * say. */
static bool has_my_table(const struct sml_terms *job, const struct sml_terms *mine)
{
    return job->table.code == 0 ||
           (memcmp(&job->table, &mine->table, sizeof job->table) == 0 &&
            job->compression == mine->compression && job->chunk_bytes >= SML_LOOK_UP_CHUNK_MIN);
}

/* Nor does one that knows of no quorum grant one: its sums are of all ranks. */
static bool has_my_quorum(const struct sml_terms *job, const struct sml_terms *mine)
{
    return job->quorum == 0 || (job->quorum == mine->quorum && job->wait_ms == mine->wait_ms);
}

static bool accept(const struct agg_terms *wish, const struct agg_terms *granted, uint32_t *progress)
{
    struct sml_terms mine, job;

    if (!sml_terms_parse(&mine, wish) || !sml_terms_parse(&job, granted))
        return false;
    if (job.format != mine.format || job.mode != mine.mode || job.checksum != mine.checksum ||
        job.tag_bits != 0 || (job.keyed && (!mine.keyed || job.plain)))
        return false;
    if (job.plain ? !sml_terms_published(&job) : mine.plain)
        return false;
    if (!has_my_table(&job, &mine) || !has_my_quorum(&job, &mine))
        return false;
    if (mine.resumed && (job.slots != mine.slots || job.chunk_bytes != mine.chunk_bytes))
        return false;
    *progress = job.first_tag;
    return job.slots >= 2 && job.slots <= SML_MAX_SLOTS && (job.slots & (job.slots - 1)) == 0 &&
           job.chunk_bytes >= SML_MIN_CHUNK_BYTES && job.chunk_bytes <= mine.chunk_bytes;
}

static struct agg_terms resume(const struct agg_terms *granted, uint32_t progress)
{
    struct agg_terms wish = *granted;
    struct sml_terms job;

    if (sml_terms_parse(&job, granted)) {
        job.resumed = true;
        job.first_tag = progress;
        sml_terms_build(&wish, &job);
    }
    return wish;
}

const struct agg_worker sml_worker = {.accept = accept, .resume = resume};
