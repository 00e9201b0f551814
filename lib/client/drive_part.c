#include "drive_part.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "monotonic.h"

static int fail_system(struct job_part *part, int error)
{
    struct swagg_job *job = part->job;
    char text[CTL_TEXT_MAX];
    if (error == EBADF || error == ENOTSOCK)
        return job_fail_fds_closed(part->job, "data socket");
    snprintf(text, sizeof text, "rank %u: cannot send to or receive from %s: %s", job->options.rank,
             part->place->text, strerror(error));
    return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
}

/* Takes in what has arrived; returns how many packets, or a status. */
static int receive(struct job_part *part, uint64_t *now)
{
    struct swagg_job *job = part->job;
    struct transport_packet packets[TRANSPORT_BATCH];
    int n = part->transport->ops->receive(part->transport, packets);
    if (n < 0)
        return fail_system(part, -n);
    *now = monotonic_ns();
    bool doubt = false;
    for (int i = 0; i < n; i++)
        doubt |= job->flow->receive(part->stream, packets[i].payload, packets[i].bytes, *now) == SML_RX_DOUBT;
    if (doubt)
        membership_rejected(&part->membership);
    if (n > 0)
        job_note_waits(job, *now);
    return n;
}

static int send_due(struct job_part *part, uint64_t now)
{
    const struct flow *flow = part->job->flow;
    struct sml_send packets[TRANSPORT_BATCH];
    unsigned n;
    do {
        for (n = 0; n < TRANSPORT_BATCH && flow->poll(part->stream, now, &packets[n]); n++)
            ;
        int rc = n ? part->transport->ops->send(part->transport, packets, n) : 0;
        if (rc < 0)
            return fail_system(part, -rc);
    } while (n == TRANSPORT_BATCH);
    return SWAGG_OK;
}

int drive_part_exchange(struct job_part *part)
{
    uint64_t now;
    int received = receive(part, &now);
    int rc = received < 0 ? received : send_due(part, now);
    return rc < 0 ? rc : received;
}

/* The switch has restarted. Everything that it sent before is received first; then the oldest incomplete
 * chunk is final and may be told to the new one. Nothing more is received until the job has been joined anew.
 */
static int prepare_to_rejoin(struct job_part *part)
{
    uint64_t now;
    int n;
    while ((n = receive(part, &now)) > 0)
        ;
    if (n < 0)
        return n;
    part->rejoining = true;
    job_report(part->job, now);
    return SWAGG_OK;
}

static int resume(struct job_part *part, const struct ctl_session *session)
{
    struct swagg_job *job = part->job;
    const struct in_addr group = part->terms.group;
    int rc = job_adopt_terms(part, session);
    if (rc < 0)
        return rc;
    if (part->terms.group.s_addr != group.s_addr)
        job_join_group(part);
    uint64_t now = monotonic_ns();
    const struct keys_shared shared = ctl_session_shared(session);
    const struct flow_config config = job_flow_config(part, session, &shared);
    const char *why = job->flow->resume(part->stream, &config, now);
    if (why) {
        char text[CTL_TEXT_MAX];
        snprintf(text, sizeof text, "rank %u: the %s %s has restarted, and %s", job->options.rank,
                 part->place->what, part->place->text, why);
        return job_fail_and_tell(job, SWAGG_ERR_ABORTED, CTL_CANNOT_RESUME, text);
    }
    part->resumed++;
    part->rejoining = false;
    job_begin_waits(job, now);
    job_report(job, now); /* from here on a JOIN must wait again until the oldest tag is final */
    return SWAGG_OK;
}

int drive_part_follow(struct job_part *part)
{
    struct ctl_session session;
    membership_look(&part->membership, &session);
    switch (session.state) {
    case CTL_SESSION_READY:
        return session.generation != part->generation ? resume(part, &session) : SWAGG_OK;
    case CTL_SESSION_REJOINING:
        return part->rejoining ? SWAGG_OK : prepare_to_rejoin(part);
    case CTL_SESSION_FAILED:
        return job_fail_session(part, &session);
    default:
        return SWAGG_OK;
    }
}

int drive_part_check_socket(struct job_part *part)
{
    const struct transport *t = part->transport;
    const bool there = own_fd_holds(&t->socket) && (t->group.fd < 0 || own_fd_holds(&t->group));
    return there ? SWAGG_OK : job_fail_fds_closed(part->job, "data socket");
}

int drive_part_check(struct job_part *part)
{
    int rc = drive_part_check_socket(part);
    if (rc < 0)
        return rc;
    return membership_fds_are_closed(&part->membership)
               ? job_fail_fds_closed(part->job, "control descriptors")
               : SWAGG_OK;
}
