/* A job's links. Where several switches share its calls, each is reached by a link, and sums a place of every
 * call (struct job_part). A link that is silent for options.link_timeout_ms while another is not is given up,
 * and another switch goes on with its place; the program is told, and notices nothing. Once all ranks reach
 * it again (standby.h) its place goes back.
 *
 * No rank knows what the others have of a place when its link goes: one may hold sums, in the place of its
 * own numbers, that another never got. That is as when a switch restarts, and so is the way on: a rank that
 * gives a link up receives nothing from there any more, and joins the job of that place, "train-1~link2", at
 * the next switch that it has not given up, with the oldest chunk whose sum it lacks (agg_worker.move). When
 * all ranks have done so the switch begins with the oldest of all: whoever holds a sum hands it to the
 * others, and only what nobody holds is summed anew, by numbers that are still whole (switchml/stream.h).
 *
 * All ranks come to the same set of links that are given up, without a word of their own:
 *
 * - whoever gives up a link leaves the job at that switch: by an ABORT there, or, where that does not get
 *   through, by its silence, for which the switch takes it for lost;
 * - the switch then ends the job there, and tells the others that it has lost a rank: to them that means that
 *   the link is to be given up, as long as another is left. So it does not matter who begins, how many do,
 *   or whether a link is dead for one rank or for all;
 * - where a place goes on depends on that set alone: at the first switch behind its own, in the order of the
 *   options, that is left. Ranks that know of different sets wait at different switches, until they know the
 *   same. The chunks of a place that moves twice are handed on twice.
 *
 * A rank that has died is lost at all switches. So links are given up until none is left, and the last says
 * which rank it was, as if it were the only one. The last link is never given up for its silence: it comes
 * back, or the call's deadline ends the job. Nor is any while all are silent: then it may be this host, or
 * what they have in common.
 *
 * Back it goes in the same way, when ranks have agreed on it (rates.h): by joining the job of that place, at
 * its own switch. That none is left at the other, a rank ends it there by an ABORT that says so. Who has not
 * heard yet what was agreed is adrift then: he joins nothing until he has, or the agreement is none of this
 * life's. Where no link but a standby is left, it is taken without an agreement: all ranks that are told of
 * the same loss do so.
 *
 * Whoever has a call's sum may be needed by one who lacks some of it when a link fails. So a rank that closes
 * the job stays until all ranks have finished what it has finished, as any of its switches knows by their
 * heartbeats.
 *
 * With the job's lock. */
#pragma once

#include "job.h"

/* Whether the part's session, which has failed so, ends no more than the use of a link. */
bool links_outlive(const struct job_part *part, const struct ctl_session *session);

/* Ranks have agreed that all of them have these standbys, by node (0: none in common): such links are used
 * again. SWAGG_OK, or the job's failure. */
int links_agreed(struct swagg_job *job, const uint32_t standby[]);

/* The part's session has ended, for the others have moved back, or that of a link that is lost: SWAGG_OK, or
 * the job's failure. links_outlive. */
int links_follow(struct job_part *part, const struct ctl_session *session);

/* Gives up a link that has been silent for too long, if there is one. To be called often while calls are in
 * flight, and now and then between them. SWAGG_OK, or the job's failure. */
int links_look(struct swagg_job *job, uint64_t now);
