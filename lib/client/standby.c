#include "standby.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "local/plan.h"
#include "monotonic.h"

enum {
    SLOTS = 2,
    PAUSE_TIMES_MAX = 64, /* of options.link_timeout_ms, between two tries */
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
    return membership_open(&part->standby.membership, &parts) == 0;
}

static void close_one(struct standby *s)
{
    if (!s->is_open)
        return;
    membership_stop(&s->membership);
    membership_close(&s->membership);
    s->is_open = false;
}

static void wait_longer(struct standby *s, uint64_t now, uint64_t least)
{
    const uint64_t twice = s->pause * 2, most = least * PAUSE_TIMES_MAX;
    s->pause = twice < least ? least : twice > most ? most : twice;
    s->try_at = now + s->pause;
}

void standby_begin(struct swagg_job *job, unsigned i, uint64_t now)
{
    struct standby *s = &job->parts[i].standby;
    if (s->is_open) /* so that the others hear of it there */
        membership_abort(&s->membership, CTL_RANK_LOST, job->options.rank, "it does without this switch");
    close_one(s);
    wait_longer(s, now, job->options.link_timeout_ns);
}

/* Of a restart nobody knows who of the others has noticed it: it is joined as another one. */
static bool has_failed(struct standby *s)
{
    struct ctl_session session;
    membership_look(&s->membership, &session);
    return (session.state != CTL_SESSION_JOINING && session.state != CTL_SESSION_READY) ||
           membership_fds_are_closed(&s->membership);
}

/* All ranks are in its own place's job there again. */
static bool is_over(const struct job_part *part)
{
    return !job_is_link_lost(part->job, part->index) && !part->rejoining &&
           part->node == &part->job->options.in_switch.at[part->index];
}

/* Until its place goes on elsewhere the ranks are at the loss of the link. */
static void try_again(struct job_part *part, uint64_t now)
{
    struct standby *s = &part->standby;
    if (now < s->try_at || part->rejoining || !job_is_link_lost(part->job, part->index))
        return;
    s->is_open = open_one(part);
    if (!s->is_open)
        wait_longer(s, now, part->job->options.link_timeout_ns);
}

const struct client_node *standby_look(struct swagg_job *job, uint64_t now)
{
    const struct client_node *failed = NULL;
    for (unsigned i = 0; i < job->part_count && job->rates.on; i++) {
        struct job_part *part = &job->parts[i];
        struct standby *s = &part->standby;
        if (!s->is_open) {
            try_again(part, now);
        } else if (is_over(part)) {
            membership_leave(&s->membership);
            close_one(s);
        } else if (has_failed(s)) {
            close_one(s);
            if (job_is_link_lost(job, i))
                wait_longer(s, now, job->options.link_timeout_ns);
            else
                failed = &job->options.in_switch.at[i];
        }
    }
    return failed;
}

uint32_t standby_name(struct swagg_job *job, unsigned i)
{
    struct standby *s = &job->parts[i].standby;
    struct ctl_session session;
    if (!s->is_open)
        return 0;
    membership_look(&s->membership, &session);
    const bool silent = ctl_session_silence(&session) > session.ready.lost_after_ms * NS_PER_MS / 2;
    return session.state == CTL_SESSION_READY && !silent ? session.epoch : 0;
}

void standby_close(struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++) {
        struct standby *s = &job->parts[i].standby;
        if (s->is_open && job->owner != getpid()) {
            membership_abandon(&s->membership);
            s->is_open = false;
        } else if (s->is_open) {
            membership_leave(&s->membership);
            close_one(s);
        }
    }
}
