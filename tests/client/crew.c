#include "crew.h"
#include "reference.h"

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "random.h"

uint64_t seed;
struct loop_switch *the_switch;

void start_switch(void)
{
    the_switch = loop_switch_start(&(struct loop_switch_config){.seed = seed});
}

void stop_switch(void)
{
    loop_switch_stop(the_switch);
}

void seed_from_environment(void)
{
    seed = rng_seed((uint64_t)time(NULL));
    putchar('\n');
}

void sleep_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&t, &t) < 0)
        ;
}

struct crew crew_of(int size, const struct loop_switch *ls, const char *job, crew_fn *work, void *arg)
{
    return crew_at(size, loop_switch_ip(ls), job, work, arg);
}

struct crew crew_at(int size, const char *ip, const char *job, crew_fn *work, void *arg)
{
    return (struct crew){.size = size,
                         .absent = -1,
                         .work = work,
                         .arg = arg,
                         .options = {.struct_size = sizeof(struct swagg_options),
                                     .switch_ip = ip,
                                     .job = job,
                                     .mtu = 1500,
                                     .answer_timeout_ms = 300000,
                                     .join_timeout_ms = 300000}};
}

bool says(const char *text, const char *what)
{
    if (strstr(text, what))
        return true;
    printf("\n    no '%s' in: %s\n", what, text);
    return false;
}

static void log_line(void *ctx, enum swagg_log_level level, const char *line)
{
    struct crew_member *m = ctx;
    (void)level;
    pthread_mutex_lock(&m->log_lock);
    size_t used = strlen(m->log);
    snprintf(m->log + used, sizeof m->log - used, "%s\n", line);
    pthread_mutex_unlock(&m->log_lock);
}

void crew_await_line(struct crew_member *m, const char *text)
{
    for (bool read = false; !read; sleep_ms(1)) {
        pthread_mutex_lock(&m->log_lock);
        read = strstr(m->log, text) != NULL;
        pthread_mutex_unlock(&m->log_lock);
    }
}

static void *run(void *arg)
{
    struct crew_member *m = arg;
    struct swagg_options options = m->crew->options;
    options.rank = m->rank;
    options.size = m->crew->size;
    options.log = log_line;
    options.log_ctx = m;
    m->opened = swagg_open(&m->job, &options);
    m->status = m->opened == 0 ? m->crew->work(m) : m->opened;
    if (m->status < 0)
        snprintf(m->error, sizeof m->error, "%s", swagg_last_error());
    m->stats = SWAGG_STATS_INIT;
    if (m->opened == 0)
        swagg_get_stats(m->job, &m->stats);
    swagg_close(m->job);
    atomic_fetch_add(&m->crew->through, 1);
    return NULL;
}

void crew_start(struct crew *crew)
{
    atomic_store(&crew->through, 0);
    for (int r = 0; r < crew->size; r++) {
        struct crew_member *m = &crew->member[r];
        memset(m, 0, sizeof *m);
        m->crew = crew;
        m->rank = r;
        pthread_mutex_init(&m->log_lock, NULL);
        if (r != crew->absent && pthread_create(&m->thread, NULL, run, m) != 0)
            abort();
    }
}

void crew_join(struct crew *crew)
{
    for (int r = 0; r < crew->size; r++) {
        if (r != crew->absent)
            pthread_join(crew->member[r].thread, NULL);
        pthread_mutex_destroy(&crew->member[r].log_lock);
    }
}

void crew_run(struct crew *crew)
{
    crew_start(crew);
    crew_join(crew);
}

static void show_member(const struct crew_member *m)
{
    printf("\n    rank %d of %d: open %d, status %d: %s\n%s", m->rank, m->crew->size, m->opened, m->status,
           m->error, m->log);
}

bool crew_told(const struct crew *crew, bool told)
{
    for (int r = 0; !told && r < crew->size; r++)
        show_member(&crew->member[r]);
    return told;
}

void crew_give_up(crew_attempt_fn *attempt)
{
    enum { FIRST_MS = 1000, LAST_MS = 64000 };
    bool told = false;
    for (int ms = FIRST_MS; !told && ms <= LAST_MS; ms *= 2)
        told = attempt(ms);
    CU_ASSERT(told);
}

int open_patiently(struct swagg_job **job, struct swagg_options *options)
{
    int rc = swagg_open(job, options);
    while (rc == SWAGG_ERR_NO_SWITCH && options->answer_timeout_ms < 128000) {
        options->answer_timeout_ms *= 2;
        rc = swagg_open(job, options);
    }
    return rc;
}

void crew_expect_success(const struct crew *crew)
{
    for (int r = 0; r < crew->size; r++) {
        const struct crew_member *m = &crew->member[r];
        CU_ASSERT_EQUAL(m->opened, 0);
        CU_ASSERT_EQUAL(m->status, 0);
        if (m->opened || m->status)
            show_member(m);
    }
}

