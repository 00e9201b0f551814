#include "pending.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "collective.h"
#include "posted.h"
#include "report.h"

#include "ompi/communicator/communicator.h"
#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"

/* What has called the module expects this kind, and keeps the call's types in it. Its header cannot be
 * included: Debian's package lacks what that includes. */
OMPI_DECLSPEC OBJ_CLASS_DECLARATION(ompi_coll_base_nbc_request_t);

static atomic_bool registered;

static int progress(void)
{
    return (int)posted_progress();
}

int pending_free(MPI_Request *request)
{
    ompi_request_t *r = *request;
    struct ompi_communicator_t *comm = r->req_mpi_object.comm;
    if (!REQUEST_COMPLETE(r))
        return MPI_ERR_REQUEST;
    OMPI_REQUEST_FINI(r);
    OBJ_RELEASE(r);
    *request = MPI_REQUEST_NULL;
    OBJ_RELEASE(comm);
    return OMPI_SUCCESS;
}

MPI_Request pending_new(MPI_Comm comm, bool persistent)
{
    ompi_request_t *r = (ompi_request_t *)opal_obj_new(&ompi_coll_base_nbc_request_t_class);
    if (!r)
        return NULL;
    OMPI_REQUEST_INIT(r, persistent);
    r->req_type = OMPI_REQUEST_COLL;
    r->req_status = ompi_status_empty;
    r->req_free = pending_free;
    r->req_mpi_object.comm = comm;
    OBJ_RETAIN(comm);
    if (!atomic_exchange(&registered, true))
        opal_progress_register(progress);
    return r;
}

void *pending_make(struct collective *call)
{
    ompi_request_t *r = pending_new(call->comm, false);
    if (!r) {
        report(SWAGG_LOG_ERROR, "no memory for a request: the program cannot go on");
        PMPI_Abort(call->comm, 1);
    }
    r->req_state = OMPI_REQUEST_ACTIVE;
    return *call->request = r;
}

void pending_end(void *made, int error)
{
    ompi_request_t *r = made;
    r->req_status.MPI_ERROR = error;
    ompi_request_complete(r, true);
}

void pending_exit(void)
{
    if (atomic_exchange(&registered, false))
        opal_progress_unregister(progress);
}
