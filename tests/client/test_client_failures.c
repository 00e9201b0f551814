/* libswagg over real sockets: the errors of ranks when things go wrong, and the faults that they do not
 * notice. */
#include <arpa/inet.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "random.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

/* Arguments */

static int open_with(struct swagg_options options)
{
    struct swagg_job *job = (struct swagg_job *)&options;
    int rc = swagg_open(&job, &options);
    CU_ASSERT_PTR_NULL(job);
    return rc;
}

TEST(bad_options_are_named)
{
    const struct swagg_options good = {.struct_size = sizeof(struct swagg_options),
                                       .switch_ip = "127.0.0.1",
                                       .job = "job",
                                       .rank = 0,
                                       .size = 2};
    struct {
        const char *name;
        struct swagg_options options;
    } bad[] = {{"switch_ip", good}, {"switch_ip", good},    {"job", good},
               {"job", good},       {"job", good},          {"job", good},
               {"rank", good},      {"rank", good},         {"size", good},
               {"size", good},      {"mode", good},         {"slots", good},
               {"mtu", good},       {"join_timeout", good}, {"window", good},
               {"checksum", good},  {"reduce", good},       {"answer_timeout", good},
               {"uplink", good}};
    bad[0].options.switch_ip = NULL;
    bad[0].options.local = SWAGG_LOCAL_OFF; /* else all ranks are here */
    bad[1].options.switch_ip = "10.0.0.256";
    bad[2].options.job = NULL;
    bad[3].options.job = "";
    bad[4].options.job = "a name of forty-eight characters, which is too long";
    bad[5].options.job = "new\nline";
    bad[6].options.rank = -1;
    bad[7].options.rank = 2;
    bad[8].options.size = 0;
    bad[9].options.size = 1025;
    bad[10].options.mode = (enum swagg_mode)7;
    bad[11].options.slots = 1;
    bad[12].options.mtu = 60;
    bad[13].options.join_timeout_ms = -1;
    bad[14].options.window = 20000;
    bad[15].options.checksum = (enum swagg_checksum)2;
    bad[16].options.reduce = (enum swagg_reduce_return)2;
    bad[17].options.answer_timeout_ms = -1;
    bad[18].options.uplink = (enum swagg_uplink)2;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_EQUAL(open_with(bad[i].options), SWAGG_ERR_ARGUMENT);
        CU_ASSERT(says(swagg_last_error(), bad[i].name));
    }
    struct swagg_job *job;
    CU_ASSERT_EQUAL(swagg_open(&job, NULL), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(swagg_open(NULL, &good), SWAGG_ERR_ARGUMENT);
    swagg_close(NULL);
}

/* Every bad call is refused without harm: a good one after it still works. */
static int call_badly(struct crew_member *m)
{
    float data[100] = {0};
    struct swagg_job *job = m->job;
    const int refused[] = {
        swagg_allreduce(NULL, data, data, 1, SWAGG_F32, SWAGG_SUM),
        swagg_allreduce(job, NULL, data, 1, SWAGG_F32, SWAGG_SUM),
        swagg_allreduce(job, data, NULL, 1, SWAGG_F32, SWAGG_SUM),
        swagg_allreduce(job, data, data, 1, (enum swagg_type)0, SWAGG_SUM),
        swagg_allreduce(job, data, data, 1, (enum swagg_type)300, SWAGG_SUM),
        swagg_allreduce(job, data, data, 1, SWAGG_F32, (enum swagg_op)0),
        swagg_allreduce(job, data, data, 1, SWAGG_F32, (enum swagg_op)257),
        swagg_allreduce(job, data, data, 1, SWAGG_F32, SWAGG_BAND),
        swagg_allreduce(job, data, data, 1, SWAGG_BOOL, SWAGG_SUM),
        swagg_allreduce(job, data, data, 1, SWAGG_C64, SWAGG_MAX),
        swagg_allreduce(job, data, data + 1, 50, SWAGG_F32, SWAGG_SUM),
        swagg_allreduce(job, data + 49, data, 50, SWAGG_F32, SWAGG_SUM),
        swagg_allreduce(job, data, data, SIZE_MAX / 2, SWAGG_F32, SWAGG_SUM),
        swagg_allreduce(job, data, data, (size_t)1 << 42, SWAGG_F32, SWAGG_SUM),
        swagg_reduce(job, data, data, 1, SWAGG_F32, SWAGG_SUM, 1),
        swagg_reduce(job, data, data, 1, SWAGG_F32, SWAGG_SUM, -1),
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i] != SWAGG_ERR_ARGUMENT)
            return SWAGG_ERR_SYSTEM;
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 10, .seed = seed}, -1, true);
}

