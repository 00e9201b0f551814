/* Tensors in a GPU's memory, beside the host's, on some ranks or all, in every call; against a stand-in for
 * CUDA's driver (beside/gpu_stand_in.h). The sums must be those of the host's memory, bit for bit. */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beside/gpu_stand_in.h"
#include "crew.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

enum { RANKS = 3, PIECE = 1 << 20 };

static const char *path; /* of the stand-in */
static const struct gpu_stand_in *gpu;

static void load(void)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    gpu = library ? dlsym(library, GPU_STAND_IN) : NULL;
    if (!gpu)
        abort();
}

/* --- buffers here and there --- */

struct buffer {
    bool on_gpu;
    size_t bytes;
    void *at;
};

/* Contexts in turn, and a pool's memory. */
static struct buffer make(bool on_gpu, size_t bytes, int context)
{
    struct buffer b = {on_gpu, bytes, NULL};
    b.at = on_gpu ? gpu->alloc(bytes + !bytes, context % 3 - 1) : malloc(bytes + !bytes);
    return b;
}

static void put(const struct buffer *b, const void *from)
{
    if (b->on_gpu)
        gpu->put(b->at, from, b->bytes);
    else
        memcpy(b->at, from, b->bytes);
}

static void get(void *to, const struct buffer *b)
{
    if (b->on_gpu)
        gpu->get(to, b->at, b->bytes);
    else
        memcpy(to, b->at, b->bytes);
}

static void drop(struct buffer *b)
{
    if (b->on_gpu)
        gpu->free(b->at);
    else
        free(b->at);
}

/* --- sums --- */

enum place { HERE, THERE, SEND_THERE, RECV_THERE, IN_PLACE };

struct tensors {
    struct tensor tensor;
    struct buffer send, recv;
    bool in_place;
    struct swagg_request *request;
};

enum { BLANK = 0xa5 }; /* each byte of what nothing has been received in */

static bool by_hosts; /* whose sums are added up: sums must be exact in any order */

static void begin(struct tensors *t, int rank, enum place place)
{
    t->tensor.round |= by_hosts;
    const size_t bytes = t->tensor.count * swagg_element_size(t->tensor.type, SWAGG_SUM);
    char *filled = malloc(bytes + 1);
    t->in_place = place == IN_PLACE;
    t->send = make(place != HERE && place != RECV_THERE, bytes, rank);
    t->recv = t->in_place ? t->send : make(place != HERE && place != SEND_THERE, bytes, rank + 1);
    memset(filled, BLANK, bytes);
    put(&t->recv, filled);
    tensor_fill(&t->tensor, rank, filled);
    put(&t->send, filled);
    free(filled);
}

static bool is_as_it_was(const struct tensors *t, int rank, const char *recv)
{
    char *was = malloc(t->recv.bytes + 1);
    memset(was, BLANK, t->recv.bytes);
    if (t->in_place)
        tensor_fill(&t->tensor, rank, was);
    const bool same = memcmp(was, recv, t->recv.bytes) == 0;
    free(was);
    return same;
}

/* The status, or WRONG_SUM; gives the buffers back. */
static int end(struct tensors *t, const struct crew_member *m, int rc, bool receives)
{
    char *sum = malloc(t->recv.bytes + 1);
    get(sum, &t->recv);
    if (rc == 0 &&
        !(receives ? tensor_is_result(&t->tensor, m->crew->size, sum) : is_as_it_was(t, m->rank, sum)))
        rc = WRONG_SUM;
    free(sum);
    if (!t->in_place)
        drop(&t->recv);
    drop(&t->send);
    return rc;
}

static enum place place_of(int rank, unsigned call)
{
    return (enum place)((call + (unsigned)rank) % 5);
}

static const size_t lengths[] = {1, 300, PIECE / 4 + 1, PIECE / 4, 2 * PIECE / 4 + 77};

/* The longest, too, where lengths are what is tested, but for sanitizers, which watch each byte. */
static bool all_lengths;

/* Odd, so that each is of an allreduce and of a reduce. */
static unsigned lengths_tried(void)
{
    return all_lengths && unit_cases(2) == 2 ? 5 : 3;
}

static int sum_all(struct crew_member *m)
{
    const unsigned n = lengths_tried();
    int rc = 0;
    for (unsigned call = 0; call < 2 * n && rc == 0; call++) {
        struct tensors t = {.tensor = {.type = SWAGG_F32, .count = lengths[call % n], .seed = seed + call}};
        const int root = call % 2 ? (int)call % m->crew->size : -1;
        const bool receives = root < 0 || root == m->rank;
        begin(&t, m->rank, place_of(m->rank, call));
        rc = root < 0
                 ? swagg_allreduce(m->job, t.send.at, t.recv.at, t.tensor.count, SWAGG_F32, SWAGG_SUM)
                 : swagg_reduce(m->job, t.send.at, t.recv.at, t.tensor.count, SWAGG_F32, SWAGG_SUM, root);
        rc = end(&t, m, rc, receives);
    }
    return rc;
}

