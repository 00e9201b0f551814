#include "module.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "blocks.h"
#include "collective.h"
#include "comm.h"
#include "front.h"
#include "offload.h"
#include "parameters.h"
#include "pending.h"
#include "persistent.h"
#include "session.h"

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/class/opal_pointer_array.h"

typedef struct {
    mca_coll_base_module_t super;
    int id; /* the communicator's context id */
    struct shim_comm *state;
    struct {
#define BEFORE(name, small, ...)                                                                             \
    mca_coll_base_module_##small##_fn_t small;                                                               \
    mca_coll_base_module_t *small##_module;
        COLLECTIVES(BEFORE)
#undef BEFORE
    } before; /* those of the modules of lower priority, which live as long as this one */
} swagg_module;

/* By the communicator's context id. Open MPI's array has a lock of its own. */
static opal_pointer_array_t modules;

/* NULL: the communicator has none. */
static swagg_module *module_of(MPI_Comm comm)
{
    return opal_pointer_array_get_item(&modules, (int)comm->c_contextid);
}

static void on_construct(swagg_module *m)
{
    memset((char *)m + sizeof m->super, 0, sizeof *m - sizeof m->super);
    m->id = -1;
}

static void on_destruct(swagg_module *m)
{
    if (m->id >= 0)
        opal_pointer_array_set_item(&modules, m->id, NULL);
    if (m->state)
        comm_gone(m->state);
#define RELEASE(name, small, ...)                                                                            \
    if (m->before.small##_module)                                                                            \
        OBJ_RELEASE(m->before.small##_module);
    COLLECTIVES(RELEASE)
#undef RELEASE
}

static OBJ_CLASS_INSTANCE(swagg_module, mca_coll_base_module_t, on_construct, on_destruct);

/* --- as a front: Open MPI's own collectives, and what is kept of a communicator --- */

/* A communicator without a module is one that never comes here. */
#define NATIVE(name, small, parameters, arguments, ...)                                                      \
    static int native_##small parameters                                                                     \
    {                                                                                                        \
        const swagg_module *m = module_of(comm);                                                             \
        return m ? m->before.small(UNWRAP arguments, m->before.small##_module) : PMPI_##name arguments;      \
    }
COLLECTIVES(NATIVE)
#undef NATIVE

static const struct native native = {
#define ENTRY(name, small, ...) .name = native_##small,
    COLLECTIVES(ENTRY)
#undef ENTRY
};

static void keep(MPI_Comm comm, struct shim_comm *state)
{
    module_of(comm)->state = state;
}

static struct shim_comm *kept(MPI_Comm comm)
{
    return module_of(comm)->state;
}

static void drop(MPI_Comm comm)
{
    swagg_module *m = module_of(comm);
    struct shim_comm *state = m->state;
    m->state = NULL;
    comm_gone(state);
}

/* Open MPI's function, which has called the module, calls the error handler. */
static int raise_error(MPI_Comm comm, int error, const char *function)
{
    (void)comm, (void)function;
    return error;
}

const struct front front = {.name = "component",
                            .start_it = "mpirun --mca coll_swagg_switch ADDRESS, and with mca_coll_swagg.so "
                                        "where Open MPI finds it on every host",
                            .native = &native,
                            .environment = parameters_environment,
                            .is_wanted = parameters_are_given,
                            .keep = keep,
                            .kept = kept,
                            .drop = drop,
                            .make_request = pending_make,
                            .end_request = pending_end,
                            .raise = raise_error};

/* --- the collectives --- */

/* Open MPI's own ones in MPI_Init come before MPI may be called. */
static bool is_open(void)
{
    return ompi_mpi_state >= OMPI_MPI_STATE_INIT_COMPLETED;
}

/* A type that Open MPI has made for a call of its own, as MPI_Intercomm_merge does: of what it is made, MPI's
 * functions do not know. */
static bool is_inner(MPI_Datatype type)
{
    return type && type != MPI_DATATYPE_NULL && !ompi_datatype_is_predefined(type) && !type->args;
}

static bool has_inner_type(const struct collective *c)
{
    return is_inner(c->type) || (collective_has_send_type(c) && is_inner(c->send_type));
}

/* Which place in the program has called is not known here. */
#define OFFER(name, small, parameters, arguments, count, type, op, described, ...)                           \
    static int small(UNWRAP parameters, mca_coll_base_module_t *module)                                      \
    {                                                                                                        \
        const swagg_module *m = (const swagg_module *)module;                                                \
        const struct collective c = {.next = &native, .offered = OFFERED_##name, UNWRAP described};          \
        return is_open() && !has_inner_type(&c)                                                              \
                   ? session_collective(&c)                                                                  \
                   : m->before.small(UNWRAP arguments, m->before.small##_module);                            \
    }
OFFERED_COLLECTIVES(OFFER)
#undef OFFER

/* Whether the program has called, by MPI's function. Open MPI makes such calls itself where it makes a
 * communicator, some of them from its progress: at another moment on each rank, so they have no place in the
 * program's order. */
static bool is_of_program(const void *site, const void *_Atomic *known)
{
    Dl_info caller;
    if (site == *known)
        return true;
    if (!dladdr(site, &caller) || !caller.dli_sname || !strstr(caller.dli_sname, "MPI_I"))
        return false;
    *known = site;
    return true;
}

#define POST(name, small, parameters, arguments, count, type, op, described, ...)                            \
    static int i##small(UNWRAP parameters, MPI_Request *request, mca_coll_base_module_t *module)             \
    {                                                                                                        \
        static const void *_Atomic known;                                                                    \
        const swagg_module *m = (const swagg_module *)module;                                                \
        return is_open() && is_of_program(__builtin_return_address(0), &known)                               \
                   ? session_collective(&(struct collective){                                                \
                         .next = &native, .offered = OFFERED_##name, .request = request, UNWRAP described})  \
                   : m->before.i##small(UNWRAP arguments, request, m->before.i##small##_module);             \
    }
OFFERED_COLLECTIVES(POST)
#undef POST

#define KEEP(name, small, parameters, arguments, count, type, op, described, ...)                            \
    static int small##_init(UNWRAP parameters, struct ompi_info_t *info, MPI_Request *request,               \
                            mca_coll_base_module_t *module)                                                  \
    {                                                                                                        \
        (void)info, (void)module;                                                                            \
        return persistent_make(                                                                              \
            &(struct collective){.next = &native, .offered = OFFERED_##name, UNWRAP described}, request);    \
    }
OFFERED_COLLECTIVES(KEEP)
#undef KEEP

#define COUNTED(name, small, parameters, arguments, count, type, op, ...)                                    \
    static int small(UNWRAP parameters, mca_coll_base_module_t *module)                                      \
    {                                                                                                        \
        const swagg_module *m = (const swagg_module *)module;                                                \
        if (!is_open() || is_inner(type) || !session_enter())                                                \
            return m->before.small(UNWRAP arguments, m->before.small##_module);                              \
        struct ledger_visit visit = session_count("MPI_" #name, (ptrdiff_t)(count), type, op, NULL);         \
        int rc = m->before.small(UNWRAP arguments, m->before.small##_module);                                \
        ledger_leave(visit, 0);                                                                              \
        session_leave();                                                                                     \
        return rc;                                                                                           \
    }
COUNTED_COLLECTIVES(COUNTED)
#undef COUNTED

static int enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    swagg_module *m = (swagg_module *)module;
#define IS_MISSING(name, small, ...) !comm->c_coll->coll_##small || !comm->c_coll->coll_##small##_module ||
    if (COLLECTIVES(IS_MISSING) false) {
        opal_output_verbose(1, ompi_coll_base_framework.framework_output,
                            "coll:swagg: no component of lower priority has all collectives of %s, so swagg "
                            "has none to hand on to and is not used there",
                            comm->c_name);
        return OMPI_ERROR;
    }
#undef IS_MISSING
#define KEEP(name, small, ...)                                                                               \
    m->before.small = comm->c_coll->coll_##small;                                                            \
    m->before.small##_module = comm->c_coll->coll_##small##_module;                                          \
    OBJ_RETAIN(m->before.small##_module);
    COLLECTIVES(KEEP)
#undef KEEP
    m->id = (int)comm->c_contextid;
    return opal_pointer_array_set_item(&modules, m->id, m);
}

void module_init(void)
{
    OBJ_CONSTRUCT(&modules, opal_pointer_array_t);
}

mca_coll_base_module_t *module_create(void)
{
    swagg_module *m = OBJ_NEW(swagg_module);
    if (!m)
        return NULL;
    m->super.coll_module_enable = enable;
#define OFFER(name, small, ...) m->super.coll_##small = small;
    COLLECTIVES(OFFER)
#undef OFFER
#define OFFER(name, small, ...) m->super.coll_##small##_init = small##_init;
    OFFERED_COLLECTIVES(OFFER)
#undef OFFER
    return &m->super;
}
