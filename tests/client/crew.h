/* The ranks of a job as threads of a test, and tensors whose sums are known without asking libswagg. */
#ifndef SWAGG_TESTS_CREW_H
#define SWAGG_TESTS_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "loop_switch.h"
#include "swagg.h"

enum { CREW_MAX = 16, CREW_TEXT_MAX = 1024, CREW_LOG_MAX = 16384 };

struct crew;

struct crew_member {
    struct crew *crew;
    int rank;
    struct swagg_job *job;
    /* the outcome */
    int opened; /* status of swagg_open */
    int status; /* the same if it failed, for what ends a job may reach a rank in there already;
                 * else of the crew's function */
    char error[CREW_TEXT_MAX]; /* swagg_last_error after the one that failed */
    struct swagg_stats stats;  /* before close, if it was open */
    pthread_mutex_t log_lock;
    char log[CREW_LOG_MAX]; /* the library's lines */
    pthread_t thread;
};

/* What a rank does with its open job. Runs in the rank's thread: no CUnit in there. */
typedef int crew_fn(struct crew_member *m);

struct crew {
    struct swagg_options options; /* rank and size are filled in */
    int size;
    int absent; /* this rank never comes; -1: all do */
    crew_fn *work;
    void *arg;
    atomic_int through; /* ranks that have closed their job, or could not open it */
    struct crew_member member[CREW_MAX];
};

/* A crew with an MTU of 1500, which waits for who is merely slow as long as it takes when it joins; the other
 * one at whatever sums at this address. */
struct crew crew_of(int size, const struct loop_switch *ls, const char *job, crew_fn *work, void *arg);
struct crew crew_at(int size, const char *ip, const char *job, crew_fn *work, void *arg);

/* Opens, works and closes on all ranks at once: crew_join returns when all are through. */
void crew_start(struct crew *crew);
void crew_join(struct crew *crew);

/* Both in one, with an assertion that all went well. For the main thread. */
void crew_run(struct crew *crew);
/* Waits until the rank's log has this text. */
void crew_await_line(struct crew_member *m, const char *text);
/* For a crew whose ranks give up at a deadline: until they tell what they should. What there is to tell may
 * not be known by then where somebody stood still; so the deadline, one of the crew's options, begins at a
 * second and is doubled each time, within reason. */
typedef bool crew_told_fn(const struct crew *crew);
void crew_give_up(struct crew *crew, int *deadline_ms, crew_told_fn *told);
void crew_expect_success(const struct crew *crew);
void crew_succeed(struct crew *crew);

/* A rank's tensor, and what comes of those of ranks 0..size-1 in rank order. The floats are any at all, so
 * that their sum depends on the order; unless round is set: then it is exact in any order. */
struct tensor {
    enum swagg_type type;
    enum swagg_op op; /* 0: SWAGG_SUM */
    size_t count;
    uint64_t seed;
    bool round;
};
void tensor_fill(const struct tensor *t, int rank, void *elements);
bool tensor_is_result(const struct tensor *t, int size, const void *results);

/* Allocates both tensors, sums them, verifies the sum: as one call. Wrong sums give WRONG_SUM. root < 0:
 * allreduce. */
enum { WRONG_SUM = -100 };
int crew_sum(struct crew_member *m, const struct tensor *t, int root, bool in_place);

/* What ranks wait for between two sums; `over` is the test's to set. */
struct interlude {
    struct tensor tensor;
    atomic_int summed; /* ranks that have had the first sum, or an error */
    atomic_bool over;
};

/* What a rank does whose crew's arg is an interlude: sums the tensor before it and after it. */
int crew_sum_twice(struct crew_member *m);

/* Until all ranks have come so far, or one does not. */
void interlude_await(const struct crew *crew);

/* The same of so many tensors of int32 in one call, each of so many elements. */
int crew_sum_vector(struct crew_member *m, int tensors, int each);

/* What the tests draw from: the time, unless the environment says otherwise (rng_seed). */
extern uint64_t seed;
void seed_from_environment(void);

void sleep_ms(long ms);

#endif
