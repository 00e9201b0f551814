#include "dpdk/eal.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "own_thread.h"

enum {
    ARGUMENTS_MAX = 64,
    MEMORY_MB = 64, /* for buffers, queues, and what drivers have */
    HUGEPAGE_MB = 2,
};

/* The EAL keeps pointers to its arguments. */
static struct {
    bool tried;
    int rc;                           /* of the attempt */
    char why[NETWORK_WORDS];          /* it failed */
    char given[CLIENT_ARGUMENTS_MAX]; /* the caller's arguments */
    char words[CLIENT_ARGUMENTS_MAX]; /* the same, apart */
    char *argv[ARGUMENTS_MAX + 1];
    int n;
} eal;

static struct {
    FILE *stream;
    char *text; /* so far */
    size_t bytes;
    char said[NETWORK_WORDS / 2];
} log_words;

void eal_listen(void)
{
    log_words.stream = open_memstream(&log_words.text, &log_words.bytes);
    if (log_words.stream)
        rte_openlog_stream(log_words.stream);
}

/* The lines of a text in one; a cause is told before what follows from it. */
static void take_lines(const char *text)
{
    size_t n = 0;
    while (*(text += strspn(text, " \n")) && n < sizeof log_words.said) {
        const int line = (int)strcspn(text, "\n");
        n += (size_t)snprintf(log_words.said + n, sizeof log_words.said - n, "%s%.*s", n ? "; " : "", line,
                              text);
        text += line;
    }
}

/* What is logged later, by threads of DPDK's, nobody reads. */
const char *eal_heard(void)
{
    static FILE *nobody;
    log_words.said[0] = '\0';
    if (!log_words.stream)
        return log_words.said;
    if (!nobody)
        nobody = fopen("/dev/null", "we");
    rte_openlog_stream(nobody);
    fclose(log_words.stream);
    take_lines(log_words.text);
    free(log_words.text);
    log_words.stream = NULL;
    log_words.text = NULL;
    return log_words.said;
}

static void add(char *argument)
{
    if (eal.n < ARGUMENTS_MAX)
        eal.argv[eal.n++] = argument;
}

static bool says_something_of_memory(const char *arguments)
{
    static const char *const options[] = {"-m", "--no-huge", "--in-memory", "--socket-mem", "--huge-dir"};
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
        if (strstr(arguments, options[i]))
            return true;
    return false;
}

static bool hugepages_are_free(void)
{
    unsigned pages = 0;
    FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "re");
    const bool told = f && fscanf(f, "%u", &pages) == 1;
    if (f)
        fclose(f);
    return told && pages >= MEMORY_MB / HUGEPAGE_MB;
}

/* --in-memory takes hugepages straight from the kernel: none need be mounted. */
static void add_memory(void)
{
    static char megabytes[16];
    snprintf(megabytes, sizeof megabytes, "%d", MEMORY_MB);
    add(hugepages_are_free() ? "--in-memory" : "--no-huge");
    add("-m");
    add(megabytes);
}

static bool is_virtual(const char *device)
{
    return strncmp(device, "net_", 4) == 0;
}

static void make_arguments(const char *device)
{
    static char lcores[32], prefix[48], allowed[CLIENT_ARGUMENTS_MAX + 8];
    snprintf(lcores, sizeof lcores, "--lcores=0@%d", sched_getcpu());
    snprintf(prefix, sizeof prefix, "--file-prefix=swagg-rank-%d", (int)getpid());
    snprintf(allowed, sizeof allowed, "--allow=%s", device);
    add("libswagg");
    add(lcores);
    add(prefix);
    add("--no-telemetry");
    add("--iova-mode=va");
    add("--log-level=error");
    add("--no-shconf"); /* no second process uses its memory, so no file of that stays behind */
    add(is_virtual(device) ? "--no-pci" : allowed);
    if (!says_something_of_memory(eal.given))
        add_memory();
    memcpy(eal.words, eal.given, sizeof eal.words);
    char *rest = NULL;
    for (char *word = strtok_r(eal.words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        add(word);
}

/* The EAL binds the thread that starts it to a CPU, so that is one of its own. */
static void *start(void *unused)
{
    char *argv[ARGUMENTS_MAX + 1];
    memcpy(argv, eal.argv, sizeof argv); /* it changes the array */
    eal.rc = rte_eal_init(eal.n, argv) < 0 ? -rte_errno : 0;
    return unused;
}

/* The EAL's threads inherit from it that they take no signals. */
static int start_in_a_thread(void)
{
    pthread_t thread;
    const int rc = own_thread_start(&thread, start, NULL);
    if (rc < 0)
        return rc;
    pthread_join(thread, NULL);
    return eal.rc;
}

/* Which the EAL makes whether it needs it or not. */
static void remove_runtime_directory(void)
{
    rmdir(rte_eal_get_runtime_dir());
}

static void try_once(const char *device, const char *arguments)
{
    atexit(remove_runtime_directory);
    eal.tried = true;
    snprintf(eal.given, sizeof eal.given, "%s", arguments);
    make_arguments(device);
    eal_listen();
    eal.rc = start_in_a_thread();
    const char *said = eal_heard();
    if (eal.rc < 0)
        snprintf(eal.why, sizeof eal.why, "DPDK's EAL does not start: %s%s%s", rte_strerror(-eal.rc),
                 said[0] ? ": " : "", said);
}

int eal_start(const char *device, const char *arguments, char why[NETWORK_WORDS])
{
    if (!eal.tried)
        try_once(device, arguments);
    if (eal.rc < 0) {
        snprintf(why, NETWORK_WORDS, "%s", eal.why);
        return eal.rc;
    }
    if (strcmp(arguments, eal.given) == 0)
        return 0;
    snprintf(
        why, NETWORK_WORDS,
        "this process runs DPDK's EAL already, with the arguments '%s': options.eal must be the same for all "
        "its jobs",
        eal.given);
    return -EALREADY;
}
