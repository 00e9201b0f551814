/* Ranks of one host sum in its memory, and hosts by rails. A rank is a process here; hosts are told apart by
 * the directories in which their ranks meet, so nothing but files needs to be apart. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flights.h"
#include "local/meeting.h"
#include "random.h"
#include "reference.h"
#include "unit.h"

enum { RANKS_MAX = 8, TEXT = 400 };

/* What the processes tell the test. */
struct told {
    atomic_int calls; /* that rank 0 has made */
    atomic_int gate;  /* ranks that have come to it */
    atomic_int let;   /* so often a rank that waited has let others progress */
    struct {
        int opened, status;
        char text[TEXT];
        char warned[TEXT]; /* the first line that the library has warned with, since it was emptied */
        char alone[TEXT];  /* the line that says why it shares no memory */
        struct swagg_stats stats;
    } rank[RANKS_MAX];
};

typedef int work_fn(struct crew_member *m, struct told *told);

struct ranks {
    struct swagg_options options;
    int size, host[RANKS_MAX];
    work_fn *work;
    int absent; /* this one never comes; -1: all do */
    int twin;   /* the process of this one is that of the next one, too; -1: of none */
    struct told *told;
    pid_t pid[RANKS_MAX];
};

static char base[64];

static void directory_of(int host, char path[128])
{
    snprintf(path, 128, "%s/%d", base, host);
}

static void make_directories(void)
{
    char path[128];
    start_switch();
    snprintf(base, sizeof base, "/tmp/swagg-local-XXXXXX");
    if (!mkdtemp(base))
        abort();
    for (int host = 0; host < RANKS_MAX; host++) {
        directory_of(host, path);
        mkdir(path, 0700);
    }
}

/* They are empty, whatever happened. */
static void remove_directories(void)
{
    char path[128];
    for (int host = 0; host < RANKS_MAX; host++) {
        directory_of(host, path);
        CU_ASSERT_EQUAL(rmdir(path), 0);
    }
    CU_ASSERT_EQUAL(rmdir(base), 0);
    stop_switch();
}

EACH_TEST(make_directories, remove_directories)

