/* ncclCollNetPlugin_v8: NCCL's sums go through a switch, each comm a job of its own.
 *
 * All calls are posted, so that many are in flight. Where a job has no exchanges (swagg_has_exchanges) an
 * all-gather is an allreduce of the window, to which each rank brings its own bytes and zeros; a
 * reduce-scatter one of which each rank keeps its own. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "devices.h"
#include "swagg.h"

enum { JOB_NAME_MAX = 32, WHERE_MAX = 88 };

/* Of NCCL's handle: the first rank's names the job; where the switch is says the first that knows it. */
struct handle {
    char job[JOB_NAME_MAX];
    char where[WHERE_MAX];
};
_Static_assert(sizeof(struct handle) <= NCCL_HANDLE_MAX, "a handle's room");

struct call {
    struct comm *comm;
    bool used;
    struct swagg_request *request;
    size_t bytes;
    /* of a reduce-scatter that is an allreduce */
    uint8_t *whole;  /* where its window's sums go; to be freed */
    uint8_t *own_at; /* of these, this rank's */
    void *recv;
    size_t own_bytes;
};

struct comm {
    struct swagg_job *job;
    bool exchanges; /* the job has them */
    size_t rank, ranks;
    struct call calls[NCCL_REQUESTS_MAX];
    size_t parts[]; /* [ranks] of the window at hand, each rank's */
};

enum { ENVIRONMENT_MAX = 64, AGREED = 5 };

static void write_log(void *ctx, enum swagg_log_level level, const char *line)
{
    (void)ctx;
    if (level <= SWAGG_LOG_WARN)
        nccl_fail(NCCL_SUCCESS, "%s", line);
    else if (level == SWAGG_LOG_INFO)
        nccl_tell("%s", line);
}

static enum nccl_result listen_at(int device, void *nccl_handle, void **listening)
{
    struct handle *handle = nccl_handle;
    const char *where = getenv("SWAGG_SWITCH");
    uint64_t random;
    *listening = NULL;
    if (!device_of(device))
        return nccl_fail(NCCL_INVALID_ARGUMENT, "there is no network device %d", device);
    if (where && strlen(where) >= WHERE_MAX)
        return nccl_fail(NCCL_INVALID_USAGE, "SWAGG_SWITCH is longer than %d characters", WHERE_MAX - 1);
    if (getrandom(&random, sizeof random, 0) < 0)
        return nccl_fail(NCCL_SYSTEM_ERROR, "no random numbers to name a job with");
    *handle = (struct handle){0};
    snprintf(handle->job, sizeof handle->job, "nccl-%016llx", (unsigned long long)random);
    snprintf(handle->where, sizeof handle->where, "%s", where ? where : "");
    *listening = handle; /* any address: it holds nothing */
    return NCCL_SUCCESS;
}

static enum nccl_result close_listening(void *listening)
{
    (void)listening;
    return NCCL_SUCCESS;
}

/* By which sums may be without some ranks: nothing in NCCL's table could say so. */
static bool leaves_ranks_out(const char *option)
{
    return strncmp(option, "quorum", strlen("quorum")) == 0 || strcmp(option, "best_effort_ms") == 0;
}

/* Options of this rank's environment; *n: how many. */
static enum nccl_result read_environment(struct swagg_word words[ENVIRONMENT_MAX], size_t *n)
{
    bool compressed = false, feedback = false;
    for (char *const *entry = environ; *entry && *n < ENVIRONMENT_MAX - 1; entry++) {
        const char *option = swagg_option_of_variable(*entry), *equals = strchr(*entry, '=');
        if (!option || !equals || !equals[1])
            continue;
        if (leaves_ranks_out(option))
            return nccl_fail(
                NCCL_INVALID_USAGE,
                "%.*s: a sum could be without some ranks, and NCCL has no way to be told: unset it",
                (int)(equals - *entry), *entry);
        compressed |= strcmp(option, "compression") == 0;
        feedback |= strcmp(option, "feedback") == 0;
        words[(*n)++] = (struct swagg_word){option, equals + 1};
    }
    if (compressed && !feedback)
        words[(*n)++] = (struct swagg_word){"feedback", "off"}; /* buffers hold now this tensor, now that */
    return NCCL_SUCCESS;
}

