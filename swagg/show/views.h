/* What the daemon's views (views/declared.h) are filled with. That only reads; the header of each part that
 * is shown says how it is safe. Any thread.
 */
#pragma once

#include <stddef.h>

#include "show/parts.h"
#include "views/declared.h"

/* Fills a view. name: as the parameter; NULL: none was given. 0; -ENOENT: there is nothing of this name;
 * -ENOTUNIQ: there are several; -EINVAL: a name is needed. */
typedef int view_fn(const struct show_parts *parts, const char *name, struct view_out *out);

/* out has begun. Takes the lock itself. */
int view_gather(const struct show_parts *parts, const struct view *view, const char *name,
                struct view_out *out);

/* Whoever shows something holds the lock meanwhile, and so does the main lcore while it changes ports,
 * tenants or static jobs. Between two views anything may have changed. */
void view_lock(const struct show_parts *parts);
void view_unlock(const struct show_parts *parts);

/* "port", for messages. */
const char *view_subject_name(enum view_subject subject);

/* Writes the names that there are of a kind, "a, b, c", as many as there is room for, and "..." for the rest;
 * "none" if there are none. */
void view_subject_list(const struct show_parts *parts, enum view_subject subject, char *text, size_t room);

/* Calls visit for each name of a kind. */
typedef void view_name_visitor(void *context, const char *name);
typedef void view_names_fn(const struct show_parts *parts, view_name_visitor *visit, void *context);
view_names_fn view_port_names, view_lcore_names, view_job_names;

/* Whether there is something of this name: 0, -ENOENT or -ENOTUNIQ. */
int view_subject_find(const struct show_parts *parts, enum view_subject subject, const char *name);

/* A job that is called so (shown_jobs.h). 0, -ENOENT or -ENOTUNIQ. */
struct view_job {
    char name[CTL_NAME_MAX];
    int tenant;                     /* by number; -1: nobody's */
    uint8_t network;                /* port/vlans.h */
    uint16_t ranks;                 /* wherever they are */
    const struct static_job *fixed; /* NULL: its workers joined it */
    bool runs;                      /* if so: */
    unsigned protocol, number;      /* enum agg_protocol_id; its number there */
};
int view_find_job(const struct show_parts *parts, const char *called, struct view_job *found);

/* Calls visit with TENANT/NAME of each job of this name. */
void view_job_calls(const struct show_parts *parts, const char *name, view_name_visitor *visit,
                    void *context);

/* What a port has dropped, without those of another that had its number before. */
uint64_t view_port_drops(const struct show_parts *parts, unsigned port, unsigned kind);

/* The number of the port of this name, or -ENOENT. */
int view_find_port(const struct show_parts *parts, const char *name);

view_fn view_status, view_memory, view_drops, view_counters, view_verdicts, view_fdb;
view_fn view_ports, view_port, view_lcores, view_lcore;
view_fn view_jobs, view_job, view_members, view_slots, view_sums, view_tenants, view_reserved, view_uplinks,
    view_peers;
view_fn view_history; /* of both views that it has */