TEST(bad_arguments_do_no_harm)
{
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed}, 1, "arguments", call_badly, NULL);
}

/* Opening */

static int do_nothing(struct crew_member *m)
{
    (void)m;
    return 0;
}

TEST(a_closed_port_is_named)
{
    struct swagg_options o = {.struct_size = sizeof(struct swagg_options),
                              .switch_ip = "127.255.0.1",
                              .job = "job",
                              .size = 1,
                              .answer_timeout_ms = 200,
                              .join_timeout_ms = INT_MAX};
    CU_ASSERT_EQUAL(open_with(o), SWAGG_ERR_NO_SWITCH);
    CU_ASSERT(says(swagg_last_error(), "127.255.0.1 is there, but no swagg runs on it"));
}

TEST(a_silent_host_fails_before_the_join_deadline)
{
    struct swagg_options o = {.struct_size = sizeof(struct swagg_options),
                              .switch_ip = loop_switch_ip(the_switch),
                              .job = "job",
                              .size = 1,
                              .join_timeout_ms = INT_MAX};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(0xBEDF)};
    loop_switch_kill(the_switch);
    inet_pton(AF_INET, o.switch_ip, &at.sin_addr);
    int deaf = socket(AF_INET, SOCK_DGRAM, 0);
    CU_ASSERT_EQUAL_FATAL(bind(deaf, (struct sockaddr *)&at, sizeof at), 0);
    CU_ASSERT_EQUAL(open_with(o), SWAGG_ERR_NO_SWITCH);
    CU_ASSERT(says(swagg_last_error(), "nothing at 127."));
    close(deaf);
}

static bool names_the_missing(int deadline_ms)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct crew crew = crew_of(4, ls, "incomplete", do_nothing, NULL);
    bool named = true;
    crew.absent = 2;
    crew.options.warn_after_ms = 200;
    crew.options.join_timeout_ms = deadline_ms;
    crew_run(&crew);
    for (int r = 0; r < crew.size; r++) {
        const struct crew_member *m = &crew.member[r];
        named =
            named && (r == crew.absent || (m->opened == SWAGG_ERR_DEADLINE && strstr(m->error, "rank 2") &&
                                           strstr(m->log, "waiting for rank 2 to join")));
    }
    loop_switch_stop(ls);
    return crew_told(&crew, named);
}

TEST(a_missing_rank_is_named)
{
    crew_give_up(names_the_missing);
}

static bool is_refused(const struct swagg_options *o, const char *why)
{
    struct swagg_job *job;
    return swagg_open(&job, o) == SWAGG_ERR_REFUSED && says(swagg_last_error(), why);
}

/* Rank 0 waits; rank 1 comes with a checksum, is refused, and comes without. */
TEST(who_waits_learns_who_was_refused)
{
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .lost_after_ms = 10000});
    struct crew crew = crew_of(2, ls, "one-sided", do_nothing, NULL);
    crew.absent = 1;
    crew.options.warn_after_ms = 50;
    struct swagg_options options = crew.options;
    options.rank = 1;
    options.size = 2;
    options.checksum = SWAGG_CHECKSUM_CRC32C;
    crew_start(&crew);
    crew_await_line(&crew.member[0], "waiting for rank 1 to join");
    CU_ASSERT(is_refused(&options, "rank 1 (127.0.0.1) wants packets with a CRC32C"));
    crew_await_line(&crew.member[0], "turned away was: rank 1 (127.0.0.1) wants packets with a CRC32C");
    options.checksum = SWAGG_CHECKSUM_NONE;
    struct swagg_job *job = NULL;
    CU_ASSERT_EQUAL(swagg_open(&job, &options), SWAGG_OK);
    swagg_close(job);
    crew_end_well(&crew);
    loop_switch_stop(ls);
}