/* Waits until all ranks have called it. */
static enum nccl_result connect_all(void *nccl_handles[], int ranks, int rank, void *listening, void **comm)
{
    struct handle *const *handles = (struct handle *const *)nccl_handles;
    struct swagg_word words[ENVIRONMENT_MAX + AGREED];
    char number[2][16];
    const char *where = "";
    size_t n = 0;
    (void)listening;
    *comm = NULL;
    const enum nccl_result good = read_environment(words, &n);
    if (good != NCCL_SUCCESS)
        return good;
    for (int r = ranks - 1; r >= 0; r--)
        where = handles[r]->where[0] ? handles[r]->where : where;
    if (!*where && !getenv("SWAGG_SERVER"))
        return nccl_fail(NCCL_INVALID_USAGE,
                         "where is the switch? Set SWAGG_SWITCH to its IPv4 address, on one rank at least");
    if (*where)
        words[n++] = (struct swagg_word){"switch_ip", where};
    snprintf(number[0], sizeof number[0], "%d", rank);
    snprintf(number[1], sizeof number[1], "%d", ranks);
    words[n++] = (struct swagg_word){"job", handles[0]->job};
    words[n++] = (struct swagg_word){"rank", number[0]};
    words[n++] = (struct swagg_word){"size", number[1]};
    words[n++] = (struct swagg_word){"progress_thread", "on"}; /* NCCL asks when it likes */

    struct comm *c = calloc(1, sizeof *c + (size_t)ranks * sizeof c->parts[0]);
    if (!c)
        return nccl_fail(NCCL_SYSTEM_ERROR, "no memory for a job");
    c->rank = (size_t)rank;
    c->ranks = (size_t)ranks;
    if (swagg_open_words(&c->job, words, n, write_log, NULL) < 0) {
        free(c);
        return nccl_fail(NCCL_SYSTEM_ERROR, "no service from the switch: %s", swagg_last_error());
    }
    c->exchanges = swagg_has_exchanges(c->job) == 1;
    nccl_tell("rank %d of %d has joined job %s at the switch %s", rank, ranks, handles[0]->job, where);
    *comm = c;
    return NCCL_SUCCESS;
}

static enum nccl_result close_comm(void *comm)
{
    struct comm *c = comm;
    if (!c)
        return NCCL_SUCCESS;
    swagg_close(c->job);
    for (size_t i = 0; i < NCCL_REQUESTS_MAX; i++)
        free(c->calls[i].whole);
    free(c);
    return NCCL_SUCCESS;
}

/* False: the switch has no such type or operation. */
static bool translate(enum nccl_type type, enum nccl_op op, enum swagg_type *t, enum swagg_op *o)
{
    static const enum swagg_type types[] = {
        [NCCL_INT8] = SWAGG_I8,      [NCCL_UINT8] = SWAGG_U8,    [NCCL_INT32] = SWAGG_I32,
        [NCCL_UINT32] = SWAGG_U32,   [NCCL_INT64] = SWAGG_I64,   [NCCL_UINT64] = SWAGG_U64,
        [NCCL_FLOAT16] = SWAGG_F16,  [NCCL_FLOAT32] = SWAGG_F32, [NCCL_FLOAT64] = SWAGG_F64,
        [NCCL_BFLOAT16] = SWAGG_BF16};
    static const enum swagg_op ops[] = {[NCCL_SUM] = SWAGG_SUM,
                                        [NCCL_PROD] = SWAGG_PROD,
                                        [NCCL_MAX] = SWAGG_MAX,
                                        [NCCL_MIN] = SWAGG_MIN,
                                        [NCCL_AVG] = SWAGG_AVG};
    if ((size_t)type >= sizeof types / sizeof *types || (size_t)op >= sizeof ops / sizeof *ops)
        return false;
    *t = types[type];
    *o = ops[op];
    return swagg_element_size(*t, *o) > 0;
}

static enum nccl_result reduce_support(enum nccl_type type, enum nccl_op op, int *supported)
{
    enum swagg_type t;
    enum swagg_op o;
    *supported = translate(type, op, &t, &o);
    return NCCL_SUCCESS;
}

