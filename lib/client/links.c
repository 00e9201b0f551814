#include "links.h"

#include <stdio.h>
#include <string.h>

#include "local/plan.h"
#include "monotonic.h"
#include "standby.h"
#include "watch.h"

enum { PAUSE_MAX_MS = 1000 }; /* between two looks: in a longer one this process may have stood still */

static unsigned index_of(const struct swagg_job *job, const struct client_node *node)
{
    return (unsigned)(node - job->options.in_switch.at);
}

static bool is_lost(const struct swagg_job *job, const struct client_node *node)
{
    return job_is_link_lost(job, index_of(job, node));
}

/* Who goes on with a place: its own node, or the first behind it that is left; NULL: none is. */
static const struct client_node *node_for(const struct swagg_job *job, unsigned place)
{
    for (unsigned i = 0; i < job->part_count; i++) {
        const struct client_node *node = &job->options.in_switch.at[(place + i) % job->part_count];
        if (!is_lost(job, node))
            return node;
    }
    return NULL;
}

/* One that could be taken back at once; NULL: there is none. */
static const struct client_node *find_standby(struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++)
        if (job_is_link_lost(job, i) && standby_name(job, i) != 0)
            return &job->options.in_switch.at[i];
    return NULL;
}

/* Whether the job can do without this node. */
static bool has_another(struct swagg_job *job, const struct client_node *node)
{
    const unsigned others = job->part_count - job_links_lost(job) - !is_lost(job, node);
    return others > 0 || find_standby(job) != NULL;
}

bool links_outlive(const struct job_part *part, const struct ctl_session *session)
{
    return job_may_outlive(part->job, session) &&
           (session->failure.reason == CTL_MOVED_BACK || has_another(part->job, part->node));
}

static void lose(struct swagg_job *job, const struct client_node *node)
{
    atomic_fetch_or(&job->links_lost, 1u << index_of(job, node));
    standby_begin(job, index_of(job, node), monotonic_ns());
}

/* The part's place goes on at this node; 0, or -errno. */
static int move(struct job_part *part, const struct client_node *to)
{
    struct swagg_job *job = part->job;
    struct ctl_failure why = {.reason = is_lost(job, part->node) ? CTL_RANK_LOST : CTL_MOVED_BACK,
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
    part->adrift = part->rejected = false;
    return 0;
}

/* Where it is to be; not while it is to be heard where that is. */
static bool is_placed(const struct job_part *part, const struct client_node *to)
{
    const struct rates *r = &part->job->rates;
    return part->adrift ? r->agreeing && !r->known : part->node == to;
}

static int move_all(struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++) {
        struct job_part *part = &job->parts[i];
        const struct client_node *to;
        int rc = 0;
        while ((to = node_for(job, i)) != NULL && !is_placed(part, to) && (rc = move(part, to)) < 0)
            lose(job, to); /* nothing leads there either */
        if (!to)
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

static void take_back(struct swagg_job *job, const struct client_node *node)
{
    char text[CLIENT_TEXT_MAX];
    atomic_fetch_and(&job->links_lost, ~(1u << index_of(job, node)));
    job->parts[index_of(job, node)].silent_ns = 0;
    snprintf(text, sizeof text, "job '%s': rank %u: the switch %s sums its part again", job->options.job,
             job->options.rank, node->text);
    tell(job, SWAGG_EVENT_LINK_BACK, node, text);
}

/* Does without this node from now on, which a session has failed at, or is silent. It is not the last. */
static int give_up(struct swagg_job *job, const struct client_node *node, const char *why)
{
    char text[CLIENT_TEXT_MAX];
    const struct client_node *standby = find_standby(job);
    lose(job, node);
    if (!node_for(job, 0) && standby)
        take_back(job, standby);
    const struct client_node *to = node_for(job, index_of(job, node));
    snprintf(text, sizeof text, "job '%s': rank %u does without the switch %s; %s goes on with its part: %s",
             job->options.job, job->options.rank, node->text, to ? to->text : "nobody", why);
    tell(job, SWAGG_EVENT_LINK_LOST, node, text);
    return move_all(job);
}

int links_agreed(struct swagg_job *job, const uint32_t standby[])
{
    for (unsigned i = 0; i < job->part_count; i++)
        if (job_is_link_lost(job, i) && standby[i] != 0 && standby_name(job, i) == standby[i])
            take_back(job, &job->options.in_switch.at[i]);
    return move_all(job);
}

int links_follow(struct job_part *part, const struct ctl_session *session)
{
    if (session->failure.reason != CTL_MOVED_BACK)
        return give_up(part->job, part->node, session->failure.text);
    part->adrift = part->rejoining = true;
    return move_all(part->job);
}

/* By all places that go by it. */
static bool answers(struct swagg_job *job, const struct client_node *node)
{
    for (unsigned i = 0; i < job->part_count; i++)
        if (job->parts[i].node == node && !watch_is_answered(&job->parts[i]))
            return false;
    return true;
}

/* One that has been silent for too long; NULL: none has. */
static const struct client_node *find_silent(struct swagg_job *job, uint64_t passed)
{
    const struct client_node *nodes = job->options.in_switch.at;
    unsigned answer = 0;
    for (unsigned i = 0; i < job->part_count; i++)
        if (!is_lost(job, &nodes[i]) && answers(job, &nodes[i]))
            answer |= 1u << i;
    if (answer == 0 && !find_standby(job))
        return NULL;
    for (unsigned i = 0; i < job->part_count; i++) {
        uint64_t *silent_ns = &job->parts[i].silent_ns;
        *silent_ns = answer >> i & 1 ? 0 : *silent_ns + passed;
        if (!is_lost(job, &nodes[i]) && *silent_ns >= job->options.link_timeout_ns)
            return &nodes[i];
    }
    return NULL;
}

int links_look(struct swagg_job *job, uint64_t now)
{
    const uint64_t since = now - job->links_looked_at, most = PAUSE_MAX_MS * NS_PER_MS;
    char why[CTL_TEXT_MAX];
    if (!job_has_links(job))
        return SWAGG_OK;
    job->links_looked_at = now;
    const struct client_node *failed = standby_look(job, now);
    if (failed && has_another(job, failed))
        return give_up(job, failed, "not all ranks reach it any more");
    const struct client_node *silent = find_silent(job, since < most ? since : most);
    if (!silent || !has_another(job, silent))
        return SWAGG_OK;
    snprintf(why, sizeof why, "it has not answered for %.1f s",
             (double)job->parts[index_of(job, silent)].silent_ns / NS_PER_SECOND);
    return give_up(job, silent, why);
}
