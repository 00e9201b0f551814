/* The MPI functions that the shim stands in front of, under both names: C programs call MPI_X, the Fortran
 * bindings (mpif.h, mpi, mpi_f08) end at PMPI_X. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "native.h"
#include "offload.h"
#include "report.h"
#include "rollcall.h"
#include "summary.h"

#define EXPORT    __attribute__((visibility("default")))
#define ALIAS(of) __attribute__((visibility("default"), alias(#of)))

static struct settings settings;
static bool started; /* under an Open MPI, that is */

/* The functions found at load time are those of whatever MPI library the program uses. */
static int is_open_mpi(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    PMPI_Get_library_version(version, &length);
    return strncmp(version, "Open MPI v", 10) == 0;
}

/* Every rank reads them, since the roll call itself has a deadline; rank 0 says what is wrong. */
static void read_settings(int rank)
{
    char text[512];
    int rc = settings_read(&settings, environ, text, sizeof text);
    if (rc < 0)
        settings = (struct settings){.log = SWAGG_LOG_WARN};
    if (settings.disable)
        settings.switch_ip[0] = '\0';
    if (rank != 0 || settings.disable)
        return;
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
    if (!is_open_mpi()) {
        report(SWAGG_LOG_WARN, "this program's MPI library is not Open MPI: nothing is offloaded");
        return;
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    report_init(rank, SWAGG_LOG_WARN);
    read_settings(rank);
    rollcall(&settings, rank, size);
    report_init(rank, (enum swagg_log_level)settings.log);
    offload_init(&settings);
    started = true;
}

static void say_summary(void)
{
    char text[512] = "";
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    summary_text(text, sizeof text, settings.switch_ip);
    if (!settings.disable)
        report(rank == 0 ? SWAGG_LOG_WARN : SWAGG_LOG_INFO, "%s", text);
}

EXPORT int PMPI_Init(int *argc, char ***argv)
{
    int rc = native.init(argc, argv);
    if (rc == MPI_SUCCESS)
        start();
    return rc;
}

EXPORT int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = native.init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        start();
    return rc;
}

EXPORT int PMPI_Finalize(void)
{
    if (started) {
        say_summary();
        offload_exit();
    }
    return native.finalize();
}

EXPORT int PMPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    return offload_run(&(struct collective){
        .send = send, .recv = recv, .count = count, .type = type, .op = op, .comm = comm});
}

EXPORT int PMPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
                       MPI_Comm comm)
{
    return offload_run(&(struct collective){.reduce = true,
                                            .send = send,
                                            .recv = recv,
                                            .count = count,
                                            .type = type,
                                            .op = op,
                                            .root = root,
                                            .comm = comm});
}

ALIAS(PMPI_Init) int MPI_Init(int *argc, char ***argv);
ALIAS(PMPI_Init_thread) int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
ALIAS(PMPI_Finalize) int MPI_Finalize(void);
ALIAS(PMPI_Allreduce)
int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
ALIAS(PMPI_Reduce)
int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm);
