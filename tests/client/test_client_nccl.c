/* libnccl-net-swagg.so as NCCL uses it: a driver of ours calls its tables. Arguments: swagg-ps, the library.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crew.h"
#include "nccl_abi.h"
#include "ps_process.h"
#include "unit.h"

enum { RANKS = 3, COMMS = 2, IN_FLIGHT = 8, COUNT = 5000 };

static struct ps_process ps;
static const struct nccl_net *net;
static const struct nccl_collnet *coll;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char warned[8192]; /* all warnings since it was emptied */

__attribute__((format(printf, 5, 6))) static void
hear(enum nccl_log_level level, unsigned long about, const char *function, int line, const char *format, ...)
{
    va_list arguments;
    (void)about, (void)function, (void)line;
    if (level != NCCL_LOG_WARN)
        return;
    pthread_mutex_lock(&log_lock);
    const size_t used = strlen(warned);
    va_start(arguments, format);
    vsnprintf(warned + used, sizeof warned - used, format, arguments);
    va_end(arguments);
    pthread_mutex_unlock(&log_lock);
}

static bool has_warned(const char *words)
{
    pthread_mutex_lock(&log_lock);
    const bool has = says(warned, words);
    warned[0] = '\0';
    pthread_mutex_unlock(&log_lock);
    return has;
}

/* --- messages --- */

struct pair {
    void *listening, *sending, *receiving;
    char handle[NCCL_HANDLE_MAX];
};

static enum nccl_result pair_up(struct pair *p)
{
    enum nccl_result rc = NCCL_SUCCESS;
    while (!rc && !(p->sending && p->receiving)) {
        if (!p->sending)
            rc = net->connect(0, p->handle, &p->sending, NULL);
        if (!rc && !p->receiving)
            rc = net->accept(p->listening, &p->receiving, NULL);
    }
    return rc;
}

static void pair_begin(struct pair *p)
{
    *p = (struct pair){0};
    CU_ASSERT_EQUAL_FATAL(net->listen(0, p->handle, &p->listening), NCCL_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(pair_up(p), NCCL_SUCCESS);
}

static void pair_end(struct pair *p)
{
    net->close_send(p->sending);
    net->close_recv(p->receiving);
    net->close_listen(p->listening);
}

/* Until both have ended, or one has failed. */
static enum nccl_result both(void *sent, void *received, int *size)
{
    enum nccl_result rc = NCCL_SUCCESS;
    int done[2] = {0};
    while (!rc && !(done[0] && done[1])) {
        if (!done[0])
            rc = net->test(sent, &done[0], NULL);
        if (!rc && !done[1])
            rc = net->test(received, &done[1], size);
    }
    return rc;
}

TEST(devices_are_told)
{
    struct nccl_properties p;
    int count = 0;
    CU_ASSERT_EQUAL(net->devices(&count), NCCL_SUCCESS);
    CU_ASSERT_EQUAL(count, 1);
    CU_ASSERT_EQUAL(net->get_properties(0, &p), NCCL_SUCCESS);
    CU_ASSERT_STRING_EQUAL(p.name, "lo");
    CU_ASSERT(p.memory == NCCL_MEMORY_HOST && p.receives_max == 1 && p.speed > 0);
    CU_ASSERT_EQUAL(coll->get_properties(1, &p), NCCL_INVALID_ARGUMENT);
    CU_ASSERT(has_warned("there is no network device 1"));
}

TEST(messages_arrive)
{
    static const int sizes[] = {0, 1, 1000, 3 << 20};
    struct pair p;
    pair_begin(&p);
    uint8_t *out = malloc(3 << 20), *in = malloc(3 << 20);
    for (size_t i = 0; i < 3 << 20; i++)
        out[i] = (uint8_t)(i * 31 + i / 251);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *sent, *received, *data[] = {in};
        int room[] = {3 << 20}, size = -1;
        memset(in, 0, 3 << 20);
        CU_ASSERT_EQUAL(net->irecv(p.receiving, 1, data, room, NULL, NULL, &received), NCCL_SUCCESS);
        CU_ASSERT_EQUAL(net->isend(p.sending, out, sizes[i], 0, NULL, &sent), NCCL_SUCCESS);
        CU_ASSERT_EQUAL(both(sent, received, &size), NCCL_SUCCESS);
        CU_ASSERT_EQUAL(size, sizes[i]);
        CU_ASSERT(memcmp(in, out, (size_t)sizes[i]) == 0);
    }
    free(out);
    free(in);
    pair_end(&p);
}

