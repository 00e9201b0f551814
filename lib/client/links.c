#include "links.h"

#include <stdio.h>
#include <string.h>

#include "local/plan.h"
#include "monotonic.h"
#include "watch.h"

enum { PAUSE_MAX_MS = 1000 }; /* between two looks: in a longer one this process may have stood still */

static unsigned index_of(const struct swagg_job *job, const struct client_node *node)
{
    return (unsigned)(node - job->options.in_switch.at);
}

static bool is_lost(const struct swagg_job *job, const struct client_node *node)
{
    return atomic_load(&job->links_lost) >> index_of(job, node) & 1;
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

bool links_outlive(const struct job_part *part, const struct ctl_session *session)
{
    const struct swagg_job *job = part->job;
    const unsigned others = job->part_count - job_links_lost(job) - !is_lost(job, part->node);
    return job_may_outlive(job, session) && others > 0;
}

/* The part's place goes on at this node; 0, or -errno. */
static int move(struct job_part *part, const struct client_node *to)
{
    struct swagg_job *job = part->job;
    struct ctl_failure why = {.reason = CTL_RANK_LOST, .rank = job->options.rank};
    char name[CTL_NAME_MAX];
    struct transport *transport;
    int rc = job_open_transport(part, to, part->transport->mtu, &transport);
    if (rc < 0)
        return rc;
    snprintf(why.text, sizeof why.text, "rank %u does without the switch %s", job->options.rank,
             part->node->text);
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
    return 0;
}

static int move_all(struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++) {
        struct job_part *part = &job->parts[i];
        const struct client_node *to;
        int rc = 0;
        while ((to = node_for(job, i)) != NULL && part->node != to && (rc = move(part, to)) < 0)
            atomic_fetch_or(&job->links_lost, 1u << index_of(job, to)); /* nothing leads there either */
        if (!to)
            return job_fail(job, SWAGG_ERR_SYSTEM, "rank %u: no link is left: %s", job->options.rank,
                            strerror(-rc));
    }
    return SWAGG_OK;
}

int links_give_up(struct swagg_job *job, const struct client_node *node, const char *why)
{
    char text[CLIENT_TEXT_MAX];
    atomic_fetch_or(&job->links_lost, 1u << index_of(job, node));
    const struct client_node *to = node_for(job, index_of(job, node));
    snprintf(text, sizeof text, "job '%s': rank %u does without the switch %s; %s goes on with its part: %s",
             job->options.job, job->options.rank, node->text, to->text, why);
    logger_write(&job->options.log, SWAGG_LOG_WARN, "%s", text);
    events_tell(&job->events, &(struct swagg_event){.struct_size = sizeof(struct swagg_event),
                                                    .kind = SWAGG_EVENT_LINK_LOST,
                                                    .text = text,
                                                    .node = node->text,
                                                    .ends_in_ms = -1});
    return move_all(job);
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
    for (unsigned i = 0; i < job->part_count && answer; i++) {
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
    if (!job_has_links(job) || job_links_lost(job) + 1 >= job->part_count)
        return SWAGG_OK;
    job->links_looked_at = now;
    const struct client_node *silent = find_silent(job, since < most ? since : most);
    if (!silent)
        return SWAGG_OK;
    snprintf(why, sizeof why, "it has not answered for %.1f s",
             (double)job->parts[index_of(job, silent)].silent_ns / NS_PER_SECOND);
    return links_give_up(job, silent, why);
}