/* ls NULL: there is no switch. */
static struct ranks ranks_of(int size, const int host[], const struct loop_switch *ls, const char *job,
                             work_fn *work)
{
    struct ranks r = {.size = size, .work = work, .absent = -1, .twin = -1};
    if (ls)
        r.options = crew_of(size, ls, job, NULL, NULL).options;
    else
        r.options =
            (struct swagg_options){.struct_size = sizeof r.options, .job = job, .join_timeout_ms = 300000};
    memcpy(r.host, host, (size_t)size * sizeof *host);
    r.told = mmap(NULL, sizeof *r.told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return r;
}

struct teller {
    struct told *told;
    int rank;
};

static void note_warning(void *ctx, enum swagg_log_level level, const char *line)
{
    const struct teller *t = ctx;
    if (level <= SWAGG_LOG_WARN && t->told->rank[t->rank].warned[0] == '\0')
        snprintf(t->told->rank[t->rank].warned, TEXT, "%s", line);
    if (strstr(line, "shares no memory"))
        snprintf(t->told->rank[t->rank].alone, TEXT, "%s", line);
}

static void be_rank(struct ranks *r, int rank)
{
    char directory[128];
    struct crew crew = {.size = r->size};
    struct crew_member m = {.crew = &crew, .rank = rank};
    struct teller teller = {r->told, rank};
    struct swagg_options options = r->options;
    options.rank = rank;
    options.size = r->size;
    directory_of(r->host[rank], directory);
    options.local_directory = directory;
    options.log = note_warning;
    options.log_ctx = &teller;
    int rc = r->told->rank[rank].opened = swagg_open(&m.job, &options);
    if (rc == 0)
        rc = r->work(&m, r->told);
    snprintf(r->told->rank[rank].text, TEXT, "%s", rc < 0 ? swagg_last_error() : "");
    r->told->rank[rank].status = rc;
    r->told->rank[rank].stats = SWAGG_STATS_INIT;
    if (m.job)
        swagg_get_stats(m.job, &r->told->rank[rank].stats);
    swagg_close(m.job);
}

static void *be_twin(void *arg)
{
    struct ranks *r = arg;
    be_rank(r, r->twin + 1);
    return NULL;
}

static void be_process(struct ranks *r, int rank)
{
    pthread_t twin;
    closefrom(3); /* the switch's sockets are not to outlive it here */
    if (rank == r->twin && pthread_create(&twin, NULL, be_twin, r))
        abort();
    be_rank(r, rank);
    if (rank == r->twin)
        pthread_join(twin, NULL);
    _exit(0);
}

static bool has_process(const struct ranks *r, int rank)
{
    return rank != r->absent && (r->twin < 0 || rank != r->twin + 1);
}

static void start(struct ranks *r)
{
    for (int rank = 0; rank < r->size; rank++)
        if (has_process(r, rank) && (r->pid[rank] = fork()) == 0)
            be_process(r, rank);
}

static void await_all(struct ranks *r)
{
    for (int rank = 0; rank < r->size; rank++)
        if (has_process(r, rank))
            waitpid(r->pid[rank], NULL, 0);
}

static void run(struct ranks *r)
{
    start(r);
    await_all(r);
}

static void finish(struct ranks *r)
{
    munmap(r->told, sizeof *r->told);
}

static void succeed(struct ranks *r)
{
    await_all(r);
    for (int rank = 0; rank < r->size; rank++) {
        CU_ASSERT_EQUAL(r->told->rank[rank].status, 0);
        if (r->told->rank[rank].status != 0)
            printf("\n    rank %d: %d: %s\n", rank, r->told->rank[rank].status, r->told->rank[rank].text);
    }
}

static void play(struct ranks *r)
{
    start(r);
    succeed(r);
    finish(r);
}

static bool expect(const struct ranks *r, int rank, int status, const char *words)
{
    const bool is = r->told->rank[rank].status == status;
    CU_ASSERT(is);
    if (!is)
        printf("\n    rank %d: %d: %s\n", rank, r->told->rank[rank].status, r->told->rank[rank].text);
    CU_ASSERT(says(r->told->rank[rank].text, words));
    return is;
}

static const struct {
    int size, host[RANKS_MAX];
} placements[] = {
    {2, {0, 0}},          {4, {0, 0, 0, 0}}, {4, {0, 0, 1, 1}}, {6, {0, 1, 2, 2, 1, 0}},
    {5, {0, 0, 0, 1, 2}}, {3, {0, 1, 2}},
};
enum { PLACEMENTS = sizeof placements / sizeof *placements };

/* With a switch where they are on several hosts. */
static struct ranks ranks_at(unsigned p, const char *job, work_fn *work)
{
    return ranks_of(placements[p].size, placements[p].host, p < 2 ? NULL : the_switch, job, work);
}

static int sum_all_pairs(struct crew_member *m, struct told *told)
{
    static const size_t counts[] = {0, 1, 45, 5000, 140003};
    int rc = 0;
    (void)told;
    for (unsigned code = 0; (code = reference_next(code)) != 0;)
        for (size_t c = (code + seed) % 3; rc == 0 && c < sizeof counts / sizeof *counts; c += 3) {
            const struct tensor t = {.type = agg_code_type(code),
                                     .op = agg_code_op(code),
                                     .count = counts[c],
                                     .seed = seed,
                                     .round = true};
            /* what is made up and compared here takes far longer than the call */
            if (counts[c] > 1000 && ((code / 3 + seed) % 8 != 0 || !unit_tries(code)) &&
                code != agg_code(SWAGG_F32, SWAGG_SUM))
                continue;
            /* averages of halves are rounded on each host (docs/libswagg.md) */
            if (t.op == SWAGG_AVG && (t.type == SWAGG_F16 || t.type == SWAGG_BF16))
                continue;
            rc = crew_sum(m, &t, code % 5 == 2 ? (int)(code % (unsigned)m->crew->size) : -1, code % 2);
        }
    return rc == 0 ? crew_sum_vector(m, 50, 77) : rc;
}

TEST(every_operation_is_summed_wherever_ranks_are)
{
    for (unsigned p = 0; p < PLACEMENTS; p++) {
        struct ranks r = ranks_of(placements[p].size, placements[p].host, the_switch, "pairs", sum_all_pairs);
        play(&r);
    }
}

TEST(one_host_needs_no_switch)
{
    for (unsigned p = 0; p < 2; p++) {
        struct ranks r = ranks_at(p, "alone", sum_all_pairs);
        start(&r);
        succeed(&r);
        for (int rank = 0; rank < r.size; rank++)
            CU_ASSERT_EQUAL(r.told->rank[rank].stats.packets_sent, 0);
        finish(&r);
    }
}

enum { BARRIERS = 20, NOT_ALL = -101 };

static int meet_and_ask(struct crew_member *m, struct told *told)
{
    const int size = m->crew->size;
    char bytes[8] = {0};
    int rc = 0;
    for (int i = 1; i <= BARRIERS && rc == 0; i++) {
        atomic_fetch_add(&told->gate, 1);
        rc = swagg_barrier(m->job);
        if (rc == 0 && atomic_load(&told->gate) < i * size)
            rc = NOT_ALL;
    }
    return rc < 0 || swagg_has_exchanges(m->job) ? NOT_ALL : swagg_broadcast(m->job, bytes, sizeof bytes, 0);
}

TEST(one_host_meets_at_a_barrier_and_says_what_it_has_not)
{
    struct ranks r = ranks_at(1, "barrier", meet_and_ask);
    run(&r);
    for (int rank = 0; rank < r.size; rank++)
        expect(&r, rank, SWAGG_ERR_ARGUMENT, "no broadcast: it has no switch: set options.switch_ip");
    finish(&r);
}

enum { FEW = 5, OTHERS_IN_IT = -102 };

/* Whether so many elements' sums are here, which have all ranks. */
static bool has_everybody(const struct crew_member *m, uint64_t elements)
{
    struct swagg_turnout t = SWAGG_TURNOUT_INIT;
    const uint64_t all = elements > 0 ? (UINT64_C(1) << m->crew->size) - 1 : 0;
    const int ranks = elements > 0 ? m->crew->size : 0;
    return swagg_get_turnout(m->job, &t) == 0 && t.elements == elements && t.least == ranks &&
           t.most == ranks && t.in_all[0] == all && t.in_some[0] == all && t.in_all[1] == 0;
}

static int sum_and_ask_who(struct crew_member *m, struct told *told)
{
    const struct tensor few = {.type = SWAGG_F32, .count = FEW, .seed = seed, .round = true};
    const int root = m->crew->size - 1;
    int rc = crew_sum(m, &few, -1, false);
    (void)told;
    if (rc == 0 && !has_everybody(m, FEW))
        rc = OTHERS_IN_IT;
    if (rc == 0 && (rc = crew_sum(m, &few, root, false)) == 0 && !has_everybody(m, m->rank == root ? FEW : 0))
        rc = OTHERS_IN_IT;
    return rc;
}

TEST(everybody_is_in_a_sum_of_one_host)
{
    struct ranks r = ranks_at(1, "turnout", sum_and_ask_who);
    play(&r);
}

static int sum_one(struct crew_member *m, struct told *told)
{
    (void)told;
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 1 << 18, .seed = seed, .round = true}, -1,
                    false);
}

