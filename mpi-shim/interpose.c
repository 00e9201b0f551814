/* The MPI functions that the shim interposes, under both names: C programs call MPI_X, the Fortran bindings
 * (mpif.h, mpi, mpi_f08) end at PMPI_X. Calls that are not for the shim go on to the next function of the
 * same name, which may be a tracer's; calls that are made from there only pass the shim. */
#include <mpi.h>
#include <unistd.h>

#include "jobs.h"
#include "ledger.h"
#include "native.h"
#include "offload.h"
#include "report.h"
#include "rollcall.h"
#include "tell.h"
#include "usr1.h"

#define EXPORT __attribute__((visibility("default")))

static struct settings settings;
static const char *summary_json; /* this rank's own setting */
static int own_rank;
static bool started; /* under an Open MPI, in a rank that takes part */

/* This thread is in a function of the shim's. Calls that Open MPI or a tracer makes meanwhile are passed on
 * unchanged. */
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

static void say_asked(const char *line)
{
    report(SWAGG_LOG_ERROR, "%s", line); /* at every level */
}

static void write_json(void)
{
    if (summary_json)
        tell_json(&settings, summary_json, own_rank);
}

/* At SIGUSR1, in a thread of its own. */
static void tell_now(void)
{
    tell_table(&settings, say_asked);
    write_json();
}

static void say_new_kind(const struct ledger_kind *kind)
{
    char label[LEDGER_LABEL_MAX];
    tell_label(kind, label);
    report(SWAGG_LOG_DEBUG, "%s", label);
}

/* Unless the roll call has found trouble, or no switch is named: mistake is what is wrong with the settings.
 * Collective: in all ranks or in none. */
static void start_offload(const struct roll *roll, const char *mistake)
{
    if (!*roll->trouble && *settings.switch_ip) {
        offload_init(&settings);
        return;
    }
    why_note(WHY_OFF, "%s",
             *roll->trouble ? roll->trouble
             : *mistake     ? mistake
                            : "SWAGG_SWITCH is not set where rank 0 runs");
    if (*roll->trouble && own_rank == roll->speaker)
        report(SWAGG_LOG_WARN, "Open MPI's own collectives are used: %s", roll->trouble);
}

static void start(void)
{
    int size;
    char text[512];
    struct roll roll;
    if (!native_is_open_mpi()) {
        report(SWAGG_LOG_WARN, "this program's MPI library is not Open MPI: nothing is offloaded");
        return;
    }
    int rc = settings_read(&settings, environ, text, sizeof text);
    if (settings.disable)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    report_init(own_rank, SWAGG_LOG_WARN);
    if (own_rank == 0)
        say_what_is_wrong(rc, text);
    summary_json = settings.summary_json;
    rollcall(&settings, size, &roll);
    report_init(own_rank, (enum swagg_log_level)settings.log);
    report(SWAGG_LOG_INFO, "swagg-mpi %s, format %d", swagg_version(), ROLLCALL_FORMAT);
    ledger_init(say_new_kind);
    started = true;
    start_offload(&roll, rc < 0 ? text : "");
    usr1_start(tell_now);
}

static void say_detail(const char *line)
{
    report(SWAGG_LOG_INFO, "%s", line);
}

/* Collective: every rank's settings are the same, and so is whether offload is on. */
static void say_compressed(void)
{
    char text[256];
    jobs_compressed(text, sizeof text);
    if (*text)
        report(SWAGG_LOG_WARN, "%s", text);
}

static void say_summary(void)
{
    char text[1000] = "";
    tell_summary(text, sizeof text, settings.switch_ip);
    report(own_rank == 0 ? SWAGG_LOG_WARN : SWAGG_LOG_INFO, "%s", text);
    if (offload_is_on() && settings.options.compression != SWAGG_COMPRESSION_NONE)
        say_compressed();
    if (own_rank == 0)
        tell_table(&settings, say_detail);
    write_json();
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
        usr1_stop();
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

/* Counts a call that is only passed on. */
static struct ledger_visit enter(const char *function, int count, MPI_Datatype type, MPI_Op op,
                                 const void *site)
{
    int bytes = 0;
    if (!started)
        return (struct ledger_visit){0};
    if (type && type != MPI_DATATYPE_NULL)
        PMPI_Type_size(type, &bytes);
    return ledger_enter(&(struct call){.function = function,
                                       .why = WHY_FUNCTION,
                                       .op = op,
                                       .type = type,
                                       .bytes = count > 0 ? (size_t)count * (size_t)bytes : 0,
                                       .site = site});
}

/* Open MPI's function for its own use, which the shim stands before. An error handler is the program's, and
 * it may leave the call that has failed, by longjmp or an exception: then nobody comes back to clear what is
 * set here. */
EXPORT int ompi_errhandler_invoke(void *handler, void *object, int type, int error, const char *message);

int ompi_errhandler_invoke(void *handler, void *object, int type, int error, const char *message)
{
    const bool before = inside;
    inside = false;
    int rc = native_invoke_handler(handler, object, type, error, message);
    inside = before;
    return rc;
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

/* Each function under both its names, with the native one behind that. */
#define BOTH(X, ...) X(MPI, native_mpi, __VA_ARGS__) X(PMPI, native_pmpi, __VA_ARGS__)

#define ALLREDUCE(prefix, behind, ...)                                                                       \
    EXPORT int prefix##_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,     \
                                  MPI_Comm comm)                                                             \
    {                                                                                                        \
        return collective(&(struct collective){.next = &behind,                                              \
                                               .send = send,                                                 \
                                               .recv = recv,                                                 \
                                               .count = count,                                               \
                                               .type = type,                                                 \
                                               .op = op,                                                     \
                                               .comm = comm,                                                 \
                                               .site = __builtin_return_address(0)});                        \
    }

#define REDUCE(prefix, behind, ...)                                                                          \
    EXPORT int prefix##_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,        \
                               int root, MPI_Comm comm)                                                      \
    {                                                                                                        \
        return collective(&(struct collective){.next = &behind,                                              \
                                               .reduce = true,                                               \
                                               .send = send,                                                 \
                                               .recv = recv,                                                 \
                                               .count = count,                                               \
                                               .type = type,                                                 \
                                               .op = op,                                                     \
                                               .root = root,                                                 \
                                               .comm = comm,                                                 \
                                               .site = __builtin_return_address(0)});                        \
    }

#define COUNTED(prefix, behind, name, parameters, arguments, count, type, op)                                \
    EXPORT int prefix##_##name parameters                                                                    \
    {                                                                                                        \
        if (inside)                                                                                          \
            return behind.name arguments;                                                                    \
        inside = true;                                                                                       \
        struct ledger_visit visit = enter("MPI_" #name, count, type, op, __builtin_return_address(0));       \
        int rc = behind.name arguments;                                                                      \
        ledger_leave(visit, 0);                                                                              \
        inside = false;                                                                                      \
        return rc;                                                                                           \
    }
#define COUNTED_BOTH(...) BOTH(COUNTED, __VA_ARGS__)

BOTH(ALLREDUCE, )
BOTH(REDUCE, )
COUNTED_COLLECTIVES(COUNTED_BOTH)