/* As many as may be under way; one more is no request. They are asked for in another order. */
TEST(requests_are_bounded)
{
    struct pair p;
    void *sent[NCCL_REQUESTS_MAX], *received[NCCL_REQUESTS_MAX], *more;
    int out[NCCL_REQUESTS_MAX], in[NCCL_REQUESTS_MAX];
    pair_begin(&p);
    for (int i = 0; i < NCCL_REQUESTS_MAX; i++) {
        void *data[] = {&in[i]};
        int room[] = {sizeof in[i]};
        out[i] = 100 + i;
        CU_ASSERT(!net->irecv(p.receiving, 1, data, room, NULL, NULL, &received[i]) && received[i]);
        CU_ASSERT(!net->isend(p.sending, &out[i], sizeof out[i], 0, NULL, &sent[i]) && sent[i]);
    }
    CU_ASSERT(!net->isend(p.sending, out, sizeof *out, 0, NULL, &more) && !more);
    for (int i = NCCL_REQUESTS_MAX - 1; i >= 0; i--) {
        CU_ASSERT_EQUAL(both(sent[i], received[i], NULL), NCCL_SUCCESS);
        CU_ASSERT_EQUAL(in[i], out[i]);
    }
    CU_ASSERT(!net->isend(p.sending, out, sizeof *out, 0, NULL, &more) && more);
    pair_end(&p);
}

TEST(failures_of_messages_are_told)
{
    struct pair p;
    void *sent, *received, *data[] = {&p};
    int room[] = {3}, done = 0;
    pair_begin(&p);
    CU_ASSERT_EQUAL(net->irecv(p.receiving, 1, data, room, NULL, NULL, &received), NCCL_SUCCESS);
    CU_ASSERT_EQUAL(net->isend(p.sending, "four", 4, 0, NULL, &sent), NCCL_SUCCESS);
    CU_ASSERT_EQUAL(both(sent, received, NULL), NCCL_REMOTE_ERROR);
    CU_ASSERT(has_warned("longer than what is to receive it"));
    pair_end(&p);

    pair_begin(&p);
    CU_ASSERT_EQUAL(net->irecv(p.receiving, 1, data, room, NULL, NULL, &received), NCCL_SUCCESS);
    net->close_send(p.sending);
    enum nccl_result rc;
    while (!(rc = net->test(received, &done, NULL)) && !done)
        ;
    CU_ASSERT_EQUAL(rc, NCCL_REMOTE_ERROR);
    CU_ASSERT(has_warned("the other end is closed"));
    p.sending = NULL;
    pair_end(&p);

    /* Nobody listens any more. */
    struct pair gone = {0};
    CU_ASSERT_EQUAL(net->listen(0, gone.handle, &gone.listening), NCCL_SUCCESS);
    net->close_listen(gone.listening);
    while (!(rc = net->connect(0, gone.handle, &gone.sending, NULL)) && !gone.sending)
        ;
    CU_ASSERT_EQUAL(rc, NCCL_REMOTE_ERROR);
    CU_ASSERT(has_warned("cannot connect to a rank from lo"));
}

/* Who does not have the handle, but its address, is no rank; nor is who says nothing. */
TEST(strangers_are_not_accepted)
{
    struct pair p = {0};
    struct sockaddr_in at;
    const uint64_t guess = 7;
    CU_ASSERT_EQUAL(net->listen(0, p.handle, &p.listening), NCCL_SUCCESS);
    memcpy(&at, p.handle, sizeof at);
    const int silent = socket(AF_INET, SOCK_STREAM, 0), stranger = socket(AF_INET, SOCK_STREAM, 0);
    CU_ASSERT_EQUAL_FATAL(connect(silent, (const struct sockaddr *)&at, sizeof at), 0);
    CU_ASSERT_EQUAL_FATAL(connect(stranger, (const struct sockaddr *)&at, sizeof at), 0);
    CU_ASSERT_EQUAL(send(stranger, &guess, sizeof guess, 0), sizeof guess);
    CU_ASSERT_EQUAL(pair_up(&p), NCCL_SUCCESS);
    void *sent, *received;
    uint64_t out = 1, in = 0;
    void *data[] = {&in};
    int room[] = {sizeof in};
    CU_ASSERT_EQUAL(net->irecv(p.receiving, 1, data, room, NULL, NULL, &received), NCCL_SUCCESS);
    CU_ASSERT_EQUAL(net->isend(p.sending, &out, sizeof out, 0, NULL, &sent), NCCL_SUCCESS);
    CU_ASSERT_EQUAL(both(sent, received, NULL), NCCL_SUCCESS);
    CU_ASSERT_EQUAL(in, 1);
    close(silent);
    close(stranger);
    pair_end(&p);
}

