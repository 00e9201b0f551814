/* Calls that are posted: how much of one is hidden behind computing, and how fast many small ones are. One
 * process a rank:
 *
 *     bench-posted SWITCH_IP RANK SIZE ROUNDS [flat|level]
 *
 * Each round takes the time of a blocking allreduce of 16 MiB; of computing that takes somewhat longer; of
 * both at once, where a progress thread goes on with the call; of one call of 2 MiB, and of eight of 256 KiB
 * that are posted and waited for. Computing is done once elsewhere, so that this process sleeps (asleep), and
 * once by this process (busy). With "flat" or "level" only sixteen calls of 8 bytes that are posted and
 * waited for, in the order of ranks or by hosts first. Rank 0 prints the rounds' seconds, as JSON. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "swagg.h"
#include "timing.h"

enum {
    ROUNDS_MAX = 99,
    LONG = 4 << 20,
    SHORT = 512 << 10,
    PIECES = 8,
    PIECES_MAX = 16,
    TIMES = 50,
    TRIAL = 20000000
};

enum what { CALL, ASLEEP, ASLEEP_BOTH, BUSY, BUSY_BOTH, ONE, EIGHT, SIXTEEN, WHATS };
static const char *const names[WHATS] = {"call",      "asleep", "asleep_both", "busy",
                                         "busy_both", "one",    "eight",       "sixteen"};

static const double LONGER = 1.2; /* so long computing takes, by a call */

static float tensor[LONG];

struct bench {
    struct swagg_job *job;
    double sleep_ns; /* asleep */
    uint64_t turns;  /* busy */
};

static NOT_INLINED void turn(uint64_t turns)
{
    for (uint64_t x = 1; turns > 0; turns--) {
        x ^= x << 13;
        x ^= x >> 7;
        touch(&x);
    }
}

static void compute(const struct bench *b, bool busy)
{
    const struct timespec t = {.tv_sec = (time_t)(b->sleep_ns / 1e9),
                               .tv_nsec = (long)(b->sleep_ns - 1e9 * (double)(time_t)(b->sleep_ns / 1e9))};

    if (busy)
        turn(b->turns);
    else
        nanosleep(&t, NULL);
}

static int sum(const struct bench *b, size_t count)
{
    return swagg_allreduce(b->job, tensor, tensor, count, SWAGG_F32, SWAGG_MAX);
}

/* What the slowest rank has. */
static int agree(const struct bench *b, double *x)
{
    return swagg_allreduce(b->job, x, x, 1, SWAGG_F64, SWAGG_MAX);
}

static int both(const struct bench *b, bool busy)
{
    struct swagg_request *request;
    int rc = swagg_post_allreduce(b->job, tensor, tensor, LONG, SWAGG_F32, SWAGG_MAX, NULL, &request);

    if (rc < 0)
        return rc;
    compute(b, busy);
    return swagg_wait(&request);
}

/* So many calls, each of as many elements. */
static int pieces(const struct bench *b, int n, size_t count)
{
    struct swagg_request *requests[PIECES_MAX];
    int rc = 0;

    for (int i = 0; rc == 0 && i < n; i++)
        rc = swagg_post_allreduce(b->job, tensor + (size_t)i * count, tensor + (size_t)i * count, count,
                                  SWAGG_F32, SWAGG_MAX, NULL, &requests[i]);
    return rc < 0 ? rc : swagg_wait_all(requests, (size_t)n);
}

static int sixteen(const struct bench *b)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < TIMES; i++)
        rc = pieces(b, PIECES_MAX, 2);
    return rc;
}

static int take(const struct bench *b, enum what what)
{
    switch (what) {
    case CALL:
        return sum(b, LONG);
    case ASLEEP:
    case BUSY:
        compute(b, what == BUSY);
        return 0;
    case ASLEEP_BOTH:
    case BUSY_BOTH:
        return both(b, what == BUSY_BOTH);
    case ONE:
        return sum(b, SHORT);
    case EIGHT:
        return pieces(b, PIECES, SHORT / PIECES);
    default:
        return sixteen(b);
    }
}

/* From a barrier to the last rank's end; in seconds. */
static int measure(const struct bench *b, enum what what, double *took)
{
    int rc = swagg_barrier(b->job);
    const double began = now_ns();

    if (rc < 0 || (rc = take(b, what)) < 0)
        return rc;
    *took = (now_ns() - began) / 1e9;
    return agree(b, took);
}

/* How much computing takes as long as it is to take, where all ranks do it. */
static int calibrate(struct bench *b)
{
    double call, trial;
    int rc = measure(b, CALL, &call); /* finds the window */

    if (rc < 0 || (rc = measure(b, CALL, &call)) < 0)
        return rc;
    b->sleep_ns = LONGER * call * 1e9;
    b->turns = TRIAL;
    if ((rc = measure(b, BUSY, &trial)) < 0)
        return rc;
    b->turns = (uint64_t)(TRIAL * LONGER * call / trial);
    return 0;
}

static void print(double seconds[WHATS][ROUNDS_MAX], enum what first, enum what end, int rounds)
{
    for (enum what what = first; what < end; what++) {
        printf("%s\"%s_s\": [", what == first ? "{" : ", ", names[what]);
        for (int i = 0; i < rounds; i++)
            printf("%s%.6f", i > 0 ? ", " : "", seconds[what][i]);
        printf("]");
    }
    printf("}\n");
}

int main(int argc, char *argv[])
{
    static double seconds[WHATS][ROUNDS_MAX];
    struct swagg_options o = SWAGG_OPTIONS_DEFAULT;
    struct bench b = {0};
    const int rounds = argc >= 5 ? atoi(argv[4]) : 0;
    const char *small = argc == 6 ? argv[5] : NULL;
    const enum what first = small ? SIXTEEN : CALL, end = small ? WHATS : SIXTEEN;

    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench-posted SWITCH_IP RANK SIZE ROUNDS [flat|level]   (1 to %d rounds)\n",
                ROUNDS_MAX);
        return 2;
    }
    o.switch_ip = argv[1];
    o.job = "posted";
    o.rank = atoi(argv[2]);
    o.size = atoi(argv[3]);
    o.progress_thread = SWAGG_PROGRESS_THREAD_ON;
    o.local = small && strcmp(small, "flat") == 0 ? SWAGG_LOCAL_OFF : SWAGG_LOCAL_AUTO;
    memset(tensor, 0, sizeof tensor); /* touches every page before the clock runs */
    int rc = swagg_open(&b.job, &o);
    if (rc == 0 && !small)
        rc = calibrate(&b);
    for (int i = 0; rc == 0 && i < rounds; i++)
        for (enum what what = first; rc == 0 && what < end; what++)
            rc = measure(&b, what, &seconds[what][i]);
    if (rc < 0)
        fprintf(stderr, "bench-posted: %s: %s\n", swagg_strerror(rc), swagg_last_error());
    else if (o.rank == 0)
        print(seconds, first, end, rounds);
    swagg_close(b.job);
    return rc < 0;
}