static int open_under_other_terms(struct crew_member *m)
{
    struct swagg_options larger = m->crew->options, checked = m->crew->options, scaled = m->crew->options;
    larger.size = 3;
    checked.size = m->crew->size;
    checked.checksum = SWAGG_CHECKSUM_CRC32C;
    scaled.size = m->crew->size;
    scaled.numbers = SWAGG_NUMBERS_INT32;
    if (m->rank == 0 &&
        (!is_refused(&larger,
                     "another rank 0 (127.0.0.1) says that there are 3 ranks, rank 0 (127.0.0.1) says 2") ||
         !is_refused(&checked, "another rank 0 (127.0.0.1) wants packets with a CRC32C, "
                               "rank 0 (127.0.0.1) wants packets without") ||
         !is_refused(&scaled, "another rank 0 (127.0.0.1) wants int32 elements with exponents, "
                              "rank 0 (127.0.0.1) wants typed elements")))
        return SWAGG_ERR_SYSTEM;
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 10}, -1, true);
}

TEST(other_terms_are_refused)
{
    /* For a part of that time it looks whether the first rank 0 lives, before it refuses another one. */
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed, .lost_after_ms = 10000}, 2, "terms",
                       open_under_other_terms, NULL);
}

/* Mismatches */

struct mismatch {
    struct {
        bool reduce;
        size_t count;
        enum swagg_type type;
        int root;
    } call[2];
    const char *words[2];
};

static int mismatch(struct crew_member *m)
{
    const struct mismatch *q = m->crew->arg;
    double data[1000] = {0};
    int rc = swagg_allreduce(m->job, data, data, 10, SWAGG_I32, SWAGG_SUM);
    if (rc < 0)
        return SWAGG_ERR_SYSTEM;
    if (q->call[m->rank].reduce)
        rc = swagg_reduce(m->job, data, data, q->call[m->rank].count, q->call[m->rank].type, SWAGG_SUM,
                          q->call[m->rank].root);
    else
        rc = swagg_allreduce(m->job, data, data, q->call[m->rank].count, q->call[m->rank].type, SWAGG_SUM);
    int again = swagg_allreduce(m->job, data, data, 1, SWAGG_F32, SWAGG_SUM);
    return again == rc ? rc : SWAGG_ERR_SYSTEM;
}

TEST(a_mismatch_names_both_calls)
{
    static const struct mismatch mismatches[] = {
        {{{false, 1000, SWAGG_F32, 0}, {true, 500, SWAGG_F64, 0}},
         {"rank 0 called allreduce of 1000 float32 (sum)",
          "rank 1 called reduce of 500 float64 (sum) to rank 0"}},
        {{{false, 1000, SWAGG_F32, 0}, {false, 999, SWAGG_F32, 0}},
         {"rank 0 called allreduce of 1000 float32", "rank 1 called allreduce of 999 float32"}},
        {{{false, 10, SWAGG_F32, 0}, {false, 10, SWAGG_I32, 0}},
         {"rank 0 called allreduce of 10 float32", "rank 1 called allreduce of 10 int32"}},
        {{{true, 10, SWAGG_I64, 0}, {true, 10, SWAGG_I64, 1}},
         {"of 10 int64 (sum) to rank 0", "of 10 int64 (sum) to rank 1"}},
        {{{true, 10, SWAGG_I64, 0}, {false, 10, SWAGG_I64, 0}},
         {"rank 0 called reduce", "rank 1 called allreduce"}},
        {{{false, 0, SWAGG_F64, 0}, {false, 1, SWAGG_F64, 0}},
         {"allreduce of 0 float64", "allreduce of 1 float64"}},
    };
    for (size_t i = 0; i < sizeof mismatches / sizeof *mismatches; i++) {
        struct crew crew = crew_of(2, the_switch, "mismatch", mismatch, (void *)&mismatches[i]);
        crew_disagree(&crew, mismatches[i].words[0], mismatches[i].words[1]);
    }
}

static int differ(struct crew_member *m)
{
    const enum swagg_type type = m->rank == 0 ? SWAGG_F32 : SWAGG_F64;
    return crew_sum(m, &(struct tensor){.type = type, .count = 10, .seed = seed}, -1, true);
}

/* Called by a rank that waits in swagg_open for the others: these join, call, and fail meanwhile. */
static void let_the_others_fail(void *ctx, enum swagg_log_level level, const char *line)
{
    struct crew *others = ctx;
    (void)level;
    if (says(line, "waiting for") && atomic_load(&others->through) == 0)
        crew_run(others);
}