/* Several in flight, told in the other order. */
static int post_all(struct crew_member *m)
{
    enum { CALLS = 6 };
    struct tensors t[CALLS];
    int rc = 0;
    memset(t, 0, sizeof t);
    for (unsigned i = 0; i < CALLS; i++) {
        t[i].tensor =
            (struct tensor){.type = SWAGG_F32, .count = lengths[(i + 2) % lengths_tried()], .seed = seed + i};
        begin(&t[i], m->rank, place_of(m->rank, i + 1));
        const int posted = swagg_post_allreduce(m->job, t[i].send.at, t[i].recv.at, t[i].tensor.count,
                                                SWAGG_F32, SWAGG_SUM, NULL, &t[i].request);
        rc = rc < 0 ? rc : posted;
    }
    for (unsigned i = CALLS; i-- > 0;) {
        const int told = swagg_wait(&t[i].request);
        rc = rc < 0 ? rc : told;
    }
    for (unsigned i = 0; i < CALLS; i++)
        rc = end(&t[i], m, rc, true);
    return rc;
}

/* Tensors here and there in one call, more than one piece in all. */
static int sum_vector(struct crew_member *m)
{
    enum { PARTS = 7 };
    struct tensors t[PARTS];
    struct swagg_segment segments[PARTS];
    memset(t, 0, sizeof t);
    for (unsigned i = 0; i < PARTS; i++) {
        t[i].tensor =
            (struct tensor){.type = SWAGG_F32, .count = i == 3 ? 0 : 100 + 21111 * i, .seed = seed + i};
        begin(&t[i], m->rank, place_of(m->rank, i));
        segments[i] = (struct swagg_segment){t[i].send.at, t[i].recv.at, t[i].tensor.count};
    }
    int rc = swagg_allreducev(m->job, segments, PARTS, SWAGG_F32, SWAGG_SUM);
    for (unsigned i = 0; i < PARTS; i++)
        rc = end(&t[i], m, rc, true);
    return rc;
}

static struct loop_switch *start(double lost)
{
    const struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = lost}}};
    return loop_switch_start(&(struct loop_switch_config){.seed = seed, .in = link, .out = link});
}

/* What each costs is not what is tested here. As much memory as with packets of 1500. */
static void few_packets(struct crew *crew)
{
    crew->options.mtu = 9000;
    crew->options.slots = 128;
}

static struct crew crew_on(const struct loop_switch *ls, const char *job, crew_fn *work)
{
    struct crew crew = crew_of(RANKS, ls, job, work, NULL);
    few_packets(&crew);
    crew.options.gpu_driver = path;
    return crew;
}

static void succeed(struct crew *crew)
{
    crew_succeed(crew);
    CU_ASSERT_EQUAL(gpu->left(), 0);
}

/* --- before the program has loaded the driver --- */

static int look_for_gpus(struct crew_member *m)
{
    const struct tensor t = {.type = SWAGG_F32, .count = 2, .seed = seed};
    struct gate *gate = m->crew->arg;
    const int before = swagg_reaches_gpus(m->job);
    int rc = crew_sum(m, &t, -1, false);
    gate_wait(gate);
    return rc < 0 ? rc : before == 0 && swagg_reaches_gpus(m->job) == 1 ? 0 : WRONG_SUM;
}

static int look_for_none(struct crew_member *m)
{
    return swagg_reaches_gpus(m->job) == 0 ? 0 : WRONG_SUM;
}

