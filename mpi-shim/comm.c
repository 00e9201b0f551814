#include "comm.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "front.h"
#include "measure.h"
#include "report.h"
#include "world.h"

static const struct settings *settings;

static atomic_uint gone;      /* how many communicators have been freed */
static struct shim_comm *all; /* under the mutex */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void put_in_list(struct shim_comm *c)
{
    pthread_mutex_lock(&mutex);
    c->next = all;
    c->link = &all;
    if (all)
        all->link = &c->next;
    all = c;
    pthread_mutex_unlock(&mutex);
}

static void take_from_list(struct shim_comm *c)
{
    pthread_mutex_lock(&mutex);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    pthread_mutex_unlock(&mutex);
}

void comm_gone(struct shim_comm *c)
{
    atomic_fetch_add_explicit(&gone, 1, memory_order_release);
    take_from_list(c);
    if (c->team)
        team_leave(c->team);
    if (c->posting)
        team_leave(c->posting);
    free(c);
}

/* Whether all its processes took part in the roll call; processes that were started later, or separately, may
 * lack the shim. */
static bool is_within_world(MPI_Comm comm, int size)
{
    int *in_world = world_ranks(comm);
    bool within = true;
    for (int r = 0; r < size; r++)
        within = within && in_world[r] != MPI_UNDEFINED;
    free(in_world);
    return within;
}

/* Why the switch takes no such communicator; WHY_NOT: it does. */
static enum why why_no_team(const struct shim_comm *c)
{
    if (c->between)
        return WHY_INTERCOMMUNICATOR;
    if (c->size < 2)
        return WHY_ALONE;
    if (c->size > COMM_RANKS_MAX)
        return WHY_CROWD;
    return is_within_world(c->handle, c->size) ? WHY_NOT : WHY_LATER;
}

/* NULL: the MPI library says that it is none. */
static struct shim_comm *create(MPI_Comm comm)
{
    int between;
    if (PMPI_Comm_test_inter(comm, &between) != MPI_SUCCESS)
        return NULL;
    struct shim_comm *c = allocate_or_abort(comm, sizeof *c, "the state of a communicator");
    c->handle = comm;
    comm_label_of(comm, &c->label);
    PMPI_Comm_rank(comm, &c->rank);
    PMPI_Comm_size(comm, &c->size);
    c->between = between;
    if (settings->min_bytes == MIN_BYTES_MEASURED && measure_remembers() && why_no_team(c) == WHY_NOT)
        measure_recall(comm, c->ways);
    put_in_list(c);
    front.keep(comm, c);
    return c;
}

void comm_init(const struct settings *s, int world, bool threads)
{
    settings = s;
    jobs_init(world);
    team_init(s, threads);
}

/* Programs call on one communicator again and again, and the MPI library takes longer to find its state. */
struct shim_comm *comm_state(MPI_Comm comm)
{
    static _Thread_local struct {
        struct shim_comm *state;
        MPI_Comm comm;
        unsigned gone;
    } last;
    if (!last.state || last.comm != comm || last.gone != atomic_load_explicit(&gone, memory_order_acquire)) {
        struct shim_comm *c = front.kept(comm);
        last.gone = atomic_load_explicit(&gone, memory_order_acquire);
        last.state = c ? c : create(comm);
        last.comm = comm;
    }
    return last.state;
}

/* Whether its collectives of so many bytes are for the switch. */
static bool is_for_switch(const struct shim_comm *c, enum crossing kind, size_t bytes)
{
    if (settings->min_bytes != MIN_BYTES_MEASURED)
        return (int64_t)bytes >= settings->min_bytes;
    return crossover_way(&c->ways[kind], bytes) == WAY_SWITCH;
}

/* Of a collective that is not. */
static enum why why_not_for_switch(const struct shim_comm *c, enum crossing kind, size_t bytes)
{
    if (settings->min_bytes != MIN_BYTES_MEASURED)
        return WHY_SMALL;
    const unsigned size = crossover_size(bytes);
    const struct crossover *known = &c->ways[kind];
    if (!crossover_is_measured(known, size))
        return WHY_UNMEASURED;
    return known->kept >> size & 1 ? WHY_KEPT : WHY_FASTER;
}

static bool is_due(const struct use *u)
{
    return u->calls < UINT_MAX && u->calls >= (u->due ? u->due : CROSSOVER_FIRST);
}

