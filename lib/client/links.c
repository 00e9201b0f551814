#include "links.h"

#include <stdio.h>
#include <string.h>

#include "local/plan.h"
#include "monotonic.h"
#include "standby.h"
#include "watch.h"

static const struct client_node *node_at(const struct swagg_job *job, unsigned node)
{
    return &job->options.in_switch.at[node];
}

static unsigned node_of(const struct job_part *part)
{
    return (unsigned)(part->node - part->job->options.in_switch.at);
}

void links_see(struct swagg_job *job, struct links_seen seen[LINKS_MAX])
{
    for (unsigned i = 0; i < job->part_count; i++) {
        struct job_part *part = &job->parts[i];
        seen[i] = (struct links_seen){
            .node = node_of(part), .joining = part->rejoining, .answers = watch_is_answered(part)};
        standby_see(part, &seen[i]);
    }
}

bool links_outlive(const struct job_part *part, const struct ctl_session *session)
{
    struct links_seen seen[LINKS_MAX];
    if (!job_may_outlive(part->job, session))
        return false;
    links_see(part->job, seen);
    return links_outlive_loss(&part->job->links, seen, part->index, (enum ctl_reason)session->failure.reason);
}

/* The part's place goes on at this node; 0, or -errno. */
static int move(struct job_part *part, const struct client_node *to)
{
    struct swagg_job *job = part->job;
    struct ctl_failure why = {.reason =
                                  links_is_lost(&job->links, node_of(part)) ? CTL_RANK_LOST : CTL_MOVED_BACK,
                              .rank = job->options.rank};
    char name[CTL_NAME_MAX];
    char unsaid[NETWORK_WORDS];
    struct transport *transport;
    int rc = job_open_transport(part, to, part->transport->mtu, &transport, unsaid);
    if (rc < 0)
        return rc;
    snprintf(why.text, sizeof why.text, "rank %u %s the switch %s", job->options.rank,
             why.reason == CTL_RANK_LOST ? "does without" : "needs no place of another at", part->node->text);
    struct ctl_session_config config = job_session_config(
        job, local_job_name(job->options.job, "link", part->index + 1, name), job->options.join_timeout_ns);
    config.join.data_port = transport->local_port;
    config.join.terms = job->worker->move(&part->granted, job->worker->oldest(part->stream));
    rc = membership_move(&part->membership, job->network, to, &config, &why, transport->socket.fd);
    if (rc < 0) {
        transport->ops->close(transport);
        return rc;
    }
    part->transport->ops->close(part->transport);
    part->transport = transport;
    part->node = to;
    part->generation = 0; /* of the new session's, before it is READY */
    part->rejoining = true;
    part->rejected = false;
    links_moved(&job->links, part->index);
    return 0;
}

/* The job does without this node from now on: what was there ends. */
static unsigned lose(struct swagg_job *job, const struct links_seen seen[], unsigned node)
{
    standby_abort(&job->parts[node]);
    return links_give_up(&job->links, seen, node, monotonic_ns());
}

static int move_all(struct swagg_job *job, struct links_seen seen[])
{
    const bool unheard = job->shares.agreeing && !job->shares.known;
    for (unsigned i = 0; i < job->part_count; i++) {
        unsigned to;
        int rc = 0;
        while ((to = links_node_for(&job->links, i)) != LINKS_NONE &&
               links_moves(&job->links, seen, i, unheard)) {
            rc = move(&job->parts[i], node_at(job, to));
            seen[i].node = node_of(&job->parts[i]);
            if (rc < 0) { /* nothing leads there either */
                standby_abort(&job->parts[to]);
                links_lose(&job->links, to, monotonic_ns());
            }
        }
        if (to == LINKS_NONE)
            return job_fail(job, SWAGG_ERR_SYSTEM, "rank %u: no link is left: %s", job->options.rank,
                            strerror(-rc));
    }
    return SWAGG_OK;
}

static void tell(struct swagg_job *job, enum swagg_event_kind kind, const struct client_node *node,
                 const char *text)
{
    logger_write(&job->options.log, SWAGG_LOG_WARN, "%s", text);
    events_tell(&job->events, &(struct swagg_event){.struct_size = sizeof(struct swagg_event),
                                                    .kind = kind,
                                                    .text = text,
                                                    .node = node->text,
                                                    .ends_in_ms = -1});
}

static void tell_back(struct swagg_job *job, unsigned node)
{
    char text[CLIENT_TEXT_MAX];
    snprintf(text, sizeof text, "job '%s': rank %u: the switch %s sums its part again", job->options.job,
             job->options.rank, node_at(job, node)->text);
    tell(job, SWAGG_EVENT_LINK_BACK, node_at(job, node), text);
}

/* Does without this node from now on, which a session has failed at, or is silent. It can be spared. */
static int give_up(struct swagg_job *job, struct links_seen seen[], unsigned node, const char *why)
{
    char text[CLIENT_TEXT_MAX];
    const unsigned back = lose(job, seen, node);
    if (back != LINKS_NONE)
        tell_back(job, back);
    const unsigned to = links_node_for(&job->links, node);
    snprintf(text, sizeof text, "job '%s': rank %u does without the switch %s; %s goes on with its part: %s",
             job->options.job, job->options.rank, node_at(job, node)->text,
             to != LINKS_NONE ? node_at(job, to)->text : "nobody", why);
    tell(job, SWAGG_EVENT_LINK_LOST, node_at(job, node), text);
    return move_all(job, seen);
}

int links_agreed(struct swagg_job *job, const uint32_t standby[])
{
    struct links_seen seen[LINKS_MAX];
    links_see(job, seen);
    const uint32_t back = links_take_back(&job->links, seen, standby);
    for (unsigned i = 0; i < job->part_count; i++)
        if (back >> i & 1)
            tell_back(job, i);
    return move_all(job, seen);
}

int links_follow(struct job_part *part, const struct ctl_session *session)
{
    struct links_seen seen[LINKS_MAX];
    links_see(part->job, seen);
    if (session->failure.reason != CTL_MOVED_BACK)
        return give_up(part->job, seen, node_of(part), session->failure.text);
    links_set_adrift(&part->job->links, part->index);
    part->rejoining = true;
    return move_all(part->job, seen);
}

int links_look(struct swagg_job *job, uint64_t now)
{
    struct links_seen seen[LINKS_MAX];
    unsigned failed = LINKS_NONE;
    char why[CTL_TEXT_MAX];
    if (!job_has_links(job))
        return SWAGG_OK;
    links_see(job, seen);
    for (unsigned i = 0; i < job->part_count && job->shares.on; i++)
        if (standby_look_after(&job->parts[i], links_look_after(&job->links, seen, i, now), now))
            failed = i;
    if (failed != LINKS_NONE && links_can_spare(&job->links, seen, failed))
        return give_up(job, seen, failed, "not all ranks reach it any more");
    const unsigned silent = links_silent(&job->links, seen, now);
    if (silent == LINKS_NONE)
        return SWAGG_OK;
    snprintf(why, sizeof why, "it has not answered for %.1f s",
             (double)job->links.silent[silent] / NS_PER_SECOND);
    return give_up(job, seen, silent, why);
}
