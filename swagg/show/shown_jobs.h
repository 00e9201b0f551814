/* Jobs as views show them, whether their workers joined them or they are in the configuration.
 *
 * A job is called by its name, or where several tenants have one of that name by TENANT/NAME; jobs of no
 * tenant are /NAME then. Any thread.
 */
#pragma once

#include "show/parts.h"
#include "views/view.h"

enum { SHOWN_JOB_CALL_MAX = CONFIG_NAME_MAX + CTL_NAME_MAX };

struct shown_job {
    const char *name;
    int tenant;      /* by number; -1: nobody's */
    uint8_t network; /* port/vlans.h */
    enum ctl_entry_state state;
    uint64_t now, since; /* by the clock of the job's times */
    uint32_t epoch;
    uint16_t size, present;
    uint8_t number; /* while it runs */
    const struct agg_protocol *protocol;
    struct agg_terms terms;
    const struct ctl_failure *failure; /* while it has failed */
    const struct ctl_entry *joined;    /* or: */
    const struct static_job *fixed;
    const struct relay_job *relayed; /* NULL: this switch is its root */
};

struct shown_member {
    enum ctl_member_state state;
    uint32_t ip; /* network order */
    uint16_t data_port, threads;
    const struct net_mac *mac; /* it is known by nothing else; NULL: it has an IP address */
    uint64_t heard_ms_ago;
    uint32_t restarts; /* processes that had this rank before, as far as the switch remembers */
    struct ctl_heartbeat heartbeat;
    /* In a tree of switches. */
    bool above;    /* it comes by the switch above, and nothing else is known of it */
    uint8_t level; /* of its own switch; 0: above */
    uint32_t via;  /* that switch's address, network order; 0: it is this one */
};

/* Is called while the job does not change, so it must be quick. */
typedef void shown_job_visitor(void *context, const struct shown_job *job);

/* All jobs: those that workers have joined, then those of the configuration. */
void shown_jobs_visit(const struct show_parts *parts, shown_job_visitor *visit, void *context);

/* Visits the one that is called so. 0; -ENOENT: there is none; -ENOTUNIQ: several tenants have one. */
int shown_jobs_find(const struct show_parts *parts, const char *called, shown_job_visitor *visit,
                    void *context);

/* Fills a view with the one that is called so. 0; -ENOENT, -ENOTUNIQ; -EINVAL: a name is needed. */
struct job_showing {
    const struct show_parts *parts;
    void (*show)(const struct job_showing *s, const struct shown_job *job);
    struct view_out *out;
};
int shown_jobs_show(const struct show_parts *parts, const char *called, struct view_out *out,
                    void (*show)(const struct job_showing *s, const struct shown_job *job));

/* NULL: it does not run, or is about to get a new pool. */
const struct switch_job *shown_job_running(const struct show_parts *parts, const struct shown_job *job);

/* The level of this switch in the job's tree of switches; that of the root is 1. */
unsigned shown_job_level(const struct shown_job *job);

/* Whether a rank comes by this switch: false, if by the one above. */
bool shown_job_is_here(const struct shown_job *job, uint16_t rank);

struct shown_member shown_job_member(const struct shown_job *job, uint16_t rank);

/* "": nobody's. */
const char *shown_job_tenant(const struct show_parts *parts, int tenant);

/* TENANT/NAME. */
void shown_job_call(const struct show_parts *parts, int tenant, const char *name,
                    char call[SHOWN_JOB_CALL_MAX]);
