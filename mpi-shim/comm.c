#include "comm.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "report.h"

enum { RANKS_MAX = 256 }; /* of swagg_options */

static int keyval = MPI_KEYVAL_INVALID;
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

static int on_delete(MPI_Comm comm, int key, void *value, void *unused)
{
    struct shim_comm *c = value;
    (void)comm, (void)key, (void)unused;
    take_from_list(c);
    if (c->team)
        team_leave(c->team);
    free(c);
    return MPI_SUCCESS;
}

/* Whether all its processes took part in the roll call; processes that were started later, or separately, may
 * lack the shim. */
static bool is_within_world(MPI_Comm comm, int size)
{
    MPI_Group group, world;
    int ranks[RANKS_MAX], places[RANKS_MAX];
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

static bool can_have_a_team(MPI_Comm comm)
{
    int between, size;
    PMPI_Comm_test_inter(comm, &between);
    PMPI_Comm_size(comm, &size);
    return !between && size >= 2 && size <= RANKS_MAX && is_within_world(comm, size);
}

static struct shim_comm *create(MPI_Comm comm, size_t bytes)
{
    struct shim_comm *c = calloc(1, sizeof *c);
    if (!c) { /* this rank cannot take part in what the others are about to agree on */
        report(SWAGG_LOG_ERROR, "no memory for a communicator's state");
        PMPI_Abort(comm, EXIT_FAILURE);
        exit(EXIT_FAILURE);
    }
    c->handle = comm;
    put_in_list(c);
    PMPI_Comm_set_attr(comm, keyval, c);
    if (can_have_a_team(comm))
        c->team = team_take(comm, bytes);
    return c;
}

int comm_init(const struct settings *s)
{
    team_init(s);
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
}

struct shim_comm *comm_state(MPI_Comm comm, size_t bytes)
{
    void *value;
    int found;
    PMPI_Comm_get_attr(comm, keyval, &value, &found);
    return found ? value : create(comm, bytes);
}

void comm_exit(void)
{
    /* No rank leaves while others may still wait for a part of a result. */
    PMPI_Barrier(MPI_COMM_WORLD);
    while (all)
        PMPI_Comm_delete_attr(all->handle, keyval);
    PMPI_Comm_free_keyval(&keyval);
    team_exit();
}
