#include "offload.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "comm.h"
#include "contiguous.h"
#include "front.h"
#include "ledger.h"
#include "library.h"
#include "random/splitmix.h"
#include "report.h"
#include "tell.h"
#include "types.h"

/* --- buffers in a GPU's memory, which the CPU cannot read --- */

/* From cuda.h, CUDA's driver API, which need not be installed. */
enum { SUCCESS = 0, ATTRIBUTE_MEMORY_TYPE = 2, ATTRIBUTE_IS_MANAGED = 8, MEMORY_TYPE_DEVICE = 2 };
typedef int pointer_get_attribute(void *data, int attribute, uintptr_t pointer);

static int note_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

/* NULL while the program has not loaded the driver. Searching is expensive, so it is done again only after
 * the program has loaded something. CUDA's runtime loads the driver into a scope of its own, so searching the
 * global scope is not enough. */
static pointer_get_attribute *find_driver(void)
{
    static _Atomic unsigned long long seen;
    static void *_Atomic found;
    unsigned long long loads = 0;
    void *symbol = found;
    dl_iterate_phdr(note_loads, &loads);
    if (!symbol && loads != seen) {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        symbol = dlsym(library ? library : RTLD_DEFAULT, "cuPointerGetAttribute");
        found = symbol;
        seen = loads;
    }
    return *(pointer_get_attribute **)&symbol;
}

/* Whether this is memory of a CUDA GPU. It is not if the program has not loaded CUDA's driver. Managed memory
 * does not count, since the CPU can read it, too. Any thread. */
static bool is_device_memory(const void *buffer)
{
    pointer_get_attribute *get = find_driver();
    uint64_t type = 0, managed = 0; /* the driver writes as much of them as it needs */
    return get && get(&type, ATTRIBUTE_MEMORY_TYPE, (uintptr_t)buffer) == SUCCESS &&
           (uint32_t)type == MEMORY_TYPE_DEVICE &&
           (get(&managed, ATTRIBUTE_IS_MANAGED, (uintptr_t)buffer) != SUCCESS || !(uint8_t)managed);
}

/* --- one collective --- */

static const struct settings *settings; /* NULL before offload_init() and after offload_exit() */

void offload_init(const struct settings *s, int world, bool threads)
{
    comm_init(s, world, threads);
    settings = s;
}

void offload_exit(void)
{
    if (settings) {
        comm_exit();
        contiguous_exit();
    }
    settings = NULL;
}

bool offload_is_on(void)
{
    return settings != NULL;
}

int offload_native(const struct collective *c)
{
    return c->reduce ? c->next->Reduce(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm)
                     : c->next->Allreduce(c->send, c->recv, c->count, c->type, c->op, c->comm);
}

static const char *function_of(const struct collective *c)
{
    return c->reduce ? "MPI_Reduce" : "MPI_Allreduce";
}

static struct ledger_visit enter(const struct collective *c, enum why why)
{
    const bool has_comm = settings && c->comm && c->comm != MPI_COMM_NULL;
    int size = 0;
    if (c->type && c->type != MPI_DATATYPE_NULL)
        PMPI_Type_size(c->type, &size);
    return ledger_enter(&(struct call){.function = function_of(c),
                                       .why = why,
                                       .op = c->op,
                                       .type = c->type,
                                       .bytes = c->count > 0 ? (size_t)c->count * (size_t)size : 0,
                                       .site = c->site,
                                       .label = has_comm ? &comm_state(c->comm)->label : NULL});
}

static int stay(const struct collective *c, enum why why)
{
    struct ledger_visit visit = enter(c, why);
    int rc = offload_native(c);
    ledger_leave(visit, 0);
    return rc;
}

/* A collective as the switch does it. */
struct task {
    struct collective call; /* of a named type */
    struct reduction what;
    size_t elements, bytes;
};