TEST(a_mismatch_reaches_who_is_still_in_open)
{
    struct crew others = crew_of(3, the_switch, "still-in-open", differ, NULL);
    others.absent = 2;
    struct swagg_options options = others.options;
    options.rank = 2;
    options.size = 3;
    options.warn_after_ms = 1;
    options.log = let_the_others_fail;
    options.log_ctx = &others;
    struct swagg_job *job;
    float x = 0;
    int rc = swagg_open(&job, &options);
    CU_ASSERT((rc == SWAGG_OK) == (job != NULL));
    if (rc == SWAGG_OK) /* the switch has told it a moment later */
        rc = swagg_allreduce(job, &x, &x, 1, SWAGG_F32, SWAGG_SUM);
    CU_ASSERT_EQUAL(rc, SWAGG_ERR_MISMATCH);
    CU_ASSERT(says(swagg_last_error(), "rank 0 called allreduce of 10 float32"));
    CU_ASSERT(says(swagg_last_error(), "rank 1 called allreduce of 10 float64"));
    swagg_close(job);
    for (int r = 0; r < 2; r++) {
        CU_ASSERT_EQUAL(others.member[r].opened, 0);
        CU_ASSERT_EQUAL(others.member[r].status, SWAGG_ERR_MISMATCH);
    }
}

/* Peers that are late, leave, give up or die */

static int stay_away(struct crew_member *m)
{
    int rc = crew_sum_once(m);
    if (rc < 0 || m->rank != 1)
        return rc < 0 ? rc : crew_sum_once(m);
    while (atomic_load(&m->crew->through) < m->crew->size - 1)
        sleep_ms(1);
    return crew_sum_once(m);
}

/* One of the two that wait does so at its own deadline, the other then or when it hears of it; the one that
 * is late hears of it, too. */
static bool names_the_late(int deadline_ms)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct crew crew = crew_of(3, ls, "late", stay_away, NULL);
    crew.options.warn_after_ms = 200;
    crew.options.call_timeout_ms = deadline_ms;
    crew_run(&crew);
    bool named = crew.member[0].status == SWAGG_ERR_DEADLINE || crew.member[2].status == SWAGG_ERR_DEADLINE;
    for (int r = 0; r < 3; r++) {
        const struct crew_member *m = &crew.member[r];
        named = named && (m->status == SWAGG_ERR_ABORTED || (r != 1 && m->status == SWAGG_ERR_DEADLINE)) &&
                strstr(m->error, "allreduce of 1000 float32 (sum)") &&
                strstr(m->error, "waiting for rank 1") && (r == 1 || strstr(m->log, "waiting for rank 1"));
    }
    loop_switch_stop(ls);
    return crew_told(&crew, named);
}

TEST(a_deadline_names_who_is_missing)
{
    crew_give_up(names_the_late);
}

static int leave_early(struct crew_member *m)
{
    int rc = crew_sum_once(m);
    return rc < 0 || m->rank == 0 ? rc : crew_sum_once(m);
}

TEST(a_peer_that_leaves_is_named)
{
    struct crew crew = crew_of(3, the_switch, "left", leave_early, NULL);
    crew_run(&crew);
    CU_ASSERT_EQUAL(crew.member[0].status, 0);
    for (int r = 1; r < 3; r++) {
        CU_ASSERT_EQUAL(crew.member[r].status, SWAGG_ERR_LOST);
        CU_ASSERT(says(crew.member[r].error, "rank 0"));
    }
}

static int give_up(struct crew_member *m)
{
    int rc = crew_sum_once(m);
    if (rc == 0 && m->rank == 1)
        swagg_abort(m->job, "the disk is full");
    return rc < 0 ? rc : crew_sum_once(m);
}

/* Rank 1 closes its job right after the abort. */
static bool all_see_the_abort(struct loop_switch_config config)
{
    struct loop_switch *ls = loop_switch_start(&config);
    struct crew crew = crew_of(3, ls, "abort", give_up, NULL);
    bool seen = true;
    crew_run(&crew);
    for (int r = 0; r < 3; r++)
        seen = seen && crew.member[r].status == SWAGG_ERR_ABORTED &&
               says(crew.member[r].error, "the disk is full");
    loop_switch_stop(ls);
    return crew_told(&crew, seen);
}