static int post_one(struct crew_member *m, struct told *told)
{
    const struct plan plan = {.tensor = {.type = SWAGG_F32, .count = 1 << 18, .seed = seed, .round = true},
                              .root = -1};
    struct flight f;
    (void)told;
    flight_begin(&f, &plan, m->rank);
    int rc = flight_post(m->job, &f, NULL);
    if (rc == 0)
        rc = swagg_wait(&f.request);
    return flight_end(&f, m, rc);
}

static uint64_t packets_of(const struct ranks *r)
{
    uint64_t packets = 0;
    for (int rank = 0; rank < r->size; rank++)
        packets += r->told->rank[rank].stats.packets_sent;
    return packets;
}

TEST(a_host_sends_one_sum)
{
    uint64_t packets[2];
    for (int i = 0; i < 4; i++) {
        const bool off = i % 2;
        struct ranks r = ranks_at(2, "one sum", i < 2 ? sum_one : post_one);
        r.options.local = off ? SWAGG_LOCAL_OFF : SWAGG_LOCAL_AUTO;
        start(&r);
        succeed(&r);
        packets[off] = packets_of(&r);
        finish(&r);
        CU_ASSERT(!off || packets[0] < packets[1] * 6 / 10);
    }
}

/* Numbers that travel scaled are rounded; these are so round that little of them is lost. */
static int sum_rounded(struct crew_member *m, struct told *told)
{
    enum { COUNT = 100003 };
    float *x = malloc(COUNT * sizeof *x);
    (void)told;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)((i + m->rank) % 8);
    int rc = swagg_allreduce(m->job, x, x, COUNT, SWAGG_F32, SWAGG_SUM);
    for (int i = 0; rc == 0 && i < COUNT; i++) {
        float sum = 0;
        for (int r = 0; r < m->crew->size; r++)
            sum += (float)((i + r) % 8);
        if (fabsf(x[i] - sum) > 0.1f)
            rc = WRONG_SUM;
    }
    free(x);
    return rc;
}

TEST(numbers_and_protocols_go_by_rails)
{
    static const struct {
        enum swagg_numbers numbers;
        enum swagg_protocol protocol;
    } ways[] = {{SWAGG_NUMBERS_INT32, SWAGG_PROTOCOL_SWITCHML},
                {SWAGG_NUMBERS_FP16, SWAGG_PROTOCOL_SWITCHML},
                {SWAGG_NUMBERS_NATIVE, SWAGG_PROTOCOL_ATP}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct ranks r = ranks_at(2, "numbers", sum_rounded);
        r.options.numbers = ways[w].numbers;
        r.options.protocol = ways[w].protocol;
        play(&r);
    }
}

static int sum_for_long(struct crew_member *m, struct told *told)
{
    int rc = 0;
    for (int i = 0; rc == 0; i++) {
        const struct tensor t = {.type = SWAGG_I32, .count = i % 3 ? 5 : 150000, .seed = seed};
        rc = crew_sum(m, &t, -1, i % 2);
        if (m->rank == 0)
            atomic_fetch_add(&told->calls, 1);
    }
    return rc;
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid != 0;
}

static bool has_one_ended(const struct ranks *r)
{
    for (int rank = 0; rank < r->size; rank++)
        if (rank != r->absent && has_ended(r->pid[rank]))
            return true;
    return false;
}

/* Or until one has ended, which none should: what the test expects of them then fails. */
static void await_calls(const struct ranks *r, int calls)
{
    while (atomic_load(&r->told->calls) < calls && !has_one_ended(r))
        sleep_ms(1);
}

static bool is_alone(const struct ranks *r, int rank)
{
    int here = 0;
    for (int other = 0; other < r->size; other++)
        here += r->host[other] == r->host[rank];
    return here == 1;
}

/* A random rank that others share a host with; -1: none is. Who is alone only the switch would miss. */
static int one_of_several(const struct ranks *r, uint64_t *rng)
{
    const int first = (int)rng_below(rng, (uint64_t)r->size);
    for (int i = 0; i < r->size; i++)
        if (!is_alone(r, (first + i) % r->size))
            return (first + i) % r->size;
    return -1;
}

/* At random moments. Nobody returns a wrong sum, everybody hears who it was. */
static void kill_in_calls(work_fn *work, unsigned rounds)
{
    uint64_t rng = seed;
    for (unsigned i = 0; i < unit_cases(rounds) * PLACEMENTS; i++) {
        const unsigned p = i % PLACEMENTS;
        struct ranks r = ranks_at(p, "killed", work);
        const int dies = one_of_several(&r, &rng);
        char name[32];
        if (dies < 0) {
            finish(&r);
            continue;
        }
        start(&r);
        await_calls(&r, 1 + (int)rng_below(&rng, 20));
        sleep_ms((long)rng_below(&rng, 10));
        kill(r.pid[dies], SIGKILL);
        await_all(&r);
        snprintf(name, sizeof name, "rank %d", dies);
        for (int rank = 0; rank < r.size; rank++)
            if (rank != dies)
                expect(&r, rank, SWAGG_ERR_LOST, name);
        finish(&r);
    }
}

