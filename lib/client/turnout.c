/* Who is in the sums of the last call. */
#include <string.h>

#include "protocol/ranks.h"
#include "request.h"

/* Without a quorum a sum has all ranks. */
static struct sml_turnout everybody(const struct swagg_job *job, uint64_t elements)
{
    struct sml_turnout t = {.least = job->options.size, .most = job->options.size, .elements = elements};
    for (unsigned rank = 0; rank < job->options.size; rank++)
        ranks_add(t.in_all, rank);
    memcpy(t.in_some, t.in_all, sizeof t.in_some);
    return t;
}

static struct sml_turnout of_call(const struct swagg_job *job, const struct request *r, bool compressed)
{
    if (!sml_gives((uint8_t)r->collective, (uint32_t)r->root, job->options.rank))
        return (struct sml_turnout){0};
    if (!job->terms.quorum)
        return everybody(job, r->count);
    return compressed ? job->compress.turnout : *job->flow->turnout(job->parts[0].stream);
}

void job_note_turnout(struct swagg_job *job, const struct request *r, bool compressed)
{
    struct sml_turnout *t = &job->turnout;
    *t = of_call(job, r, compressed);
    if (t->elements == 0) /* then nobody is in them */
        *t = (struct sml_turnout){.missed = t->missed};
    job->partial_calls += t->partial > 0 || t->missed > 0;
    job->left_out += t->left_out;
    job->missed += t->missed;
}

int swagg_get_turnout(struct swagg_job *job, struct swagg_turnout *turnout)
{
    if (!job || !turnout || turnout->struct_size < sizeof turnout->struct_size)
        return client_fail(SWAGG_ERR_ARGUMENT, "%s",
                           job && turnout ? "turnout.struct_size is not set: begin with SWAGG_TURNOUT_INIT"
                                          : "job or turnout is NULL");
    const size_t size = turnout->struct_size;
    pthread_mutex_lock(&job->lock);
    const struct sml_turnout *t = &job->turnout;
    struct swagg_turnout known = {.struct_size = size,
                                  .least = t->least,
                                  .most = t->most,
                                  .elements = t->elements,
                                  .partial = t->partial,
                                  .left_out = t->left_out,
                                  .missed = t->missed};
    memcpy(known.in_all, t->in_all, sizeof known.in_all);
    memcpy(known.in_some, t->in_some, sizeof known.in_some);
    pthread_mutex_unlock(&job->lock);
    memset(turnout, 0, size);
    memcpy(turnout, &known, size < sizeof known ? size : sizeof known);
    return SWAGG_OK;
}
