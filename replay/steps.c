#include "steps.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "monotonic.h"

enum { STEPS_MOST = 100000 };

/* What is known of a step: the mean of what ranks have, among whom it differs little. */
enum what { TIME, COMMUNICATION, OVERLAP, WHATS };

struct run {
    const struct steps_options *o;
    const struct steps_calls *calls;
    const struct profile *profile;
    struct schedule *schedule;
    struct steps_bucket *bucket; /* [schedule->buckets] */
    float *send, *recv;
    float *seconds; /* [o->steps][WHATS] */
    FILE *json;
};

/* --- options --- */

#define FIELD(member) offsetof(struct steps_options, member)

const struct option_row steps_rows[STEPS_OPTIONS] = {
    {"steps", 'n', "N", option_unsigned, FIELD(steps), 1, STEPS_MOST, "that are timed; default 10"},
    {"warmups", 'w', "N", option_unsigned, FIELD(warmups), 0, STEPS_MOST, "steps before them; default 2"},
    {"json", 0, "FILE", option_text, FIELD(json), 0, 0, "rank 0 writes there what it prints, too"},
};

struct steps_options steps_defaults(void)
{
    return (struct steps_options){.how = SCHEDULE_HOW_DEFAULT, .steps = 10, .warmups = 2};
}

/* --- time --- */