TEST(who_is_killed_is_named)
{
    kill_in_calls(sum_for_long, 3);
}

/* Names in a directory of the system that speak of swagg. */
static int named_in(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));)
        n += strstr(e->d_name, "swagg") != NULL;
    if (d)
        closedir(d);
    return n;
}

/* All ranks at once, at random moments of their calls. What their directories have is looked at, too. */
TEST(nothing_is_left_of_ranks_that_are_killed)
{
    static const int here[RANKS_MAX] = {0};
    const int before = named_in("/dev/shm");
    uint64_t rng = seed;
    for (unsigned i = 0; i < unit_cases(25); i++) {
        struct ranks r = ranks_of(4, here, NULL, "shm", sum_for_long);
        start(&r);
        await_calls(&r, 1 + (int)rng_below(&rng, 20));
        sleep_ms((long)rng_below(&rng, 10));
        for (int rank = 0; rank < r.size; rank++)
            kill(r.pid[rank], SIGKILL);
        await_all(&r);
        finish(&r);
    }
    CU_ASSERT_EQUAL(named_in("/dev/shm"), before);
}

static int sum_but_the_last(struct crew_member *m, struct told *told)
{
    int rc = 0;
    told->rank[m->rank].warned[0] = '\0'; /* of a rank that was long in joining */
    if (m->rank == m->crew->size - 1)
        while (atomic_load(&told->gate) < m->crew->size - 1)
            sleep_ms(1);
    else
        rc = crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 1000, .seed = seed}, -1, false);
    atomic_fetch_add(&told->gate, 1);
    return rc;
}

/* Whether all that wait say for whom: at the deadline, and rank 2, whose host has rank 3, before. */
static bool who_waits_names_the_late(unsigned p, int deadline_ms)
{
    struct ranks r = ranks_at(p, "late", sum_but_the_last);
    bool named;
    r.options.call_timeout_ms = deadline_ms;
    r.options.warn_after_ms = 500;
    run(&r);
    named = says(r.told->rank[2].warned, p == 1 ? "rank 3" : "rank 3 of host 1");
    for (int rank = 0; rank < 3; rank++) {
        const int status = r.told->rank[rank].status;
        CU_ASSERT(status == SWAGG_ERR_DEADLINE || status == SWAGG_ERR_ABORTED);
        named = named && says(r.told->rank[rank].text, "rank 3");
    }
    finish(&r);
    return named;
}

/* Another host hears of it from that of rank 3; on a busy machine its own deadline may come before. */
static bool all_name_the_late(int deadline_ms)
{
    return who_waits_names_the_late(1, deadline_ms) && who_waits_names_the_late(2, deadline_ms);
}

TEST(who_is_late_is_named_at_the_deadline_and_before)
{
    crew_give_up(all_name_the_late);
}

/* --- posted calls --- */

static int post_many(struct crew_member *m, struct told *told)
{
    return flights_beside_blocking(m, 16, 200000, &told->calls);
}

TEST(posted_calls_go_by_the_level_too)
{
    for (unsigned i = 0; i < 2 * PLACEMENTS; i++)
        if (unit_tries(i + (unsigned)seed)) {
            struct ranks r = ranks_at(i / 2, "posted", post_many);
            r.options.progress_thread = i % 2 ? SWAGG_PROGRESS_THREAD_ON : SWAGG_PROGRESS_THREAD_OFF;
            play(&r);
        }
}

static int post_for_long(struct crew_member *m, struct told *told)
{
    int rc = 0;
    while ((rc = post_many(m, told)) == 0)
        ;
    return rc;
}

TEST(who_is_killed_while_calls_are_posted_is_named)
{
    kill_in_calls(post_for_long, 2);
}

/* All but rank 1 post a call, which is the level's, and drive another, which is not: rank 1 comes to neither.
 */
static int drive_beside_the_level(struct crew_member *m, struct told *told)
{
    static float x[1000], y[1000];
    struct swagg_request *request;
    int rc = swagg_allreduce(m->job, x, x, 1000, SWAGG_F32, SWAGG_SUM);
    if (m->rank == 1)
        for (;;)
            pause();
    if (rc == 0)
        rc = swagg_post_allreduce(m->job, x, x, 1000, SWAGG_F32, SWAGG_SUM, NULL, &request);
    if (rc < 0)
        return rc;
    atomic_fetch_add(&told->calls, 1);
    rc = swagg_broadcast(m->job, y, sizeof y, 1);
    const int posted = swagg_wait(&request);
    return rc < 0 ? rc : posted;
}

/* Who misses it is then not the thread that has the job. */
TEST(who_is_killed_while_another_call_is_driven_is_named)
{
    struct ranks r = ranks_at(2, "driven", drive_beside_the_level);
    start(&r);
    await_calls(&r, 3);
    sleep_ms(100); /* most are in the second by then */
    kill(r.pid[1], SIGKILL);
    await_all(&r);
    for (int rank = 0; rank < r.size; rank++)
        if (rank != 1)
            expect(&r, rank, SWAGG_ERR_LOST, "rank 1");
    finish(&r);
}

/* Rank 1 closes once all have opened the job: else some rank would be told there, and never come to its call.
 * Rank 0 makes its call, without which the others' cannot end, when all of them know that rank 1 has closed:
 * that it is another call must not be told first. */
