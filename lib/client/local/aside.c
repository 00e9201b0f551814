#include "local/level.h"

bool level_takes(const struct swagg_job *job, const struct xfer_call *call, bool compressed)
{
    if (!job->level)
        return false;
    const bool sums = call->collective == XFER_ALLREDUCE || call->collective == XFER_REDUCE;
    return job->part_count == 0 || (sums && !compressed);
}

static void pass(void *ctx, const struct xfer_call *call)
{
    struct level *l = ctx;
    local_pass(&l->member, call);
}

/* A compressed one as it is told from a plain one. */
static struct xfer_call shown(const struct swagg_job *job, const struct swagg_request *r)
{
    const struct compress_call indices = {.floats = r->call.count, .average = r->call.op == SWAGG_AVG};
    return r->compressed ? compress_call_indices(&job->compress, &indices) : r->call;
}

void level_pass(struct swagg_job *job, const struct swagg_request *r)
{
    struct level *l = job->level;
    if (!l)
        return;
    struct xfer_call call = shown(job, r);
    turns_pass(&l->turns, &call, pass);
    struct local_seat *seat = &l->memory.board->seats[l->member.me];
    memory_wake_sleepers(&seat->in);
    memory_wake_sleepers(&seat->summed);
}
