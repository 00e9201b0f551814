/* The ranks of a job as threads of a test, and tensors whose sums are known without asking libswagg. */
#pragma once

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

/* A plain switch for each test of a file that says EACH_TEST(start_switch, stop_switch). */
extern struct loop_switch *the_switch;
void start_switch(void);
void stop_switch(void);

/* Opens, works and closes on all ranks at once: crew_join returns when all are through. */
void crew_start(struct crew *crew);
void crew_join(struct crew *crew);

/* Both in one. Asserts nothing: see crew_succeed. */
void crew_run(struct crew *crew);
/* Waits until the rank's log has this text. */
void crew_await_line(struct crew_member *m, const char *text);
/* Prints what the ranks said, unless they told what they should. Returns whether they did. */
bool crew_told(const struct crew *crew, bool told);

/* For what is told at a deadline, from its beginning to its end. What there is to tell may not be known by
 * then where somebody stood still; so it is tried again, each time with twice the deadline, within reason. */
typedef bool crew_attempt_fn(int deadline_ms);
void crew_give_up(crew_attempt_fn *attempt);

/* swagg_open, with twice the answer_timeout_ms as long as none came: the switch stood still for so long. */
int open_patiently(struct swagg_job **job, struct swagg_options *options);

/* Asserts that all went well; the second joins the crew before, the third runs it. For the main thread. */
void crew_expect_success(const struct crew *crew);
void crew_end_well(struct crew *crew);
void crew_succeed(struct crew *crew);
/* Runs a crew whose ranks call different things: asserts that each is told both. */
void crew_disagree(struct crew *crew, const char *one, const char *other);
/* Success of a crew on a switch of its own, which it starts and stops. */
void crew_succeed_alone(const struct loop_switch_config *config, int size, const char *job, crew_fn *work,
                        void *arg);

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

/* A tensor of a few packets, to all, in place. */
int crew_sum_once(struct crew_member *m);

/* Such tensors, so many times, of other elements each time. */
int crew_sum_in_a_row(struct crew_member *m, unsigned times, const struct tensor *t);

/* Tensors of these sizes and several types, to all and to one, in place and not; and as one call. */
int crew_sum_sizes(struct crew_member *m, const size_t counts[], size_t n);

/* Where ranks wait until the test opens it. */
struct gate {
    atomic_int in; /* ranks that have come to it */
    atomic_bool open;
};
void gate_wait(struct gate *gate);

/* What a rank does whose crew's arg is an interlude: sums the tensor before the gate, whatever comes of that,
 * and after it. */
struct interlude {
    struct tensor tensor;
    struct gate gate;
};
int crew_sum_twice(struct crew_member *m);

/* The same of one whose crew's arg counts calls (atomic_int): sums until that fails. */
int crew_sum_for_long(struct crew_member *m);

/* The same: sums once; but the last rank stays in the job without a call until the others have given up. */
int crew_sum_but_the_last(struct crew_member *m);

/* Until the counter has come so far, or a rank is through. */
void crew_await(const struct crew *crew, const atomic_int *counter, int enough);

/* So many this process has open, and one more. */
int descriptors(void);

/* Whether it is so in a child of this process; whether that can close the job. A lock that another thread had
 * at the fork is never free there. */
bool is_so_in_a_child(bool (*it)(struct swagg_job *job), struct swagg_job *job);
bool closes_in_a_child(struct swagg_job *job);

/* Sums so many tensors of int32 in one call, each of so many elements, as crew_sum does. */
int crew_sum_vector(struct crew_member *m, int tensors, int each);

/* Sums small whole numbers, which scaling does not round off, in calls of a few and of many floats. */
int crew_sum_scaled(struct crew_member *m);

/* What the tests draw from: the time, unless the environment says otherwise (rng_seed). */
extern uint64_t seed;
void seed_from_environment(void);

void sleep_ms(long ms);

/* Whether the text has these words; prints it, if not. */
bool says(const char *text, const char *what);
