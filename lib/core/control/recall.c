#include "control/recall.h"

#include "control/join.h"
#include "control/life.h"
#include "control/tell.h"

bool ctl_recall_expects(const struct ctl_entry *job, unsigned rank)
{
    return job->members[rank].state == CTL_MEMBER_RECALLED;
}

/* A rank that was READY in this life of the job says that its switch has restarted. That was not this one, so
 * it was one below. */
static bool calls_for_recall(const struct ctl_entry *job, const struct ctl_message *m)
{
    return job->state == CTL_ENTRY_RUNNING && job->members[m->head.rank].state == CTL_MEMBER_JOINED &&
           m->join.resume && m->join.hops > 0 && m->head.epoch == job->epoch;
}

bool ctl_recall_join(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                     const struct ctl_message *m, uint64_t now)
{
    const bool calls = calls_for_recall(job, m);
    if (calls)
        ctl_entry_recall(r, job, m->head.rank, now);
    if (!ctl_entry_is_forming(job) || !ctl_recall_expects(job, m->head.rank))
        return calls; /* then it has failed */
    ctl_join_back(r, job, from, m, now);
    return true;
}

void ctl_recall_answer(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head)
{
    struct ctl_message m = {.head.type = CTL_UNKNOWN};
    ctl_answer_as(r, to, head, head->epoch, &m, ~ctl_guard_boot_id(&r->guard, r->cfg.boot_id, to));
}
