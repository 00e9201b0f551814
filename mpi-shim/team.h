/* A team: the same processes in the same order, and their job in the switch.
 *
 * Communicators of the same team share its job: a program whose threads do not call MPI at once must make
 * their collectives in one order anyway. A team whose communicators are all freed rests: the next
 * communicator of the same processes takes it up again, and only a few may rest. A team's job starts with as
 * few slots as the first tensor needs; when larger tensors come, a job with more slots replaces it.
 *
 * Calls that are posted have a team of their own, of one communicator. Two ranks may post on one communicator
 * and on another in different orders; and beside a posted call a blocking one may begin and end.
 *
 * Calls on one team come from one thread at a time, as MPI wants it for a communicator. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "env.h"
#include "jobs.h"
#include "swagg.h"

struct team {
    struct swagg_job *job; /* NULL: no service from the switch, the MPI library does it */
    bool broken;           /* a call failed, so no other can follow */
    bool has_exchanges;    /* the job does (swagg_has_exchanges) */
    unsigned learnt;       /* how often more was found out of crossover[] */
    void *saved;           /* input of an in-place collective that may have to be done again */
    size_t saved_size;

    /* team.c's own */
    MPI_Group group;
    _Atomic unsigned communicators; /* that use it; none: it rests */
    bool posts;                     /* calls that are posted, on one communicator */
    unsigned flying;                /* of these, so many are libswagg's now: posted.c's */
    bool shared;                    /* it is in the list of those that other communicators may join */
    bool may_grow;
    _Atomic bool joined; /* until then libswagg's warnings are hidden, since the shim gives one of its own */
    int rank, size, slots, slots_wanted;
    unsigned generation;
    char name[48];
    struct job_facts facts;
    struct crossover crossover[CROSSINGS]; /* unless SWAGG_MIN_BYTES is set */
    uint64_t waited_ns;                    /* of the job's, so much is accounted for */
    struct team *next;
};

/* *s must outlive all calls; threads: more than one may call MPI at once. */
void team_init(const struct settings *s, bool threads);

/* The team of comm, an intracommunicator, at a collective of so many bytes: one that is there, or a new one.
 * posts: for what is posted, which has an order only on its own communicator: a new one, and nobody else's.
 * Collective over comm; all ranks come to the same answer. Never NULL. */
struct team *team_take(MPI_Comm comm, size_t bytes, bool posts);

/* Finds out for calls of that kind and of about so many bytes which way is faster, with the slots that they
 * will have; `again`: whatever is known of it (measure.h). Collective over comm, a communicator of the
 * team's; the team has a job. */
void team_measure(MPI_Comm comm, struct team *team, enum crossing kind, size_t bytes, bool again);

/* comm is freed. */
void team_leave(struct team *team);

/* From now on the MPI library does what comes on the team's communicators. */
void team_go_native(struct team *team);

/* Before a collective: gives the team the slots that its last tensor asked for. Returns an enum swagg_status;
 * on an error swagg_last_error() has more, and the collective has failed. */
int team_prepare(struct team *team);

/* After a collective of so many bytes that succeeded, whose size all ranks therefore know. */
void team_note_size(struct team *team, size_t bytes);

/* After a collective: for how long it has waited for ranks, in ns. */
uint64_t team_waited(struct team *team);

/* Before MPI_Finalize, when all communicators have left: closes the teams that rest. */
void team_exit(void);