TEST(an_abort_reaches_the_peers)
{
    CU_ASSERT(all_see_the_abort((struct loop_switch_config){.seed = seed}));
}

/* It is repeated for a second, whatever the deadline; not where this process stands still for so long. */
static bool all_see_the_lost_abort(int deadline_ms)
{
    (void)deadline_ms;
    return all_see_the_abort((struct loop_switch_config){.seed = seed, .loses = CTL_ABORT});
}

TEST(an_abort_that_was_lost_reaches_the_peers)
{
    crew_give_up(all_see_the_lost_abort);
}

/* A rank of its own process, which can be killed: this program, called again. It sums until it dies. */
static int be_a_rank(char **argv)
{
    static float data[1 << 20];
    struct swagg_options o = {.struct_size = sizeof(struct swagg_options),
                              .switch_ip = argv[2],
                              .job = argv[3],
                              .rank = atoi(argv[4]),
                              .size = atoi(argv[5]),
                              .mtu = 1500,
                              .answer_timeout_ms = 300000,
                              .join_timeout_ms = 300000};
    struct swagg_job *job;
    int rc = swagg_open(&job, &o);
    while (rc == 0)
        rc = swagg_allreduce(job, data, data, sizeof data / sizeof *data, SWAGG_F32, SWAGG_SUM);
    return 1;
}

static pid_t spawn_rank(const struct loop_switch *ls, const char *job, const char *rank, const char *size)
{
    extern char **environ;
    char *argv[] = {"rank",       "--rank", (char *)loop_switch_ip(ls), (char *)job, (char *)rank,
                    (char *)size, NULL};
    char program[PATH_MAX] = ""; /* by its name: under valgrind the link itself leads to valgrind */
    pid_t pid = 0;
    CU_ASSERT_FATAL(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    CU_ASSERT_EQUAL_FATAL(posix_spawn(&pid, program, NULL, NULL, argv, environ), 0);
    return pid;
}

/* Until the switch has had so many, or a rank is through: it stood still, and is lost. */
static void await_packets(const struct crew *crew, const struct loop_switch *ls, uint64_t enough)
{
    while (loop_switch_packets(ls) < enough && atomic_load(&crew->through) == 0)
        sleep_ms(1);
}

static int sum_for_ever(struct crew_member *m)
{
    float *data = calloc(1 << 20, sizeof *data);
    int rc;
    do
        rc = swagg_allreduce(m->job, data, data, 1 << 20, SWAGG_F32, SWAGG_SUM);
    while (rc == 0);
    free(data);
    return rc;
}

static bool names_the_killed(int deadline_ms)
{
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .lost_after_ms = (unsigned)deadline_ms});
    struct crew crew = crew_of(3, ls, "killed", sum_for_ever, NULL);
    bool named = true;
    crew.absent = 1;
    pid_t pid = spawn_rank(ls, "killed", "1", "3");
    crew_start(&crew);
    await_packets(&crew, ls, 5000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    crew_join(&crew);
    for (int r = 0; r < 3; r += 2) {
        const struct crew_member *m = &crew.member[r];
        named = named && m->opened == 0 && m->status == SWAGG_ERR_LOST && strstr(m->error, "rank 1");
    }
    crew_told(&crew, named);
    /* and the job's name is free again */
    crew = crew_of(2, ls, "killed", crew_sum_once, NULL);
    crew_run(&crew);
    for (int r = 0; r < 2; r++)
        named = named && crew.member[r].status == 0;
    loop_switch_stop(ls);
    return named;
}

TEST(a_killed_peer_is_named)
{
    crew_give_up(names_the_killed);
}

static bool call_is_refused(struct swagg_job *job)
{
    float x = 1;
    const int rc = swagg_allreduce(job, &x, &x, 1, SWAGG_F32, SWAGG_SUM);
    swagg_close(job);
    return rc == SWAGG_ERR_ARGUMENT;
}

/* After a call, by which the library knows its process. */
static int fork_and_call(struct crew_member *m)
{
    if (crew_sum_once(m) != SWAGG_OK)
        return SWAGG_ERR_SYSTEM;
    return is_so_in_a_child(call_is_refused, m->job) ? crew_sum_once(m) : SWAGG_ERR_SYSTEM;
}