static int close_before_the_end(struct crew_member *m, struct told *told)
{
    enum { OPENED = 4, KNOWN = 7 };
    static float x[1000];
    struct swagg_request *request;
    atomic_fetch_add(&told->gate, 1);
    while (m->rank < 2 && atomic_load(&told->gate) < (m->rank == 1 ? OPENED : KNOWN))
        sleep_ms(1);
    if (m->rank == 0)
        return swagg_barrier(m->job);
    int rc = swagg_post_allreduce(m->job, x, x, 1000, SWAGG_F32, SWAGG_SUM, NULL, &request);
    if (rc == SWAGG_OK && m->rank != 1)
        rc = swagg_wait(&request);
    if (m->rank == 1) {
        swagg_close(m->job);
        m->job = NULL;
    }
    atomic_fetch_add(&told->gate, 1);
    return rc;
}

TEST(who_closes_with_a_call_posted_is_named)
{
    for (unsigned p = 1; p < 3; p++) {
        struct ranks r = ranks_at(p, "closed", close_before_the_end);
        run(&r);
        expect(&r, 1, SWAGG_OK, "");
        for (int rank = 0; rank < 4; rank++)
            if (rank != 1)
                expect(&r, rank, SWAGG_ERR_ABORTED,
                       "rank 1 closed the job before allreduce of 1000 float32 (sum)");
        finish(&r);
    }
}

static int post_and_wait(struct crew_member *m, size_t count)
{
    static float x[8];
    struct swagg_request *request;
    const int rc = swagg_post_allreduce(m->job, x, x, count, SWAGG_F32, SWAGG_SUM, NULL, &request);
    return rc < 0 ? rc : swagg_wait(&request);
}

static int post_another(struct crew_member *m, struct told *told)
{
    (void)told;
    return post_and_wait(m, m->rank == 1 ? 7 : 8);
}

static int call_another(struct crew_member *m, struct told *told)
{
    (void)told;
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = m->rank == 1 ? 7 : 8, .seed = seed}, -1,
                    false);
}

TEST(different_calls_are_named)
{
    for (unsigned i = 0; i < 6; i++) {
        const unsigned p = i / 2;
        struct ranks r = ranks_at(p, "other", i % 2 ? post_another : call_another);
        run(&r);
        for (int rank = 0; rank < r.size; rank++) {
            expect(&r, rank, SWAGG_ERR_MISMATCH, "rank 1");
            CU_ASSERT(says(r.told->rank[rank].text, "allreduce of 7 float32 (sum)"));
            CU_ASSERT(says(r.told->rank[rank].text, "allreduce of 8 float32 (sum)"));
        }
        finish(&r);
    }
}

/* A call by a letter. */
static int call_of(struct crew_member *m, char letter)
{
    static float x[8];
    static char bytes[100];
    struct swagg_request *request;
    int rc;
    switch (letter) {
    case 'a':
        return swagg_allreduce(m->job, x, x, 8, SWAGG_F32, SWAGG_SUM);
    case 'p':
        return post_and_wait(m, 8);
    case 'l':
        return swagg_allreduce(m->job, x, x, 7, SWAGG_F32, SWAGG_SUM);
    case 't':
        return swagg_allreduce(m->job, x, x, 8, SWAGG_U32, SWAGG_SUM);
    case 'o':
        return swagg_allreduce(m->job, x, x, 8, SWAGG_F32, SWAGG_MAX);
    case 'r':
        return swagg_reduce(m->job, x, x, 8, SWAGG_F32, SWAGG_SUM, 1);
    case 'R':
        return swagg_reduce(m->job, x, x, 8, SWAGG_F32, SWAGG_SUM, 2);
    case 'b':
        return swagg_broadcast(m->job, bytes, sizeof bytes, 0);
    case 'B':
        rc = swagg_post_broadcast(m->job, bytes, sizeof bytes, 0, NULL, &request);
        return rc < 0 ? rc : swagg_wait(&request);
    default:
        return swagg_barrier(m->job);
    }
}

static const char *words_of(char letter)
{
    static const struct {
        char letter;
        const char *words;
    } all[] = {{'a', "allreduce of 8 float32 (sum)"},        {'p', "allreduce of 8 float32 (sum)"},
               {'l', "allreduce of 7 float32 (sum)"},        {'t', "allreduce of 8 uint32 (sum)"},
               {'o', "allreduce of 8 float32 (max)"},        {'r', "reduce of 8 float32 (sum) to rank 1"},
               {'R', "reduce of 8 float32 (sum) to rank 2"}, {'b', "broadcast of 100 bytes from rank 0"},
               {'B', "broadcast of 100 bytes from rank 0"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].letter == letter)
            return all[i].words;
    return "barrier";
}

/* What each rank calls, one after the other: letters of the ranks in turn. */
static const char *calls;

static int make_calls(struct crew_member *m, struct told *told)
{
    const size_t size = (size_t)m->crew->size;
    int rc = 0;
    (void)told;
    for (size_t i = (size_t)m->rank; rc == 0 && i < strlen(calls); i += size)
        rc = call_of(m, calls[i]);
    return rc;
}

static struct ranks run_calls(const char *letters, unsigned placement, const struct loop_switch *ls,
                              int deadline_ms)
{
    struct ranks r = ranks_of(4, placements[placement].host, ls, "others", make_calls);
    calls = letters;
    r.options.call_timeout_ms = deadline_ms;
    run(&r);
    return r;
}

