#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "agree.h"
#include "native.h"
#include "report.h"

enum { JOBS_AT_REST = 4 };

static const struct settings *settings;
static bool sharing;
static struct shim_job *list; /* shared jobs; of those at rest, the one that rests longest is last */

/* With Ethernet's usual MTU a chunk has up to 1460 bytes, so a tensor that fits is in flight as a whole.
 * There are three sizes only, so that a job seldom grows. */
enum { SLOT_BYTES = 1024 };
static const int sizes[] = {64, 256, 1024};

static int slots_for(size_t bytes)
{
    size_t i = 0;
    if (settings->slots)
        return (int)settings->slots;
    while (i + 1 < sizeof sizes / sizeof sizes[0] && bytes / SLOT_BYTES > (size_t)sizes[i])
        i++;
    return sizes[i];
}

void job_init(const struct settings *s)
{
    int level, highest;
    settings = s;
    PMPI_Query_thread(&level);
    native_pmpi.allreduce(&level, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    sharing = highest < MPI_THREAD_MULTIPLE;
}

/* The collectives of a job wait outside Open MPI; a peer may have to receive a message of ours before it can
 * join them. Any call that completes nothing turns the crank. */
static void turn_crank(void *unused)
{
    int flag;
    (void)unused;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void log_line(void *ctx, enum swagg_log_level level, const char *line)
{
    const struct shim_job *job = ctx;
    const bool is_news = job->joined && (job->communicators > 0 || level == SWAGG_LOG_ERROR);
    report(is_news || level > SWAGG_LOG_INFO ? level : SWAGG_LOG_INFO, "%s", line);
}

static int open_handle(struct shim_job *job, struct swagg_job **handle, int slots)
{
    char name[sizeof job->name + 16];
    snprintf(name, sizeof name, job->generation ? "%s.%u" : "%s", job->name, job->generation);
    struct swagg_options options = SWAGG_OPTIONS_DEFAULT;
    options.switch_ip = settings->switch_ip;
    options.job = name;
    options.rank = job->rank;
    options.size = job->size;
    options.mode = (enum swagg_mode)settings->mode;
    options.checksum = (enum swagg_checksum)settings->checksum;
    options.reduce = (enum swagg_reduce_return)settings->reduce;
    options.slots = slots;
    options.window = (int)settings->window;
    options.mtu = (int)settings->mtu;
    options.join_timeout_ms = (int)settings->join_timeout_ms;
    options.call_timeout_ms = (int)settings->call_timeout_ms;
    options.log = log_line;
    options.log_ctx = job;
    options.progress = turn_crank;
    return swagg_open(handle, &options);
}

static void close_handle(struct shim_job *job)
{
    swagg_close(job->handle);
    free(job->saved);
    job->handle = NULL;
    job->saved = NULL;
    job->saved_size = 0;
}

static void take_from_list(struct shim_job *job)
{
    struct shim_job **at = &list;
    if (!job->shared)
        return;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    job->shared = false;
}

static void put_in_list(struct shim_job *job)
{
    job->next = list;
    list = job;
    job->shared = true;
}

static void destroy(struct shim_job *job)
{
    take_from_list(job);
    close_handle(job);
    PMPI_Group_free(&job->group);
    free(job);
}

static struct shim_job *find(MPI_Group group)
{
    int result = MPI_UNEQUAL;
    struct shim_job *job = list;
    for (; job; job = job->next) {
        PMPI_Group_compare(job->group, group, &result);
        if (result == MPI_IDENT)
            break;
    }
    return job;
}

/* Nobody takes it up any more; the communicators that have it keep it. */
static void forget(struct shim_job *job)
{
    if (job->communicators == 0)
        destroy(job);
    else
        take_from_list(job);
}

static struct shim_job *create(MPI_Comm comm, MPI_Group group)
{
    struct shim_job *job = calloc(1, sizeof *job);
    if (!job) { /* this rank cannot take part in what the others are about to agree on */
        report(SWAGG_LOG_ERROR, "no memory for a job's state");
        PMPI_Abort(comm, EXIT_FAILURE);
        exit(EXIT_FAILURE);
    }
    *job = (struct shim_job){.group = group, .communicators = 1, .may_grow = settings->slots == 0};
    PMPI_Comm_rank(comm, &job->rank);
    PMPI_Comm_size(comm, &job->size);
    return job;
}

/* A name that no other job in the switch has. */
static void choose_name(MPI_Comm comm, struct shim_job *job)
{
    uint64_t id = 0;
    if (job->rank == 0 && getrandom(&id, sizeof id, 0) != sizeof id)
        id = (uint64_t)time(NULL) << 32 ^ (uint64_t)getpid();
    PMPI_Bcast(&id, 1, MPI_UINT64_T, 0, comm);
    snprintf(job->name, sizeof job->name, "mpi-%016" PRIx64, id);
}

/* One warning of each kind is enough; a program may have thousands of communicators. */
static enum swagg_log_level level_of(int status)
{
    static _Atomic unsigned told;
    unsigned bit = 1u << -status;
    unsigned before = told;
    told |= bit;
    return before & bit ? SWAGG_LOG_INFO : SWAGG_LOG_WARN;
}

/* All ranks try to join; unless all of them can, all stay with Open MPI. Returns what all agreed on. */
static int open_together(MPI_Comm comm, struct shim_job *job, size_t bytes)
{
    char who[MPI_MAX_OBJECT_NAME];
    struct outcome o = {.status = SWAGG_OK};
    choose_name(comm, job);
    job->slots = job->slots_wanted = slots_for(bytes);
    o.status = open_handle(job, &job->handle, job->slots);
    if (o.status < 0)
        snprintf(o.text, sizeof o.text, "%s: %s", swagg_strerror(o.status), swagg_last_error());
    agree(comm, &o);
    job->joined = o.status == SWAGG_OK;
    if (job->joined) {
        report(job->rank == 0 ? SWAGG_LOG_INFO : SWAGG_LOG_DEBUG, "%s: job %s of %d ranks at switch %s",
               comm_name(comm, who), job->name, job->size, settings->switch_ip);
        if (sharing)
            put_in_list(job);
        return SWAGG_OK;
    }
    job_go_native(job);
    enum swagg_log_level level = level_of(o.status);
    if (job->rank == 0)
        report(level, "%s stays with Open MPI's own collectives: rank %d: %s (SWAGG_SWITCH=%s)",
               comm_name(comm, who), o.rank, o.text, settings->switch_ip);
    return o.status;
}

struct shim_job *job_take(MPI_Comm comm, size_t bytes)
{
    enum { NO_SWITCH, NO_JOB, JOB }; /* the least of all ranks' counts */
    static _Atomic bool absent;      /* once there was no switch, nobody waits for it again */
    int mine, all;
    MPI_Group group;
    PMPI_Comm_group(comm, &group);
    struct shim_job *job = sharing ? find(group) : NULL;
    mine = absent ? NO_SWITCH : job && job->handle && !job->broken ? JOB : NO_JOB;
    native_pmpi.allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    if (all == JOB) {
        PMPI_Group_free(&group);
        job->communicators++;
        return job;
    }
    if (job)
        forget(job);
    job = create(comm, group);
    if (all != NO_SWITCH && open_together(comm, job, bytes) == SWAGG_ERR_NO_SWITCH)
        absent = true;
    return job;
}

void job_go_native(struct shim_job *job)
{
    take_from_list(job);
    close_handle(job);
}

/* Each rank decides for itself which jobs may rest: job_take() asks whether all have it still. */
static void close_the_longest_at_rest(void)
{
    struct shim_job *last = NULL;
    int at_rest = 0;
    for (struct shim_job *job = list; job; job = job->next)
        if (job->communicators == 0) {
            at_rest++;
            last = job;
        }
    if (at_rest > JOBS_AT_REST)
        destroy(last);
}

void job_leave(struct shim_job *job)
{
    if (--job->communicators > 0)
        return;
    if (job->shared && !job->broken) {
        take_from_list(job);
        put_in_list(job); /* to its front */
        close_the_longest_at_rest();
    } else {
        destroy(job);
    }
}

/* A sum of ones over the job: a barrier and an agreement that has a deadline and names who is missing. */
static int count_ready(struct shim_job *job, struct swagg_job *over, bool ready, bool *all)
{
    int32_t mine = ready, sum = 0;
    int rc = swagg_allreduce(over, &mine, &sum, 1, SWAGG_I32, SWAGG_SUM);
    *all = sum == job->size;
    return rc;
}

/* Another job with more slots takes the place of this one. All ranks agree through the job they have, so that
 * one that is missing is named, and leave that only when all have come to the new one. */
static int grow(struct shim_job *job)
{
    struct swagg_job *bigger = NULL, *before = job->handle;
    bool all;
    int rc = count_ready(job, before, true, &all);
    if (rc < 0)
        return rc;
    job->generation++;
    job->joined = false;
    bool ready = open_handle(job, &bigger, job->slots_wanted) == SWAGG_OK;
    job->joined = true;
    rc = count_ready(job, before, ready, &all);
    if (rc < 0 || !all) { /* what there is must do */
        job->may_grow = false;
        swagg_close(bigger);
        return rc;
    }
    job->slots = job->slots_wanted;
    job->handle = bigger;
    rc = count_ready(job, bigger, true, &all);
    swagg_close(before);
    return rc;
}

int job_prepare(struct shim_job *job)
{
    return job->may_grow && job->slots_wanted > job->slots ? grow(job) : SWAGG_OK;
}

void job_note_size(struct shim_job *job, size_t bytes)
{
    int slots = slots_for(bytes);
    if (slots > job->slots_wanted)
        job->slots_wanted = slots;
}

void job_exit(void)
{
    while (list)
        destroy(list);
}
