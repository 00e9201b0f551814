#include "offload.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "attempt.h"
#include "comm.h"
#include "contiguous.h"
#include "front.h"
#include "gpu_driver.h"
#include "ledger.h"
#include "library.h"
#include "offers.h"
#include "posted.h"
#include "report.h"
#include "tell.h"
#include "types.h"

static const struct settings *settings; /* NULL before offload_init() and after offload_exit() */

void offload_init(const struct settings *s, int world, bool threads)
{
    comm_init(s, world, threads);
    attempt_init(s);
    settings = s;
}

void offload_exit(void)
{
    if (settings) {
        posted_give_up();
        comm_exit();
        contiguous_exit();
    }
    attempt_init(NULL);
    settings = NULL;
}

bool offload_is_on(void)
{
    return settings != NULL;
}

int offload_native(const struct collective *c)
{
    switch (c->offered) {
#define CALL(name, small, parameters, arguments, count, type, op, described, recalled)                       \
    case OFFERED_##name:                                                                                     \
        return c->request ? c->next->I##small(UNWRAP recalled, c->request) : c->next->name recalled;
        OFFERED_COLLECTIVES(CALL)
#undef CALL
    case OFFERED_COUNT:
        break;
    }
    return MPI_ERR_INTERN;
}

static int stay(const struct task *t, enum why why)
{
    struct ledger_visit visit = attempt_enter(t, why);
    int rc = offload_native(&t->call);
    ledger_leave(visit, 0);
    return rc;
}

static int run_in_switch(struct task *t, struct swagg_job *job)
{
    const int rc = attempt_begin(t, job, NULL);
    offers_end(t, rc == SWAGG_OK);
    return rc;
}

/* Whether it is something that the switch can do, and what. Depends only on what is the same on all ranks. */
static enum why prepare(const struct collective *c, struct task *t)
{
    *t = (struct task){.call = *c, .refused = MPI_SUCCESS};
    if (settings && c->comm && c->comm != MPI_COMM_NULL)
        t->comm = comm_state(c->comm);
    const enum why why = offers[c->offered].describe(t);
    if (!settings) {
        t->call = *c;
        return WHY_OFF;
    }
    if ((why == WHY_NOT || why == WHY_EMPTY) && c->op != MPI_OP_NULL &&
        !swagg_numbers_carry((enum swagg_numbers)settings->options.numbers, t->what.type, t->what.op))
        return WHY_NUMBERS;
    return why;
}

/* Whether the MPI library refuses the arguments on this rank. Intercommunicators have rules of their own, and
 * never go to the switch. */
static bool is_wrong(const struct task *t)
{
    const struct collective *c = &t->call;
    return !t->comm || (!t->comm->between && offers[c->offered].is_wrong(c, t->comm->rank, t->comm->size));
}

/* Ranks whose arguments are right wait for this one, as with the MPI library alone. */
static int let_it_be_refused(const struct task *t)
{
    static _Atomic bool told;
    char text[MPI_MAX_ERROR_STRING];
    int length, rc = stay(t, WHY_ARGUMENT);
    if (rc != MPI_SUCCESS && !told) {
        told = true;
        PMPI_Error_string(rc, text, &length);
        report(SWAGG_LOG_WARN,
               "this rank takes no part in an %s, whose arguments " MPI_LIBRARY
               " refuses here: %s; ranks whose "
               "arguments are right wait for it",
               attempt_function(&t->call), text);
    }
    return rc;
}

/* The same of one that is to be packed, of whose types the program has been told. */
static int refuse(const struct task *t, int error)
{
    ledger_leave(attempt_enter(t, WHY_ARGUMENT), 0);
    return error;
}

static bool uses_device(const struct collective *c)
{
    static struct gpu_driver driver = {
        .library = GPU_DRIVER, .only_recognises = true, .lock = PTHREAD_MUTEX_INITIALIZER};
    return gpu_is_reached(&driver) && ((c->send != MPI_IN_PLACE && gpu_has(&driver, c->send)) ||
                                       (offers_receives(c) && gpu_has(&driver, c->recv)));
}

/* libswagg reads and writes buffers with the CPU. */
static int leave_device_alone(const struct task *t)
{
    static _Atomic bool told;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!atomic_exchange(&told, true))
        report(rank == 0 ? SWAGG_LOG_WARN : SWAGG_LOG_INFO,
               "%s of a buffer in a GPU's memory: such calls stay with " MPI_LIBRARY
               ", which must be built with "
               "CUDA; to have them go to the switch, copy to host memory and back, on all ranks",
               attempt_function(&t->call));
    return stay(t, WHY_DEVICE);
}

/* Reports an error, to the user, and to the program through the communicator's error handler, which by
 * default ends it. */
