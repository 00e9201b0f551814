/* Measures, for a communicator that has a job in the switch, which way is faster for one size of one kind of
 * calls on this network: both ways take turns at it (crossover.h). */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#include "crossover.h"
#include "kept.h"
#include "swagg.h"

/* Adds to *c what is found out of crossover_sizes[size]. Collective over comm, whose ranks are those of job
 * and have the same in *c; all of them get the same answer. It is kept for communicators that are alike, with
 * about as many ranks and like this one on a single host or on several: these are not measured, unless it is
 * to be done `again`. Takes some 26 calls, those over the MPI library that keep ranks together included, up
 * to 68 where both ways are about as fast; or crossover_seconds and a round, or if a single round takes
 * longer, that round. If the switch fails meanwhile, the job's next call tells. agreed: a call through the
 * switch is followed by an agreement on its outcome (agree.h), whose time counts. Different communicators may
 * be measured by different threads at once. */
void measure_crossover(MPI_Comm comm, struct swagg_job *job, bool agreed, enum crossing kind, unsigned size,
                       bool again, struct crossover *c);

/* What earlier runs have measured, the same on all ranks (kept.h): before the first communicator. */
void measure_remember(const struct choices *kept);

/* Whether there is any. */
bool measure_remembers(void);

/* Adds to all[] what of that is known of communicators like comm, whose ranks are of MPI_COMM_WORLD, 1024 at
 * most. */
void measure_recall(MPI_Comm comm, struct crossover all[CROSSINGS]);

/* What this run has measured, of all communicators that this rank is in. False: nothing. */
bool measure_choices(struct choices *c);