/* NULL: as many are under way as may be. */
static struct call *unused_call(struct comm *c, size_t bytes)
{
    for (size_t i = 0; i < NCCL_REQUESTS_MAX; i++)
        if (!c->calls[i].used) {
            c->calls[i] = (struct call){.comm = c, .bytes = bytes};
            return &c->calls[i];
        }
    return NULL;
}

/* rc: of posting it. No room is no request: NCCL asks again. */
static enum nccl_result posted(struct call *call, int rc, void **request)
{
    if (rc < 0) {
        free(call->whole);
        call->whole = NULL;
        return rc == SWAGG_ERR_FULL
                   ? NCCL_SUCCESS
                   : nccl_fail(NCCL_REMOTE_ERROR, "%s: %s", swagg_strerror(rc), swagg_last_error());
    }
    call->used = true;
    *request = call;
    return NCCL_SUCCESS;
}

static enum nccl_result iallreduce(void *comm, void *send, void *recv, int count, enum nccl_type type,
                                   enum nccl_op op, void *send_mr, void *recv_mr, void **request)
{
    struct comm *c = comm;
    enum swagg_type t;
    enum swagg_op o;
    (void)send_mr, (void)recv_mr;
    *request = NULL;
    if (count < 0 || !translate(type, op, &t, &o))
        return nccl_fail(NCCL_INVALID_ARGUMENT, "no sum of %d elements of type %d by operation %d", count,
                         (int)type, (int)op);
    struct call *call = unused_call(c, (size_t)count * swagg_element_size(t, o));
    if (!call)
        return NCCL_SUCCESS;
    return posted(call, swagg_post_allreduce(c->job, send, recv, (size_t)count, t, o, NULL, &call->request),
                  request);
}

/* Of the window: how much of it is each rank's, in elements of so many bytes. */
static void divide_window(struct comm *c, size_t bytes_per_rank, size_t offset, size_t bytes, size_t element)
{
    for (size_t r = 0; r < c->ranks; r++) {
        const size_t first = r * bytes_per_rank, end = first + bytes_per_rank, window_end = offset + bytes;
        const size_t from = first > offset ? first : offset, to = end < window_end ? end : window_end;
        c->parts[r] = from < to ? (to - from) / element : 0;
    }
}

static enum nccl_result check_window(const struct comm *c, int parts, const struct nccl_part *part,
                                     size_t bytes_per_rank, size_t offset, size_t bytes, size_t element)
{
    if (parts != 1 || part->size < bytes)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "a window of %zu bytes in %d parts, the first of %u bytes",
                         bytes, parts, parts > 0 ? part->size : 0);
    if (offset > c->ranks * bytes_per_rank || bytes > c->ranks * bytes_per_rank - offset)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "a window of %zu bytes at %zu, of %zu ranks' %zu", bytes,
                         offset, c->ranks, bytes_per_rank);
    if (bytes_per_rank % element != 0 || offset % element != 0 || bytes % element != 0)
        return nccl_fail(NCCL_INVALID_ARGUMENT,
                         "a window of %zu bytes at %zu, of ranks' %zu, cuts elements of %zu bytes", bytes,
                         offset, bytes_per_rank, element);
    return NCCL_SUCCESS;
}

/* Where this rank's part of the window begins, in elements. */
static size_t own_begin(const struct comm *c)
{
    size_t before = 0;
    for (size_t r = 0; r < c->rank; r++)
        before += c->parts[r];
    return before;
}

static int gather_by_sum(struct comm *c, const void *send, uint8_t *window, size_t bytes,
                         struct swagg_request **request)
{
    const size_t begin = own_begin(c), length = c->parts[c->rank];
    if (length > 0)
        memmove(window + begin, send, length);
    memset(window, 0, begin);
    memset(window + begin + length, 0, bytes - begin - length);
    return swagg_post_allreduce(c->job, window, window, bytes, SWAGG_U8, SWAGG_BOR, NULL, request);
}