void steps_sleep(double until)
{
    const struct timespec t = {.tv_sec = (time_t)until,
                               .tv_nsec = (long)((until - (double)(time_t)until) * 1e9)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* --- numbers --- */

/* Small integers: their sums are exact in every order. */
static float element(int rank, size_t i)
{
    return (float)((int)((i * 7 + (size_t)rank * 13) % 15) - 7);
}

/* Which sums of the last step are wrong: how many. */
static size_t count_wrong(const struct run *r)
{
    size_t wrong = 0;

    for (size_t i = 0; !r->calls->is_approximate && i < r->schedule->elements; i++) {
        float sum = 0;
        for (int rank = 0; rank < r->calls->ranks; rank++)
            sum += element(rank, i);
        wrong += !(fabsf(r->recv[i] - sum) < 0.5f); /* closer than any other sum, if floats travel as int32 */
    }
    return wrong;
}

/* --- a step --- */

static int step(struct run *r, float seconds[WHATS])
{
    const struct steps_calls *c = r->calls;
    const struct schedule *s = r->schedule;
    const double start = monotonic_seconds();
    struct schedule_shares shares = {0};
    int ret = 0;

    for (unsigned i = 0; ret == 0 && i < s->buckets; i++) {
        ret = c->rest(c->ctx, start + s->bucket[i].ready_s);
        r->bucket[i].began = monotonic_seconds();
        if (ret == 0)
            ret = c->post(c->ctx, &r->bucket[i]);
    }
    if (ret == 0)
        ret = c->rest(c->ctx, start + s->compute_s);
    if (ret == 0)
        ret = c->finish(c->ctx);
    seconds[TIME] = (float)(monotonic_seconds() - start);
    for (unsigned i = 0; i < s->buckets; i++)
        schedule_count(&shares, r->bucket[i].began, r->bucket[i].ended, start + s->compute_s);
    seconds[COMMUNICATION] = (float)shares.communication;
    seconds[OVERLAP] = (float)shares.overlap;
    return ret;
}

static int all_steps(struct run *r)
{
    float unused[WHATS] = {0};
    int ret = r->calls->sum(r->calls->ctx, unused, WHATS); /* all ranks are there */

    for (unsigned i = 0; ret == 0 && i < r->o->warmups; i++)
        ret = step(r, unused);
    for (unsigned i = 0; ret == 0 && i < r->o->steps; i++) {
        if (i + 1 == r->o->steps)
            memset(r->recv, 0xff, r->schedule->elements * sizeof(float));
        ret = step(r, &r->seconds[i * WHATS]);
    }
    if (ret == 0)
        ret = r->calls->sum(r->calls->ctx, r->seconds, (size_t)r->o->steps * WHATS);
    for (size_t i = 0; i < (size_t)r->o->steps * WHATS; i++)
        r->seconds[i] /= (float)r->calls->ranks;
    return ret;
}

/* --- what is printed --- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Milliseconds: the median of the steps. */
static double median_ms(const struct run *r, enum what what)
{
    const unsigned n = r->o->steps;
    double *sorted = malloc(n * sizeof(*sorted)), middle = NAN;

    for (unsigned i = 0; sorted != NULL && i < n; i++)
        sorted[i] = 1e3 * (double)r->seconds[i * WHATS + what];
    if (sorted != NULL) {
        qsort(sorted, n, sizeof(*sorted), by_size);
        middle = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
    free(sorted);
    return middle;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void print(const struct run *r, size_t wrong)
{
    const double time = median_ms(r, TIME), communicates = median_ms(r, COMMUNICATION);
    const double overlaps = median_ms(r, OVERLAP);

    printf("%s, %d ranks, by %s: %.1f MB in %u calls; median of %u steps\n", r->profile->model,
           r->calls->ranks, r->calls->name, (double)r->schedule->elements * sizeof(float) / 1e6,
           r->schedule->buckets, r->o->steps);
    printf("a step         %10.2f ms\n", time);
    printf("computing      %10.2f ms\n", 1e3 * r->schedule->compute_s);
    printf("communication  %10.2f ms, %.0f%% of the step\n", communicates, percent(communicates, time));
    printf("overlap        %10.2f ms, %.0f%% of communication\n", overlaps, percent(overlaps, communicates));
    if (r->calls->is_approximate)
        printf("sums           not checked: they are approximate\n");
    else
        printf("wrong sums     %10zu\n", wrong);
}

static void write_json(const struct run *r, size_t wrong)
{
    fprintf(r->json,
            "{\"model\": \"%s\", \"by\": \"%s\", \"ranks\": %d, \"bytes\": %llu, \"calls\": %u, \"scale\": "
            "%g, \"speed\": %g, \"computing_ms\": %.4f, \"step_ms\": %.4f, \"communication_ms\": %.4f, "
            "\"overlap_ms\": %.4f, \"wrong\": %zu, \"steps_ms\": [",
            r->profile->model, r->calls->name, r->calls->ranks,
            (unsigned long long)r->schedule->elements * sizeof(float), r->schedule->buckets, r->o->how.scale,
            r->o->how.speed, 1e3 * r->schedule->compute_s, median_ms(r, TIME), median_ms(r, COMMUNICATION),
            median_ms(r, OVERLAP), wrong);
    for (unsigned i = 0; i < r->o->steps; i++)
        fprintf(r->json, "%s%.4f", i > 0 ? ", " : "", 1e3 * (double)r->seconds[i * WHATS + TIME]);
    fprintf(r->json, "]}\n");
}

/* --- all together --- */

/* Whether there are a place for what is measured, and memory; if not, it has been said. */
static bool open_run(struct run *r)
{
    if (r->o->json != NULL && r->calls->rank == 0 && (r->json = fopen(r->o->json, "w")) == NULL)
        return complain("--json: cannot write %s: %s", r->o->json, strerror(errno));
    r->schedule = schedule_of(r->profile, &r->o->how);
    if (r->schedule != NULL) {
        r->bucket = calloc(r->schedule->buckets, sizeof(*r->bucket));
        r->send = malloc(r->schedule->elements * sizeof(float));
        r->recv = malloc(r->schedule->elements * sizeof(float));
    }
    r->seconds = calloc(r->o->steps, WHATS * sizeof(float));
    if (r->bucket == NULL || r->send == NULL || r->recv == NULL || r->seconds == NULL)
        return complain("no memory for twice the model's %.0f MB; --scale takes less",
                        (double)profile_bytes(r->profile) / r->o->how.scale / 1e6);
    /* Both are written before the clock runs, so that the kernel has their pages. */
    memset(r->recv, 0, r->schedule->elements * sizeof(float));
    for (size_t i = 0; i < r->schedule->elements; i++)
        r->send[i] = element(r->calls->rank, i);
    for (size_t i = 0, at = 0; i < r->schedule->buckets; at += r->bucket[i++].count)
        r->bucket[i] = (struct steps_bucket){
            .send = r->send + at, .recv = r->recv + at, .count = r->schedule->bucket[i].elements};
    return true;
}

static bool close_run(struct run *r)
{
    bool good = true;

    if (r->json != NULL) {
        good = !ferror(r->json);
        good &= fclose(r->json) == 0;
    }
    free(r->seconds);
    free(r->recv);
    free(r->send);
    free(r->bucket);
    free(r->schedule);
    return good || complain("--json: cannot write %s: %s", r->o->json, strerror(errno));
}

int steps_run(const struct profile *p, const struct steps_options *o, const struct steps_calls *calls)
{
    struct run r = {.o = o, .calls = calls, .profile = p};
    int status = EXIT_BAD;

    if (open_run(&r) && all_steps(&r) == 0) {
        const size_t wrong = count_wrong(&r);
        if (wrong > 0)
            complain("rank %d: %zu sums are wrong", calls->rank, wrong);
        if (calls->rank == 0)
            print(&r, wrong);
        if (r.json != NULL)
            write_json(&r, wrong);
        status = wrong > 0 ? EXIT_BAD : EXIT_GOOD;
    }
    return close_run(&r) ? status : EXIT_BAD;
}
