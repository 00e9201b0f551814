#include "session.h"

#include "blocks.h"
#include "choices.h"
#include "front.h"
#include "jobs.h"
#include "library.h"
#include "measure.h"
#include "report.h"
#include "rollcall.h"
#include "tell.h"
#include "usr1.h"

static struct settings settings;
static const char *summary_json, *choices; /* this rank's own settings */
static int own_rank;
static bool started; /* in a rank that takes part */

static _Thread_local bool inside;

bool session_enter(void)
{
    const bool entered = !inside;
    inside = true;
    return entered;
}

void session_leave(void)
{
    inside = false;
}

bool session_step_out(void)
{
    const bool before = inside;
    inside = false;
    return before;
}

void session_step_in(bool before)
{
    inside = before;
}

static void say_what_is_wrong(int rc, const char *text)
{
    if (rc < 0)
        report(SWAGG_LOG_ERROR, "%s. " MPI_LIBRARY "'s own collectives are used", text);
    else if (*text)
        report(SWAGG_LOG_WARN, "%s", text);
    if (rc == 0 && !*settings.switch_ip)
        report(SWAGG_LOG_WARN, "SWAGG_SWITCH is not set (the switch's IPv4 address): " MPI_LIBRARY
                               "'s own collectives are used");
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
static void start_offload(const struct roll *roll, const char *mistake, int size, bool threads)
{
    if (!*roll->trouble && *settings.switch_ip) {
        measure_remember(&roll->kept);
        offload_init(&settings, size, threads);
        if (choices)
            choices_tell(choices);
        return;
    }
    why_note(WHY_OFF, "%s",
             *roll->trouble ? roll->trouble
             : *mistake     ? mistake
                            : "SWAGG_SWITCH is not set where rank 0 runs");
    if (*roll->trouble && own_rank == roll->speaker)
        report(SWAGG_LOG_WARN, MPI_LIBRARY "'s own collectives are used: %s", roll->trouble);
}

/* Processes that were started together and know nothing of one another. */
static void say_alone(void)
{
    bool first;
    const char *launcher = library_other_launcher(&first);
    if (launcher && first)
        report(SWAGG_LOG_WARN,
               "this is a program for " MPI_LIBRARY
               ", and %s has started it: each of its processes is alone, in an "
               "MPI_COMM_WORLD of its own, so nothing is offloaded; start it with " MPI_LIBRARY "'s",
               launcher);
}

bool session_start(int rank, int size, bool threads)
{
    char text[512];
    struct roll roll;
    int rc = settings_read(&settings, front.environment(), text, sizeof text);
    if (settings.disable)
        return false;
    own_rank = rank;
    report_init(rank, SWAGG_LOG_WARN);
    if (rank == 0 && front.is_wanted())
        say_what_is_wrong(rc, text);
    summary_json = settings.summary_json;
    choices = rank == 0 ? settings.choices : NULL;
    if (size == 1 && front.is_wanted())
        say_alone();
    rollcall(&settings, size, &roll);
    if (!*settings.switch_ip && !front.is_wanted())
        return false;
    report_init(rank, (enum swagg_log_level)settings.log);
    report(SWAGG_LOG_INFO, "swagg-mpi %s, format %d, %s", swagg_version(), ROLLCALL_FORMAT, front.name);
    ledger_init(say_new_kind);
    started = true;
    start_offload(&roll, rc < 0 ? text : "", size, threads);
    usr1_start(tell_now);
    return true;
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

static void keep_choices(void)
{
    struct choices measured;
    if (choices && measure_choices(&measured))
        choices_write(choices, &measured);
}

void session_end(void)
{
    if (started) {
        usr1_stop();
        say_summary();
        keep_choices();
        offload_exit();
    }
    started = false;
}

int session_collective(const struct collective *c)
{
    if (!session_enter())
        return offload_native(c);
    int rc = started ? offload_run(c) : offload_native(c);
    session_leave();
    return rc;
}

struct ledger_visit session_count(const char *function, ptrdiff_t count, MPI_Datatype type, MPI_Op op,
                                  const void *site)
{
    if (!started)
        return (struct ledger_visit){0};
    return ledger_enter(&(struct call){.function = function,
                                       .why = WHY_FUNCTION,
                                       .op = op,
                                       .type = type,
                                       .bytes = blocks_size(count > 0 ? (size_t)count : 0, type),
                                       .site = site});
}
