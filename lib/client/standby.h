/* How a link that was given up (links.h) comes back. A rank that does without a switch asks it again, ever
 * more rarely the more often it was lost: it joins a job there that sums nothing and has two slots,
 * "train-1~back2". That begins when all ranks have joined it; so whoever is in it knows that the switch and
 * all ranks reach one another, and its members hear at once, or when they are silent, if that is over. Such a
 * standby does not bring a link back: the ranks agree on that, where they agree on rates (rates.h), by the
 * name of this one standby, which is its job's epoch. They leave it when the switch sums again with all of
 * them; should it fail before, the link is given up again.
 *
 * With the job's lock. */
#pragma once

#include "job.h"

/* The job does without this node from now on: what was there ends, and it is asked anew after a while. */
void standby_begin(struct swagg_job *job, unsigned i, uint64_t now);

/* To be called now and then. A node that the job has back and whose standby has failed; NULL: there is none.
 */
const struct client_node *standby_look(struct swagg_job *job, uint64_t now);

/* The name of the standby at this node; 0: there is none, or not with all ranks, or its switch is silent. */
uint32_t standby_name(struct swagg_job *job, unsigned i);

/* Leaves all of them: the job ends, and no other thread has to do with it any more. In a child that inherited
 * it by fork it leaves them alone. */
void standby_close(struct swagg_job *job);