/* --- sums --- */

typedef int rank_fn(int rank, void *comms[COMMS]); /* how much was wrong; in the rank's thread: no CUnit */

struct rank {
    int rank;
    rank_fn *work;
    void **handles; /* RANKS of each comm */
    int wrong;
    pthread_t thread;
};

static void *run_rank(void *arg)
{
    struct rank *r = arg;
    void *comms[COMMS] = {NULL};
    for (int i = 0; i < COMMS && !r->wrong; i++)
        r->wrong =
            coll->connect(&r->handles[(ptrdiff_t)i * RANKS], RANKS, r->rank, NULL, &comms[i]) != NCCL_SUCCESS;
    if (!r->wrong)
        r->wrong = r->work(r->rank, comms);
    for (int i = 0; i < COMMS; i++)
        coll->close_coll(comms[i]);
    return NULL;
}

/* Returns how much was wrong, on all ranks together. */
static int on_all_ranks(rank_fn *work)
{
    static char room[COMMS * RANKS][NCCL_HANDLE_MAX];
    void *handles[COMMS * RANKS], *listening;
    struct rank ranks[RANKS];
    int wrong = 0;
    for (int i = 0; i < COMMS * RANKS; i++) {
        handles[i] = room[i];
        wrong += coll->listen(0, room[i], &listening) != NCCL_SUCCESS;
    }
    for (int r = 0; r < RANKS; r++) {
        ranks[r] = (struct rank){.rank = r, .work = work, .handles = handles};
        if (pthread_create(&ranks[r].thread, NULL, run_rank, &ranks[r]))
            abort();
    }
    for (int r = 0; r < RANKS; r++) {
        pthread_join(ranks[r].thread, NULL);
        wrong += ranks[r].wrong;
    }
    return wrong;
}

static enum nccl_result await(void *request, int *size)
{
    enum nccl_result rc = NCCL_SUCCESS;
    for (int done = 0; !rc && !done; sched_yield())
        rc = coll->test(request, &done, size);
    return rc;
}

/* Several in flight on each of two comms, the ends of which are asked for from the last to the first. */
static int sum_many(int rank, void *comms[COMMS])
{
    static float tensors[RANKS][COMMS][IN_FLIGHT][COUNT];
    void *requests[COMMS][IN_FLIGHT];
    int wrong = 0;
    for (int i = 0; i < IN_FLIGHT; i++)
        for (int c = 0; c < COMMS; c++) {
            float *t = tensors[rank][c][i];
            for (int k = 0; k < COUNT; k++)
                t[k] = (float)(k + rank * 1000 + i + c);
            wrong += coll->iallreduce(comms[c], t, t, COUNT, NCCL_FLOAT32, NCCL_SUM, NULL, NULL,
                                      &requests[c][i]) ||
                     !requests[c][i];
        }
    for (int c = COMMS - 1; c >= 0 && !wrong; c--)
        for (int i = IN_FLIGHT - 1; i >= 0; i--) {
            int size = 0;
            wrong += await(requests[c][i], &size) || size != COUNT * (int)sizeof(float);
            for (int k = 0; k < COUNT; k++)
                wrong += tensors[rank][c][i][k] != (float)(RANKS * (k + i + c) + 3000);
        }
    return wrong;
}