TEST(a_forked_child_cannot_disturb_the_job)
{
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed}, 1, "fork", fork_and_call, NULL);
}

static bool questions_are_refused(struct swagg_job *job)
{
    struct swagg_stats stats = SWAGG_STATS_INIT;
    struct swagg_turnout turnout = SWAGG_TURNOUT_INIT;
    uint64_t waited_ns;
    return swagg_get_stats(job, &stats) == SWAGG_ERR_ARGUMENT &&
           swagg_get_turnout(job, &turnout) == SWAGG_ERR_ARGUMENT &&
           swagg_get_waits(job, &waited_ns, 1) == SWAGG_ERR_ARGUMENT &&
           swagg_get_fd(job) == SWAGG_ERR_ARGUMENT && swagg_name_tensor(job, 1) == SWAGG_ERR_ARGUMENT;
}

static int ask_in_a_child(struct crew_member *m)
{
    return is_so_in_a_child(questions_are_refused, m->job) ? crew_sum_once(m) : SWAGG_ERR_SYSTEM;
}

TEST(a_forked_child_is_told_nothing_of_the_job)
{
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed}, 1, "fork", ask_in_a_child, NULL);
}

/* The library's threads, which mostly wait at this moment, are not in the child. */
static int fork_beside_a_progress_thread(struct crew_member *m)
{
    int rc = SWAGG_OK;
    for (int i = 0; i < 10 && rc == SWAGG_OK; i++)
        if ((rc = crew_sum_once(m)) == SWAGG_OK)
            rc = closes_in_a_child(m->job) ? SWAGG_OK : SWAGG_ERR_SYSTEM;
    return rc == SWAGG_OK ? crew_sum_once(m) : rc;
}

TEST(a_forked_child_can_close_a_job_with_a_progress_thread)
{
    struct crew crew = crew_of(1, the_switch, "fork", fork_beside_a_progress_thread, NULL);
    crew.options.progress_thread = SWAGG_PROGRESS_THREAD_ON;
    crew_succeed(&crew);
}

/* The switch */

struct restarts {
    size_t count;
    unsigned calls;
};

static int sum_over_restarts(struct crew_member *m)
{
    const struct restarts *r = m->crew->arg;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < r->calls; i++)
        rc = crew_sum(
            m, &(struct tensor){.type = i % 2 ? SWAGG_I32 : SWAGG_F32, .count = r->count, .seed = seed + i},
            i % 3 == 2 ? 0 : -1, i % 2);
    return rc;
}

TEST(a_restarted_switch_is_not_noticed)
{
    struct restarts plan = {.count = 500009, .calls = 3};
    struct crew crew = crew_of(4, the_switch, "restart", sum_over_restarts, &plan);
    loop_switch_take(the_switch, 3000);
    crew_start(&crew);
    loop_switch_restart_there(the_switch, 0, 4001);
    loop_switch_restart_there(the_switch, 50, 2002);
    loop_switch_restart_there(the_switch, 200, 0);
    crew_end_well(&crew);
    for (int r = 0; r < 4; r++)
        CU_ASSERT_EQUAL(crew.member[r].stats.resumed, 3);
}

/* Rank 0 has its sum and goes on to other things; rank 1 lacks it and can get it from rank 0 only. */
static int wait_for_rank_1(struct crew_member *m)
{
    atomic_uint *done = m->crew->arg;
    int rc = crew_sum_once(m);
    atomic_fetch_add(done, 1);
    while (rc == 0 && m->rank == 0 && atomic_load(done) < 2)
        sleep_ms(1);
    return rc < 0 ? rc : crew_sum_once(m);
}

TEST(a_rank_between_calls_helps_after_a_restart)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed, .deaf = 1u << 1});
    atomic_uint done = 0;
    struct crew crew = crew_of(2, ls, "helper", wait_for_rank_1, &done);
    crew.options.call_timeout_ms = 120000;
    crew_start(&crew);
    while (atomic_load(&done) < 1)
        sleep_ms(1);
    loop_switch_kill(ls);
    loop_switch_revive(ls);
    crew_end_well(&crew);
    for (int r = 0; r < 2; r++)
        CU_ASSERT_EQUAL(crew.member[r].stats.resumed, 1);
    loop_switch_stop(ls);
}