void crew_end_well(struct crew *crew)
{
    crew_join(crew);
    crew_expect_success(crew);
}

void crew_succeed(struct crew *crew)
{
    crew_start(crew);
    crew_end_well(crew);
}

void crew_disagree(struct crew *crew, const char *one, const char *other)
{
    crew_run(crew);
    for (int r = 0; r < crew->size; r++) {
        CU_ASSERT_EQUAL(crew->member[r].status, SWAGG_ERR_MISMATCH);
        CU_ASSERT(says(crew->member[r].error, one));
        CU_ASSERT(says(crew->member[r].error, other));
    }
}

void crew_succeed_alone(const struct loop_switch_config *config, int size, const char *job, crew_fn *work,
                        void *arg)
{
    struct loop_switch *ls = loop_switch_start(config);
    struct crew crew = crew_of(size, ls, job, work, arg);
    crew_succeed(&crew);
    loop_switch_stop(ls);
}

static enum swagg_op op_of(const struct tensor *t)
{
    return t->op == 0 ? SWAGG_SUM : t->op;
}

static size_t bytes_of(const struct tensor *t)
{
    return t->count * swagg_element_size(t->type, op_of(t));
}

void tensor_fill(const struct tensor *t, int rank, void *elements)
{
    uint64_t state = t->seed + (uint64_t)rank * 1000003;
    reference_fill(agg_code(t->type, op_of(t)), &state, t->round, elements, t->count);
}

/* What comes of ranks 0..size-1. */
static char *sum_of(const struct tensor *t, int size)
{
    const size_t bytes = bytes_of(t);
    char *sum = malloc(bytes + 1), *contributions = malloc((size_t)size * bytes + 1);
    const void *in[CREW_MAX];
    if (!sum || !contributions)
        abort();
    for (int r = 0; r < size; r++) {
        in[r] = contributions + (size_t)r * bytes;
        tensor_fill(t, r, contributions + (size_t)r * bytes);
    }
    if (size == 1) /* a single rank gets its own back */
        memcpy(sum, contributions, bytes);
    else
        reference_reduce(agg_code(t->type, op_of(t)), sum, in, (unsigned)size, t->count);
    free(contributions);
    return sum;
}

/* All ranks of a crew ask for the same sum, which is computed for the first of them. */
static struct known {
    struct tensor tensor;
    int size;
    char *sum; /* NULL: none */
} known[8];
static unsigned known_next;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *known_sum(const struct tensor *t, int size)
{
    const unsigned places = sizeof known / sizeof *known;
    for (unsigned i = 0; i < places; i++) {
        const struct tensor *k = &known[i].tensor;
        if (known[i].sum && known[i].size == size && k->type == t->type && k->op == t->op &&
            k->count == t->count && k->seed == t->seed && k->round == t->round)
            return known[i].sum;
    }
    struct known *oldest = &known[known_next++ % places];
    free(oldest->sum);
    *oldest = (struct known){*t, size, sum_of(t, size)};
    return oldest->sum;
}

bool tensor_is_result(const struct tensor *t, int size, const void *results)
{
    pthread_mutex_lock(&known_lock);
    const char *expected = known_sum(t, size);
    bool is = (t->round ? reference_equal : reference_same)(agg_code(t->type, op_of(t)), results, expected,
                                                            t->count);
    pthread_mutex_unlock(&known_lock);
    return is;
}

int crew_sum(struct crew_member *m, const struct tensor *t, int root, bool in_place)
{
    enum { GUARD = 64 };
    size_t bytes = bytes_of(t);
    unsigned char *send = malloc(bytes + 1), *recv = in_place ? send : malloc(bytes + GUARD);
    bool receives = root < 0 || root == m->rank;
    int status = WRONG_SUM;
    if (!send || !recv)
        abort();
    tensor_fill(t, m->rank, send);
    if (!in_place)
        memset(recv, 0xa5, bytes + GUARD);
    status = root < 0 ? swagg_allreduce(m->job, send, recv, t->count, t->type, op_of(t))
                      : swagg_reduce(m->job, send, receives ? recv : NULL, t->count, t->type, op_of(t), root);
    if (status == 0 && receives && !tensor_is_result(t, m->crew->size, recv))
        status = WRONG_SUM;
    for (size_t i = receives ? bytes : 0; !in_place && i < bytes + GUARD; i++)
        if (recv[i] != 0xa5)
            status = WRONG_SUM;
    if (!in_place)
        free(recv);
    free(send);
    return status;
}

int crew_sum_once(struct crew_member *m)
{
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 1000, .seed = seed}, -1, true);
}