/* Each type and operation, of small numbers; those that are not told to be there are refused. */
static int sum_types(int rank, void *comms[COMMS])
{
    static const int bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    /* 1, 2, 3 of ranks 0, 1, 2 as they lie in memory, and what comes of them: sum and product 6, greatest 3,
     * least 1, mean 2 */
    static const uint64_t numbers[][7] = {
        [NCCL_FLOAT16] = {0, 0x3c00, 0x4000, 0x4200, 0, 0, 0x4600},
        [NCCL_FLOAT32] = {0, 0x3f800000, 0x40000000, 0x40400000, 0, 0, 0x40c00000},
        [NCCL_FLOAT64] = {0, 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000, 0, 0,
                          0x4018000000000000},
        [NCCL_BFLOAT16] = {0, 0x3f80, 0x4000, 0x4040, 0, 0, 0x40c0}};
    static const int results[] = {
        [NCCL_SUM] = 6, [NCCL_PROD] = 6, [NCCL_MAX] = 3, [NCCL_MIN] = 1, [NCCL_AVG] = 2};
    int wrong = 0, there = 0;
    for (int type = NCCL_INT8; type <= NCCL_BFLOAT16; type++)
        for (int op = NCCL_SUM; op <= NCCL_AVG; op++) {
            const bool is_float = type >= NCCL_FLOAT16;
            uint64_t element = is_float ? numbers[type][rank + 1] : (uint64_t)rank + 1, sum = 0;
            const uint64_t expected = is_float ? numbers[type][results[op]] : (uint64_t)results[op];
            void *request;
            int supported;
            wrong += coll->reduce_support(type, op, &supported) != NCCL_SUCCESS;
            if (!supported)
                continue;
            there++;
            wrong +=
                coll->iallreduce(comms[0], &element, &sum, 1, type, op, NULL, NULL, &request) != NCCL_SUCCESS;
            wrong += await(request, NULL) || memcmp(&sum, &expected, (size_t)bytes[type]) != 0;
        }
    void *request;
    int supported = 1;
    wrong += coll->reduce_support(NCCL_FLOAT32, 5, &supported) || supported;
    wrong += coll->iallreduce(comms[0], NULL, NULL, 1, NCCL_FLOAT32, 5, NULL, NULL, &request) !=
             NCCL_INVALID_ARGUMENT;
    return wrong + (there < 40);
}

/* All-gathers and reduce-scatters of windows that begin and end within ranks' parts, or have nothing of a
 * rank's. */
static int windows(int rank, void *comms[COMMS])
{
    enum { EACH = 400 };
    static const size_t spans[][2] = {{0, RANKS * EACH}, {100, 600}, {EACH, EACH}, {350, 51}, {2 * EACH, 4}};
    int wrong = 0;
    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++) {
        const size_t offset = 4 * spans[s][0], bytes = 4 * spans[s][1];
        int32_t all[RANKS * EACH], window[RANKS * EACH], own[EACH], got[EACH];
        size_t own_begin = (size_t)rank * EACH, own_end = own_begin + EACH, first = spans[s][0],
               end = first + spans[s][1];
        void *request;
        own_begin = own_begin > first ? own_begin : first;
        own_end = own_end < end ? own_end : end;
        for (int i = 0; i < RANKS * EACH; i++)
            all[i] = 7 * i;
        for (size_t i = own_begin; i < own_end; i++)
            own[i - own_begin] = all[i];
        memset(window, 0xff, sizeof window);
        struct nccl_part part = {.address = window, .size = (uint32_t)bytes};
        wrong += coll->iallgather(comms[0], own, 1, &part, 4 * EACH, offset, bytes, NULL, &request) ||
                 await(request, NULL);
        wrong += memcmp(window, &all[first], bytes) != 0;
        memset(got, 0, sizeof got);
        wrong += coll->ireducescatter(comms[0], 1, &part, got, 4 * EACH, offset, bytes, NCCL_INT32, NCCL_SUM,
                                      NULL, &request) ||
                 await(request, NULL);
        for (size_t i = own_begin; i < own_end; i++)
            wrong += got[i - own_begin] != RANKS * all[i];
        wrong += coll->iallgather(comms[0], own, 1, &part, 4 * EACH, offset, bytes + 4 * RANKS * EACH, NULL,
                                  &request) != NCCL_INVALID_ARGUMENT;
        wrong += coll->ireducescatter(comms[0], 1, &part, got, 4 * EACH, offset, bytes - 1, NCCL_INT32,
                                      NCCL_SUM, NULL, &request) != NCCL_INVALID_ARGUMENT;
    }
    return wrong;
}

static int sums(int rank, void *comms[COMMS])
{
    return sum_many(rank, comms) + sum_types(rank, comms) + windows(rank, comms);
}

