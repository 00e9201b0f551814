#include "team_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocate.h"
#include "measure.h"
#include "report.h"
#include "types.h"
#include "words.h"

/* While a collective of a team waits it is outside Open MPI; a peer may have to receive a message of ours
 * before it can join in. Any call that completes nothing lets Open MPI progress. */
static void progress_open_mpi(void *unused)
{
    int flag;
    (void)unused;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void log_line(void *ctx, enum swagg_log_level level, const char *line)
{
    const struct team *team = ctx;
    const bool is_news = team->joined && (team->communicators > 0 || level == SWAGG_LOG_ERROR);
    report(is_news || level > SWAGG_LOG_INFO ? level : SWAGG_LOG_INFO, "%s", line);
}

/* Each job that replaces another of the team has a name of its own. */
static void write_name(const struct team *team, char name[JOB_NAME_MAX])
{
    snprintf(name, JOB_NAME_MAX, team->generation ? "%s.%u" : "%s", team->name, team->generation);
}

int team_job_open(struct team *team, const struct settings *settings, struct swagg_job **job, int slots)
{
    char name[JOB_NAME_MAX];
    write_name(team, name);
    struct swagg_options options = settings->options;
    options.switch_ip = settings->switch_ip;
    options.server_ip = *settings->server_ip ? settings->server_ip : NULL;
    options.key_file = settings->key_file;
    options.job = name;
    options.rank = team->rank;
    options.size = team->size;
    options.compress_least = (int)((settings->compression_min_bytes + 3) / 4);
    options.slots = slots;
    options.log = log_line;
    options.log_ctx = team;
    options.progress = progress_open_mpi;
    options.type_name = words_type;
    options.op_name = op_in_mpi;
    return swagg_open(job, &options);
}

uint64_t team_waited(struct team *team)
{
    struct swagg_stats stats = SWAGG_STATS_INIT;
    swagg_get_stats(team->job, &stats);
    const uint64_t before = team->waited_ns;
    team->waited_ns = stats.waited_ns;
    return stats.waited_ns - before;
}

/* The shim's own calls so far count for nobody. */
void team_job_note(struct team *team)
{
    write_name(team, team->facts.name);
    team->waited_ns = 0;
    team_waited(team);
    jobs_enter(team->job, &team->facts);
}

static void measure(MPI_Comm comm, struct team *team, size_t bytes)
{
    team->crossover = measure_crossover(comm, team->job, bytes);
    crossover_write(team->crossover.allreduce, team->facts.allreduce);
    crossover_write(team->crossover.reduce, team->facts.reduce);
}

void team_job_measure(MPI_Comm comm, struct team *team, size_t bytes)
{
    jobs_leave(team->job);
    measure(comm, team, bytes);
    team_job_note(team);
}

void team_job_begin(MPI_Comm comm, struct team *team, const struct settings *settings, size_t bytes)
{
    struct job_facts *f = &team->facts;
    int *ranks = allocate_or_abort(comm, (size_t)team->size * sizeof *ranks, "a list of ranks");
    MPI_Group world;
    f->ranks = team->size;
    f->in_world = allocate_or_abort(comm, (size_t)team->size * sizeof *f->in_world, "a list of ranks");
    comm_label_of(comm, &f->label);
    for (int r = 0; r < team->size; r++)
        ranks[r] = r;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(team->group, team->size, ranks, world, f->in_world);
    PMPI_Group_free(&world);
    free(ranks);
    if (settings->min_bytes == MIN_BYTES_MEASURED) {
        measure(comm, team, bytes);
    } else {
        snprintf(f->allreduce, sizeof f->allreduce, "from %" PRId64 " bytes on", settings->min_bytes);
        memcpy(f->reduce, f->allreduce, sizeof f->reduce);
    }
    team_job_note(team);
}

void team_job_close(struct team *team)
{
    if (team->job)
        jobs_leave(team->job);
    swagg_close(team->job);
    free(team->saved);
    free(team->facts.in_world);
    team->job = NULL;
    team->facts.in_world = NULL;
    team->saved = NULL;
    team->saved_size = 0;
}
