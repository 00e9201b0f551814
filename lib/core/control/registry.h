/* The switch's side of the control protocol: which jobs there are, who is in them, and what becomes of them.
 *
 *   state    event                                   next     what is done
 *   (none)   JOIN                                    FORMING  job created; PENDING
 *   FORMING  JOIN of a missing rank                  FORMING  PENDING
 *   FORMING  JOIN of the last missing rank           RUNNING  prepare; READY to all
 *   FORMING  ... but prepare says "later"            PREPARING  PENDING (preparing) to who asks
 *   FORMING  ... but prepare says no, or             FAILED   ABORTED to all
 *            the ranks cannot resume together
 *   PREPARING  ctl_registry_prepared                 RUNNING  READY to all; or as if prepare had said no
 *   PREPARING  a member silent, LEAVE, or one that   FORMING  release; then as FORMING
 *            gives way to who was there before a
 *            restart
 *   PREPARING  ABORT, or not ready in time           FAILED   release; ABORTED to all
 *   PREPARING  anything else                                  as FORMING
 *   FORMING  ... but jobs from before a restart      FORMING  PENDING (no room); tried again in each tick
 *            go first; or it resumes and there is
 *            no room
 *   FORMING  JOIN of a taken rank, or under other    FORMING  PENDING (occupied) until the member in the way
 *            terms                                            proves that it lives: REFUSED; or falls silent
 *   FORMING  the same, soon after the start, by one  FORMING  the newcomer in the way is forgotten, the other
 *            that has waited since before a restart,          is in
 *            or resumes
 *   FORMING  a member silent, or LEAVE               FORMING  forgotten; the job is dropped with the last one
 *   FORMING  not all there within forming_max        FAILED   DEADLINE: ABORTED to all
 *   FORMING  JOIN with resume, soon after the start  FORMING  its newcomers are forgotten, and from now on it
 *                                                             is the resuming job of that roster; dropped
 *                                                             instead, if its terms are others
 *   FORMING  ... later                               FORMING  the same, if it has no newcomers; else as
 * (none) FORMING  ABORT                                   FAILED   ABORTED to all (none)   JOIN with resume
 * FORMING  resuming: a job of this roster, beside whatever there is of its name resuming JOIN with resume, of
 * its roster         FORMING  PENDING resuming JOIN that has waited since before the   FORMING  PENDING; in
 * the place of another that has restart                                          waited, for nothing tells
 * which is right but: resuming all are there, but not the roster       FORMING  those that have waited are
 * forgotten resuming newcomer's JOIN                         FORMING  PENDING (occupied); as above, if
 * somebody has its rank or the terms are others. It founds a job, if the other resumes late resuming LEAVE,
 * ABORT of one that has waited     FORMING  it is forgotten resuming LEAVE FAILED   CANNOT_RESUME: ABORTED to
 * all that resume; those that have waited are forgotten resuming not all back within lost_after FAILED   the
 * same; or why there is no room: ABORTED to all RUNNING  JOIN by a member (its READY was lost)   RUNNING
 * READY again RUNNING  HEARTBEAT                               RUNNING  ALIVE RUNNING  LEAVE RUNNING  LEFT;
 * the job is dropped when all have left RUNNING  a member waits in a collective that     FAILED   RANK_LEFT:
 * release; ABORTED to all one who left is not in RUNNING  ABORT, or members silent                FAILED
 * release; ABORTED to all RUNNING  JOIN by a newcomer                      RUNNING  PENDING (occupied) until
 * the member of its rank proves that it lives: REFUSED; or falls silent; or the job ends FAILED   LEAVE
 * FAILED   LEFT FAILED   anything else from a member             FAILED   ABORTED; dropped when all have left
 * or fallen silent FAILED   resuming, and a JOIN of that roster     FAILED   REFUSED: why it failed FAILED
 * JOIN by a newcomer                      FAILED   founds a new job of the same name, next epoch, beside this
 * one (none)   JOIN, its data packets being those of            REFUSED a job that nobody joins (none)
 * restored, from another process           RUNNING  READY to those that do not confirm any live the operator
 * ends it                    FAILED   release; ABORTED to all RUNNING  the operator drains it RUNNING  from
 * now on: newcomer's JOIN: REFUSED any      HEARTBEAT of another epoch or boot id,           UNKNOWN LEAVE or
 * ABORT of nobody's incarnation (none)   JOIN, but all places are taken                   REFUSED; PENDING
 * (no room), as long as a job that resumes may not come together (none)   JOIN with a key that is retired
 * REFUSED any      JOIN that does not know this boot id             PENDING, no more: it may be a late copy
 * from before a restart; a live worker learns the id any      sealed JOIN of one that is in no job, PENDING,
 * no more: it may be a copy; a live without the challenge of now                     worker learns the
 * challenge any      seal that is wrong, or of an unknown             REFUSED, without a seal key any      a
 * serial older than the member's last            ignored
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
#ifndef SWAGG_CORE_CONTROL_REGISTRY_H
#define SWAGG_CORE_CONTROL_REGISTRY_H

#include "control/actions.h"

struct ctl_registry;
size_t ctl_registry_footprint(const struct ctl_registry_config *cfg); /* 0: out of range */
struct ctl_registry *ctl_registry_init(void *mem, const struct ctl_registry_config *cfg);

/* A UDP payload that came to CTL_PORT from `from`. Returns the result of parsing. Anything but CTL_PARSED was
 * answered with REFUSED where that is possible, and is for the caller to count; CTL_BAD_TYPE includes types
 * that only a switch sends. */
enum ctl_parse_error ctl_registry_receive(struct ctl_registry *r, const struct ctl_endpoint *from,
                                          const uint8_t *payload, size_t bytes, uint64_t now);

/* Whether it is a message of a process that is, or was, in a job that is still there. */
bool ctl_registry_knows(struct ctl_registry *r, const struct ctl_endpoint *from, const uint8_t *payload,
                        size_t bytes);

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

#endif