TEST(sums_are_right)
{
    CU_ASSERT_EQUAL(on_all_ranks(sums), 0);
}

/* In a job that has no exchanges; and another option comes from the environment by the name that it has
 * everywhere. */
TEST(windows_are_summed_where_nothing_is_exchanged)
{
    setenv("SWAGG_PROTOCOL", "atp", 1);
    CU_ASSERT_EQUAL(on_all_ranks(windows), 0);
    setenv("SWAGG_PROTOCOL", "tap", 1);
    CU_ASSERT(on_all_ranks(windows) > 0);
    CU_ASSERT(has_warned("options.protocol is \"tap\""));
    unsetenv("SWAGG_PROTOCOL");
}

/* Rank 2 makes its first call, and leaves. */
static int leaves(int rank, void *comms[COMMS])
{
    int32_t one = 1;
    void *request;
    int wrong = coll->iallreduce(comms[0], &one, &one, 1, NCCL_INT32, NCCL_SUM, NULL, NULL, &request) ||
                await(request, NULL);
    if (rank == 2)
        return wrong;
    const enum nccl_result rc =
        coll->iallreduce(comms[0], &one, &one, 1, NCCL_INT32, NCCL_SUM, NULL, NULL, &request);
    return wrong + ((rc ? rc : await(request, NULL)) != NCCL_REMOTE_ERROR);
}

TEST(failures_of_sums_are_told)
{
    char handle[NCCL_HANDLE_MAX];
    void *handles[] = {handle}, *comm, *mr, *listening;
    CU_ASSERT_EQUAL(on_all_ranks(leaves), 0);
    CU_ASSERT(has_warned("rank 2"));
    CU_ASSERT_EQUAL(coll->reg_mr(NULL, handle, 1, 2, &mr), NCCL_INVALID_USAGE);
    CU_ASSERT_EQUAL(coll->reg_mr(NULL, handle, 1, NCCL_MEMORY_HOST, &mr), NCCL_SUCCESS);
    unsetenv("SWAGG_SWITCH");
    CU_ASSERT_EQUAL(coll->listen(0, handle, &listening), NCCL_SUCCESS);
    CU_ASSERT_EQUAL(coll->connect(handles, 1, 0, listening, &comm), NCCL_INVALID_USAGE);
    CU_ASSERT(has_warned("Set SWAGG_SWITCH"));
    setenv("SWAGG_SWITCH", ps.ip, 1);
    setenv("SWAGG_QUORUM", "1", 1);
    CU_ASSERT_EQUAL(coll->connect(handles, 1, 0, listening, &comm), NCCL_INVALID_USAGE);
    CU_ASSERT(has_warned("SWAGG_QUORUM: a sum could be without some ranks"));
    unsetenv("SWAGG_QUORUM");
    setenv("SWAGG_COMPRESSION", "thc", 1); /* needs no word about feedback */
    CU_ASSERT_EQUAL(coll->listen(0, handle, &listening), NCCL_SUCCESS);
    CU_ASSERT_EQUAL(coll->connect(handles, 1, 0, listening, &comm), NCCL_SUCCESS);
    CU_ASSERT_EQUAL(coll->close_coll(comm), NCCL_SUCCESS);
    unsetenv("SWAGG_COMPRESSION");
}

int main(int argc, char **argv)
{
    (void)argc;
    ps_program = argv[1];
    seed_from_environment();
    void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!library || !(net = dlsym(library, "ncclNetPlugin_v8")) ||
        !(coll = dlsym(library, "ncclCollNetPlugin_v8"))) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    ps_begin(&ps, "");
    setenv("NCCL_SOCKET_IFNAME", "lo", 1);
    setenv("SWAGG_SWITCH", ps.ip, 1);
    setenv("SWAGG_LOCAL", "off", 1); /* each on its own host, as NCCL has it */
    setenv("SWAGG_ANSWER_TIMEOUT_MS", "600000", 1);
    setenv("SWAGG_CALL_TIMEOUT_MS", "600000", 1);
    setenv("SWAGG_JOIN_TIMEOUT_MS", "600000", 1);
    int rc = net->init(hear) || coll->init(hear);
    if (rc == 0)
        rc = unit_main();
    return ps_stop(&ps) || rc;
}