/* For error feedback: what one call site sends from one place is the same tensor each time. */
static uint64_t tensor_of(const void *site, const void *send)
{
    return splitmix_hash((uint64_t)(uintptr_t)site) ^ (uint64_t)(uintptr_t)send;
}

static int run_in_switch(const struct task *t, struct swagg_job *job)
{
    const struct collective *c = &t->call;
    const void *send = c->send == MPI_IN_PLACE ? c->recv : c->send;
    if (settings->options.compression != SWAGG_COMPRESSION_NONE)
        swagg_name_tensor(job, tensor_of(c->site, send));
    return c->reduce ? swagg_reduce(job, send, c->recv, t->elements, t->what.type, t->what.op, c->root)
                     : swagg_allreduce(job, send, c->recv, t->elements, t->what.type, t->what.op);
}

/* Turns a call with a derived type that has only elements of a named type into a call with these elements.
 * The MPI library refuses MPI's operations on derived types; this way such a call has the same result,
 * whether the switch or the MPI library does it. */
static void call_in_elements(struct task *t)
{
    t->elements = t->call.count > 0 ? (size_t)t->call.count * t->what.per_item : 0;
    t->bytes = t->elements * t->what.element_bytes;
    if (t->call.count > 0 && t->elements <= INT_MAX) {
        t->call.type = t->what.named;
        t->call.count = (int)t->elements;
    }
}

/* Whether it is something that the switch can do, and what. Depends only on what is the same on all ranks. */
static enum why prepare(const struct collective *c, struct task *t)
{
    t->call = *c;
    enum why why = types_reduction(c->type, c->op, &t->what);
    if (t->what.named != MPI_DATATYPE_NULL)
        call_in_elements(t);
    if (why)
        return why;
    if (!swagg_numbers_carry((enum swagg_numbers)settings->options.numbers, t->what.type, t->what.op))
        return WHY_NUMBERS;
    return c->count >= 0 && t->elements == 0 ? WHY_EMPTY : WHY_NOT;
}

/* Whether this rank receives the result. Not for intercommunicators, which never go to the switch. */
static bool receives(const struct collective *c)
{
    int rank;
    if (!c->reduce)
        return true;
    PMPI_Comm_rank(c->comm, &rank);
    return rank == c->root;
}

static bool has_one_buffer(const struct collective *c)
{
    return receives(c) && c->send == c->recv && c->send;
}

/* Whether the MPI library refuses the arguments on this rank. With some of them a sum would be possible, but
 * not on all ranks. What the MPI library takes here is not wrong: the other ranks' part of the call waits for
 * this one. */
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
    return (receives(c) && c->recv == MPI_IN_PLACE) ||
           (has_one_buffer(c) && !library_takes_one_buffer(c->reduce, c->count));
}

/* Ranks whose arguments are right wait for this one, as with the MPI library alone. */
static int let_it_be_refused(const struct collective *c)
{
    static _Atomic bool told;
    char text[MPI_MAX_ERROR_STRING];
    int length, rc = stay(c, WHY_ARGUMENT);
    if (rc != MPI_SUCCESS && !told) {
        told = true;
        PMPI_Error_string(rc, text, &length);
        report(SWAGG_LOG_WARN,
               "this rank takes no part in an %s, whose arguments " MPI_LIBRARY
               " refuses here: %s; ranks whose "
               "arguments are right wait for it",
               function_of(c), text);
    }
    return rc;
}

static bool uses_device(const struct collective *c)
{
    return (c->send != MPI_IN_PLACE && is_device_memory(c->send)) ||
           (receives(c) && is_device_memory(c->recv));
}

/* libswagg reads and writes buffers with the CPU. */
static int leave_device_alone(const struct collective *c)
{
    static _Atomic bool told;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!atomic_exchange(&told, true))
        report(rank == 0 ? SWAGG_LOG_WARN : SWAGG_LOG_INFO,
               "%s of a buffer in a GPU's memory: such calls stay with " MPI_LIBRARY
               ", which must be built with "
               "CUDA; to have them reduced in the switch, copy to host memory and back, on all ranks",
               function_of(c));
    return stay(c, WHY_DEVICE);
}