int crew_sum_in_a_row(struct crew_member *m, unsigned times, const struct tensor *t)
{
    int rc = 0;
    for (unsigned i = 0; i < times && rc == 0; i++) {
        struct tensor another = *t;
        another.seed = seed + i;
        rc = crew_sum(m, &another, -1, false);
    }
    return rc;
}

int crew_sum_sizes(struct crew_member *m, const size_t counts[], size_t n)
{
    static const enum swagg_type types[] = {SWAGG_F32, SWAGG_I32, SWAGG_F64, SWAGG_U8, SWAGG_C128};
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        for (size_t type = 0; type < sizeof types / sizeof *types && rc == 0; type++)
            rc = crew_sum(m, &(struct tensor){.type = types[type], .count = counts[i], .seed = seed},
                          (i + type) % 3 == 0 ? 1 : -1, type % 2 == 0);
    return rc == 0 ? crew_sum_vector(m, 20, 423) : rc;
}

void gate_wait(struct gate *gate)
{
    atomic_fetch_add(&gate->in, 1);
    while (!atomic_load(&gate->open))
        sleep_ms(1);
}

int crew_sum_twice(struct crew_member *m)
{
    struct interlude *between = m->crew->arg;
    int rc = crew_sum(m, &between->tensor, -1, false);
    gate_wait(&between->gate);
    return rc < 0 ? rc : crew_sum(m, &between->tensor, -1, false);
}

int descriptors(void)
{
    int n = 0;
    DIR *all = opendir("/proc/self/fd");
    while (readdir(all))
        n++;
    closedir(all);
    return n;
}

bool is_so_in_a_child(bool (*it)(struct swagg_job *job), struct swagg_job *job)
{
    enum { HANGS_S = 300 };
    int status = 1;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(HANGS_S);
        _exit(!it(job));
    }
    waitpid(pid, &status, 0);
    return status == 0;
}

static bool closes(struct swagg_job *job)
{
    swagg_close(job);
    return true;
}

bool closes_in_a_child(struct swagg_job *job)
{
    return is_so_in_a_child(closes, job);
}

int crew_sum_for_long(struct crew_member *m)
{
    atomic_int *calls = m->crew->arg;
    const struct tensor t = {.type = SWAGG_F32, .count = 20000, .seed = seed};
    int rc = 0;
    while (rc == 0) {
        rc = crew_sum(m, &t, -1, false);
        atomic_fetch_add(calls, 1);
    }
    return rc;
}

int crew_sum_but_the_last(struct crew_member *m)
{
    const int others = m->crew->size - 1;
    while (m->rank == others && atomic_load(&m->crew->through) < others)
        sleep_ms(1);
    return m->rank == others
               ? 0
               : crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 1000, .seed = seed}, -1, false);
}

void crew_await(const struct crew *crew, const atomic_int *counter, int enough)
{
    while (atomic_load(counter) < enough && atomic_load(&crew->through) == 0)
        sleep_ms(1);
}

int crew_sum_vector(struct crew_member *m, int tensors, int each)
{
    const int size = m->crew->size, n = tensors * each;
    int32_t *in = malloc((size_t)n * sizeof *in), *out = malloc((size_t)n * sizeof *out);
    struct swagg_segment *segments = calloc((size_t)tensors, sizeof *segments);
    for (int i = 0; i < n; i++)
        in[i] = i + m->rank;
    for (int i = 0; i < tensors; i++)
        segments[i] = (struct swagg_segment){in + i * each, out + i * each, (size_t)each};
    int rc = swagg_allreducev(m->job, segments, (size_t)tensors, SWAGG_I32, SWAGG_SUM);
    for (int i = 0; i < n && rc == 0; i++)
        if (out[i] != size * i + size * (size - 1) / 2)
            rc = WRONG_SUM;
    free(segments);
    free(out);
    free(in);
    return rc;
}

int crew_sum_scaled(struct crew_member *m)
{
    static const size_t counts[] = {1, 10, 40, 50000};
    const int size = m->crew->size;
    float *x = malloc(50000 * sizeof *x);
    int rc = 0;
    for (size_t call = 0; call < sizeof counts / sizeof *counts && rc == 0; call++) {
        for (size_t i = 0; i < counts[call]; i++)
            x[i] = (float)(i % 97) + (float)m->rank;
        rc = swagg_allreduce(m->job, x, x, counts[call], SWAGG_F32, SWAGG_SUM);
        for (size_t i = 0; i < counts[call] && rc == 0; i++)
            if (!(fabsf(x[i] - (float)size * (float)(i % 97) - (float)(size * (size - 1) / 2)) <= 0.01f))
                rc = WRONG_SUM;
    }
    free(x);
    return rc;
}