static int fail(const struct task *t, int status, const char *text)
{
    const struct collective *c = &t->call;
    char name[MPI_MAX_OBJECT_NAME];
    const int error = attempt_error(t, t->comm->team, comm_name(c->comm, name), status, text);
    return front.raise(c->comm, error, attempt_function(c));
}

/* Not after a buffered reduce: it returns before it is known whether all ranks called it. */
static void note_size(const struct task *t, struct team *team)
{
    if (t->call.offered != OFFERED_Reduce || settings->options.reduce != SWAGG_REDUCE_BUFFERED)
        team_note_size(team, t->bytes);
}

static void try_switch(struct task *t, struct team *team, struct outcome *o)
{
    struct ledger_visit visit = attempt_enter(t, WHY_NOT);
    o->status = team_prepare(team);
    if (o->status == SWAGG_OK)
        o->status = run_in_switch(t, team->job);
    if (o->status == SWAGG_OK)
        note_size(t, team);
    else
        snprintf(o->text, sizeof o->text, "%s: %s", swagg_strerror(o->status), swagg_last_error());
    ledger_leave(visit, team_waited(team));
}

static void say_redone(MPI_Comm comm, const struct outcome *o)
{
    char name[MPI_MAX_OBJECT_NAME];
    int rank;
    PMPI_Comm_rank(comm, &rank);
    why_note(WHY_SWITCH, "%s: rank %d: %s", comm_name(comm, name), o->rank, o->text);
    if (rank == 0)
        report(SWAGG_LOG_WARN,
               "%s: " MPI_LIBRARY " does this collective again, and all that follow: rank %d: %s",
               comm_name(comm, name), o->rank, o->text);
}

/* Whether its input is lost where it fails. */
static bool overwrites_input(const struct collective *c)
{
    return c->send == MPI_IN_PLACE && c->op != MPI_OP_NULL;
}

static int save_input(const struct task *t, struct team *team)
{
    if (team->saved_size < t->bytes) {
        free(team->saved);
        team->saved = malloc(t->bytes);
        team->saved_size = team->saved ? t->bytes : 0;
    }
    if (!team->saved)
        return -1;
    memcpy(team->saved, t->call.recv, t->bytes);
    return 0;
}

/* No rank returns before all of them know that all have the sum, since a rank that had gone on could not take
 * part in doing it again. The price is a small native allreduce for each call. */
static int offload_or_redo(struct task *t)
{
    const struct collective *c = &t->call;
    struct team *team = t->comm->team;
    struct outcome o = {.status = SWAGG_ERR_SYSTEM,
                        .text = "no memory to keep the input of an in-place collective"};
    if (overwrites_input(c) && save_input(t, team) < 0)
        swagg_abort(team->job, o.text);
    else
        try_switch(t, team, &o);
    agree(c->comm, &o);
    if (o.status == SWAGG_OK) {
        tell_offloaded(c->offered, BLOCKING, t->bytes);
        return t->refused;
    }
    if (o.status == SWAGG_ERR_MISMATCH) /* the program's own mistake, which the MPI library does not notice */
        return fail(t, o.status, o.text);
    say_redone(c->comm, &o);
    if (overwrites_input(c) && team->saved) /* a rank that could not keep it has not begun */
        memcpy(c->recv, team->saved, t->bytes);
    team_go_native(team);
    return stay(t, WHY_SWITCH);
}

static int offload_or_fail(struct task *t)
{
    struct outcome o;
    try_switch(t, t->comm->team, &o);
    if (t->refused != MPI_SUCCESS)
        return t->refused;
    if (o.status < 0)
        return fail(t, o.status, o.text);
    tell_offloaded(t->call.offered, BLOCKING, t->bytes);
    return MPI_SUCCESS;
}

int offload_run(const struct collective *c)
{
    struct task t;
    enum why why = prepare(c, &t);
    if (why)
        return stay(&t, why);
    if (is_wrong(&t))
        return let_it_be_refused(&t);
    why = (c->request ? comm_way_posted : comm_way)(t.comm, offers[c->offered].crossing,
                                                    offers[c->offered].is_exchange, t.bytes);
    if (why)
        return stay(&t, why);
    if (uses_device(&t.call))
        return leave_device_alone(&t);
    const int error = offers_check_types(&t.call);
    if (error != MPI_SUCCESS)
        return refuse(&t, error);
    if (offers_has_one_buffer(&t.call))
        t.call.send = MPI_IN_PLACE;
    t.rank = t.comm->rank;
    t.size = t.comm->size;
    if (c->request)
        return posted_make(&t);
    return settings->fallback == FALLBACK_NATIVE ? offload_or_redo(&t) : offload_or_fail(&t);
}
