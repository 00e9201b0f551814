/* The switch's side of the control protocol: which jobs there are, who is in them, and what becomes of them.
 * What becomes of a job by what event is the table in docs/protocol.md, "States". Words of it:
 *
 * Soon after the start: as long as jobs from before a restart are waited for, "not all back within". Later
 * anybody may say that he was there.
 *
 * Resuming: FORMING, and some member was READY before a restart. Such a job is recognized by its roster,
 * which only its members were told; its name proves nothing. A newcomer is an incarnation that is in no job
 * of that name and does not say that it was there before a restart. That a newcomer's JOIN comes from a
 * member's endpoint proves nothing either: it may be a late copy, from a process that had this endpoint
 * before.
 *
 * Keys: a job whose members have a tenant's key is that tenant's, and whoever lacks the key is in none of its
 * jobs, whatever he sends (guard.h). Answers are sealed as the question was.
 *
 * Silent: not heard for lost_after (while FORMING at least 5 s, since JOINs may come as rarely as every
 * second; the same for "not all back within"). READY and ABORTED are pushed again,
 * with back-off, to members that have not shown that they know.
 *
 * Pure: no sockets, no clock (now in ns, monotonic), no malloc; memory is the caller's. The effects go out
 * through struct ctl_registry_actions, synchronously, from inside ctl_registry_receive, ctl_registry_prepared
 * and ctl_registry_tick. One thread.
 */
#pragma once

#include "control/actions.h"
#include "control/known.h"

struct ctl_registry;
size_t ctl_registry_footprint(const struct ctl_registry_config *cfg); /* 0: out of range */
struct ctl_registry *ctl_registry_init(void *mem, const struct ctl_registry_config *cfg);

/* A UDP payload that came to CTL_PORT from `from`. Returns the result of parsing. Anything but CTL_PARSED was
 * answered with REFUSED where that is possible, and is for the caller to count; CTL_BAD_TYPE includes types
 * that only a switch sends. */
enum ctl_parse_error ctl_registry_receive(struct ctl_registry *r, const struct ctl_endpoint *from,
                                          const uint8_t *payload, size_t bytes, uint64_t now);

/* Adds all processes that are, or were, in a job that is still there. */
void ctl_registry_list_members(const struct ctl_registry *r, struct ctl_known *to);

/* The result of a prepare that returned CTL_LATER. Does nothing if the job no longer waits for it. */
void ctl_registry_prepared(struct ctl_registry *r, uint64_t preparation, const struct ctl_prepared *p,
                           uint64_t now);

/* Call at least every lost_after / 10: finds the silent, repeats what may have been lost, names who is
 * missing. */
void ctl_registry_tick(struct ctl_registry *r, uint64_t now);

/* The switch's operator ends the job that this tenant (as tenant_of counts) has of this name, or lets it come
 * to its end: nobody else is let in, members stay until they leave. A job that is not RUNNING yet ends at
 * once, too; so does one that resumes beside it. False: there is none that lives. */
bool ctl_registry_end(struct ctl_registry *r, int tenant, const char *name, uint64_t now);
bool ctl_registry_drain(struct ctl_registry *r, int tenant, const char *name, uint64_t now);

/* The way to some stations is gone for good: ends the jobs that have members there, and says where these
 * were ("on port h2, ..."). */
typedef bool ctl_is_there(const void *ctx, const struct ctl_endpoint *endpoint);
void ctl_registry_cut(struct ctl_registry *r, ctl_is_there *is_there, const void *ctx, const char *where,
                      uint64_t now);

/* How many entries are in use, and how many ranks the largest of these jobs has. */
void ctl_registry_in_use(const struct ctl_registry *r, unsigned *jobs, unsigned *workers);

/* Whether somebody in a job has key i of the configuration. */
bool ctl_registry_has_key(const struct ctl_registry *r, unsigned i);

/* A registry with another configuration, and all that old has, which is to be forgotten then, without
 * anything being done to its jobs: they go on here. mem: ctl_registry_footprint(cfg) bytes, which are not
 * old's. cfg has room for what is in use; its boot_id and lost_after_ns are old's; keys that somebody in a
 * job has are at the same places. tenant[t]: the number that tenant t of old has here. */
struct ctl_registry *ctl_registry_move(void *mem, const struct ctl_registry_config *cfg,
                                       const struct ctl_registry *old, const int tenant[]);

/* A RUNNING job of an earlier life of this process, whose pool has outlived that: it goes on, and its members
 * notice nothing, if boot_id is what it was. job: as ctl_registry_entry showed it; of the members, all but
 * the times, confirmed and challenge count, and endpoint.key is the place of the key in this configuration.
 * False: it cannot go on here, for there is no room, it is not whole, or another job has its number. */
bool ctl_registry_restore(struct ctl_registry *r, const struct ctl_entry *job, uint64_t now);

/* For telemetry and tests: entry i (0 <= i < max_jobs), which may be CTL_ENTRY_FREE. */
const struct ctl_entry *ctl_registry_entry(const struct ctl_registry *r, unsigned i);

/* Whether entry i is a failed job that lingers beside another of its tenant, network and name, which has
 * begun since or has failed, too: whoever lists jobs by their names leaves it out. */
bool ctl_registry_is_superseded(const struct ctl_registry *r, unsigned i);