TEST(the_driver_is_the_programs_to_load)
{
    struct gate gate = {0};
    struct crew crew = crew_on(the_switch, "loaded", look_for_gpus);
    crew.arg = &gate;
    crew_start(&crew);
    crew_await(&crew, &gate.in, RANKS);
    CU_ASSERT_PTR_NULL(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
    load();
    atomic_store(&gate.open, true);
    crew_end_well(&crew);
    crew = crew_on(the_switch, "off", look_for_none);
    crew.options.gpu_driver = "off";
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(swagg_reaches_gpus(NULL), 0);
}

TEST(sums_are_those_of_the_hosts_memory)
{
    struct loop_switch *ls = start(0.01);
    struct crew crew = crew_on(ls, "sums", sum_all);
    all_lengths = true;
    succeed(&crew);
    all_lengths = false;
    crew = crew_on(ls, "vector", sum_vector);
    succeed(&crew);
    loop_switch_stop(ls);
}

TEST(posted_ones_too)
{
    struct loop_switch *ls = start(0.01);
    struct crew crew = crew_on(ls, "posted", post_all);
    succeed(&crew);
    crew = crew_on(ls, "posted-thread", post_all);
    crew.options.progress_thread = SWAGG_PROGRESS_THREAD_ON;
    succeed(&crew);
    loop_switch_stop(ls);
}

/* Each of two switches takes the pieces of what it sums. */
static struct crew crew_at_both(struct loop_switch *ls[2], char list[64], const char *job, crew_fn *work)
{
    for (int i = 0; i < 2; i++)
        ls[i] = start(0.01);
    snprintf(list, 64, "%s,%s", loop_switch_ip(ls[0]), loop_switch_ip(ls[1]));
    struct crew crew = crew_at(RANKS, list, job, work, NULL);
    few_packets(&crew);
    crew.options.gpu_driver = path;
    crew.options.link_timeout_ms = crew.options.call_timeout_ms = crew.options.join_timeout_ms = 1000000;
    return crew;
}

TEST(by_several_switches_too)
{
    struct loop_switch *ls[2];
    char list[64];
    struct crew crew = crew_at_both(ls, list, "both", sum_all);
    succeed(&crew);
    crew.options.job = "both-vector";
    crew.work = sum_vector;
    succeed(&crew);
    for (int i = 0; i < 2; i++)
        loop_switch_stop(ls[i]);
}

/* Unless the one that is well was silent for as long, too. */
static bool one_goes_on_for_both(int patience_ms)
{
    struct loop_switch *ls[2];
    char list[64];
    struct crew crew = crew_at_both(ls, list, "one-for-both", post_all);
    bool well = true;
    crew.options.link_timeout_ms = patience_ms;
    loop_switch_take(ls[1], 170); /* about half of them */
    crew_run(&crew);
    for (int r = 0; r < RANKS; r++) {
        well = well && crew.member[r].status == SWAGG_OK;
        CU_ASSERT_NOT_EQUAL(crew.member[r].status, WRONG_SUM);
    }
    CU_ASSERT_EQUAL(gpu->left(), 0);
    for (int i = 0; i < 2; i++)
        loop_switch_stop(ls[i]);
    return crew_told(&crew, well);
}

TEST(one_of_several_switches_goes_on_for_another)
{
    crew_give_up(one_goes_on_for_both);
}

static struct crew crew_of_threads(const struct loop_switch *ls, const char *job, crew_fn *work)
{
    struct crew crew = crew_on(ls, job, work);
    crew.options.threads = 3;
    return crew;
}

TEST(by_several_threads_too)
{
    struct loop_switch *ls = start(0.01);
    struct crew crew = crew_of_threads(ls, "threads", sum_all);
    succeed(&crew);
    crew = crew_of_threads(ls, "threads-vector", sum_vector);
    succeed(&crew);
    crew = crew_of_threads(ls, "threads-posted", post_all);
    succeed(&crew);
    loop_switch_stop(ls);
}

/* Where a tensor cannot be taken piece by piece. */
TEST(whole_tensors_are_staged_elsewhere)
{
    struct crew crew = crew_on(the_switch, "buffered", sum_all);
    crew.options.reduce = SWAGG_REDUCE_BUFFERED;
    succeed(&crew);
    crew = crew_on(the_switch, "atp", post_all);
    crew.options.protocol = SWAGG_PROTOCOL_ATP;
    succeed(&crew);
}

/* --- the same call from here and from there --- */

static bool same_bits(struct crew_member *m, const struct tensor *tensor, int *rc)
{
    struct tensors here = {.tensor = *tensor}, there = {.tensor = *tensor};
    const struct swagg_post how = {.struct_size = sizeof how, .round = 7};
    const size_t bytes = tensor->count * sizeof(float);
    char *one = malloc(bytes), *other = malloc(bytes);
    begin(&here, m->rank, HERE);
    begin(&there, m->rank, place_of(m->rank, 1));
    for (struct tensors *t = &here; t && *rc == 0; t = t == &here ? &there : NULL) {
        *rc = swagg_post_allreduce(m->job, t->send.at, t->recv.at, tensor->count, SWAGG_F32, SWAGG_SUM, &how,
                                   &t->request);
        *rc = *rc < 0 ? *rc : swagg_wait(&t->request);
    }
    get(one, &here.recv);
    get(other, &there.recv);
    const bool same = memcmp(one, other, bytes) == 0;
    end(&here, m, -1, false);
    end(&there, m, -1, false);
    free(one);
    free(other);
    return same;
}

static int compare(struct crew_member *m)
{
    const struct tensor t = {.type = SWAGG_F32, .count = PIECE / 4 + 333, .seed = seed, .round = true};
    int rc = 0;
    const bool same = same_bits(m, &t, &rc);
    return rc < 0 ? rc : same ? 0 : WRONG_SUM;
}

/* With what ranks have to compute before they can send. */
static void succeed_computed(const struct loop_switch *ls, crew_fn *work)
{
    struct crew crew = crew_on(ls, "scaled", work);
    crew.options.numbers = SWAGG_NUMBERS_INT32;
    succeed(&crew);
    crew = crew_on(ls, "compressed", work);
    crew.options.compression = SWAGG_COMPRESSION_THC;
    crew.options.feedback = SWAGG_FEEDBACK_OFF;
    succeed(&crew);
}

TEST(scaled_and_compressed_sums_have_the_same_bits)
{
    succeed_computed(the_switch, compare);
    struct crew crew = crew_on(the_switch, "quorum", compare);
    crew.options.quorum = RANKS;
    succeed(&crew);
}

/* A tensor is known by its own address: two that take turns in the same room have errors of their own. With
 * feedback the sums of one, over several calls, come closer to the truth than any does alone. */
static int feed_back(struct crew_member *m)
{
    enum { N = 20000, CALLS = 8 };
    float *ones = malloc(N * sizeof *ones), *zeros = calloc(N, sizeof *zeros), *sum = malloc(N * sizeof *sum);
    struct buffer a = make(true, N * sizeof *ones, 1), b = make(true, N * sizeof *ones, 1);
    int rc = 0;
    for (int i = 0; i < N; i++)
        ones[i] = (float)(i % 7) - 3;
    for (int call = 0; call < CALLS && rc == 0; call++) {
        put(&a, ones);
        put(&b, zeros);
        rc = swagg_allreduce(m->job, a.at, a.at, N, SWAGG_F32, SWAGG_SUM);
        rc = rc < 0 ? rc : swagg_allreduce(m->job, b.at, b.at, N, SWAGG_F32, SWAGG_SUM);
        get(sum, &b);
        for (int i = 0; i < N && rc == 0; i++)
            rc =
                sum[i] == 0 ? 0 : WRONG_SUM; /* nothing was left out of it: what the other lacks is not its */
    }
    drop(&a);
    drop(&b);
    free(ones);
    free(zeros);
    free(sum);
    return rc;
}

TEST(feedback_knows_tensors_by_their_own_addresses)
{
    struct crew crew = crew_on(the_switch, "feedback", feed_back);
    crew.options.compression = SWAGG_COMPRESSION_THC;
    succeed(&crew);
}

/* --- copies, sums and packets overlap --- */

static int sum_five(struct crew_member *m, enum place place, bool posted)
{
    struct tensors t = {.tensor = {.type = SWAGG_F32, .count = 5 * PIECE / 4, .seed = seed}};
    begin(&t, m->rank, place);
    int rc = posted ? swagg_post_allreduce(m->job, t.send.at, t.recv.at, t.tensor.count, SWAGG_F32, SWAGG_SUM,
                                           NULL, &t.request)
                    : swagg_allreduce(m->job, t.send.at, t.recv.at, t.tensor.count, SWAGG_F32, SWAGG_SUM);
    rc = rc == 0 && posted ? swagg_wait(&t.request) : rc;
    return end(&t, m, rc, true);
}

static int sum_long(struct crew_member *m)
{
    return sum_five(m, m->rank == 0 ? THERE : HERE, false);
}

TEST(a_sum_comes_back_before_the_tensor_has_left)
{
    struct crew crew = crew_on(the_switch, "flows", sum_long);
    gpu->hold(4); /* of five pieces, until the first one's sum is on its way back */
    succeed(&crew);
    CU_ASSERT(gpu->came_early());
}

/* The last of six pieces is the last thread's, who has a piece summed before. */
static int sum_by_threads(struct crew_member *m)
{
    return sum_five(m, m->rank == 0 ? IN_PLACE : HERE, true);
}

TEST(by_several_threads_a_sum_comes_back_early)
{
    struct crew crew = crew_of_threads(the_switch, "threads-flow", sum_by_threads);
    gpu->hold(4);
    succeed(&crew);
    CU_ASSERT(gpu->came_early());
}

/* Of the second of two halves alone the sum goes to a GPU. */
static int sum_halves(struct crew_member *m)
{
    enum { HALVES = 2 };
    struct tensors t[HALVES];
    struct swagg_segment segments[HALVES];
    for (unsigned i = 0; i < HALVES; i++) {
        t[i] = (struct tensors){.tensor = {.type = SWAGG_F32, .count = PIECE, .seed = seed + i}};
        begin(&t[i], m->rank, m->rank > 0 ? HERE : i == 0 ? SEND_THERE : THERE);
        segments[i] = (struct swagg_segment){t[i].send.at, t[i].recv.at, t[i].tensor.count};
    }
    int rc = swagg_allreducev(m->job, segments, HALVES, SWAGG_F32, SWAGG_SUM);
    for (unsigned i = 0; i < HALVES; i++)
        rc = end(&t[i], m, rc, true);
    return rc;
}

/* Nor does one place wait for what another sums. */
TEST(by_several_switches_both_halves_come_back_early)
{
    struct loop_switch *ls[2];
    char list[64];
    struct crew crew = crew_at_both(ls, list, "halves", sum_halves);
    gpu->hold(4); /* of eight pieces: two of the first half, two of the second */
    succeed(&crew);
    CU_ASSERT(gpu->came_early());
    for (int i = 0; i < 2; i++)
        loop_switch_stop(ls[i]);
}

/* --- exchanges --- */

static void pattern(uint8_t *to, int rank, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(i * 7 + (size_t)rank * 31 + (i >> 9));
}

static int check(struct crew_member *m, const struct buffer *b, int from, size_t offset, size_t bytes)
{
    uint8_t *is = malloc(b->bytes + 1), *right = malloc(bytes + 1);
    (void)m;
    get(is, b);
    pattern(right, from, bytes);
    const int rc = memcmp(is + offset, right, bytes) == 0 ? 0 : WRONG_SUM;
    free(is);
    free(right);
    return rc;
}

struct exchange {
    struct buffer one, all; /* a block, and a block for each rank */
    size_t bytes;
};

static void fill(struct exchange *x, int rank)
{
    uint8_t *all = malloc(x->all.bytes);
    for (int r = 0; r < RANKS; r++)
        pattern(all + (size_t)r * x->bytes, rank, x->bytes);
    put(&x->all, all);
    put(&x->one, all);
    free(all);
}

static int check_all(struct crew_member *m, const struct exchange *x)
{
    int rc = 0;
    for (int r = 0; r < RANKS && rc == 0; r++)
        rc = check(m, &x->all, r, (size_t)r * x->bytes, x->bytes);
    return rc;
}

static int exchange(struct crew_member *m, struct exchange *x, int root)
{
    uint8_t *own = (uint8_t *)x->all.at + (size_t)m->rank * x->bytes;
    fill(x, m->rank);
    int rc = swagg_broadcast(m->job, x->one.at, x->bytes, root);
    rc = rc < 0 ? rc : check(m, &x->one, root, 0, x->bytes);
    fill(x, m->rank);
    rc = rc < 0 ? rc : swagg_allgather(m->job, x->one.at, x->all.at, x->bytes);
    rc = rc < 0 ? rc : check_all(m, x);
    fill(x, m->rank);
    rc = rc < 0 ? rc : swagg_allgather(m->job, own, x->all.at, x->bytes);
    rc = rc < 0 ? rc : check_all(m, x);
    fill(x, m->rank);
    rc = rc < 0 ? rc : swagg_gather(m->job, x->one.at, x->all.at, x->bytes, root);
    rc = rc < 0 || m->rank != root ? rc : check_all(m, x);
    fill(x, m->rank);
    rc = rc < 0 ? rc : swagg_scatter(m->job, x->all.at, x->one.at, x->bytes, root);
    return rc < 0 ? rc : check(m, &x->one, root, 0, x->bytes);
}

static int exchange_all(struct crew_member *m)
{
    int rc = 0;
    for (int call = 0; call < 6 && rc == 0; call++) {
        const size_t bytes = call % 2 ? 5000 : 700;
        struct exchange x = {make((call + m->rank) % 3 != 0, bytes, call),
                             make((call + m->rank) % 2 != 0, RANKS * bytes, call + 1), bytes};
        rc = exchange(m, &x, call % RANKS);
        drop(&x.one);
        drop(&x.all);
    }
    return rc;
}

/* The block beside that of an allreduce of whole numbers, posted. */
static int scatter_sums(struct crew_member *m)
{
    enum { EACH = 3000 };
    const struct tensor t = {.type = SWAGG_F32, .count = RANKS * EACH, .seed = seed, .round = true};
    float *all = malloc(RANKS * EACH * sizeof *all), *block = malloc(EACH * sizeof *block);
    struct buffer send = make(m->rank != 1, RANKS * EACH * sizeof *all, m->rank);
    struct buffer recv = make(m->rank != 2, EACH * sizeof *all, m->rank + 1);
    struct swagg_request *request = NULL;
    tensor_fill(&t, m->rank, all);
    put(&send, all);
    int rc =
        swagg_post_reduce_scatter_block(m->job, send.at, recv.at, EACH, SWAGG_F32, SWAGG_SUM, NULL, &request);
    rc = rc < 0 ? rc : swagg_wait(&request);
    rc = rc < 0 ? rc : swagg_allreduce(m->job, all, all, RANKS * EACH, SWAGG_F32, SWAGG_SUM);
    get(block, &recv);
    if (rc == 0 && memcmp(block, all + (size_t)m->rank * EACH, EACH * sizeof *all) != 0)
        rc = WRONG_SUM;
    drop(&send);
    drop(&recv);
    free(all);
    free(block);
    return rc;
}

TEST(exchanges)
{
    struct crew crew = crew_on(the_switch, "exchanges", exchange_all);
    crew.options.mtu = 1500; /* a block is of several packets */
    succeed(&crew);
    crew = crew_on(the_switch, "scattered", scatter_sums);
    crew.options.mtu = 1500;
    succeed(&crew);
}

/* --- ranks of hosts: processes, told apart by the directories in which they meet --- */

enum { HOST_RANKS = 2, IP = 64 };

struct hosts {
    int n; /* 1: there is no switch */
    char base[32];
    int ips[2]; /* a pipe, from which each rank has the switch's address: no thread runs where ranks are made
                 */
    crew_fn *work;
    pid_t pid[2 * HOST_RANKS];
};

static void directory_of(const struct hosts *h, int host, char to[IP])
{
    snprintf(to, IP, "%s/%d", h->base, host);
}

static int be_rank(const struct hosts *h, int rank)
{
    struct swagg_options o = SWAGG_OPTIONS_DEFAULT;
    struct crew crew = {.size = HOST_RANKS * h->n};
    struct crew_member m = {.crew = &crew, .rank = rank};
    char ip[IP], directory[IP];
    if (read(h->ips[0], ip, IP) != IP)
        return WRONG_SUM;
    directory_of(h, rank / HOST_RANKS, directory);
    by_hosts = h->n > 1;
    o.switch_ip = h->n > 1 ? ip : NULL;
    o.job = "hosts";
    o.rank = rank;
    o.size = crew.size;
    o.local_ranks = h->n > 1 ? 0 : o.size;
    o.local_directory = directory;
    o.gpu_driver = path;
    o.answer_timeout_ms = o.join_timeout_ms = o.call_timeout_ms = 300000;
    int rc = swagg_open(&m.job, &o);
    rc = rc < 0 ? rc : h->work(&m);
    if (rc < 0)
        printf("\n    rank %d: %d: %s\n", rank, rc, swagg_last_error());
    swagg_close(m.job);
    return rc == 0 && gpu->left() != 0 ? WRONG_SUM : rc;
}

static void run_on_hosts(int n, crew_fn *work)
{
    struct hosts h = {.n = n, .base = "/tmp/swagg-gpu-XXXXXX", .work = work};
    char ip[IP] = "", directory[IP];
    CU_ASSERT_FATAL(mkdtemp(h.base) && pipe(h.ips) == 0);
    fflush(stdout);
    for (int host = 0; host < n; host++) {
        directory_of(&h, host, directory);
        mkdir(directory, 0700);
    }
    for (int rank = 0; rank < HOST_RANKS * n; rank++)
        if ((h.pid[rank] = fork()) == 0) {
            const bool well = be_rank(&h, rank) == 0;
            fflush(stdout);
            _exit(well ? 0 : 1);
        }
    struct loop_switch *ls = n > 1 ? start(0.001) : NULL;
    snprintf(ip, sizeof ip, "%s", ls ? loop_switch_ip(ls) : "");
    for (int rank = 0; rank < HOST_RANKS * n; rank++)
        CU_ASSERT_EQUAL(write(h.ips[1], ip, IP), IP);
    for (int rank = 0, status; rank < HOST_RANKS * n; rank++)
        CU_ASSERT(waitpid(h.pid[rank], &status, 0) == h.pid[rank] && status == 0);
    if (ls)
        loop_switch_stop(ls);
    for (int host = 0; host < n; host++) {
        directory_of(&h, host, directory);
        CU_ASSERT_EQUAL(rmdir(directory), 0);
    }
    CU_ASSERT_EQUAL(rmdir(h.base), 0);
    close(h.ips[0]);
    close(h.ips[1]);
}

static int sum_and_post(struct crew_member *m)
{
    int rc = sum_all(m);
    rc = rc < 0 ? rc : post_all(m);
    return rc < 0 ? rc : sum_vector(m);
}

TEST(ranks_of_hosts)
{
    run_on_hosts(1, sum_and_post);
    run_on_hosts(2, sum_and_post);
}

/* The driver holds the rest of each rank's tensor back until that rank's first sum is on its way to it. */
static int sum_while_copies_wait(struct crew_member *m)
{
    gpu->hold(2);
    int rc = sum_five(m, THERE, false);
    if (rc < 0 || !gpu->came_early())
        return rc < 0 ? rc : WRONG_SUM;
    gpu->hold(2);
    rc = sum_five(m, IN_PLACE, true);
    return rc < 0 || gpu->came_early() ? rc : WRONG_SUM;
}

TEST(on_hosts_a_sum_comes_back_before_the_tensor_has_left)
{
    run_on_hosts(1, sum_while_copies_wait);
    run_on_hosts(2, sum_while_copies_wait);
}

/* --- behind an event of the program's --- */

/* Until the library has looked a few times, and found that it has not happened. */
static int look_in_vain(struct swagg_request **request)
{
    const unsigned long before = gpu->in_vain();
    int rc = SWAGG_IN_PROGRESS;
    while (rc == SWAGG_IN_PROGRESS && gpu->in_vain() < before + 3) {
        sched_yield();
        rc = swagg_test(request);
    }
    return rc == SWAGG_IN_PROGRESS ? 0 : rc < 0 ? rc : WRONG_SUM;
}

/* What the program has done only when the event happens: its tensor is written, and what was in the result's
 * place before is read. The call is posted before that, and the thread goes on. */
static int finish_late(struct crew_member *m, struct tensors *t, void *event)
{
    char *bytes = malloc(t->send.bytes);
    int rc = look_in_vain(&t->request);
    if (!t->in_place && rc == 0) {
        get(bytes, &t->recv);
        rc = is_as_it_was(t, m->rank, bytes) ? 0 : WRONG_SUM;
    }
    tensor_fill(&t->tensor, m->rank, bytes);
    if (t->send.on_gpu)
        put(&t->send, bytes);
    gpu->happen(event);
    const int told = t->request ? swagg_wait(&t->request) : 0;
    free(bytes);
    return rc < 0 ? rc : told;
}

/* Rank 0's tensor is written late, the others' are there; the same again as a reduce, to each. */
static int sum_late(struct crew_member *m, size_t count, enum place place, int root)
{
    struct tensors t = {.tensor = {.type = SWAGG_F32, .count = count, .seed = seed + count}};
    struct swagg_post how = SWAGG_POST_DEFAULT;
    const bool is_late = m->rank == 0;
    begin(&t, m->rank, is_late ? place : HERE);
    if (is_late && t.send.on_gpu) {
        char *zeros = calloc(1, t.send.bytes);
        put(&t.send, zeros);
        free(zeros);
    }
    how.ready = is_late ? gpu->event() : NULL;
    int rc = root < 0 ? swagg_post_allreduce(m->job, t.send.at, t.recv.at, count, SWAGG_F32, SWAGG_SUM, &how,
                                             &t.request)
                      : swagg_post_reduce(m->job, t.send.at, t.recv.at, count, SWAGG_F32, SWAGG_SUM, root,
                                          &how, &t.request);
    if (rc == 0)
        rc = is_late ? finish_late(m, &t, how.ready) : swagg_wait(&t.request);
    return end(&t, m, rc, root < 0 || root == m->rank);
}

static int sum_all_late(struct crew_member *m)
{
    static const enum place places[] = {THERE, SEND_THERE, RECV_THERE, IN_PLACE};
    int rc = 0;
    for (int i = 0; i < 4 && rc == 0; i++) {
        rc = sum_late(m, i % 2 ? 300 : 2 * PIECE / 4 + 77, places[i], -1);
        rc = rc < 0 ? rc : sum_late(m, i % 2 ? PIECE / 2 : 500, SEND_THERE, i % m->crew->size);
    }
    return rc;
}

TEST(a_tensor_is_read_when_the_programs_event_has_happened)
{
    struct loop_switch *ls = start(0.01);
    struct crew crew = crew_on(ls, "late", sum_all_late);
    succeed(&crew);
    crew = crew_of_threads(ls, "late-threads", sum_all_late);
    succeed(&crew);
    crew = crew_on(ls, "late-atp", sum_all_late);
    crew.options.protocol = SWAGG_PROTOCOL_ATP;
    succeed(&crew);
    loop_switch_stop(ls);
    run_on_hosts(1, sum_all_late);
    run_on_hosts(2, sum_all_late);
}

/* Where tensors are computed before they leave: the bits of one that was there in time. */
static int compress_late(struct crew_member *m)
{
    const struct tensor tensor = {.type = SWAGG_F32, .count = PIECE / 4 + 333, .seed = seed, .round = true};
    struct tensors here = {.tensor = tensor}, late = {.tensor = tensor};
    struct swagg_post how = {.struct_size = sizeof how, .round = 7};
    char *one = malloc(tensor.count * sizeof(float)), *other = calloc(tensor.count, sizeof(float));
    begin(&here, m->rank, HERE);
    begin(&late, m->rank, m->rank == 0 ? THERE : HERE);
    int rc = swagg_post_allreduce(m->job, here.send.at, here.recv.at, tensor.count, SWAGG_F32, SWAGG_SUM,
                                  &how, &here.request);
    rc = rc < 0 ? rc : swagg_wait(&here.request);
    if (m->rank == 0)
        put(&late.send, other);
    how.ready = m->rank == 0 ? gpu->event() : NULL;
    rc = rc < 0 ? rc
                : swagg_post_allreduce(m->job, late.send.at, late.recv.at, tensor.count, SWAGG_F32, SWAGG_SUM,
                                       &how, &late.request);
    if (rc == 0)
        rc = m->rank == 0 ? finish_late(m, &late, how.ready) : swagg_wait(&late.request);
    get(one, &here.recv);
    get(other, &late.recv);
    if (rc == 0 && memcmp(one, other, tensor.count * sizeof(float)) != 0)
        rc = WRONG_SUM;
    end(&here, m, -1, false);
    end(&late, m, -1, false);
    free(one);
    free(other);
    return rc;
}

TEST(a_compressed_or_scaled_one_too)
{
    succeed_computed(the_switch, compress_late);
}

/* Of a vector what is the host's leaves, and its sum is there; but where that goes the program is still
 * at. */
static int sum_half_late(struct crew_member *m)
{
    enum { PACKETS = 4 };
    struct tensors t[2];
    struct swagg_segment segments[2];
    struct swagg_post how = SWAGG_POST_DEFAULT;
    struct swagg_stats stats = {.struct_size = sizeof stats};
    const bool is_late = m->rank == 0;
    int rc = swagg_get_stats(m->job, &stats);
    const uint64_t enough = stats.packets_received + PACKETS;
    for (size_t i = 0; i < 2; i++) {
        const size_t count = i == 0 ? (size_t)PACKETS * stats.elements_per_packet : PIECE;
        t[i] = (struct tensors){.tensor = {.type = SWAGG_F32, .count = count, .seed = seed + i}};
        begin(&t[i], m->rank, !is_late ? HERE : i == 0 ? RECV_THERE : THERE);
        segments[i] = (struct swagg_segment){t[i].send.at, t[i].recv.at, t[i].tensor.count};
    }
    how.ready = is_late ? gpu->event() : NULL;
    rc = rc < 0 ? rc : swagg_post_allreducev(m->job, segments, 2, SWAGG_F32, SWAGG_SUM, &how, &t[0].request);
    while (is_late && rc == 0 && stats.packets_received < enough) {
        rc = swagg_test(&t[0].request) == SWAGG_IN_PROGRESS ? 0 : WRONG_SUM;
        rc = rc < 0 ? rc : swagg_get_stats(m->job, &stats);
        sched_yield();
    }
    if (rc == 0)
        rc = is_late ? finish_late(m, &t[0], how.ready) : swagg_wait(&t[0].request);
    for (size_t i = 0; i < 2; i++)
        rc = end(&t[i], m, rc, true);
    return rc;
}

TEST(nor_is_anything_written_before)
{
    struct crew crew = crew_on(the_switch, "late-half", sum_half_late);
    succeed(&crew);
}

/* --- how it fails --- */

static int sum_until_it_fails(struct crew_member *m)
{
    int rc = 0;
    for (int i = 0; i < 50 && rc == 0; i++) {
        struct tensors t = {.tensor = {.type = SWAGG_F32, .count = PIECE / 4 + 5, .seed = seed}};
        begin(&t, m->rank, m->rank == 0 ? THERE : HERE);
        rc = swagg_allreduce(m->job, t.send.at, t.recv.at, t.tensor.count, SWAGG_F32, SWAGG_SUM);
        rc = end(&t, m, rc, true);
    }
    return rc;
}

/* Rank 0 alone has a GPU; the others hear of it. */
static void fail_by(crew_fn *work, int threads, const char *function, int n, const char *what)
{
    struct crew crew = crew_on(the_switch, "fails", work);
    crew.options.threads = threads;
    gpu->fail(function, n);
    crew_run(&crew);
    gpu->fail("", 0);
    /* What one of its threads tells the switch may come back to another one of them first. */
    const bool is_back = threads > 1 && crew.member[0].status == SWAGG_ERR_ABORTED;
    bool told = (crew.member[0].status == SWAGG_ERR_SYSTEM || is_back) && says(crew.member[0].error, what) &&
                says(crew.member[0].error, "rank 0: the GPU's driver");
    for (int r = 1; r < RANKS; r++)
        told &= crew.member[r].status == SWAGG_ERR_ABORTED && says(crew.member[r].error, what);
    CU_ASSERT(crew_told(&crew, told));
    CU_ASSERT_EQUAL(gpu->left(), 0);
}

static void fail_in_thread(int threads, const char *function, int n, const char *what)
{
    fail_by(sum_until_it_fails, threads, function, n, what);
}

static void fail_in(const char *function, int n, const char *what)
{
    fail_in_thread(1, function, n, what);
}

static int sum_once_late(struct crew_member *m)
{
    return sum_late(m, 300, THERE, -1);
}

/* What rank 0 posts behind an event that does not happen in time; the others wait for long. */
static int sum_too_late(struct crew_member *m)
{
    struct tensors t = {.tensor = {.type = SWAGG_F32, .count = 300, .seed = seed}};
    struct swagg_post how = SWAGG_POST_DEFAULT;
    begin(&t, m->rank, m->rank == 0 ? THERE : HERE);
    how.ready = m->rank == 0 ? gpu->event() : NULL;
    how.timeout_ms = m->rank == 0 ? *(int *)m->crew->arg : 0;
    int rc = swagg_post_allreduce(m->job, t.send.at, t.recv.at, 300, SWAGG_F32, SWAGG_SUM, &how, &t.request);
    rc = rc < 0 ? rc : swagg_wait(&t.request);
    end(&t, m, -1, false);
    return rc;
}

static bool names_the_event(int deadline_ms)
{
    struct loop_switch *ls = start(0);
    struct crew crew = crew_on(ls, "too-late", sum_too_late);
    crew.arg = &deadline_ms;
    crew_run(&crew);
    CU_ASSERT_EQUAL(gpu->left(), 0);
    loop_switch_stop(ls);
    return crew_told(&crew, crew.member[0].status == SWAGG_ERR_DEADLINE &&
                                says(crew.member[0].error, "its tensor has not all come from the GPU yet"));
}

TEST(an_event_that_does_not_happen_is_told)
{
    crew_give_up(names_the_event);
}

TEST(what_the_driver_cannot_do_ends_the_job_in_its_words)
{
    fail_in("cuMemcpyAsync", 1, "unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED, 719)");
    fail_in("cuMemcpyAsync", 5, "unspecified launch failure");
    fail_in("cuMemcpyAsync", 9, "unspecified launch failure");
    fail_in("cuEventRecord", 2, "marks no copies");
    fail_in("cuEventQuery", 2, "has not copied all from it");
    fail_in("cuStreamSynchronize", 1, "unspecified launch failure");
    fail_in("cuStreamSynchronize", 2, "has not copied all to it");
    fail_in("cuStreamCreate", 2, "makes no stream");
    fail_in("cuMemHostAlloc", 1, "has no pinned memory");
    fail_in("cuDevicePrimaryCtxRetain", 1, "in which context");
    fail_by(sum_once_late, 1, "cuStreamWaitEvent", 1, "does not wait for the program's event");
}

TEST(of_threads_too)
{
    fail_in_thread(3, "cuMemcpyAsync", 5, "unspecified launch failure");
    fail_in_thread(3, "cuEventQuery", 2, "has not copied all from it");
    fail_in_thread(3, "cuEventQuery", 7, "has not copied all from it");
}

/* Of rank 1 of four, in the midst of a call; the others of its host and of the other one hear of it. */
static int fail_on_a_host(struct crew_member *m)
{
    const char *words = "rank 1: the GPU's driver has not copied all from it: unspecified launch failure";
    if (m->rank == 1)
        gpu->fail("cuEventQuery", 3);
    const int rc = sum_five(m, m->rank == 1 ? THERE : HERE, false);
    const bool told =
        says(swagg_last_error(), words) && rc == (m->rank == 1 ? SWAGG_ERR_SYSTEM : SWAGG_ERR_ABORTED);
    return told ? 0 : rc < 0 ? rc : WRONG_SUM;
}

TEST(on_hosts_too)
{
    run_on_hosts(1, fail_on_a_host);
    run_on_hosts(2, fail_on_a_host);
}

/* A job that is closed lets go of the tensors of calls in flight. */
static int leave_in_flight(struct crew_member *m)
{
    static struct buffer left;
    struct swagg_request *request;
    if (m->rank > 0)
        return swagg_barrier(m->job) < 0 ? 0 : WRONG_SUM;
    left = make(true, 4 * PIECE, 1);
    const int rc =
        swagg_post_allreduce(m->job, left.at, left.at, PIECE, SWAGG_F32, SWAGG_SUM, NULL, &request);
    swagg_close(m->job);
    m->job = NULL;
    drop(&left);
    return rc;
}

TEST(a_closed_job_has_no_copies_under_way)
{
    struct crew crew = crew_on(the_switch, "closed", leave_in_flight);
    crew_run(&crew);
    CU_ASSERT_EQUAL(crew.member[0].status, 0);
    CU_ASSERT_EQUAL(gpu->left(), 0);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    path = argv[1];
    seed_from_environment();
    return unit_main();
}