static void set_due(struct use *u, const struct crossover *known, unsigned size)
{
    u->due = crossover_due_after(u->calls, crossover_is_measured(known, size));
}

/* Whether it is time to measure, at a call that is counted here. */
static bool note_call(struct shim_comm *c, enum crossing kind, size_t bytes)
{
    const unsigned size = crossover_size(bytes);
    struct use *u = &c->uses[kind][size];
    if (u->calls < UINT_MAX)
        u->calls++;
    if (settings->min_bytes != MIN_BYTES_MEASURED || !is_due(u))
        return false;
    if (u->due != 0 || !crossover_is_settled(&c->ways[kind], size))
        return true;
    set_due(u, &c->ways[kind], size);
    return false;
}

/* What is due and not known. */
static void measure(struct shim_comm *c, enum crossing kind, size_t bytes)
{
    const unsigned size = crossover_size(bytes);
    const struct crossover *known = &c->team->crossover[kind];
    struct use *u = &c->uses[kind][size];
    const bool again = u->due != 0;
    if (again || !crossover_is_settled(known, size))
        team_measure(c->handle, c->team, kind, bytes, again);
    set_due(u, known, size);
}

static bool has_job(const struct shim_comm *c)
{
    return c->team && c->team->job;
}

/* By a call that is for the switch, or shall be measured, or after some that were posted. All ranks have made
 * the same calls, and so come to the same answer. */
static void settle(struct shim_comm *c, size_t bytes)
{
    c->settled = true;
    c->no_team = why_no_team(c);
    if (c->no_team == WHY_NOT)
        c->team = team_take(c->handle, bytes, false);
}

/* What the calls that were posted could not wait for. */
static void catch_up(struct shim_comm *c)
{
    if (c->posts.wanted && !c->posts.settled) {
        c->posts.settled = true;
        c->posting = team_take(c->handle, c->posts.bytes, true);
    }
    if (!c->posts.due || !has_job(c))
        return;
    c->posts.due = false;
    for (int kind = 0; kind < CROSSINGS; kind++)
        for (unsigned size = 0; size < CROSSOVER_SIZES; size++)
            if (is_due(&c->uses[kind][size]))
                measure(c, (enum crossing)kind, crossover_sizes[size]);
}

enum why comm_way(struct shim_comm *c, enum crossing kind, bool is_exchange, size_t bytes)
{
    const bool due = note_call(c, kind, bytes);
    if (!c->settled && (due || c->posts.due || is_for_switch(c, kind, bytes)))
        settle(c, bytes);
    catch_up(c);
    if (is_exchange && has_job(c) && !c->team->has_exchanges)
        return WHY_JOB;
    if (due && has_job(c))
        measure(c, kind, bytes);
    if (has_job(c) && c->learnt != c->team->learnt) {
        memcpy(c->ways, c->team->crossover, sizeof c->ways);
        c->learnt = c->team->learnt;
    }
    if (!is_for_switch(c, kind, bytes))
        return why_not_for_switch(c, kind, bytes);
    if (!c->team)
        return c->no_team;
    return c->team->job ? WHY_NOT : WHY_SWITCH;
}

/* One is for the switch. */
static void want(struct shim_comm *c, size_t bytes)
{
    if (!c->posts.wanted)
        c->posts.no_team = why_no_team(c);
    c->posts.settled = c->posts.settled || c->posts.no_team != WHY_NOT;
    c->posts.wanted = true;
    if (bytes > c->posts.bytes)
        c->posts.bytes = bytes;
}

enum why comm_way_posted(struct shim_comm *c, enum crossing kind, bool is_exchange, size_t bytes)
{
    if (settings->fallback == FALLBACK_NATIVE)
        return WHY_AGAIN;
    c->posts.due |= note_call(c, kind, bytes);
    if (!is_for_switch(c, kind, bytes))
        return why_not_for_switch(c, kind, bytes);
    want(c, bytes);
    if (!c->posts.settled)
        return WHY_POSTED;
    if (!c->posting)
        return c->posts.no_team;
    if (!c->posting->job)
        return WHY_SWITCH;
    return is_exchange && !c->posting->has_exchanges ? WHY_JOB : WHY_NOT;
}

void comm_exit(void)
{
    /* No rank leaves while others may still wait for a part of a result. */
    front.native->Barrier(MPI_COMM_WORLD);
    while (all)
        front.drop(all->handle);
    team_exit();
}
