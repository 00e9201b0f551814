/* A job's links. Where several switches share its calls, each is reached by a link, and sums a place of every
 * call (struct job_part). A link that is silent for options.link_timeout_ms while another is not is given up
 * for good, and another switch goes on with its place; the program is told, and notices nothing.
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
 * With the job's lock. */
#pragma once

#include "job.h"

/* Whether the part's session, which has failed so, ends no more than the use of a link. */
bool links_outlive(const struct job_part *part, const struct ctl_session *session);

/* Does without this node from now on, which a session has failed at, or is silent: SWAGG_OK, or the job's
 * failure. It is not the last. */
int links_give_up(struct swagg_job *job, const struct client_node *node, const char *why);

/* Gives up a link that has been silent for too long, if there is one. To be called often while calls are in
 * flight, and now and then between them. SWAGG_OK, or the job's failure. */
int links_look(struct swagg_job *job, uint64_t now);
