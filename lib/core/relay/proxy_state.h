/* The proxy's private state, and what its parts offer one another; for proxy*.c only. */
#pragma once

#include "control/guard.h"
#include "relay/proxy.h"

/* A process below: where its answers go. */
struct relay_route {
    uint64_t incarnation;         /* 0: free */
    struct ctl_endpoint endpoint; /* with the key that its last message was sealed with, or none */
    unsigned uplink;
    uint64_t challenge; /* of the switch above, heard last; 0: none */
    uint16_t rank, size;
    int tenant;
    struct ctl_join join; /* its last */
    uint32_t serial;      /* the newest heard from it */
    uint32_t answered;    /* the newest that was answered from above: what is older is late */
    uint32_t epoch;       /* of the job's life that it has READY of; 0: none */
    uint64_t ticket;      /* that of READY */
    uint64_t heard_at;
};

/* A switch above. */
struct relay_parent {
    uint64_t boot_id;      /* that which it showed last; 0: none yet */
    uint64_t silent_since; /* it was asked at this time, and has answered nothing since; 0: it has */
};

struct relay_proxy {
    struct relay_config cfg;
    struct ctl_registry_config limits; /* what JOINs are checked against; no more of it is filled in */
    struct ctl_guard guard;            /* of processes below */
    uint64_t ticked_at;                /* 0: never */
    struct relay_route *routes;        /* cfg.max_processes */
    struct relay_parent *parents;      /* by uplink */
    struct relay_job jobs[];
};

/* Whether the process proves what it says. */
static inline bool relay_is_keyed(const struct relay_route *route)
{
    return route->endpoint.key != 0;
}

/* A process below. Who has no key of the process's tenant is another process, whatever its incarnation. NULL:
 * not known. */
struct relay_route *relay_route_below(const struct relay_proxy *p, const struct ctl_endpoint *from,
                                      uint64_t incarnation);
/* A free one, or that of the process heard longest ago which is in no job: it makes itself known again. */
struct relay_route *relay_new_route(struct relay_proxy *p);

/* The running or forming job of the route, in the life that it has READY of; NULL: there is none. */
struct relay_job *relay_job_of(struct relay_proxy *p, const struct relay_route *route);
/* The life in which this switch has failed that job by itself, which the switch above may not have heard;
 * NULL: there is none. */
const struct relay_job *relay_failed_here(struct relay_proxy *p, const struct relay_route *route,
                                          uint32_t epoch);

/* What this switch shows to that address for a boot id of the switch above, and the other way round. 0, for
 * none, stays and comes from no other: the one that would become 0 stays as well. */
uint64_t relay_boot_id(const struct relay_proxy *p, const struct ctl_endpoint *e, uint64_t boot_id);
/* What it shows for the one that the switch above showed last; or its own, if that has shown none yet. */
uint64_t relay_shown_boot_id(const struct relay_proxy *p, const struct ctl_endpoint *e, unsigned uplink);

/* Sends m to the route's process, as from this switch. */
void relay_send_down(const struct relay_proxy *p, const struct relay_route *route, struct ctl_message *m);
/* In the name of the route's process. */
void relay_send_message_up(const struct relay_proxy *p, const struct relay_route *route,
                           struct ctl_message *m);

/* For the log. */
__attribute__((format(printf, 4, 5))) void relay_event(const struct relay_proxy *p,
                                                       const struct relay_job *job, enum ctl_event_kind kind,
                                                       const char *format, ...);

/* READY came for the route. */
void relay_ready(struct relay_proxy *p, struct relay_route *route, const struct ctl_endpoint *parent,
                 const struct ctl_message *m, uint64_t now);
/* The job is over here: its pool is released. It becomes FAILED if there is a reason to show, else free. */
void relay_close(struct relay_proxy *p, struct relay_job *job, const struct ctl_failure *why, uint64_t now);
/* Whether the operator lets the job of this tenant and name come to its end. */
bool relay_is_draining(const struct relay_proxy *p, int tenant, const char *name);

/* A rank has left, or is not heard any more; closes the job with the last one. */
void relay_part(struct relay_proxy *p, struct relay_job *job, unsigned rank, enum ctl_member_state state,
                uint64_t now);
/* This switch fails the job: the root tells all ranks. */
__attribute__((format(printf, 4, 5))) void relay_fail(struct relay_proxy *p, struct relay_job *job,
                                                      enum ctl_reason reason, const char *format, ...);