/* All hear of it, long before their deadlines, and who called what: the last of these letters. */
static void expect_mismatch(const char *letters, unsigned placement, const struct loop_switch *ls)
{
    struct ranks r = run_calls(letters, placement, ls, 60000);
    for (int rank = 0; rank < 4; rank++) {
        const char *text = r.told->rank[rank].text, *of_last = letters + strlen(letters) - 4;
        int named = 0;
        if (!expect(&r, rank, SWAGG_ERR_MISMATCH, "called"))
            printf("    of '%s', placement %u\n", letters, placement);
        for (int other = 0; other < 4; other++) {
            char said[128];
            snprintf(said, sizeof said, "rank %d called %s", other, words_of(of_last[other]));
            named += strstr(text, said) != NULL;
        }
        CU_ASSERT_EQUAL(named, 2);
    }
    finish(&r);
}

TEST(a_call_that_goes_another_way_is_told_from_a_sum_at_once)
{
    static const char *const cases[] = {
        "abaa", "aa|a", "ra||", "pbbb", "aBaa", "aaaaabaa", "aaaa||||bbbbabab"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned p = 1; p < 3; p++)
            expect_mismatch(cases[i], p, the_switch);
}

TEST(sums_that_differ_in_anything_are_told_apart_within_a_host)
{
    static const char *const cases[] = {"alaa",
                                        "taaa",
                                        "aaoa",
                                        "rrrR",
                                        "arrr",
                                        "aaap"
                                        "alaa"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned p = 1; p < 3; p++)
            expect_mismatch(cases[i], p, p < 2 ? NULL : the_switch);
}

TEST(one_host_tells_a_barrier_from_a_sum)
{
    expect_mismatch("a|aa", 1, NULL);
    expect_mismatch("|||p", 1, NULL);
}

/* Nobody of a host meets anybody of the other. */
TEST(hosts_that_wait_in_different_ways_end_by_the_deadline)
{
    struct ranks r = run_calls("aa||", 2, the_switch, 2000);
    for (int rank = 0; rank < r.size; rank++) {
        const int status = r.told->rank[rank].status;
        CU_ASSERT(status == SWAGG_ERR_DEADLINE || status == SWAGG_ERR_ABORTED);
    }
    finish(&r);
}

/* Posted at once: one of each kind, in this order or the other. */
static int post_two(struct crew_member *m, struct told *told)
{
    static float x[8];
    struct swagg_request *request[2];
    const int sum = m->rank == 1 ? 1 : 0; /* its place */
    int rc = 0, first = 0;
    (void)told;
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = i == sum ? swagg_post_allreduce(m->job, x, x, 8, SWAGG_F32, SWAGG_SUM, NULL, &request[i])
                      : swagg_post_barrier(m->job, NULL, &request[i]);
    if (rc < 0)
        return rc;
    for (int i = 0; i < 2; i++)
        if ((rc = swagg_wait(&request[i])) < 0 && first == 0)
            first = rc;
    return first;
}

TEST(a_sum_and_another_call_that_are_posted_do_not_change_places)
{
    for (unsigned p = 1; p < 3; p++) {
        struct ranks r = ranks_of(4, placements[p].host, the_switch, "places", post_two);
        run(&r);
        for (int rank = 0; rank < r.size; rank++)
            expect(&r, rank, SWAGG_ERR_MISMATCH, "allreduce of 8 float32 (sum)");
        finish(&r);
    }
}

static int abort_it(struct crew_member *m, struct told *told)
{
    if (m->rank == m->crew->size - 1) {
        swagg_abort(m->job, "the test wants it");
        return 0;
    }
    (void)told;
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 1000, .seed = seed}, -1, false);
}

static int leave(struct crew_member *m, struct told *told)
{
    while (m->rank == 0 && atomic_load(&told->gate) < m->crew->size - 1)
        sleep_ms(1);
    if (m->rank == 0) {
        sleep_ms(50); /* most wait for it by then */
        return 0;
    }
    atomic_fetch_add(&told->gate, 1);
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 1000, .seed = seed}, -1, false);
}

TEST(who_aborts_or_leaves_is_named)
{
    for (unsigned p = 0; p < 3; p++) {
        struct ranks r = ranks_at(p, "aborts", abort_it);
        const int last = r.size - 1;
        char said[64];
        run(&r);
        snprintf(said, sizeof said, "rank %d aborted: the test wants it", last);
        for (int rank = 0; rank < last; rank++)
            expect(&r, rank, SWAGG_ERR_ABORTED, said);
        finish(&r);

        r = ranks_at(p, "leaves", leave);
        run(&r);
        for (int rank = 1; rank < r.size; rank++)
            expect(&r, rank, SWAGG_ERR_LOST, p < 2 ? "rank 0 has left the job" : "rank 0");
        finish(&r);
    }
}

static bool names_the_absent(int deadline_ms)
{
    struct ranks r = ranks_of(3, (int[]){0, 0, 0}, NULL, "absent", sum_one);
    bool named = true;
    r.absent = 1;
    r.options.join_timeout_ms = deadline_ms;
    run(&r);
    for (int rank = 0; rank < 3; rank += 2) {
        CU_ASSERT_EQUAL(r.told->rank[rank].status, SWAGG_ERR_DEADLINE);
        named = says(r.told->rank[rank].text, "rank 1") && named;
    }
    finish(&r);
    return named;
}