/* Many calls over a bad network, and a switch that is killed again and again. */
struct storm {
    atomic_uint in, through; /* ranks */
};

static int sum_through_it_all(struct crew_member *m)
{
    struct storm *storm = m->crew->arg;
    uint64_t random = seed;
    int rc = crew_sum_once(m);
    atomic_fetch_add(&storm->in, 1);
    for (unsigned i = 0; rc == 0 && i < 60; i++) {
        size_t count = rng_next(&random) % (random % 4 ? 3000 : 60000);
        struct tensor tensor = {.type = i % 2 ? SWAGG_F32 : SWAGG_I64, .count = count, .seed = random};
        rc = crew_sum(m, &tensor, random % 3 ? -1 : (int)(i % (unsigned)m->crew->size), i % 2);
    }
    atomic_fetch_add(&storm->through, 1);
    while (atomic_load(&storm->through) < (unsigned)m->crew->size)
        sleep_ms(1); /* who has left cannot help others, whose last sum a switch has taken with it */
    return rc;
}

TEST(restarts_and_losses_together)
{
    struct impair_config link = {
        .rate = {[IMPAIR_DROP] = {.probability = 0.01}, [IMPAIR_DUPLICATE] = {.probability = 0.01}}};
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .in = link, .out = link});
    struct storm storm = {0};
    struct crew crew = crew_of(3, ls, "storm", sum_through_it_all, &storm);
    uint64_t random = seed;
    crew.options.reduce = seed % 2 ? SWAGG_REDUCE_BUFFERED : SWAGG_REDUCE_COMPLETE;
    crew_start(&crew);
    while (atomic_load(&storm.in) < 3)
        sleep_ms(1);
    for (unsigned kills = 0; kills < 6 && atomic_load(&storm.through) == 0; kills++) {
        sleep_ms((long)(rng_next(&random) % 150));
        loop_switch_kill(ls);
        sleep_ms((long)(rng_next(&random) % 50));
        loop_switch_revive(ls);
    }
    crew_end_well(&crew);
    loop_switch_stop(ls);
}

/* While earlier jobs may come back a new one waits; its ranks give up one by one, each at its own time. */
static bool says_that_there_is_no_room(int deadline_ms)
{
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .lost_after_ms = 400000});
    struct swagg_options o = crew_of(1, ls, "earlier", NULL, NULL).options;
    struct swagg_job *earlier, *job;
    int32_t x = 1;
    o.size = 1;
    CU_ASSERT_EQUAL_FATAL(swagg_open(&earlier, &o), SWAGG_OK);
    loop_switch_kill(ls);
    loop_switch_revive(ls);
    CU_ASSERT_EQUAL(swagg_allreduce(earlier, &x, &x, 1, SWAGG_I32, SWAGG_SUM), SWAGG_OK);
    o.job = "new";
    o.protocol = SWAGG_PROTOCOL_AUTO;
    o.server_ip = o.switch_ip;
    o.join_timeout_ms = deadline_ms;
    const bool refused = swagg_open(&job, &o) == SWAGG_ERR_REFUSED &&
                         says(swagg_last_error(), "the switch had no room for the job within");
    swagg_close(earlier);
    loop_switch_stop(ls);
    return refused;
}

TEST(who_gives_up_waiting_for_room_does_not_go_by_atp)
{
    crew_give_up(says_that_there_is_no_room);
}

/* Silence is worth a word after lost_after_ms. */
static bool names_the_silent_switch(int deadline_ms)
{
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .lost_after_ms = (unsigned)deadline_ms});
    struct crew crew = crew_of(2, ls, "gone", sum_for_ever, NULL);
    bool named = true;
    crew.options.call_timeout_ms = 2 * deadline_ms;
    crew_start(&crew);
    await_packets(&crew, ls, 3000);
    loop_switch_kill(ls);
    crew_join(&crew);
    for (int r = 0; r < 2; r++)
        named = named && crew.member[r].status == SWAGG_ERR_DEADLINE &&
                strstr(crew.member[r].error, "has been silent for");
    loop_switch_stop(ls);
    return crew_told(&crew, named);
}

TEST(a_switch_that_stays_away_fails_the_call)
{
    crew_give_up(names_the_silent_switch);
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--rank") == 0)
        return be_a_rank(argv);
    seed_from_environment();
    return unit_main();
}
