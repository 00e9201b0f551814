#include "aggregate/jobs_room.h"

#include "config/room.h"

enum { EVERY_JOB = COUNTED_PROTOCOLS * JOBS_MAX };

static unsigned list(const struct jobs *jobs, struct room_job to[EVERY_JOB])
{
    unsigned n = 0;

    for (unsigned i = 0; i < EVERY_JOB; i++) {
        const struct job *job = jobs_find(jobs, i / JOBS_MAX, i % JOBS_MAX);

        if (job != NULL)
            to[n++] = (struct room_job){.name = job->name,
                                        .tenant = job->tenant,
                                        .founder = job->founder,
                                        .slots = job->slots,
                                        .bytes = job->bytes};
    }
    return n;
}

bool jobs_have_room(const struct jobs *jobs, const struct jobs_plan *plan, const struct agg_footprint *f,
                    char text[AGG_TEXT_MAX])
{
    struct room_job running[EVERY_JOB];
    const struct room_job asked = {
        .tenant = plan->tenant, .founder = plan->founder, .slots = f->slots, .bytes = f->bytes};
    const struct room room = {.whose = "the switch",
                              .bytes = jobs->bytes_max,
                              .held = jobs->bytes,
                              .slots = jobs->quota.slots,
                              .bytes_a_job = jobs->quota.bytes_a_job,
                              .tenants = jobs->quota.tenants,
                              .tenant = jobs->quota.tenant,
                              .jobs = list(jobs, running),
                              .job = running};

    return room_for(&room, &asked, text);
}
