/* The MPI functions that the shim stands in front of, under both names: C programs call MPI_X, the Fortran
 * bindings (mpif.h, mpi, mpi_f08) end at PMPI_X. What is not for the shim goes on to the next function of the
 * same name, which may be a tracer's; what that calls in turn passes the shim untouched. */
#include <mpi.h>
#include <unistd.h>

#include "native.h"
#include "offload.h"
#include "report.h"
#include "rollcall.h"
#include "summary.h"

#define EXPORT __attribute__((visibility("default")))

static struct settings settings;
static bool started; /* under an Open MPI, in a rank that takes part */

/* This thread is in a function of the shim's. What Open MPI, a tracer or an error handler calls on the way is
 * their own business. */
static _Thread_local bool inside;

static void say_what_is_wrong(int rc, const char *text)
{
    if (rc < 0)
        report(SWAGG_LOG_ERROR, "%s. Open MPI's own collectives are used", text);
    else if (*text)
        report(SWAGG_LOG_WARN, "%s", text);
    if (rc == 0 && !*settings.switch_ip)
        report(SWAGG_LOG_WARN,
               "SWAGG_SWITCH is not set (the switch's IPv4 address): Open MPI's own collectives are used");
}

static void start(void)
{
    int rank, size;
    char text[512];
    struct roll roll;
    if (!native_is_open_mpi()) {
        report(SWAGG_LOG_WARN, "this program's MPI library is not Open MPI: nothing is offloaded");
        return;
    }
    int rc = settings_read(&settings, environ, text, sizeof text);
    if (settings.disable)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    report_init(rank, SWAGG_LOG_WARN);
    if (rank == 0)
        say_what_is_wrong(rc, text);
    rollcall(&settings, size, &roll);
    report_init(rank, (enum swagg_log_level)settings.log);
    report(SWAGG_LOG_INFO, "swagg-mpi %s, format %d", swagg_version(), ROLLCALL_FORMAT);
    started = true;
    if (!*roll.trouble && *settings.switch_ip)
        offload_init(&settings); /* collective: in all ranks or in none */
    else if (*roll.trouble && rank == roll.speaker)
        report(SWAGG_LOG_WARN, "Open MPI's own collectives are used: %s", roll.trouble);
}

static void say_summary(void)
{
    char text[1000] = "";
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    summary_text(text, sizeof text, settings.switch_ip);
    report(rank == 0 ? SWAGG_LOG_WARN : SWAGG_LOG_INFO, "%s", text);
}

static int init(const struct native *next, int *argc, char ***argv)
{
    if (inside)
        return next->init(argc, argv);
    inside = true;
    int rc = next->init(argc, argv);
    if (rc == MPI_SUCCESS)
        start();
    inside = false;
    return rc;
}

static int init_thread(const struct native *next, int *argc, char ***argv, int required, int *provided)
{
    if (inside)
        return next->init_thread(argc, argv, required, provided);
    inside = true;
    int rc = next->init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        start();
    inside = false;
    return rc;
}

static int finalize(const struct native *next)
{
    if (!inside && started) {
        inside = true;
        say_summary();
        offload_exit();
        inside = false;
    }
    started = false;
    return next->finalize();
}

static int collective(const struct collective *c)
{
    if (inside)
        return offload_native(c);
    inside = true;
    int rc = started ? offload_run(c) : offload_native(c);
    inside = false;
    return rc;
}

static int allreduce(const struct native *next, const void *send, void *recv, int count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm comm)
{
    return collective(&(struct collective){
        .next = next, .send = send, .recv = recv, .count = count, .type = type, .op = op, .comm = comm});
}

static int reduce(const struct native *next, const void *send, void *recv, int count, MPI_Datatype type,
                  MPI_Op op, int root, MPI_Comm comm)
{
    return collective(&(struct collective){.next = next,
                                           .reduce = true,
                                           .send = send,
                                           .recv = recv,
                                           .count = count,
                                           .type = type,
                                           .op = op,
                                           .root = root,
                                           .comm = comm});
}

EXPORT int MPI_Init(int *argc, char ***argv)
{
    return init(&native_mpi, argc, argv);
}

EXPORT int PMPI_Init(int *argc, char ***argv)
{
    return init(&native_pmpi, argc, argv);
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return init_thread(&native_mpi, argc, argv, required, provided);
}

EXPORT int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return init_thread(&native_pmpi, argc, argv, required, provided);
}

EXPORT int MPI_Finalize(void)
{
    return finalize(&native_mpi);
}

EXPORT int PMPI_Finalize(void)
{
    return finalize(&native_pmpi);
}

EXPORT int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return allreduce(&native_mpi, send, recv, count, type, op, comm);
}

EXPORT int PMPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    return allreduce(&native_pmpi, send, recv, count, type, op, comm);
}

EXPORT int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm)
{
    return reduce(&native_mpi, send, recv, count, type, op, root, comm);
}

EXPORT int PMPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
                       MPI_Comm comm)
{
    return reduce(&native_pmpi, send, recv, count, type, op, root, comm);
}
