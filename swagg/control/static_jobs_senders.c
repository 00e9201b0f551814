/* New static jobs beside ranks that have joined: no packet may belong to two jobs. */
#include <errno.h>

#include "base/log.h"
#include "control/registrar.h"
#include "control/static_jobs.h"

struct search {
    const struct static_jobs_change *change;
    bool found;
};

/* Whether its data packets would come to the worker's job. */
static bool sends_as(const struct config_static *s, const struct config_peer *worker,
                     const struct ctl_entry *job, const struct ctl_member *m)
{
    return m->state == CTL_MEMBER_JOINED && job->network == s->network && m->endpoint.ip == worker->ip &&
           m->data_port >= worker->port && m->data_port < worker->port + s->threads;
}

static void say_taken(const struct config_static *s, unsigned worker, const struct ctl_entry *job,
                      unsigned rank)
{
    const uint8_t *ip = (const uint8_t *)&s->worker[worker].ip;

    log_error("static[%s].workers[%u]: UDP port %u of %u.%u.%u.%u is rank %u's of job %s, which has joined: "
              "give the worker another, or let that job come to its end first (swaggctl job drain)",
              s->name, worker, job->members[rank].data_port, ip[0], ip[1], ip[2], ip[3], rank, job->name);
}

static void compare(struct search *search, const struct config_static *s, const struct ctl_entry *job)
{
    for (unsigned w = 0; w < s->workers; w++)
        for (unsigned rank = 0; rank < job->size; rank++)
            if (!search->found && sends_as(s, &s->worker[w], job, &job->members[rank])) {
                say_taken(s, w, job, rank);
                search->found = true;
            }
}

static void visit(void *context, const struct registry_job *job)
{
    struct search *search = context;
    const struct config *next = search->change->next;

    for (unsigned i = 0; i < next->static_jobs && ctl_entry_is_live(job->entry); i++)
        if (static_jobs_is_new(search->change, i))
            compare(search, &next->static_job[i], job->entry);
}

int static_jobs_check_senders(struct registrar *r, const struct static_jobs_change *change)
{
    struct search search = {.change = change};

    registry_host_visit(&r->common, visit, &search);
    return search.found ? -EBUSY : 0;
}
