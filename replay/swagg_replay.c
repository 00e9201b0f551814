/* swagg-replay: what a model's training takes with its gradients summed over libswagg. One process a rank:
 *
 *     swagg-replay vgg19.profile --switch 10.0.0.254 --job replay --rank R --size N */
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "monotonic.h"
#include "standard_streams.h"
#include "steps.h"
#include "swagg.h"

enum { WORDS_MAX = 64 };

static const char intro[] =
    "usage: swagg-replay PROFILE --switch IP --job NAME --rank R --size N [OPTION...]\n"
    "Replays the steps of a model's training: sleeps while it would compute, and sums gradients of its\n"
    "size through the switch as they become ready. Prints what a step takes (docs/replay.md).\n";

/* What the library is told, in words. */
struct library {
    struct swagg_word word[WORDS_MAX];
    size_t words;
    bool verbose;
};

struct call {
    struct swagg_request *request;
    struct steps_bucket *bucket;
};

struct ctx {
    struct swagg_job *job;
    int fd;
    struct call call[SWAGG_REQUESTS_MAX]; /* that were posted, a ring: calls end in their order */
    unsigned oldest, under_way;
};

/* --- options --- */

static bool add_word(struct library *l, const char *name, const char *value)
{
    if (l->words == WORDS_MAX)
        return complain("more than %d options of the library", WORDS_MAX);
    l->word[l->words++] = (struct swagg_word){name, value};
    return true;
}

/* The library's option of the name that the row's reader stands for; the library itself says what it thinks
 * of the value. */
static bool read_switch(const struct option_row *row, const char *text, void *field)
{
    (void)row;
    return add_word(field, "switch_ip", text);
}

static bool read_as_named(const struct option_row *row, const char *text, void *field)
{
    return add_word(field, row->name, text);
}

static bool read_word(const struct option_row *row, const char *text, void *field)
{
    char *equals = strchr(text, '=');

    if (equals == NULL || equals == text)
        return complain("--%s: \"%s\" is not NAME=VALUE", row->name, text);
    *equals = '\0'; /* in argv, which is this program's own */
    return add_word(field, text, equals + 1);
}

static const struct option_row library_rows[] = {
    {"switch", 0, "IP", read_switch, 0, 0, 0, "the switch's address"},
    {"job", 0, "NAME", read_as_named, 0, 0, 0, "the same for all ranks"},
    {"rank", 0, "R", read_as_named, 0, 0, 0, "0..N-1"},
    {"size", 0, "N", read_as_named, 0, 0, 0, "number of ranks"},
    {"option", 'o', "NAME=VALUE", read_word, 0, 0, 0,
     "one of the library's options (docs/libswagg.md), as protocol=atp; may be repeated"},
    {"verbose", 'v', NULL, option_flag, offsetof(struct library, verbose), 0, 0,
     "the library's log to stderr"},
};

static const char *value_of(const struct library *l, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < l->words; i++)
        if (strcmp(l->word[i].name, name) == 0)
            value = l->word[i].value;
    return value;
}

static int number_of(const struct library *l, const char *name)
{
    const char *value = value_of(l, name);

    return value != NULL ? atoi(value) : 0; /* which the library has checked */
}

static void log_line(void *ctx, enum swagg_log_level level, const char *line)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};

    (void)ctx;
    fprintf(stderr, "libswagg: %s: %s\n", names[level], line);
}

/* --- calls --- */

static int failed(const char *what, int status)
{
    complain("%s: %s: %s", what, swagg_strerror(status), swagg_last_error());
    return status;
}

/* The oldest call has ended, or not yet; SWAGG_IN_PROGRESS then. */
static int take(struct ctx *c, int status)
{
    struct call *call = &c->call[c->oldest];

    if (status == SWAGG_IN_PROGRESS)
        return status;
    if (status != SWAGG_OK)
        return failed("a sum", status);
    call->bucket->ended = monotonic_seconds();
    c->oldest = (c->oldest + 1) % SWAGG_REQUESTS_MAX;
    c->under_way--;
    return 0;
}

static int take_ended(struct ctx *c)
{
    int ret = 0;

    while (ret == 0 && c->under_way > 0)
        ret = take(c, swagg_test(&c->call[c->oldest].request));
    return ret == SWAGG_IN_PROGRESS ? 0 : ret;
}

