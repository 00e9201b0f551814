/* The standbys of links/links.h: jobs that sum nothing and have two slots, "train-1~back2". With the job's
 * lock. Each part's is at the node of its index. */
#pragma once

#include "job.h"

/* What this rank sees of it. */
void standby_see(struct job_part *part, struct links_seen *seen);

/* Its link is given up: it ends, if there is one, so that the others hear of it there. */
void standby_abort(struct job_part *part);

/* Does this about it. Whether its link is to be given up. */
bool standby_look_after(struct job_part *part, enum links_deed deed, uint64_t now);

/* Leaves all of them: the job ends, and no other thread has to do with it any more. In a child that inherited
 * it by fork it leaves them alone. */
void standby_close(struct swagg_job *job);
