#include "attempt.h"

#include <stdint.h>
#include <stdio.h>

#include "comm.h"
#include "library.h"
#include "random/splitmix.h"
#include "report.h"
#include "tell.h"

static const struct settings *settings; /* NULL: nothing goes to the switch */

void attempt_init(const struct settings *s)
{
    settings = s;
}

const char *attempt_function(const struct collective *c)
{
    return offered_functions[c->request ? POSTED : BLOCKING][c->offered];
}

struct ledger_visit attempt_enter(const struct task *t, enum why why)
{
    const struct collective *c = &t->call;
    return ledger_enter(&(struct call){.function = attempt_function(c),
                                       .why = why,
                                       .op = c->op,
                                       .type = c->type,
                                       .bytes = t->mpi_bytes,
                                       .site = c->site,
                                       .label = t->comm ? &t->comm->label : NULL});
}

/* For error feedback: what one call site sends from one place is the same tensor each time. */
static uint64_t tensor_of(const void *site, const void *send)
{
    return splitmix_hash((uint64_t)(uintptr_t)site) ^ (uint64_t)(uintptr_t)send;
}

int attempt_begin(struct task *t, struct swagg_job *job, struct swagg_request **posted)
{
    const struct collective *c = &t->call;
    const void *send = c->send == MPI_IN_PLACE ? c->recv : c->send;
    if (settings->options.compression != SWAGG_COMPRESSION_NONE && c->op != MPI_OP_NULL)
        swagg_name_tensor(job, tensor_of(c->site, send));
    return offers[c->offered].begin(t, job, posted);
}

/* "MPI_Allreduce of 3 MPI_INT (MPI_SUM)" */
static void write_call(const struct task *t, char *text, size_t size)
{
    char type[MPI_MAX_OBJECT_NAME];
    int length, used = snprintf(text, size, "%s", attempt_function(&t->call));
    if (t->call.type == MPI_DATATYPE_NULL)
        return;
    PMPI_Type_get_name(t->call.type, type, &length);
    used += snprintf(text + used, size - (size_t)used, " of %zu %s",
                     t->call.op == MPI_OP_NULL ? t->items : t->elements, type);
    if (t->call.op != MPI_OP_NULL)
        snprintf(text + used, size - (size_t)used, " (%s)", op_name(t->call.op));
}

int attempt_error(const struct task *t, struct team *team, const char *name, int status, const char *text)
{
    char call[2 * MPI_MAX_OBJECT_NAME + 100], brief[MPI_MAX_ERROR_STRING];
    write_call(t, call, sizeof call);
    report(team->broken ? SWAGG_LOG_INFO : SWAGG_LOG_ERROR, "%s on %s failed: %s", call, name, text);
    snprintf(brief, sizeof brief, "swagg: %s", text);
    if (!t->comm->error)
        library_add_error(&t->comm->error);
    PMPI_Add_error_string(t->comm->error, brief);
    team->broken |= status != SWAGG_ERR_ARGUMENT;
    tell_failed();
    return t->comm->error;
}