static int wait_oldest(struct ctx *c)
{
    return take(c, swagg_wait(&c->call[c->oldest].request));
}

static int rest(void *ctx, double until)
{
    struct ctx *c = ctx;
    int ret = 0;

    for (double left; ret == 0 && (left = until - monotonic_seconds()) > 0;) {
        struct pollfd ended = {.fd = c->under_way > 0 ? c->fd : -1, .events = POLLIN};
        const struct timespec t = {.tv_sec = (time_t)left,
                                   .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
        ppoll(&ended, 1, &t, NULL);
        ret = take_ended(c);
    }
    return ret;
}

static int post(void *ctx, struct steps_bucket *bucket)
{
    struct ctx *c = ctx;
    int ret = take_ended(c);

    if (ret == 0 && c->under_way == SWAGG_REQUESTS_MAX)
        ret = wait_oldest(c);
    if (ret != 0)
        return ret;
    struct call *call = &c->call[(c->oldest + c->under_way) % SWAGG_REQUESTS_MAX];
    call->bucket = bucket;
    ret = swagg_post_allreduce(c->job, bucket->send, bucket->recv, bucket->count, SWAGG_F32, SWAGG_SUM, NULL,
                               &call->request);
    if (ret != SWAGG_OK)
        return failed("a call", ret);
    c->under_way++;
    return 0;
}

static int finish(void *ctx)
{
    struct ctx *c = ctx;
    int ret = 0;

    while (ret == 0 && c->under_way > 0)
        ret = wait_oldest(c);
    return ret;
}

static int sum(void *ctx, float values[], size_t n)
{
    struct ctx *c = ctx;
    const int ret = swagg_allreduce(c->job, values, values, n, SWAGG_F32, SWAGG_SUM);

    return ret == SWAGG_OK ? 0 : failed("what all ranks have", ret);
}

/* --- all together --- */

static int run(const struct profile *p, const struct steps_options *o, struct library *l)
{
    struct ctx c = {0};
    const char *compression = value_of(l, "compression");
    int ret = swagg_open_words(&c.job, l->word, l->words, l->verbose ? log_line : NULL, NULL);

    if (ret != SWAGG_OK) {
        failed("cannot join", ret);
        return ret == SWAGG_ERR_ARGUMENT ? EXIT_USAGE : EXIT_BAD;
    }
    const struct steps_calls calls = {
        .name = "libswagg",
        .ctx = &c,
        .rank = number_of(l, "rank"),
        .ranks = number_of(l, "size"),
        .is_approximate = compression != NULL && strcmp(compression, "none") != 0,
        .post = post,
        .rest = rest,
        .finish = finish,
        .sum = sum,
    };
    c.fd = swagg_get_fd(c.job);
    ret = c.fd < 0 ? failed("the job's descriptor", c.fd) : steps_run(p, o, &calls);
    swagg_close(c.job);
    return ret < 0 ? EXIT_BAD : ret;
}

int main(int argc, char *argv[])
{
    struct steps_options steps = steps_defaults();
    /* Models compute elsewhere, so a thread has time for sums; what is said later counts. */
    struct library library = {.word = {{"progress_thread", "on"}}, .words = 1};
    const struct option_group groups[] = {
        {library_rows, sizeof(library_rows) / sizeof(library_rows[0]), &library},
        {steps_rows, STEPS_OPTIONS, &steps},
        {schedule_rows, SCHEDULE_OPTIONS, &steps.how},
    };
    const struct command_line line = {.version = swagg_version(),
                                      .intro = intro,
                                      .operands = "profile",
                                      .groups = groups,
                                      .count = sizeof(groups) / sizeof(groups[0])};
    char why[PROFILE_WHY];
    struct profile profile;

    standard_streams_begin();
    const int status = options_read(&line, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    if (argc - optind > 1)
        return refuse_usage("one profile at a time: \"%s\" is one more", argv[optind + 1]);
    if (value_of(&library, "job") == NULL || value_of(&library, "size") == NULL)
        return refuse_usage("--job and --size are needed");
    if (profile_read(&profile, argv[optind], why) != 0) { /* before anybody waits for this rank */
        complain("%s", why);
        return EXIT_BAD;
    }
    const int ret = run(&profile, &steps, &library);
    profile_free(&profile);
    return ret;
}
