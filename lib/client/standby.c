#include "standby.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "local/plan.h"
#include "monotonic.h"

enum {
    SLOTS = 2,
    JOIN_WITHIN_DAYS = 365,
};
static const uint64_t JOIN_WITHIN_NS = JOIN_WITHIN_DAYS * UINT64_C(86400) * NS_PER_SECOND;

/* Nothing of its news is the program's, and there is no other work for its thread. */
static void hear(void *ctx, enum membership_news news, const struct ctl_session *session)
{
    (void)ctx, (void)news, (void)session;
}

static uint64_t no_turn(void *ctx)
{
    (void)ctx;
    return UINT64_MAX;
}

static bool open_one(struct job_part *part)
{
    struct swagg_job *job = part->job;
    const struct client_options *o = &job->options;
    const struct keys_key *key = membership_key(&part->membership);
    struct agg_wishes wishes = client_wishes(o);
    char name[CTL_NAME_MAX];
    wishes.slots = SLOTS;
    struct ctl_session_config config =
        job_session_config(job, local_job_name(o->job, "back", part->index + 1, name), JOIN_WITHIN_NS);
    config.join.data_port = part->transport->local_port; /* where nothing comes */
    config.join.terms = job->worker->wish(&wishes, part->index, part->transport->mtu, key != NULL);
    const struct membership_parts parts = {.network = job->network,
                                           .node = &o->in_switch.at[part->index],
                                           .config = &config,
                                           .key = key,
                                           .worker = job->worker,
                                           .log = &o->log,
                                           .guest = {.fd = -1, .turn = no_turn},
                                           .hearer = {.hear = hear},
                                           .wake_caller = &job->waker};
    return membership_open(&part->standby, &parts) == 0;
}

static bool is_open(const struct job_part *part)
{
    return part->job->links.standby[part->index].open;
}

static void close_one(struct job_part *part)
{
    membership_stop(&part->standby);
    membership_close(&part->standby);
}

void standby_see(struct job_part *part, struct links_seen *seen)
{
    struct ctl_session session;
    if (!is_open(part))
        return;
    membership_look(&part->standby, &session);
    links_see_standby(seen, &session);
    seen->standby_failed |= membership_fds_are_closed(&part->standby);
}

void standby_abort(struct job_part *part)
{
    if (!is_open(part))
        return;
    membership_abort(&part->standby, CTL_RANK_LOST, part->job->options.rank, "it does without this switch");
    close_one(part);
}

bool standby_look_after(struct job_part *part, enum links_deed deed, uint64_t now)
{
    switch (deed) {
    case LINKS_OPEN:
        links_opened(&part->job->links, part->index, open_one(part), now);
        return false;
    case LINKS_LEAVE:
        membership_leave(&part->standby);
        close_one(part);
        return false;
    case LINKS_CLOSE:
    case LINKS_GIVE_UP:
        close_one(part);
        return deed == LINKS_GIVE_UP;
    default:
        return false;
    }
}

void standby_close(struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++) {
        struct job_part *part = &job->parts[i];
        if (!is_open(part))
            continue;
        if (job->owner != getpid()) {
            membership_abandon(&part->standby);
            continue;
        }
        membership_leave(&part->standby);
        close_one(part);
    }
}