static enum nccl_result iallgather(void *comm, void *send, int parts, struct nccl_part *part,
                                   size_t bytes_per_rank, size_t window_offset, size_t window_bytes,
                                   void *send_mr, void **request)
{
    struct comm *c = comm;
    (void)send_mr;
    *request = NULL;
    const enum nccl_result wrong =
        check_window(c, parts, part, bytes_per_rank, window_offset, window_bytes, 1);
    struct call *call = wrong ? NULL : unused_call(c, window_bytes);
    if (!call)
        return wrong;
    divide_window(c, bytes_per_rank, window_offset, window_bytes, 1);
    const int rc = c->exchanges ? swagg_post_allgatherv(c->job, send, part->address, c->parts, NULL, NULL,
                                                        &call->request)
                                : gather_by_sum(c, send, part->address, window_bytes, &call->request);
    return posted(call, rc, request);
}

static int scatter_by_sum(struct comm *c, struct call *call, const void *window, void *recv,
                          enum swagg_type type, enum swagg_op op)
{
    const size_t element = swagg_element_size(type, op);
    call->whole = malloc(call->bytes + !call->bytes);
    if (!call->whole)
        return SWAGG_ERR_SYSTEM;
    call->own_at = call->whole + own_begin(c) * element;
    call->own_bytes = c->parts[c->rank] * element;
    call->recv = recv;
    return swagg_post_allreduce(c->job, window, call->whole, call->bytes / element, type, op, NULL,
                                &call->request);
}

static enum nccl_result ireducescatter(void *comm, int parts, struct nccl_part *part, void *recv,
                                       size_t bytes_per_rank, size_t window_offset, size_t window_bytes,
                                       enum nccl_type type, enum nccl_op op, void *recv_mr, void **request)
{
    struct comm *c = comm;
    enum swagg_type t;
    enum swagg_op o;
    (void)recv_mr;
    *request = NULL;
    if (!translate(type, op, &t, &o))
        return nccl_fail(NCCL_INVALID_ARGUMENT, "no sum of type %d by operation %d", (int)type, (int)op);
    const size_t element = swagg_element_size(t, o);
    const enum nccl_result wrong =
        check_window(c, parts, part, bytes_per_rank, window_offset, window_bytes, element);
    struct call *call = wrong ? NULL : unused_call(c, window_bytes);
    if (!call)
        return wrong;
    divide_window(c, bytes_per_rank, window_offset, window_bytes, element);
    const int rc = c->exchanges ? swagg_post_reduce_scatter(c->job, part->address, recv, c->parts, t, o, NULL,
                                                            &call->request)
                                : scatter_by_sum(c, call, part->address, recv, t, o);
    return posted(call, rc, request);
}

/* The host's memory has what was received. */
static enum nccl_result iflush(void *comm, void *data, int size, void *mr, void **request)
{
    (void)comm, (void)data, (void)size, (void)mr;
    *request = NULL;
    return NCCL_SUCCESS;
}

static enum nccl_result test(void *request, int *done, int *size)
{
    struct call *call = request;
    *done = 0;
    const int rc = swagg_test(&call->request);
    if (rc == SWAGG_IN_PROGRESS)
        return NCCL_SUCCESS;
    if (rc == SWAGG_OK && call->own_bytes > 0)
        memcpy(call->recv, call->own_at, call->own_bytes);
    free(call->whole);
    call->whole = NULL;
    call->used = false;
    if (rc < 0)
        return nccl_fail(NCCL_REMOTE_ERROR, "%s: %s", swagg_strerror(rc), swagg_last_error());
    *done = 1;
    if (size)
        *size = (int)call->bytes;
    return NCCL_SUCCESS;
}

const struct nccl_collnet ncclCollNetPlugin_v8 = {
    .name = "swagg",
    .init = devices_init,
    .devices = devices_count,
    .get_properties = devices_properties,
    .listen = listen_at,
    .connect = connect_all,
    .reduce_support = reduce_support,
    .reg_mr = memory_register,
    .reg_mr_dmabuf = memory_register_dmabuf,
    .dereg_mr = memory_deregister,
    .iallreduce = iallreduce,
    .iallgather = iallgather,
    .ireducescatter = ireducescatter,
    .iflush = iflush,
    .test = test,
    .close_coll = close_comm,
    .close_listen = close_listening,
};
