#include "offload.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "comm.h"
#include "device.h"
#include "report.h"
#include "summary.h"
#include "types.h"

static const struct settings *settings; /* NULL before offload_init() and after offload_exit() */

void offload_init(const struct settings *s)
{
    if (comm_init(s) == MPI_SUCCESS)
        settings = s;
}

void offload_exit(void)
{
    if (settings)
        comm_exit();
    settings = NULL;
}

int offload_native(const struct collective *c)
{
    return c->reduce ? c->next->reduce(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm)
                     : c->next->allreduce(c->send, c->recv, c->count, c->type, c->op, c->comm);
}

static int run_in_switch(const struct collective *c, struct swagg_job *job, enum swagg_type type)
{
    const void *send = c->send == MPI_IN_PLACE ? c->recv : c->send;
    return c->reduce ? swagg_reduce(job, send, c->recv, (size_t)c->count, type, SWAGG_SUM, c->root)
                     : swagg_allreduce(job, send, c->recv, (size_t)c->count, type, SWAGG_SUM);
}

/* Depends only on what all ranks see alike. */
static enum why why_native(const struct collective *c, enum swagg_type *type)
{
    if (!settings)
        return WHY_OFF;
    if (c->op != MPI_SUM)
        return WHY_OPERATION;
    *type = type_in_switch(c->type);
    if (!*type)
        return WHY_TYPE;
    if (c->count == 0)
        return WHY_EMPTY;
    if (c->count > 0 && (size_t)c->count * swagg_element_size(*type, SWAGG_SUM) < (size_t)settings->min_bytes)
        return WHY_SMALL;
    return WHY_NOT;
}

/* Whether c->recv means something on this rank. Not for intercommunicators, which never go to the switch. */
static bool receives(const struct collective *c)
{
    int rank;
    if (!c->reduce)
        return true;
    PMPI_Comm_rank(c->comm, &rank);
    return rank == c->root;
}

/* What Open MPI refuses on this rank. The sum could be taken from some of it, but not everywhere. */
static bool is_wrong(const struct collective *c)
{
    int size, between;
    if (c->count < 0 || c->comm == MPI_COMM_NULL || !c->comm)
        return true;
    PMPI_Comm_test_inter(c->comm, &between);
    if (between) /* has rules of its own, and never goes to the switch */
        return false;
    if (c->reduce) {
        PMPI_Comm_size(c->comm, &size);
        if (c->root < 0 || c->root >= size || (c->send == MPI_IN_PLACE && !receives(c)))
            return true;
    }
    return receives(c) && (c->recv == MPI_IN_PLACE || (c->send == c->recv && c->send));
}

/* Others that make the call rightly wait for this rank, here as with Open MPI alone. */
static int let_it_be_refused(const struct collective *c)
{
    static _Atomic bool told;
    char text[MPI_MAX_ERROR_STRING];
    int length, rc = offload_native(c);
    summary_native(WHY_ARGUMENT);
    if (rc != MPI_SUCCESS && !told) {
        told = true;
        PMPI_Error_string(rc, text, &length);
        report(SWAGG_LOG_WARN,
               "this rank takes no part in an %s, whose arguments Open MPI refuses here: %s; ranks whose "
               "arguments are right wait for it",
               c->reduce ? "MPI_Reduce" : "MPI_Allreduce", text);
    }
    return rc;
}

static bool uses_device(const struct collective *c)
{
    return (c->send != MPI_IN_PLACE && is_device_memory(c->send)) ||
           (receives(c) && is_device_memory(c->recv));
}

/* The switch's library reads and writes with the CPU. */
static int leave_device_alone(const struct collective *c)
{
    static _Atomic bool told;
    int rank;
    summary_native(WHY_DEVICE);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!atomic_exchange(&told, true))
        report(rank == 0 ? SWAGG_LOG_WARN : SWAGG_LOG_INFO,
               "%s of a buffer in a GPU's memory: such calls stay with Open MPI, which must be built with "
               "CUDA; to "
               "have them summed in the switch, copy to host memory and back, on all ranks",
               c->reduce ? "MPI_Reduce" : "MPI_Allreduce");
    return offload_native(c);
}

/* Tells the user, and the program through the communicator's error handler (which ends it, unless it is told
 * not to). */
static int fail(const struct collective *c, struct shim_comm *comm, int status, const char *text)
{
    char name[MPI_MAX_OBJECT_NAME], type[MPI_MAX_OBJECT_NAME], brief[MPI_MAX_ERROR_STRING];
    int length;
    PMPI_Type_get_name(c->type, type, &length);
    report(comm->team->broken ? SWAGG_LOG_INFO : SWAGG_LOG_ERROR, "%s of %d %s on %s failed: %s",
           c->reduce ? "MPI_Reduce" : "MPI_Allreduce", c->count, type, comm_name(c->comm, name), text);
    snprintf(brief, sizeof brief, "swagg: %s", text);
    if (!comm->error)
        PMPI_Add_error_code(MPI_ERR_OTHER, &comm->error);
    PMPI_Add_error_string(comm->error, brief);
    comm->team->broken |= status != SWAGG_ERR_ARGUMENT;
    summary_failed();
    PMPI_Comm_call_errhandler(c->comm, comm->error);
    return comm->error;
}

