#include "control/job.h"

bool ctl_job_had_number(const struct ctl_job *job, uint8_t number)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].origin == CTL_RESUMES && job->members[rank].resume_job == number)
            return true;
    return false;
}

struct ctl_ranks ctl_job_in_state(const struct ctl_job *job, enum ctl_member_state state)
{
    struct ctl_ranks set = {0};
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == state)
            ctl_ranks_add(&set, rank);
    return set;
}

struct ctl_ranks ctl_job_silent(const struct ctl_job *job, uint64_t since)
{
    struct ctl_ranks set = {0};
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == CTL_MEMBER_JOINED && job->members[rank].heard_at < since)
            ctl_ranks_add(&set, rank);
    return set;
}

bool ctl_job_has(const struct ctl_job *job, enum ctl_origin origin)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == CTL_MEMBER_JOINED && job->members[rank].origin == origin)
            return true;
    return false;
}

uint64_t ctl_job_roster(const struct ctl_job *job)
{
    uint64_t all = 0;
    for (unsigned rank = 0; rank < job->size; rank++)
        all ^= job->members[rank].incarnation;
    return all;
}

const char *ctl_job_state_name(enum ctl_job_state state)
{
    static const char *const names[] = {
        [CTL_JOB_FREE] = "free",       [CTL_JOB_FORMING] = "forming", [CTL_JOB_PREPARING] = "preparing",
        [CTL_JOB_RUNNING] = "running", [CTL_JOB_FAILED] = "failed",
    };
    return (unsigned)state <= CTL_JOB_FAILED ? names[state] : "?";
}
