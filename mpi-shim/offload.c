#include "offload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "comm.h"
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
    if (c->comm == MPI_COMM_NULL) /* for Open MPI to complain about, as a negative count is */
        return WHY_COMMUNICATOR;
    if (c->op != MPI_SUM)
        return WHY_OPERATION;
    *type = type_in_switch(c->type);
    if (!*type)
        return WHY_TYPE;
    if (c->count <= 0 || (size_t)c->count * swagg_type_size(*type) < (size_t)settings->min_bytes)
        return WHY_SMALL;
    return WHY_NOT;
}

/* Tells the user, and the program through the communicator's error handler (which ends it, unless it is told
 * not to). */
static int fail(const struct collective *c, struct shim_comm *comm, const char *text)
{
    char name[MPI_MAX_OBJECT_NAME], type[MPI_MAX_OBJECT_NAME], brief[MPI_MAX_ERROR_STRING];
    int length;
    PMPI_Type_get_name(c->type, type, &length);
    report(comm->broken ? SWAGG_LOG_INFO : SWAGG_LOG_ERROR, "%s of %d %s on %s failed: %s",
           c->reduce ? "MPI_Reduce" : "MPI_Allreduce", c->count, type, comm_name(c->comm, name), text);
    if (!comm->broken) {
        snprintf(brief, sizeof brief, "swagg: %s", text);
        PMPI_Add_error_code(MPI_ERR_OTHER, &comm->broken);
        PMPI_Add_error_string(comm->broken, brief);
    }
    summary_failed();
    PMPI_Comm_call_errhandler(c->comm, comm->broken);
    return comm->broken;
}

static void try_switch(const struct collective *c, struct shim_comm *comm, enum swagg_type type,
                       struct outcome *o)
{
    o->status = run_in_switch(c, comm->job, type);
    if (o->status < 0)
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

static int save_input(const struct collective *c, struct shim_comm *comm, size_t bytes)
{
    if (comm->saved_size < bytes) {
        free(comm->saved);
        comm->saved = malloc(bytes);
        comm->saved_size = comm->saved ? bytes : 0;
    }
    if (!comm->saved)
        return -1;
    memcpy(comm->saved, c->recv, bytes);
    return 0;
}

/* No rank returns before all of them know that all have the sum: a rank that had gone on could not take part
 * in doing it again. So a fault costs nobody more than time; the price is a small native allreduce a call. */
static int offload_or_redo(const struct collective *c, struct shim_comm *comm, enum swagg_type type,
                           size_t bytes)
{
    struct outcome o = {.status = SWAGG_ERR_SYSTEM,
                        .text = "no memory to keep the input of an in-place collective"};
    if (is_in_place(c) && save_input(c, comm, bytes) < 0)
        swagg_abort(comm->job, o.text);
    else
        try_switch(c, comm, type, &o);
    agree(c->comm, &o);
    if (o.status == SWAGG_OK) {
        summary_offloaded(c->reduce, bytes);
        return MPI_SUCCESS;
    }
    if (o.status == SWAGG_ERR_MISMATCH) /* the program's own mistake, which Open MPI does not notice */
        return fail(c, comm, o.text);
    say_redone(c->comm, &o);
    if (is_in_place(c))
        memcpy(c->recv, comm->saved, bytes);
    comm_go_native(comm);
    summary_native(WHY_SWITCH);
    return offload_native(c);
}

static int offload_or_fail(const struct collective *c, struct shim_comm *comm, enum swagg_type type,
                           size_t bytes)
{
    struct outcome o;
    try_switch(c, comm, type, &o);
    if (o.status < 0)
        return fail(c, comm, o.text);
    summary_offloaded(c->reduce, bytes);
    return MPI_SUCCESS;
}

static int offload(const struct collective *c, enum swagg_type type)
{
    const size_t bytes = (size_t)c->count * swagg_type_size(type);
    struct shim_comm *comm = comm_state(c->comm);
    if (!comm->job) {
        summary_native(comm->why);
        return offload_native(c);
    }
    return settings->fallback == FALLBACK_NATIVE ? offload_or_redo(c, comm, type, bytes)
                                                 : offload_or_fail(c, comm, type, bytes);
}

int offload_run(const struct collective *c)
{
    enum swagg_type type;
    enum why why = why_native(c, &type);
    if (why) {
        summary_native(why);
        return offload_native(c);
    }
    return offload(c, type);
}
