/* The component of Open MPI's framework coll, as Open MPI loads it: mca_coll_swagg.so. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "front.h"
#include "module.h"
#include "parameters.h"
#include "pending.h"
#include "persistent.h"
#include "report.h"
#include "rollcall.h"
#include "session.h"

#include "ompi/attribute/attribute.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/runtime/mpiruntime.h"

#define SAY(...) opal_output_verbose(1, ompi_coll_base_framework.framework_output, "coll:swagg: " __VA_ARGS__)

static bool with_preload; /* it was there too, and leaves the program to the component */
static bool active;       /* since MPI_Init */

/* The shapes of modules and communicators are those of one minor version. */
static bool is_version_built_for(void)
{
    char wanted[32], version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    snprintf(wanted, sizeof wanted, "Open MPI v%d.%d.", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
    if (PMPI_Get_library_version(version, &length) == MPI_SUCCESS &&
        strncmp(version, wanted, strlen(wanted)) == 0)
        return true;
    opal_output(0,
                "coll:swagg: this component was built for Open MPI %d.%d, and this is %.*s: it is not used; "
                "build swagg with the headers of that version",
                OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, (int)strcspn(version, ","), version);
    return false;
}

/* By this name Open MPI finds it. */
extern __attribute__((visibility("default"))) const mca_coll_base_component_2_0_0_t mca_coll_swagg_component;

static int on_register(void)
{
    return is_version_built_for() ? parameters_register(&mca_coll_swagg_component.collm_version)
                                  : OMPI_ERR_NOT_AVAILABLE;
}

/* In MPI_Init, before the ranks exchange what they publish. */
static int on_open(void)
{
    void (*leave_it)(void);
    *(void **)&leave_it = dlsym(RTLD_DEFAULT, "swagg_mpi_leave_it_to_the_component");
    if (parameters_priority() < 0)
        return OMPI_ERR_NOT_AVAILABLE;
    if (leave_it)
        leave_it();
    with_preload = leave_it != NULL;
    module_init();
    rollcall_publish();
    return OMPI_SUCCESS;
}

static int init_query(bool progress_threads, bool threads)
{
    (void)progress_threads, (void)threads;
    return OMPI_SUCCESS;
}

/* --- start and end --- */

/* A duplicate of MPI_COMM_SELF has it not. */
static int on_copy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *is_copied,
                   MPI_Comm other)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy, (void)other;
    *is_copied = 0;
    return MPI_SUCCESS;
}

static int on_finalize(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)comm, (void)key, (void)value, (void)unused;
    session_enter();
    session_end();
    session_leave();
    pending_exit();
    persistent_exit();
    return MPI_SUCCESS;
}

/* The first that MPI_Finalize does is to delete MPI_COMM_SELF's attributes, while MPI can still be used. */
static int call_at_finalize(struct ompi_communicator_t *self)
{
    ompi_attribute_fn_ptr_union_t copy = {.attr_communicator_copy_fn = on_copy};
    ompi_attribute_fn_ptr_union_t delete = {.attr_communicator_delete_fn = on_finalize};
    int key;
    int rc = ompi_attr_create_keyval(COMM_ATTR, copy, delete, &key, NULL, 0, NULL);
    return rc == MPI_SUCCESS ? ompi_attr_set_c(COMM_ATTR, self, &self->c_keyhash, key, NULL, false) : rc;
}

static void start(struct ompi_communicator_t *world)
{
    const int rank = ompi_comm_rank(world);
    active = session_start(rank, ompi_comm_size(world), ompi_mpi_thread_multiple);
    if (!active)
        SAY("no switch is named (coll_swagg_switch, or SWAGG_SWITCH where rank 0 runs), or swagg is "
            "disabled: "
            "not used");
    else if (with_preload)
        report(rank == 0 ? SWAGG_LOG_WARN : SWAGG_LOG_INFO,
               "Open MPI has loaded swagg's component, which does it all: the preload (LD_PRELOAD) is not "
               "needed and does nothing");
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority)
{
    *priority = parameters_priority();
    if (comm == MPI_COMM_WORLD)
        start(comm);
    if (comm == MPI_COMM_SELF && active && call_at_finalize(comm) != MPI_SUCCESS)
        SAY("no memory to be called in MPI_Finalize: there will be no summary");
    return active && !OMPI_COMM_IS_INTER(comm) && ompi_comm_size(comm) > 1 ? module_create() : NULL;
}

const mca_coll_base_component_2_0_0_t mca_coll_swagg_component = {
    .collm_version = {MCA_COLL_BASE_VERSION_2_0_0, .mca_component_name = "swagg",
                      MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                                            OMPI_RELEASE_VERSION),
                      .mca_register_component_params = on_register, .mca_open_component = on_open},
    .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};
