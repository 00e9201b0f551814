#include "blocking.h"

#include <getopt.h>
#include <string.h>

#include "monotonic.h"
#include "steps.h"
#include "version.h"

static int post(void *ctx, struct steps_bucket *bucket)
{
    const struct blocking *b = ctx;

    memcpy(bucket->recv, bucket->send, bucket->count * sizeof(float));
    const int ret = b->sum(bucket->recv, bucket->count);
    bucket->ended = monotonic_seconds();
    return ret;
}

static int rest(void *ctx, double until)
{
    (void)ctx;
    steps_sleep(until);
    return 0;
}

static int finish(void *ctx)
{
    (void)ctx;
    return 0;
}

static int sum(void *ctx, float values[], size_t n)
{
    const struct blocking *b = ctx;

    return b->sum(values, n);
}

static int run(const char *path, const struct steps_options *o, const struct steps_calls *calls)
{
    char why[PROFILE_WHY];
    struct profile profile;

    if (profile_read(&profile, path, why) != 0) {
        complain("%s", why);
        return EXIT_BAD;
    }
    const int status = steps_run(&profile, o, calls);
    profile_free(&profile);
    return status;
}

int blocking_main(const struct blocking *b, int argc, char *argv[])
{
    struct blocking own = *b;
    const struct steps_calls calls = {.name = b->name,
                                      .ctx = &own,
                                      .rank = b->rank,
                                      .ranks = b->ranks,
                                      .post = post,
                                      .rest = rest,
                                      .finish = finish,
                                      .sum = sum};
    struct steps_options steps = steps_defaults();
    const struct option_group groups[] = {{steps_rows, STEPS_OPTIONS, &steps},
                                          {schedule_rows, SCHEDULE_OPTIONS, &steps.how}};
    const struct command_line line = {.version = build_version,
                                      .intro = b->intro,
                                      .operands = "profile",
                                      .groups = groups,
                                      .count = sizeof(groups) / sizeof(groups[0]),
                                      .is_silent = b->rank != 0};
    const int status = options_read(&line, argc, argv);

    return status == OPTIONS_READ ? run(argv[optind], &steps, &calls) : status;
}