TEST(who_does_not_come_is_named)
{
    crew_give_up(names_the_absent);
}

static int sum_over_a_restart(struct crew_member *m, struct told *told)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < 30; i++) {
        rc = crew_sum(m, &(struct tensor){.type = SWAGG_I32, .count = 100000, .seed = seed}, -1, false);
        if (m->rank == 0)
            atomic_fetch_add(&told->calls, 1);
    }
    return rc == 0 ? swagg_barrier(m->job) : rc; /* by the job itself */
}

TEST(a_restart_of_the_switch_is_not_noticed)
{
    struct ranks r = ranks_at(2, "restart", sum_over_a_restart);
    start(&r);
    await_calls(&r, 5);
    loop_switch_kill(the_switch);
    loop_switch_revive(the_switch);
    succeed(&r);
    for (int rank = 0; rank < r.size; rank++)
        CU_ASSERT(r.told->rank[rank].stats.resumed <= 1); /* by its rail and by the job itself */
    finish(&r);
}

static int sum_little(struct crew_member *m, struct told *told)
{
    (void)told;
    return crew_sum(m, &(struct tensor){.type = SWAGG_I32, .count = 5, .seed = seed}, -1, false);
}

enum { LATE_MS = 100 };

/* Each rank is late in its turn, so that all others look whether it lives. */
static int sum_in_turn(struct crew_member *m, struct told *told)
{
    int rc = SWAGG_OK;
    for (int turn = 0; turn < m->crew->size && rc == SWAGG_OK; turn++) {
        if (turn == m->rank)
            poll(NULL, 0, LATE_MS);
        rc = sum_little(m, told);
    }
    return rc;
}

/* The process's locks, by which others see that it lives, do not tell its ranks apart. */
TEST(of_two_ranks_of_one_process_one_is_alone)
{
    for (int i = 0; i < 4; i++) {
        struct ranks r = ranks_of(4, (int[]){0, 0, 0, 0}, the_switch, "twins", sum_in_turn);
        r.twin = i % 3;
        start(&r);
        succeed(&r);
        const char *first = r.told->rank[r.twin].alone, *second = r.told->rank[r.twin + 1].alone;
        CU_ASSERT(says(first[0] ? first : second, "another rank of this very process is there"));
        finish(&r);
    }
}

static void await_a_file(const char *directory)
{
    for (;;) {
        DIR *d = opendir(directory);
        const struct dirent *entry;
        bool any = false;
        while (d && (entry = readdir(d)) != NULL)
            any |= entry->d_name[0] != '.';
        if (d)
            closedir(d);
        if (any)
            return;
        poll(NULL, 0, 1);
    }
}

/* Its socket's file stays, and all who come find it at once. */
TEST(a_leader_killed_before_the_others_came_is_replaced_by_one)
{
    for (int i = 0; i < 5; i++) {
        struct ranks r = ranks_of(RANKS_MAX, (int[RANKS_MAX]){0}, NULL, "stale", sum_little);
        char directory[128];
        int status;
        directory_of(0, directory);
        if ((r.pid[0] = fork()) == 0)
            be_process(&r, 0);
        await_a_file(directory);
        kill(r.pid[0], SIGKILL);
        waitpid(r.pid[0], &status, 0);
        play(&r);
    }
}

static int post_little(struct crew_member *m, struct told *told)
{
    (void)told;
    return post_and_wait(m, 8);
}

/* One after the other, as fast as each rank can: no meeting is taken for the next one, and no call that has
 * ended for one that is given up. */
TEST(jobs_of_one_name_follow_one_another)
{
    for (int i = 0; i < 40; i++) {
        struct ranks r = ranks_at(1, "again", i % 2 ? post_little : sum_little);
        play(&r);
    }
}

static void let_progress(void *ctx)
{
    struct told *told = ctx;
    atomic_fetch_add(&told->let, 1);
}

static int come_once_others_progress(struct crew_member *m, struct told *told)
{
    enum { OFTEN = 100 };
    while (m->rank == 1 && atomic_load(&told->let) < OFTEN)
        poll(NULL, 0, 1);
    return sum_little(m, told);
}

/* Without that the last one may never come. */
TEST(who_waits_for_a_rank_of_the_host_lets_others_progress)
{
    struct ranks r = ranks_of(2, (int[]){0, 0}, NULL, "others", come_once_others_progress);
    r.options.progress = let_progress;
    r.options.progress_ctx = r.told;
    play(&r);
}

/* --- meetings alone: of ranks that never join a job --- */

static char meeting_job[CTL_NAME_MAX];

static void come_as(int rank, struct meeting *m)
{
    static struct client_options o;
    o.rank = (uint16_t)rank;
    o.size = 2;
    memcpy(o.job, meeting_job, sizeof o.job);
    meeting_begin(m, &o);
}

