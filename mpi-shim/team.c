#include "team.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "agree.h"
#include "front.h"
#include "measure.h"
#include "report.h"
#include "types.h"
#include "waited.h"
#include "why.h"
#include "world.h"

enum { TEAMS_AT_REST = 4 };

static const struct settings *settings;
static bool
    sharing; /* on this rank; where it is not on all of them, team_take() finds no team that all have */
static struct team *list; /* those that others may join; the longest at rest is last */

/* --- its job in the switch: its options, and what is told of it (jobs.h) --- */

/* While a collective of a team waits it is outside the MPI library; a peer may have to receive a message of
 * ours before it can join in. Any call that completes nothing lets the MPI library progress. */
static void progress_open_mpi(void *ctx)
{
    const struct team *team = ctx;
    int flag;
    if (team->posts && team->joined) /* nobody waits in there any more */
        return;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    if (front.progress)
        front.progress();
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

/* Joins a job with so many slots. Returns an enum swagg_status. */
static int open_job(struct team *team, struct swagg_job **job, int slots)
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
    options.progress_ctx = team;
    options.type_name = type_in_mpi;
    options.op_name = op_in_mpi;
    if (team->posts) {
        options.progress_thread = SWAGG_PROGRESS_THREAD_ON;
        options.reduce = SWAGG_REDUCE_COMPLETE;
    }
    return swagg_open(job, &options);
}

uint64_t team_waited(struct team *team)
{
    const uint64_t before = team->waited_ns;
    team->waited_ns = job_waited(team->job);
    return team->waited_ns - before;
}

/* The shim's own calls so far count for nobody. */
static void note_job(struct team *team)
{
    write_name(team, team->facts.name);
    team->waited_ns = 0;
    team_waited(team);
    jobs_enter(team->job, &team->facts);
}

/* As all ranks find it who have just joined the job: what becomes of it later they do not hear at once. */
static void begin_anew(struct team *team)
{
    team->has_exchanges = swagg_has_exchanges(team->job) == 1;
    note_job(team);
}

static void write_ways(struct team *team)
{
    for (int kind = 0; kind < CROSSINGS; kind++)
        if (settings->min_bytes != MIN_BYTES_MEASURED)
            snprintf(team->facts.ways[kind], CROSSOVER_TEXT, "from %" PRId64 " bytes on",
                     settings->min_bytes);
        else
            crossover_write(&team->crossover[kind], team->facts.ways[kind]);
}

/* All ranks are in the team's first job: notes which ranks of MPI_COMM_WORLD they are, and the job. */
static void begin_job(MPI_Comm comm, struct team *team)
{
    struct job_facts *f = &team->facts;
    f->ranks = team->size;
    f->posted = team->posts;
    f->in_world = world_ranks(comm);
    comm_label_of(comm, &f->label);
    measure_recall(comm, team->crossover);
    write_ways(team);
    team->learnt++;
    begin_anew(team);
}

/* Leaves the job, if there is one, and forgets what was noted. */
static void close_job(struct team *team)
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

/* With Ethernet's usual MTU a chunk has up to 1460 bytes, so a tensor that fits is in flight as a whole.
 * There are three sizes only, so that a team seldom grows. */
enum { SLOT_BYTES = 1024 };
static const int sizes[] = {64, 256, 1024};

static int slots_for(size_t bytes)
{
    size_t i = 0;
    if (settings->options.slots)
        return (int)settings->options.slots;
    while (i + 1 < sizeof sizes / sizeof sizes[0] && bytes / SLOT_BYTES > (size_t)sizes[i])
        i++;
    return sizes[i];
}

void team_init(const struct settings *s, bool threads)
{
    settings = s;
    sharing = !threads;
}

static void take_from_list(struct team *team)
{
    struct team **at = &list;
    if (!team->shared)
        return;
    while (*at != team)
        at = &(*at)->next;
    *at = team->next;
    team->shared = false;
}

static void put_in_list(struct team *team)
{
    team->next = list;
    list = team;
    team->shared = true;
}

static void destroy(struct team *team)
{
    take_from_list(team);
    close_job(team);
    PMPI_Group_free(&team->group);
    free(team);
}

static struct team *find(MPI_Group group)
{
    int result = MPI_UNEQUAL;
    struct team *team = list;
    for (; team; team = team->next) {
        PMPI_Group_compare(team->group, group, &result);
        if (result == MPI_IDENT)
            break;
    }
    return team;
}

/* No other communicator joins it any more; those that have it keep it. */
static void forget(struct team *team)
{
    if (team->communicators == 0)
        destroy(team);
    else
        take_from_list(team);
}

static struct team *create(MPI_Comm comm, MPI_Group group)
{
    struct team *team = allocate_or_abort(comm, sizeof *team, "the state of a job");
    *team = (struct team){.group = group, .communicators = 1, .may_grow = settings->options.slots == 0};
    PMPI_Comm_rank(comm, &team->rank);
    PMPI_Comm_size(comm, &team->size);
    return team;
}

