#include "gpu_stand_in.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONTEXT = 201,
    NOT_READY = 600,
    LAUNCH_FAILED = 719,
};
enum { CONTEXTS = 2, DEPTH = 8, QUEUED = 4096, BUFFERS = 256, EVENTS = 64 };

/* seen: NULL, nothing may touch it; real: where its bytes are. Pinned memory of the host has seen == real. */
struct buffer {
    char *seen, *real;
    size_t bytes;
    int context; /* -1: of a pool */
};

/* When so many of what it counts are done. */
struct event {
    struct stream *stream;
    unsigned long *done, at;
};

struct stream {
    int context;
    unsigned long begun, done; /* copies, and events that are waited for */
    struct copy {
        char *to;
        const char *from;
        size_t bytes;
        bool down;
        struct event after; /* what follows it waits for that; else zeros */
    } queue[QUEUED];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int contexts[CONTEXTS]; /* their addresses are what the program sees */
static struct buffer buffers[BUFFERS];
static int things, undone;
static int held = -1;
static struct event of_program[EVENTS]; /* ... each of whose own */
static unsigned long happened[EVENTS], events, in_vain;
static bool early;
static char failing[64];
static int fails_in;
static _Thread_local void *stack[DEPTH];
static _Thread_local int depth;

static bool fails(const char *function)
{
    pthread_mutex_lock(&lock);
    const bool now = strcmp(failing, function) == 0 && fails_in > 0 && --fails_in == 0;
    pthread_mutex_unlock(&lock);
    return now;
}

static int current(void)
{
    return depth > 0 ? (int)((int *)stack[depth - 1] - contexts) : -1;
}

/* With the lock. NULL: it is in none of them. */
static struct buffer *find(uintptr_t at, size_t bytes)
{
    for (struct buffer *b = buffers; b < buffers + BUFFERS; b++)
        if (b->seen && at >= (uintptr_t)b->seen && at + bytes <= (uintptr_t)b->seen + b->bytes)
            return b;
    return NULL;
}

static bool is_gpu(const struct buffer *b)
{
    return b && b->seen != b->real;
}

static int add(char *seen, char *real, size_t bytes, int context)
{
    int rc = OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    for (struct buffer *b = buffers; b < buffers + BUFFERS && rc; b++)
        if (!b->seen) {
            *b = (struct buffer){seen, real, bytes, context};
            rc = SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* --- what the driver offers --- */

int cuPointerGetAttribute(void *data, int attribute, uintptr_t at);
int cuGetErrorName(int error, const char **name);
int cuGetErrorString(int error, const char **words);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuStreamCreate(struct stream **stream, unsigned flags);
int cuStreamDestroy_v2(struct stream *s);
int cuStreamSynchronize(struct stream *s);
int cuStreamWaitEvent(struct stream *s, const struct event *e, unsigned flags);
int cuMemcpyAsync(uintptr_t to, uintptr_t from, size_t bytes, struct stream *s);
int cuEventCreate(struct event **event, unsigned flags);
int cuEventDestroy_v2(struct event *e);
int cuEventRecord(struct event *e, struct stream *s);
int cuEventQuery(struct event *e);
int cuEventSynchronize(struct event *e);
int cuMemHostAlloc(void **host, size_t bytes, unsigned flags);
int cuMemFreeHost(void *host);

int cuPointerGetAttribute(void *data, int attribute, uintptr_t at)
{
    pthread_mutex_lock(&lock);
    const struct buffer *b = find(at, 1);
    const struct buffer found = b ? *b : (struct buffer){0};
    pthread_mutex_unlock(&lock);
    if (!b || !is_gpu(&found))
        return INVALID_VALUE;
    if (attribute == 1 && found.context < 0)
        return INVALID_VALUE;
    if (attribute == 1)
        *(void **)data = &contexts[found.context];
    else if (attribute == 2)
        *(uint32_t *)data = 2;
    else if (attribute == 8)
        *(bool *)data = false;
    else if (attribute == 9)
        *(int *)data = found.context < 0 ? 1 : found.context;
    else
        return INVALID_VALUE;
    return SUCCESS;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OTHER";
    return SUCCESS;
}

int cuGetErrorString(int error, const char **words)
{
    *words = error == LAUNCH_FAILED ? "unspecified launch failure" : "another error";
    return SUCCESS;
}

int cuCtxPushCurrent_v2(void *context)
{
    if (depth == DEPTH || (int *)context < contexts || (int *)context >= contexts + CONTEXTS)
        return INVALID_CONTEXT;
    stack[depth++] = context;
    return fails(__func__) ? (depth--, LAUNCH_FAILED) : SUCCESS;
}

int cuCtxPopCurrent_v2(void **context)
{
    if (depth == 0)
        return INVALID_CONTEXT;
    *context = stack[--depth];
    return SUCCESS;
}

static void count(int *what, int by)
{
    pthread_mutex_lock(&lock);
    *what += by;
    pthread_mutex_unlock(&lock);
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    if (fails(__func__))
        return LAUNCH_FAILED;
    *context = &contexts[device];
    count(&things, 1);
    return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    count(&things, -1);
    return SUCCESS;
}

int cuStreamCreate(struct stream **stream, unsigned flags)
{
    if (fails(__func__))
        return LAUNCH_FAILED;
    if (flags != 1 || current() < 0)
        return INVALID_CONTEXT;
    *stream = calloc(1, sizeof **stream);
    (*stream)->context = current();
    count(&things, 1);
    return SUCCESS;
}

int cuStreamDestroy_v2(struct stream *s)
{
    free(s);
    count(&things, -1);
    return SUCCESS;
}

static bool is_past(const struct event *e)
{
    return *e->done >= e->at;
}

/* With the lock. False: there is none, or it is held up. */
static bool do_one(struct stream *s)
{
    const struct copy *c = &s->queue[s->done % QUEUED];
    if (s->done == s->begun || (c->down && held == 0) || (c->after.done && !is_past(&c->after)))
        return false;
    held -= c->down && held > 0;
    if (c->bytes > 0)
        memmove(c->to, c->from, c->bytes);
    s->done++;
    undone--;
    return true;
}

/* With the lock. For long enough: the program's events happen meanwhile. */
static void await(struct stream *s, unsigned long at)
{
    bool goes_on = true;
    while (s->done < at && goes_on) {
        const struct event *after = &s->queue[s->done % QUEUED].after;
        if (after->done && !is_past(after))
            *after->done = after->at;
        goes_on = do_one(s);
    }
}

int cuStreamSynchronize(struct stream *s)
{
    if (current() != s->context)
        return INVALID_CONTEXT;
    const bool failed = fails(__func__);
    pthread_mutex_lock(&lock);
    await(s, s->begun);
    pthread_mutex_unlock(&lock);
    return failed ? LAUNCH_FAILED : SUCCESS;
}

/* With the lock. */
static bool queue(struct stream *s, struct copy c)
{
    if (s->begun - s->done == QUEUED)
        return false;
    s->queue[s->begun++ % QUEUED] = c;
    undone++;
    return true;
}

int cuStreamWaitEvent(struct stream *s, const struct event *e, unsigned flags)
{
    if (fails(__func__))
        return LAUNCH_FAILED;
    if (current() != s->context)
        return INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    const bool good = flags == 0 && queue(s, (struct copy){.after = *e});
    pthread_mutex_unlock(&lock);
    return good ? SUCCESS : INVALID_VALUE;
}

/* The bytes of a buffer that the driver knows; else, as for memory that is not pinned, those at the address.
 */
static char *bytes_at(uintptr_t at, size_t bytes, const struct buffer **in)
{
    *in = find(at, bytes);
    return *in ? (*in)->real + (at - (uintptr_t)(*in)->seen) : (char *)at;
}

int cuMemcpyAsync(uintptr_t to, uintptr_t from, size_t bytes, struct stream *s)
{
    const struct buffer *t, *f;
    if (fails(__func__))
        return LAUNCH_FAILED;
    if (current() != s->context)
        return INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    char *into = bytes_at(to, bytes, &t);
    const char *out_of = bytes_at(from, bytes, &f);
    const bool down = is_gpu(f), up = is_gpu(t);
    const bool early_now = up && held >= 0 ? undone > 0 : early;
    const bool good = (down || up) && queue(s, (struct copy){into, out_of, bytes, down, {0}});
    if (good) {
        early = early_now;
        held = up ? -1 : held;
    }
    pthread_mutex_unlock(&lock);
    return good ? SUCCESS : INVALID_VALUE;
}

int cuEventCreate(struct event **event, unsigned flags)
{
    if (fails(__func__))
        return LAUNCH_FAILED;
    if (flags != 2 || current() < 0)
        return INVALID_VALUE;
    *event = calloc(1, sizeof **event);
    count(&things, 1);
    return SUCCESS;
}

int cuEventDestroy_v2(struct event *e)
{
    free(e);
    count(&things, -1);
    return SUCCESS;
}

int cuEventRecord(struct event *e, struct stream *s)
{
    if (fails(__func__))
        return LAUNCH_FAILED;
    pthread_mutex_lock(&lock);
    *e = (struct event){s, &s->done, s->begun};
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

int cuEventQuery(struct event *e)
{
    if (fails(__func__))
        return LAUNCH_FAILED;
    pthread_mutex_lock(&lock);
    const bool passed = is_past(e);
    if (!passed && !do_one(e->stream))
        in_vain++;
    pthread_mutex_unlock(&lock);
    return passed ? SUCCESS : NOT_READY;
}

int cuEventSynchronize(struct event *e)
{
    const bool failed = fails(__func__);
    pthread_mutex_lock(&lock);
    await(e->stream, e->at);
    pthread_mutex_unlock(&lock);
    return failed ? LAUNCH_FAILED : SUCCESS;
}

int cuMemHostAlloc(void **host, size_t bytes, unsigned flags)
{
    if (fails(__func__))
        return OUT_OF_MEMORY;
    if (flags != 1 || current() < 0)
        return INVALID_CONTEXT;
    *host = malloc(bytes);
    count(&things, 1);
    return add(*host, *host, bytes, -1);
}

static void forget(void *memory)
{
    pthread_mutex_lock(&lock);
    struct buffer *b = find((uintptr_t)memory, 1);
    b->seen = NULL;
    pthread_mutex_unlock(&lock);
}

int cuMemFreeHost(void *host)
{
    forget(host);
    free(host);
    count(&things, -1);
    return SUCCESS;
}

/* --- what a test does --- */

static void *gpu_alloc(size_t bytes, int context)
{
    const int fd = memfd_create("gpu", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
        abort();
    char *seen = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, 0);
    char *real = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (seen == MAP_FAILED || real == MAP_FAILED || add(seen, real, bytes, context) != SUCCESS)
        abort();
    return seen;
}

static struct buffer look_up(const void *memory, size_t bytes)
{
    pthread_mutex_lock(&lock);
    const struct buffer *b = find((uintptr_t)memory, bytes);
    if (!is_gpu(b))
        abort();
    struct buffer here = *b;
    here.real += (const char *)memory - here.seen;
    pthread_mutex_unlock(&lock);
    return here;
}

static void gpu_free(void *memory)
{
    const struct buffer b = look_up(memory, 1);
    forget(memory);
    munmap(b.seen, b.bytes);
    munmap(b.real, b.bytes);
}

static void gpu_put(void *memory, const void *from, size_t bytes)
{
    memcpy(look_up(memory, bytes).real, from, bytes);
}

static void gpu_get(void *to, const void *memory, size_t bytes)
{
    memcpy(to, look_up(memory, bytes).real, bytes);
}

static void gpu_fail(const char *function, int n)
{
    pthread_mutex_lock(&lock);
    strncpy(failing, function, sizeof failing - 1);
    fails_in = n;
    pthread_mutex_unlock(&lock);
}

static void gpu_hold(int copies)
{
    pthread_mutex_lock(&lock);
    held = copies;
    early = false;
    pthread_mutex_unlock(&lock);
}

static bool gpu_came_early(void)
{
    pthread_mutex_lock(&lock);
    const bool did = early;
    pthread_mutex_unlock(&lock);
    return did;
}

static int gpu_left(void)
{
    pthread_mutex_lock(&lock);
    const int left = things + undone;
    pthread_mutex_unlock(&lock);
    return left;
}

static void *gpu_event(void)
{
    pthread_mutex_lock(&lock);
    const unsigned long i = events++ % EVENTS;
    happened[i] = 0;
    of_program[i] = (struct event){NULL, &happened[i], 1};
    pthread_mutex_unlock(&lock);
    return &of_program[i];
}

static void gpu_happen(void *event)
{
    pthread_mutex_lock(&lock);
    *((struct event *)event)->done = 1;
    pthread_mutex_unlock(&lock);
}

static unsigned long gpu_in_vain(void)
{
    pthread_mutex_lock(&lock);
    const unsigned long n = in_vain;
    pthread_mutex_unlock(&lock);
    return n;
}

extern const struct gpu_stand_in gpu_stand_in;
const struct gpu_stand_in gpu_stand_in = {gpu_alloc, gpu_free,   gpu_put,        gpu_get,
                                          gpu_fail,  gpu_hold,   gpu_came_early, gpu_left,
                                          gpu_event, gpu_happen, gpu_in_vain};
