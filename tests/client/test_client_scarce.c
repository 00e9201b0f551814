/* libswagg where memory, descriptors or threads run out: whichever is the first that cannot be had, the call
 * says so, nothing is left behind, and the job has ended on all ranks, or goes on. Allocations and threads
 * come by this file (--wrap). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "crew.h"
#include "unit.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

/* The one of this thread's that is denied, counted from the next: 1; 0: none is, or it has been. */
static _Thread_local unsigned allocation, start;

static bool is_denied(unsigned *which)
{
    if (*which == 0 || --*which > 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t bytes)
{
    return is_denied(&allocation) ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return is_denied(&allocation) ? NULL : __real_calloc(n, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return is_denied(&allocation) ? NULL : __real_aligned_alloc(alignment, bytes);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    return is_denied(&start) ? EAGAIN : __real_pthread_create(thread, attr, run, arg);
}

/* From the next that is free on there are so many. */
static void leave_descriptors(unsigned n, const struct rlimit *usual)
{
    struct rlimit limit = *usual;
    const int next = dup(0);
    close(next);
    limit.rlim_cur = (rlim_t)next + n;
    setrlimit(RLIMIT_NOFILE, &limit);
}

enum { WAYS = 3 };

/* By a switch, with threads, or in the host alone. */
static struct swagg_options options_of(unsigned way, const struct loop_switch *ls)
{
    struct swagg_options o = crew_at(1, way == 2 ? NULL : loop_switch_ip(ls), "scarce", NULL, NULL).options;
    o.size = 1;
    if (way == 1) {
        o.threads = 3;
        o.progress_thread = SWAGG_PROGRESS_THREAD_ON;
    }
    return o;
}

/* Whether it has opened, or says why not. */
static bool opens(struct swagg_options *o, const char *why)
{
    struct swagg_job *job;
    const int before = descriptors(), rc = swagg_open(&job, o);
    CU_ASSERT(rc == SWAGG_OK || rc == SWAGG_ERR_SYSTEM);
    CU_ASSERT_EQUAL(rc == SWAGG_OK, job != NULL);
    CU_ASSERT(rc == SWAGG_OK || says(swagg_last_error(), why));
    swagg_close(job);
    CU_ASSERT_EQUAL(descriptors(), before);
    return rc == SWAGG_OK;
}

/* Each of them is denied once, until there are no more. */
static void open_without(unsigned *which, const char *why)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    for (unsigned way = 0; way < WAYS; way++) {
        struct swagg_options o = options_of(way, ls);
        bool denied = true;
        for (unsigned n = 1; denied; n++) {
            *which = n;
            opens(&o, why);
            denied = *which == 0;
            *which = 0;
        }
    }
    loop_switch_stop(ls);
}

TEST(a_job_opens_or_says_that_there_is_no_memory)
{
    open_without(&allocation, "memory");
}

TEST(a_job_opens_or_says_that_no_thread_starts)
{
    open_without(&start, strerror(EAGAIN));
}

TEST(a_job_opens_or_says_that_no_descriptor_is_left)
{
    enum { ENOUGH = 32 };
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct rlimit usual;
    getrlimit(RLIMIT_NOFILE, &usual);
    for (unsigned way = 0; way < WAYS; way++) {
        struct swagg_options o = options_of(way, ls);
        bool open = false;
        for (unsigned n = 1; n < ENOUGH; n++) { /* one, by which the test looks for them */
            leave_descriptors(n, &usual);
            open = opens(&o, strerror(EMFILE));
            setrlimit(RLIMIT_NOFILE, &usual);
        }
        CU_ASSERT(open);
    }
    loop_switch_stop(ls);
}

enum { FEW = 8 };
static float in[FEW], out[FEW];

static int gather(struct swagg_job *job)
{
    return swagg_allgather(job, in, out, sizeof in);
}

static int scatter(struct swagg_job *job)
{
    return swagg_reduce_scatter_block(job, in, out, FEW, SWAGG_F32, SWAGG_SUM);
}

static int sum_several(struct swagg_job *job)
{
    const struct swagg_segment s[] = {{in, out, 1}, {in + 1, out + 1, 2}};
    return swagg_allreducev(job, s, 2, SWAGG_F32, SWAGG_SUM);
}

static int post_several(struct swagg_job *job)
{
    const struct swagg_segment s[] = {{in, out, 1}, {in + 1, out + 1, 2}};
    struct swagg_request *r;
    const int rc = swagg_post_allreducev(job, s, 2, SWAGG_F32, SWAGG_SUM, NULL, &r);
    return rc < 0 ? rc : swagg_wait(&r);
}

static int (*const calls[])(struct swagg_job *job) = {gather, scatter, sum_several, post_several};

/* Peers would wait for a call that this rank does not make. */
TEST(a_call_without_memory_ends_the_job_or_changes_nothing)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct swagg_options o = options_of(0, ls);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        bool denied = true;
        for (unsigned n = 1; denied; n++) {
            struct swagg_job *job;
            CU_ASSERT_EQUAL_FATAL(swagg_open(&job, &o), SWAGG_OK);
            allocation = n;
            const int rc = calls[c](job);
            denied = allocation == 0;
            allocation = 0;
            CU_ASSERT(rc == SWAGG_OK || rc == SWAGG_ERR_SYSTEM || rc == SWAGG_ERR_FULL);
            CU_ASSERT_EQUAL(swagg_barrier(job), rc == SWAGG_ERR_SYSTEM ? SWAGG_ERR_SYSTEM : SWAGG_OK);
            swagg_close(job);
        }
    }
    loop_switch_stop(ls);
}

TEST(a_posted_call_without_a_thread_ends_the_job)
{
    struct swagg_options o = options_of(2, NULL);
    struct swagg_job *job;
    CU_ASSERT_EQUAL_FATAL(swagg_open(&job, &o), SWAGG_OK);
    start = 1;
    CU_ASSERT_EQUAL(post_several(job), SWAGG_ERR_SYSTEM);
    CU_ASSERT(says(swagg_last_error(), "rank 0: no thread for posted calls"));
    CU_ASSERT_EQUAL(sum_several(job), SWAGG_ERR_SYSTEM);
    CU_ASSERT(says(swagg_last_error(), "rank 0: no thread for posted calls"));
    swagg_close(job);
}
