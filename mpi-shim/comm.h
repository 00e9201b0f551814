/* The shim's state of a communicator. Its front keeps it (front.h), from the first collective that could be
 * offloaded until the communicator is freed, or MPI_Finalize.
 *
 * A communicator gets a team, which all its ranks join together, by its first collective that is for the
 * switch: of SWAGG_MIN_BYTES, or if that is not set, of CROSSOVER_USUAL bytes. Which kinds and sizes are
 * faster there is measured for each by itself, after a few calls of it, whose job also is joined for that;
 * and again after many, since a network may change. Once a non-blocking collective was for the switch, the
 * next blocking one also joins a job for those. */
#pragma once

#include <mpi.h>
#include <stddef.h>

#include "crossover.h"
#include "team.h"
#include "why.h"

enum { COMM_RANKS_MAX = 1024 }; /* of one whose collectives go to the switch: as of swagg_options */

struct shim_comm {
    MPI_Comm handle;
    struct team *team; /* NULL: none yet, or the switch takes no such communicator */
    struct comm_label label;
    struct team *posting;       /* of its non-blocking calls; NULL: none */
    _Atomic unsigned in_flight; /* of these; posted.c's */
    int error;                  /* an MPI error code that the shim has made for its texts; 0: not made yet */
    int rank, size;
    bool between; /* it is an intercommunicator */

    /* comm.c's own */
    bool settled;     /* it has a team, or never will: */
    enum why no_team; /* why not */
    /* What is known of it, as its last blocking collective found it: its team's other communicators may come
     * to know more between two that are posted here, and not on all ranks between the same two. */
    struct crossover ways[CROSSINGS];
    unsigned learnt; /* of the team's, so often */
    struct use {
        unsigned calls, due; /* it is measured at the call with this number; 0: at CROSSOVER_FIRST */
    } uses[CROSSINGS][CROSSOVER_SIZES];
    struct {
        bool wanted, settled; /* some call was for the switch; there is a team, or never will be: */
        enum why no_team;     /* why not */
        size_t bytes;         /* the most of one that was */
        bool due;             /* something is to be measured by the next blocking collective */
    } posts;
    struct shim_comm *next, **link;
};

/* *s must outlive all calls; what the others are: offload_init(). */
void comm_init(const struct settings *s, int world, bool threads);

/* The state of comm, which must not be MPI_COMM_NULL; NULL: it is no communicator any more. */
struct shim_comm *comm_state(MPI_Comm comm);

/* For each collective of so many bytes that the switch could do, once: whether it goes there, and why not.
 * is_exchange: not all jobs have it (swagg_has_exchanges).
 * May be collective over the communicator; all ranks come to the same answer. */
enum why comm_way(struct shim_comm *c, enum crossing kind, bool is_exchange, size_t bytes);

/* The same of a non-blocking collective, which may not wait for other ranks. What it would have had to wait
 * for, a job and what is measured, the communicator's next blocking collective sees to. */
enum why comm_way_posted(struct shim_comm *c, enum crossing kind, bool is_exchange, size_t bytes);

/* For the front: the communicator is being freed. */
void comm_gone(struct shim_comm *c);

/* Before MPI_Finalize: closes every team that is left. */
void comm_exit(void);