/* A buffered reduce returns before anybody knows whether all ranks called it. */
static void note_size(const struct collective *c, struct team *team, size_t bytes)
{
    if (!c->reduce || settings->reduce != SWAGG_REDUCE_BUFFERED)
        team_note_size(team, bytes);
}

static void try_switch(const struct collective *c, struct team *team, enum swagg_type type, size_t bytes,
                       struct outcome *o)
{
    o->status = team_prepare(team);
    if (o->status == SWAGG_OK)
        o->status = run_in_switch(c, team->job, type);
    if (o->status == SWAGG_OK)
        note_size(c, team, bytes);
    else
        snprintf(o->text, sizeof o->text, "%s: %s", swagg_strerror(o->status), swagg_last_error());
}

static void say_redone(MPI_Comm comm, const struct outcome *o)
{
    char name[MPI_MAX_OBJECT_NAME];
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0)
        report(SWAGG_LOG_WARN, "%s: Open MPI does this collective again, and all that follow: rank %d: %s",
               comm_name(comm, name), o->rank, o->text);
}

static bool is_in_place(const struct collective *c)
{
    return c->send == MPI_IN_PLACE;
}

static int save_input(const struct collective *c, struct team *team, size_t bytes)
{
    if (team->saved_size < bytes) {
        free(team->saved);
        team->saved = malloc(bytes);
        team->saved_size = team->saved ? bytes : 0;
    }
    if (!team->saved)
        return -1;
    memcpy(team->saved, c->recv, bytes);
    return 0;
}

/* No rank returns before all of them know that all have the sum: a rank that had gone on could not take part
 * in doing it again. So a fault costs nobody more than time; the price is a small native allreduce a call. */
static int offload_or_redo(const struct collective *c, struct shim_comm *comm, enum swagg_type type,
                           size_t bytes)
{
    struct team *team = comm->team;
    struct outcome o = {.status = SWAGG_ERR_SYSTEM,
                        .text = "no memory to keep the input of an in-place collective"};
    if (is_in_place(c) && save_input(c, team, bytes) < 0)
        swagg_abort(team->job, o.text);
    else
        try_switch(c, team, type, bytes, &o);
    agree(c->comm, &o);
    if (o.status == SWAGG_OK) {
        summary_offloaded(c->reduce, bytes);
        return MPI_SUCCESS;
    }
    if (o.status == SWAGG_ERR_MISMATCH) /* the program's own mistake, which Open MPI does not notice */
        return fail(c, comm, o.status, o.text);
    say_redone(c->comm, &o);
    if (is_in_place(c))
        memcpy(c->recv, team->saved, bytes);
    team_go_native(team);
    summary_native(WHY_SWITCH);
    return offload_native(c);
}

static int offload_or_fail(const struct collective *c, struct shim_comm *comm, enum swagg_type type,
                           size_t bytes)
{
    struct outcome o;
    try_switch(c, comm->team, type, bytes, &o);
    if (o.status < 0)
        return fail(c, comm, o.status, o.text);
    summary_offloaded(c->reduce, bytes);
    return MPI_SUCCESS;
}

static int offload(const struct collective *c, enum swagg_type type)
{
    const size_t bytes = (size_t)c->count * swagg_element_size(type, SWAGG_SUM);
    struct shim_comm *comm = comm_state(c->comm, bytes);
    if (!comm->team || !comm->team->job) {
        summary_native(comm->team ? WHY_SWITCH : WHY_COMMUNICATOR);
        return offload_native(c);
    }
    return settings->fallback == FALLBACK_NATIVE ? offload_or_redo(c, comm, type, bytes)
                                                 : offload_or_fail(c, comm, type, bytes);
}

static void count_type(MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME] = "MPI_DATATYPE_NULL";
    int length;
    if (type != MPI_DATATYPE_NULL && type)
        PMPI_Type_get_name(type, name, &length);
    summary_native_type(name);
}

int offload_run(const struct collective *c)
{
    enum swagg_type type;
    enum why why = why_native(c, &type);
    if (why == WHY_TYPE)
        count_type(c->type);
    else if (why)
        summary_native(why);
    if (why)
        return offload_native(c);
    if (is_wrong(c))
        return let_it_be_refused(c);
    return uses_device(c) ? leave_device_alone(c) : offload(c, type);
}
