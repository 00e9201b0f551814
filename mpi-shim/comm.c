#include "comm.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agree.h"
#include "report.h"

enum { RANKS_MAX = 256, JOB_NAME = 48 }; /* of swagg_options */

static const struct settings *settings;
static int keyval = MPI_KEYVAL_INVALID;
static struct shim_comm *all; /* under the mutex */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The collectives of a job wait outside Open MPI; a peer may have to receive a message of ours before it can
 * join them. Any call that completes nothing turns the crank. */
static void turn_crank(void *unused)
{
    int flag;
    (void)unused;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void log_line(void *comm, enum swagg_log_level level, const char *line)
{
    const struct shim_comm *c = comm;
    report(c->joined || level > SWAGG_LOG_INFO ? level : SWAGG_LOG_INFO, "%s", line);
}

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
    comm_go_native(c);
    free(c);
    return MPI_SUCCESS;
}

static void open_job(struct shim_comm *c, int rank, int size, const char *name, struct outcome *o)
{
    const struct swagg_options options = {
        .switch_ip = settings->switch_ip,
        .job = name,
        .rank = rank,
        .size = size,
        .mode = (enum swagg_mode)settings->mode,
        .checksum = (enum swagg_checksum)settings->checksum,
        .reduce = (enum swagg_reduce_return)settings->reduce,
        .slots = (int)settings->slots,
        .window = (int)settings->window,
        .join_timeout_ms = (int)settings->join_timeout_ms,
        .call_timeout_ms = (int)settings->call_timeout_ms,
        .log = log_line,
        .log_ctx = c,
        .progress = turn_crank,
    };
    o->status = swagg_open(&c->job, &options);
    if (o->status < 0)
        snprintf(o->text, sizeof o->text, "%s: %s", swagg_strerror(o->status), swagg_last_error());
}

/* A name that no other job in the switch has: rank 0's random number. */
static void choose_name(MPI_Comm comm, int rank, char name[JOB_NAME], struct outcome *o)
{
    uint64_t id = 0;
    if (rank == 0 && getrandom(&id, sizeof id, 0) != sizeof id) {
        o->status = SWAGG_ERR_SYSTEM;
        snprintf(o->text, sizeof o->text, "getrandom: %s", strerror(errno));
    }
    PMPI_Bcast(&id, sizeof id, MPI_BYTE, 0, comm);
    snprintf(name, JOB_NAME, "mpi-%016" PRIx64, id);
}

/* All ranks try to join; unless all of them can, all stay with Open MPI. */
static void decide(struct shim_comm *c, int rank, int size)
{
    static _Atomic int absent; /* once there was no switch, other communicators need not wait for it */
    char name[JOB_NAME], who[MPI_MAX_OBJECT_NAME];
    struct outcome o = {.status = absent ? SWAGG_ERR_NO_SWITCH : SWAGG_OK,
                        .text = "no switch answered before"};
    enum swagg_log_level level = absent ? SWAGG_LOG_INFO : SWAGG_LOG_WARN;

    choose_name(c->handle, rank, name, &o);
    agree(c->handle, &o);
    if (o.status == SWAGG_OK) {
        open_job(c, rank, size, name, &o);
        agree(c->handle, &o);
    }
    c->joined = o.status == SWAGG_OK;
    if (c->joined) {
        report(rank == 0 ? SWAGG_LOG_INFO : SWAGG_LOG_DEBUG, "%s: job %s of %d ranks at switch %s",
               comm_name(c->handle, who), name, size, settings->switch_ip);
        return;
    }
    comm_go_native(c);
    absent |= o.status == SWAGG_ERR_NO_SWITCH;
    if (rank == 0)
        report(level, "%s stays with Open MPI's own collectives: rank %d: %s", comm_name(c->handle, who),
               o.rank, o.text);
}

static struct shim_comm *create(MPI_Comm comm)
{
    int between, rank, size;
    struct shim_comm *c = calloc(1, sizeof *c);
    if (!c) { /* this rank cannot take part in what the others are about to agree on */
        report(SWAGG_LOG_ERROR, "no memory for a communicator's state");
        PMPI_Abort(comm, EXIT_FAILURE);
        exit(EXIT_FAILURE);
    }
    c->handle = comm;
    put_in_list(c);
    PMPI_Comm_set_attr(comm, keyval, c);
    PMPI_Comm_test_inter(comm, &between);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (between || size < 2 || size > RANKS_MAX)
        c->why = WHY_COMMUNICATOR;
    else
        decide(c, rank, size);
    return c;
}

int comm_init(const struct settings *s)
{
    settings = s;
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
}

struct shim_comm *comm_state(MPI_Comm comm)
{
    void *value;
    int found;
    PMPI_Comm_get_attr(comm, keyval, &value, &found);
    return found ? value : create(comm);
}

const char *comm_name(MPI_Comm comm, char name[MPI_MAX_OBJECT_NAME])
{
    int length;
    PMPI_Comm_get_name(comm, name, &length);
    return length ? name : "a communicator without a name";
}

void comm_go_native(struct shim_comm *c)
{
    swagg_close(c->job);
    free(c->saved);
    c->saved = NULL;
    c->saved_size = 0;
    c->job = NULL;
    c->why = WHY_SWITCH;
}

void comm_exit(void)
{
    /* Nobody leaves while others may still wait for the last of a result. */
    PMPI_Barrier(MPI_COMM_WORLD);
    while (all)
        PMPI_Comm_delete_attr(all->handle, keyval);
    PMPI_Comm_free_keyval(&keyval);
}
