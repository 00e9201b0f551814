/* The job of a team in the switch, for team.c: its options, and what is told of it (jobs.h). */
#ifndef SHIM_TEAM_JOB_H
#define SHIM_TEAM_JOB_H

#include "team.h"

/* Joins a job with so many slots. Returns an enum swagg_status. */
int team_job_open(struct team *team, const struct settings *settings, struct swagg_job **job, int slots);

/* All ranks are in the team's first job: notes which ranks of MPI_COMM_WORLD they are, measures the crossover
 * for a call of so many bytes unless it is set, and notes the job. Collective over comm. */
void team_job_begin(MPI_Comm comm, struct team *team, const struct settings *settings, size_t bytes);

/* The same for a later call of other sizes. Collective over comm. */
void team_job_measure(MPI_Comm comm, struct team *team, size_t bytes);

/* team->job is another one: notes it, as it will be told of. */
void team_job_note(struct team *team);

/* Leaves the job, if there is one, and forgets what was noted. */
void team_job_close(struct team *team);

#endif