/* Reports an error, to the user, and to the program through the communicator's error handler, which by
 * default ends it. */
static int fail(const struct collective *c, struct shim_comm *comm, int status, const char *text)
{
    char name[MPI_MAX_OBJECT_NAME], type[MPI_MAX_OBJECT_NAME], brief[MPI_MAX_ERROR_STRING];
    int length;
    PMPI_Type_get_name(c->type, type, &length);
    report(comm->team->broken ? SWAGG_LOG_INFO : SWAGG_LOG_ERROR, "%s of %d %s (%s) on %s failed: %s",
           function_of(c), c->count, type, op_name(c->op), comm_name(c->comm, name), text);
    snprintf(brief, sizeof brief, "swagg: %s", text);
    if (!comm->error)
        library_add_error(&comm->error);
    PMPI_Add_error_string(comm->error, brief);
    comm->team->broken |= status != SWAGG_ERR_ARGUMENT;
    tell_failed();
    return front.raise(c->comm, comm->error, function_of(c));
}

/* Not after a buffered reduce: it returns before it is known whether all ranks called it. */
static void note_size(const struct task *t, struct team *team)
{
    if (!t->call.reduce || settings->options.reduce != SWAGG_REDUCE_BUFFERED)
        team_note_size(team, t->bytes);
}

static void try_switch(const struct task *t, struct team *team, struct outcome *o)
{
    struct ledger_visit visit = enter(&t->call, WHY_NOT);
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

static bool is_in_place(const struct collective *c)
{
    return c->send == MPI_IN_PLACE;
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
static int offload_or_redo(const struct task *t, struct shim_comm *comm)
{
    const struct collective *c = &t->call;
    struct team *team = comm->team;
    struct outcome o = {.status = SWAGG_ERR_SYSTEM,
                        .text = "no memory to keep the input of an in-place collective"};
    if (is_in_place(c) && save_input(t, team) < 0)
        swagg_abort(team->job, o.text);
    else
        try_switch(t, team, &o);
    agree(c->comm, &o);
    if (o.status == SWAGG_OK) {
        tell_offloaded(c->reduce, t->bytes);
        return MPI_SUCCESS;
    }
    if (o.status == SWAGG_ERR_MISMATCH) /* the program's own mistake, which the MPI library does not notice */
        return fail(c, comm, o.status, o.text);
    say_redone(c->comm, &o);
    if (is_in_place(c) && team->saved) /* a rank that could not keep it has not begun */
        memcpy(c->recv, team->saved, t->bytes);
    team_go_native(team);
    return stay(c, WHY_SWITCH);
}

static int offload_or_fail(const struct task *t, struct shim_comm *comm)
{
    struct outcome o;
    try_switch(t, comm->team, &o);
    if (o.status < 0)
        return fail(&t->call, comm, o.status, o.text);
    tell_offloaded(t->call.reduce, t->bytes);
    return MPI_SUCCESS;
}

int offload_run(const struct collective *c)
{
    struct task t;
    if (!settings)
        return stay(c, WHY_OFF);
    enum why why = prepare(c, &t);
    if (why)
        return stay(&t.call, why);
    if (is_wrong(&t.call))
        return let_it_be_refused(&t.call);
    struct shim_comm *comm = comm_state(t.call.comm);
    why = comm_way(comm, c->reduce, t.bytes);
    if (why)
        return stay(&t.call, why);
    if (uses_device(&t.call))
        return leave_device_alone(&t.call);
    if (has_one_buffer(&t.call))
        t.call.send = MPI_IN_PLACE;
    return settings->fallback == FALLBACK_NATIVE ? offload_or_redo(&t, comm) : offload_or_fail(&t, comm);
}