/* A name that no other job in the switch has. */
static void choose_name(MPI_Comm comm, struct team *team)
{
    uint64_t id = 0;
    if (team->rank == 0 && getrandom(&id, sizeof id, 0) != sizeof id)
        id = (uint64_t)time(NULL) << 32 ^ (uint64_t)getpid();
    front.native->Bcast(&id, 1, MPI_UINT64_T, 0, comm);
    snprintf(team->name, sizeof team->name, "mpi-%016" PRIx64, id);
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

/* All ranks try to join; unless all of them can, all stay with the MPI library. Returns what all agreed on.
 */
static int open_together(MPI_Comm comm, struct team *team, size_t bytes)
{
    char who[MPI_MAX_OBJECT_NAME];
    struct outcome o = {.status = SWAGG_OK};
    choose_name(comm, team);
    team->slots = team->slots_wanted = slots_for(bytes);
    o.status = open_job(team, &team->job, team->slots);
    if (o.status < 0)
        snprintf(o.text, sizeof o.text, "%s: %s", swagg_strerror(o.status), swagg_last_error());
    agree(comm, &o);
    team->joined = o.status == SWAGG_OK;
    if (team->joined) {
        report(team->rank == 0 ? SWAGG_LOG_INFO : SWAGG_LOG_DEBUG, "%s: job %s of %d ranks at switch %s",
               comm_name(comm, who), team->name, team->size, settings->switch_ip);
        if (sharing && !team->posts)
            put_in_list(team);
        begin_job(comm, team);
        return SWAGG_OK;
    }
    team_go_native(team);
    why_note(WHY_SWITCH, "%s: rank %d: %s", comm_name(comm, who), o.rank, o.text);
    enum swagg_log_level level = level_of(o.status);
    const bool at_server = settings->options.protocol == SWAGG_PROTOCOL_ATP && *settings->server_ip;
    if (team->rank == 0)
        report(level, "%s stays with " MPI_LIBRARY "'s own collectives: rank %d: %s (%s=%s)",
               comm_name(comm, who), o.rank, o.text, at_server ? "SWAGG_SERVER" : "SWAGG_SWITCH",
               at_server ? settings->server_ip : settings->switch_ip);
    return o.status;
}

struct team *team_take(MPI_Comm comm, size_t bytes, bool posts)
{
    enum { NO_SWITCH, NO_TEAM, TEAM }; /* the least of all ranks' counts */
    static _Atomic bool absent;        /* once there was no switch, nobody waits for it again */
    int mine, all;
    MPI_Group group;
    PMPI_Comm_group(comm, &group);
    struct team *team = sharing && !posts ? find(group) : NULL;
    mine = absent ? NO_SWITCH : team && team->job && !team->broken ? TEAM : NO_TEAM;
    front.native->Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    if (all == TEAM) {
        PMPI_Group_free(&group);
        team->communicators++;
        return team;
    }
    if (team)
        forget(team);
    team = create(comm, group);
    team->posts = posts;
    if (all != NO_SWITCH && open_together(comm, team, bytes) == SWAGG_ERR_NO_SWITCH)
        absent = true;
    return team;
}

void team_go_native(struct team *team)
{
    take_from_list(team);
    close_job(team);
}

/* Each rank decides for itself which teams may rest: team_take() asks whether all still have it. */
static void close_the_longest_at_rest(void)
{
    struct team *last = NULL;
    int at_rest = 0;
    for (struct team *team = list; team; team = team->next)
        if (team->communicators == 0) {
            at_rest++;
            last = team;
        }
    if (at_rest > TEAMS_AT_REST)
        destroy(last);
}

void team_leave(struct team *team)
{
    if (--team->communicators > 0)
        return;
    if (team->shared && !team->broken) {
        take_from_list(team);
        put_in_list(team); /* to its front */
        close_the_longest_at_rest();
    } else {
        destroy(team);
    }
}

/* Sums a one from each ready rank over a job: a barrier and an agreement, with a deadline and an error that
 * names missing ranks. */
static int count_ready(const struct team *team, struct swagg_job *over, bool ready, bool *all)
{
    int32_t mine = ready, sum = 0;
    int rc = swagg_allreduce(over, &mine, &sum, 1, SWAGG_I32, SWAGG_SUM);
    *all = sum == team->size;
    return rc;
}

/* A job with more slots takes the place of the present one. All ranks agree through the job they have, so
 * that one that is missing is named, and leave that only when all have come to the new one. */
static int grow(struct team *team)
{
    struct swagg_job *bigger = NULL, *before = team->job;
    bool all;
    int rc = count_ready(team, before, true, &all);
    if (rc < 0)
        return rc;
    team->generation++;
    team->joined = false;
    bool ready = open_job(team, &bigger, team->slots_wanted) == SWAGG_OK;
    team->joined = true;
    rc = count_ready(team, before, ready, &all);
    if (rc < 0 || !all) { /* the present job goes on */
        team->may_grow = false;
        team->generation--;
        swagg_close(bigger);
        return rc;
    }
    team->slots = team->slots_wanted;
    team->job = bigger;
    rc = count_ready(team, bigger, true, &all);
    begin_anew(team);
    jobs_leave(before);
    swagg_close(before);
    return rc;
}

int team_prepare(struct team *team)
{
    return team->may_grow && team->slots_wanted > team->slots ? grow(team) : SWAGG_OK;
}

/* Whatever becomes of that: all ranks measure together, and hear from one another if the switch has failed.
 */
void team_measure(MPI_Comm comm, struct team *team, enum crossing kind, size_t bytes, bool again)
{
    if (crossing_is_exchange(kind) && !team->has_exchanges)
        return; /* it has been posted, and stays with the MPI library */
    team_note_size(team, bytes);
    (void)team_prepare(team);
    jobs_leave(team->job);
    measure_crossover(comm, team->job, settings->fallback == FALLBACK_NATIVE, kind, crossover_size(bytes),
                      again, &team->crossover[kind]);
    team->learnt++;
    write_ways(team);
    note_job(team);
}

void team_note_size(struct team *team, size_t bytes)
{
    int slots = slots_for(bytes);
    if (slots > team->slots_wanted)
        team->slots_wanted = slots;
}

void team_exit(void)
{
    while (list)
        destroy(list);
}
