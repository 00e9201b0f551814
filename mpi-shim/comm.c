#include "comm.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "front.h"
#include "report.h"

/* So many calls of sizes below the usual ones are reason enough to join a job in the switch, and to measure.
 */
enum { SMALL_CALLS = 100 };

/* So many of the usual sizes are, where a program may make one at its start only: to broadcast its input. */
enum { USUAL_CALLS = 5 };

static const struct settings *settings;

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
    MPI_Group group, world;
    int ranks[COMM_RANKS_MAX], places[COMM_RANKS_MAX];
    bool within = true;
    for (int r = 0; r < size; r++)
        ranks[r] = r;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, size, ranks, world, places);
    for (int r = 0; r < size; r++)
        within = within && places[r] != MPI_UNDEFINED;
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return within;
}

/* Why the switch takes no such communicator; WHY_NOT: it does. */
static enum why why_no_team(MPI_Comm comm)
{
    int between, size;
    PMPI_Comm_test_inter(comm, &between);
    PMPI_Comm_size(comm, &size);
    if (between)
        return WHY_INTERCOMMUNICATOR;
    if (size < 2)
        return WHY_ALONE;
    if (size > COMM_RANKS_MAX)
        return WHY_CROWD;
    return is_within_world(comm, size) ? WHY_NOT : WHY_LATER;
}

static struct shim_comm *create(MPI_Comm comm)
{
    struct shim_comm *c = allocate_or_abort(comm, sizeof *c, "the state of a communicator");
    c->handle = comm;
    comm_label_of(comm, &c->label);
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

struct shim_comm *comm_state(MPI_Comm comm)
{
    struct shim_comm *c = front.kept(comm);
    return c ? c : create(comm);
}

/* Whether its collectives of so many bytes are for the switch. */
static bool is_for_switch(const struct shim_comm *c, enum crossing kind, size_t bytes)
{
    if (settings->min_bytes != MIN_BYTES_MEASURED)
        return (int64_t)bytes >= settings->min_bytes;
    if (!c->team || !c->team->job)
        return bytes >= CROSSOVER_USUAL;
    return crossover_has(c->team->crossover[kind].ranges, bytes);
}

/* Of a collective that is not. */
static enum why why_not_for_switch(const struct shim_comm *c, enum crossing kind, size_t bytes)
{
    if (settings->min_bytes != MIN_BYTES_MEASURED)
        return WHY_SMALL;
    return c->team && crossover_is_measured(&c->team->crossover[kind], bytes) ? WHY_FASTER : WHY_UNMEASURED;
}

static void note_call(struct shim_comm *c, enum crossing kind, size_t bytes)
{
    if (c->calls[kind] < SMALL_CALLS)
        c->calls[kind] += bytes < CROSSOVER_USUAL ? 1 : SMALL_CALLS / USUAL_CALLS;
}

static bool is_worth_measuring(const struct shim_comm *c, enum crossing kind)
{
    return kind == CROSSING_ALLREDUCE || kind == CROSSING_REDUCE || c->calls[kind] >= SMALL_CALLS;
}

static bool is_time_to_measure(const struct shim_comm *c, enum crossing kind, size_t bytes)
{
    return settings->min_bytes == MIN_BYTES_MEASURED && c->team && c->team->job &&
           c->team->crossover[kind].sizes < crossover_needs(bytes) && is_worth_measuring(c, kind);
}

/* All ranks have made the same calls, and so come to the same answer. */
static bool is_time_for_a_team(struct shim_comm *c, bool is_small)
{
    if (c->settled)
        return false;
    return !is_small || (settings->min_bytes == MIN_BYTES_MEASURED &&
                         (c->posts.wanted || ++c->small_calls >= SMALL_CALLS));
}

/* What the calls that were posted could not wait for. */
static void catch_up(struct shim_comm *c)
{
    if (c->posts.wanted && !c->posts.settled) {
        c->posts.settled = true;
        c->posting = team_take(c->handle, c->posts.bytes, true);
    }
    for (int kind = 0; kind < CROSSINGS; kind++)
        if (c->posts.made[kind] && is_time_to_measure(c, (enum crossing)kind, c->posts.most[kind]))
            team_measure(c->handle, c->team, (enum crossing)kind, c->posts.most[kind]);
}

enum why comm_way(struct shim_comm *c, enum crossing kind, bool is_exchange, size_t bytes)
{
    note_call(c, kind, bytes);
    if (is_time_for_a_team(c, !is_for_switch(c, kind, bytes))) {
        c->settled = true;
        c->no_team = why_no_team(c->handle);
        if (c->no_team == WHY_NOT)
            c->team = team_take(c->handle, bytes, false);
    }
    catch_up(c);
    if (is_exchange && c->team && c->team->job && swagg_has_exchanges(c->team->job) != 1)
        return WHY_JOB;
    if (is_time_to_measure(c, kind, bytes))
        team_measure(c->handle, c->team, kind, bytes);
    if (!is_for_switch(c, kind, bytes))
        return why_not_for_switch(c, kind, bytes);
    if (!c->team)
        return c->no_team;
    return c->team->job ? WHY_NOT : WHY_SWITCH;
}

static void note_post(struct shim_comm *c, enum crossing kind, size_t bytes)
{
    note_call(c, kind, bytes);
    c->posts.made[kind] = true;
    if (bytes > c->posts.most[kind])
        c->posts.most[kind] = bytes;
    if (!c->settled && c->small_calls < SMALL_CALLS)
        c->small_calls++;
}

/* One is for the switch. */
static void want(struct shim_comm *c, size_t bytes)
{
    if (!c->posts.wanted)
        c->posts.no_team = why_no_team(c->handle);
    c->posts.settled = c->posts.settled || c->posts.no_team != WHY_NOT;
    c->posts.wanted = true;
    if (bytes > c->posts.bytes)
        c->posts.bytes = bytes;
}

enum why comm_way_posted(struct shim_comm *c, enum crossing kind, bool is_exchange, size_t bytes)
{
    if (settings->fallback == FALLBACK_NATIVE)
        return WHY_AGAIN;
    note_post(c, kind, bytes);
    if (!is_for_switch(c, kind, bytes))
        return why_not_for_switch(c, kind, bytes);
    want(c, bytes);
    if (!c->posts.settled)
        return WHY_POSTED;
    if (!c->posting)
        return c->posts.no_team;
    if (!c->posting->job)
        return WHY_SWITCH;
    return is_exchange && swagg_has_exchanges(c->posting->job) != 1 ? WHY_JOB : WHY_NOT;
}

void comm_exit(void)
{
    /* No rank leaves while others may still wait for a part of a result. */
    front.native->Barrier(MPI_COMM_WORLD);
    while (all)
        front.drop(all->handle);
    team_exit();
}
