/* The running jobs of a server, as its threads find them. Everything that depends on a job's protocol comes
 * from the protocol's table (protocol/protocol.h).
 *
 * The main thread opens and closes jobs. A polling thread takes a job from the table of its protocol
 * (agg_jobs_find), without a lock, and holds it no longer than its turn lasts: between jobs_enter and
 * jobs_leave. A job that was taken out is freed once every thread has left the turn in which it may have
 * found it.
 */
#pragma once

#include <netinet/in.h>
#include <stdatomic.h>

#include "config/reserved.h"
#include "control/registry.h"

struct jobs_turn {
    _Alignas(64) atomic_uint_fast64_t n; /* odd: in a turn */
};

struct server_job {
    struct agg_job common;   /* as its protocol sees it; the first, for jobs_of */
    struct room_job holds;   /* the main thread's */
    char name[CTL_NAME_MAX]; /* of that; ends with 0 */
    struct agg_footprint footprint;
    struct sockaddr_in group;    /* of the footprint */
    struct sockaddr_in member[]; /* by rank: where it sends its packets from */
};

struct jobs {
    struct agg_jobs running[AGG_PROTOCOL_IDS]; /* by enum agg_protocol_id */
    unsigned threads;                          /* that polls; its number is that of its shard */
    struct jobs_turn turn[CONFIG_SERVER_THREADS_MAX];

    /* The main thread's. */
    const struct config *cfg; /* read when a job opens: it may become another (jobs_follow) */
    const struct agg_kernels *kernels;
    const struct reserved *reserved; /* room that is kept for jobs */
    size_t bytes;                    /* of all pools */
    uint64_t closes;
    uint64_t closed_at[AGG_PROTOCOL_IDS][AGG_JOBS]; /* closes when the number was freed; 0: never used */
};

static inline const struct server_job *jobs_of(const struct agg_job *job)
{
    return (const struct server_job *)job;
}

/* A polling thread's turn. */
static inline void jobs_enter(struct jobs *jobs, unsigned thread)
{
    atomic_fetch_add(&jobs->turn[thread].n, 1);
}
static inline void jobs_leave(struct jobs *jobs, unsigned thread)
{
    atomic_fetch_add(&jobs->turn[thread].n, 1);
}

/* ctl_registry_actions.prepare and release. The number is the one that has been free for longest, so that
 * late packets of an ended job reach no other. */
int jobs_open(struct jobs *jobs, const struct ctl_entry *joined, struct agg_terms *terms, uint8_t *number,
              char text[CTL_TEXT_MAX]);
void jobs_close(struct jobs *jobs, const struct agg_protocol *protocol, uint8_t number);

/* registry_host_kind.has_room. */
bool jobs_have_room_for(const struct jobs *jobs, const struct room_job *asked, char text[AGG_TEXT_MAX]);

/* ctl_registry_actions.heard. */
bool jobs_heard(const struct jobs *jobs, const struct ctl_entry *joined, unsigned rank);

/* What there is for jobs by the configuration. Those that run keep what they have; tenant t has the number
 * tenant[t] now. */
void jobs_follow(struct jobs *jobs, const int tenant[]);

/* The job as its pool has it; NULL: it does not run. While the registry's lock is held. */
const struct agg_job *jobs_running(const struct jobs *jobs, const struct ctl_entry *joined);

/* What a tenant's running jobs hold. */
struct jobs_held {
    uint64_t slots, bytes;
};
struct jobs_held jobs_held_by(const struct jobs *jobs, int tenant);

/* No thread polls any more. */
void jobs_free(struct jobs *jobs);
