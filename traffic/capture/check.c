/* swagg-pcap check */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/commands.h"
#include "capture/verify.h"
#include "plan_options.h"

enum { REPORTS_MAX = 10 };

struct check {
    struct verify verify;
    struct store store;
    bool complete;
    char **files; /* up to NULL */
    unsigned reports;
};

static void report_wrong(void *context, const struct stored_packet *r, const char *why)
{
    struct check *c = context;
    const struct stored_job *job = &c->store.job[r->job];

    if (c->reports++ >= REPORTS_MAX)
        return;
    printf("%s: frame %" PRIu64 ": job %u, tag %u, to %u.%u.%u.%u:%u: %s\n", c->files[r->file], r->frame,
           job->number, r->tag, (unsigned)(r->worker >> 40), (unsigned)(r->worker >> 32 & 255),
           (unsigned)(r->worker >> 24 & 255), (unsigned)(r->worker >> 16 & 255),
           (unsigned)(r->worker & 0xFFFF), why);
}

static void print_job(const struct stored_job *job, const struct verify_job *j)
{
    printf("job %u of switch %u.%u.%u.%u: %u workers, %" PRIu64 " chunks, %" PRIu64 " contributions (%" PRIu64
           " repeated)\n",
           job->number, job->sw >> 24, job->sw >> 16 & 255, job->sw >> 8 & 255, job->sw & 255, j->workers,
           j->chunks, j->contributions, j->repeated);
    printf("  results: %" PRIu64 " right, %" PRIu64 " wrong, %" PRIu64 " empty as wanted, %" PRIu64
           " of unknown contributions, %" PRIu64 " missing\n",
           j->right, j->wrong, j->empty, j->unknown, j->missing);
    if (j->conflicts > 0)
        printf("  %" PRIu64 " chunks with two different contributions of a worker\n", j->conflicts);
}

static int conclude(const struct check *c)
{
    uint64_t right = 0, wrong = 0, missing = 0;

    for (unsigned i = 0; i < c->store.jobs; i++) {
        const struct verify_job *j = &c->verify.job[i];

        if (j->chunks == 0)
            continue;
        print_job(&c->store.job[i], j);
        right += j->right;
        wrong += j->wrong;
        missing += j->missing;
    }
    if (c->store.others + c->store.malformed + c->store.damaged > 0)
        printf("left out: %" PRIu64 " packets of other kinds, %" PRIu64 " malformed, %" PRIu64
               " damaged or cut off\n",
               c->store.others, c->store.malformed, c->store.damaged);
    if (c->store.merged + c->store.unchecked > 0)
        printf("captured before a device: %" PRIu64 " packets in one frame with others, %" PRIu64
               " frames without their checksum yet\n",
               c->store.merged, c->store.unchecked);
    if (c->store.keyed > 0)
        printf("keyed: %" PRIu64 " packets; only who has the job's key can tell whether one is forged\n",
               c->store.keyed);
    if (right == 0)
        complain("check: no result could be compared");
    return right > 0 && wrong == 0 && (missing == 0 || !c->complete) ? EXIT_GOOD : EXIT_BAD;
}

static int check_files(struct check *c)
{
    int ret = EXIT_BAD;

    for (char **file = c->files; *file != NULL; file++) {
        if (store_read(&c->store, *file) < 0)
            goto err;
    }
    store_sort(&c->store);
    verify(&c->verify, &c->store);
    ret = conclude(c);
err:
    store_free(&c->store);
    return ret;
}

static const struct option_row rows[] = {
    {"workers", 'n', "N", option_unsigned, offsetof(struct check, verify.workers), 0, AGG_MAX_WORKERS,
     "of each job; default: as the switch said when the job was formed, or as many as contributed to any one "
     "chunk"},
    {"complete", 0, NULL, option_flag, offsetof(struct check, complete), 0, 0,
     "results that are missing are wrong, too"},
    {"format", 0, "FORMAT", option_format, offsetof(struct check, verify.format), 0, 0,
     "of jobs whose forming was not captured: typed (the default), int32 (the published SwitchML format), "
     "fp16"},
};

int command_check(int argc, char *argv[])
{
    struct check c = {.verify = {.report = report_wrong}};
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), &c};
    const struct command_line line = {
        .intro = "usage: swagg-pcap check [OPTION...] FILE...\n"
                 "Computes what the workers' contributions come to, and compares the switch's results with "
                 "it. Contributions and "
                 "results may be in one capture\n"
                 "or in several. Of jobs with a quorum, the joining of all ranks must be in them, too, and "
                 "missing results\n"
                 "are not counted. In a tree of switches each switch's jobs are checked for themselves.\n"
                 "Exit code 0: all results are right; 1: some are wrong, or there are none.\n",
        .operands = "captures",
        .groups = &group,
        .count = 1,
    };
    const int ret = options_read(&line, argc, argv);

    if (ret != OPTIONS_READ)
        return ret;
    c.verify.context = &c;
    c.files = argv + optind;
    return check_files(&c);
}
