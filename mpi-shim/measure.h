/* Measures, for a communicator that has a job in the switch, for which sizes the switch is the faster way on
 * this network: both ways take turns at a few sizes (crossover.h). */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#include "crossover.h"
#include "swagg.h"

/* What a call of so many bytes needs to know of its kind, and of those that are measured with it: allreduces
 * and reduces are; to all[]. Collective over comm, whose ranks are those of job; all of them get the same
 * answer. It is kept for communicators that are alike, with about as many ranks and like this
 * one on a single host or on several: these are not measured again. Takes as long as crossover_seconds at
 * most, or on a network so slow that one call of each kind takes longer, as long as these. If the switch
 * fails meanwhile, the job's next call tells. agreed: a call through the switch is followed by an agreement
 * on its outcome (agree.h), whose time counts. Different communicators may be measured by different threads
 * at once. */
void measure_crossover(MPI_Comm comm, struct swagg_job *job, bool agreed, enum crossing kind, size_t bytes,
                       struct crossover all[CROSSINGS]);