/* A process that has come as this rank, and stays. */
static pid_t start_at_meeting(int rank)
{
    struct meeting m;
    int come[2];
    char byte = 0;
    if (pipe(come) < 0)
        abort();
    const pid_t pid = fork();
    if (pid == 0) {
        come_as(rank, &m);
        if (write(come[1], &byte, 1) != 1)
            abort();
        for (;;)
            pause();
    }
    CU_ASSERT_EQUAL(read(come[0], &byte, 1), 1);
    close(come[0]);
    close(come[1]);
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static atomic_int *signals;

static void note_signal(int number)
{
    (void)number;
    atomic_fetch_add(signals, 1);
}

static pid_t start_amid_signals(int rank)
{
    const struct sigaction note = {.sa_handler = note_signal};
    const struct itimerval often = {.it_interval.tv_usec = 1000, .it_value.tv_usec = 1000};
    struct meeting m;
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    sigaction(SIGALRM, &note, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    come_as(rank, &m);
    _exit(!m.memory.board);
}

/* The leader answers late, for it is stopped meanwhile: it is waited for 5 s, whatever the deadline, and
 * stopped for longer where this process stands still. */
static bool meets_amid_signals(int deadline_ms)
{
    enum { MANY = 20 };
    int status = -1;
    (void)deadline_ms;
    signals = mmap(NULL, sizeof *signals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t leader = start_at_meeting(0);
    kill(leader, SIGSTOP);
    waitpid(leader, NULL, WUNTRACED);
    const pid_t other = start_amid_signals(1);
    while (atomic_load(signals) < MANY && !has_ended(other))
        sleep_ms(1);
    kill(leader, SIGCONT);
    waitpid(other, &status, 0);
    end_process(leader);
    munmap(signals, sizeof *signals);
    return status == 0;
}

TEST(signals_of_the_program_do_not_end_a_meeting)
{
    crew_give_up(meets_amid_signals);
}

static bool hears_that_the_leader_has_gone(struct swagg_job *none)
{
    struct meeting m;
    (void)none;
    come_as(1, &m);
    return says(m.why, "who leads there has gone");
}

/* Of a process that sleeps nowhere else. */
static void await_sleep(pid_t pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    while (state != 'S' && !has_ended(pid)) {
        FILE *stat = fopen(path, "r");
        if (!stat || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (stat)
            fclose(stat);
        sleep_ms(1);
    }
}

/* It stands still, so that the other one waits for its answer. */
TEST(who_waits_for_a_leader_that_is_killed_hears_so)
{
    int status = -1;
    const pid_t leader = start_at_meeting(0);
    kill(leader, SIGSTOP);
    waitpid(leader, NULL, WUNTRACED);
    const pid_t other = fork();
    if (other == 0)
        _exit(!hears_that_the_leader_has_gone(NULL));
    await_sleep(other);
    end_process(leader);
    waitpid(other, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
}

enum { LED = 1, GIVEN_UP };

static void await_step(const atomic_int *step, int which)
{
    while (atomic_load(step) < which)
        sleep_ms(1);
}

/* All are to come, and none is waited for. */
static bool lacks(struct meeting *m, unsigned rank)
{
    struct ctl_ranks missing = {0};
    return m->memory.board && meeting_of_all(m, 0, &missing) == -ETIMEDOUT && ctl_ranks_has(&missing, rank);
}

/* Rank 1 gives up, and then rank 0, who leads. */
static bool misses_the_other(int rank, atomic_int *step)
{
    struct meeting m;
    if (rank == 1)
        await_step(step, LED);
    come_as(rank, &m);
    if (rank == 0) {
        atomic_store(step, LED);
        await_step(step, GIVEN_UP);
    }
    const bool missed = lacks(&m, 1 - (unsigned)rank);
    meeting_close(&m);
    atomic_store(step, GIVEN_UP);
    return missed;
}

TEST(who_has_given_up_a_meeting_is_missing_there)
{
    atomic_int *step = mmap(NULL, sizeof *step, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid[2];
    for (int rank = 0; rank < 2; rank++)
        if ((pid[rank] = fork()) == 0)
            _exit(!misses_the_other(rank, step));
    for (int rank = 0; rank < 2; rank++) {
        int status = -1;
        waitpid(pid[rank], &status, 0);
        CU_ASSERT_EQUAL(status, 0);
    }
    munmap(step, sizeof *step);
}

static bool hears_that_it_is_there(struct swagg_job *none)
{
    struct meeting m;
    (void)none;
    come_as(1, &m);
    return says(m.why, "another process is rank 1 there");
}

TEST(who_comes_as_a_rank_that_is_there_hears_so)
{
    const pid_t leader = start_at_meeting(0), other = start_at_meeting(1);
    CU_ASSERT(is_so_in_a_child(hears_that_it_is_there, NULL));
    end_process(other);
    end_process(leader);
}

static bool hears_of_descriptors(struct swagg_job *none)
{
    struct rlimit limit;
    struct meeting m;
    const int next = dup(0); /* is that of the socket */
    (void)none;
    close(next);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)next + 1;
    setrlimit(RLIMIT_NOFILE, &limit);
    come_as(1, &m);
    return says(m.why, "(ulimit -n)");
}

TEST(who_has_no_descriptor_left_for_the_memory_hears_so)
{
    const pid_t leader = start_at_meeting(0);
    CU_ASSERT(!unit_descriptors_are_bounded() || is_so_in_a_child(hears_of_descriptors, NULL));
    end_process(leader);
}

static bool hears_of_long_files(struct swagg_job *none)
{
    struct rlimit limit;
    struct meeting m;
    (void)none;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &limit);
    come_as(0, &m);
    return says(m.why, "File too large (ulimit -f)");
}

/* By default that is a signal, by which a program ends. */
TEST(who_may_not_make_long_files_hears_so)
{
    CU_ASSERT(is_so_in_a_child(hears_of_long_files, NULL));
}

int main(void)
{
    seed_from_environment();
    snprintf(meeting_job, sizeof meeting_job, "meeting-%d", (int)getpid());
    return unit_main();
}
