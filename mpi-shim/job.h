/* Jobs in the switch, and who may share one.
 *
 * Communicators of the same processes in the same order share a job: a program whose threads do not call MPI
 * at once must make their collectives in one order anyway. A job whose communicators are all freed rests: the
 * next one of the same processes takes it up again, and only a few may rest. A job starts with as few slots
 * as its first tensor needs and grows when larger ones come.
 *
 * Calls on one job come from one thread at a time, as MPI wants it for a communicator. */
#ifndef SHIM_JOB_H
#define SHIM_JOB_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "env.h"
#include "swagg.h"

struct shim_job {
    struct swagg_job *handle; /* NULL: no service from the switch, Open MPI does it */
    bool broken;              /* a call failed, so no other can follow */
    void *saved;              /* input of an in-place collective that may have to be done again */
    size_t saved_size;

    /* job.c's own */
    MPI_Group group;
    _Atomic unsigned communicators; /* that use it; none: it rests */
    bool shared;                    /* it is in the list of those that others may take up */
    bool may_grow;
    _Atomic bool joined; /* until then, what libswagg says is told once, by the shim */
    int rank, size, slots, slots_wanted;
    unsigned generation;
    char name[48];
    struct shim_job *next;
};

/* After MPI_Init, collective over MPI_COMM_WORLD. *s must outlive all calls. */
void job_init(const struct settings *s);

/* A job for comm, an intracommunicator, at its first collective, which has so many bytes: one that is there,
 * or a new one. Collective over comm; all ranks come to the same answer. Never NULL. */
struct shim_job *job_take(MPI_Comm comm, size_t bytes);

/* comm is freed. */
void job_leave(struct shim_job *job);

/* From now on Open MPI does what comes on the job's communicators. */
void job_go_native(struct shim_job *job);

/* Before a collective: gives the job the slots that its last tensor asked for. Returns an enum swagg_status;
 * on an error swagg_last_error() has more, and the collective has failed. */
int job_prepare(struct shim_job *job);

/* After a collective of so many bytes that succeeded, whose size all ranks therefore know. */
void job_note_size(struct shim_job *job, size_t bytes);

/* Before MPI_Finalize, when all communicators have left: closes the jobs that rest. */
void job_exit(void);

#endif
