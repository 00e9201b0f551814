/* bench-train: a language model (mpi-shim/examples/text.h) trained by many workers in one process, without a
 * network: how well it learns if gradients are summed compressed, packets are lost, or workers come late and
 * are not waited for. One JSON object to stdout. Everything follows from seeds.
 *
 * With --switch it is one worker of the same training over a network: how long that takes. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "examples/text.h"
#include "rank.h"
#include "workers.h"

/* 450,000 parameters. */
static const int hidden[2] = {384, 128};

enum { TEST_STRIDE = 4, FLOATS = 1 << 17 }; /* FLOATS: of the gradients that are written */

struct run {
    struct workers_config cfg;
    int workers, epochs, late, late_ms;
    size_t steps;
    bool synchronize;
    const char *gradients;
};

static void stop(const char *why)
{
    fprintf(stderr, "bench-train: %s\n", why);
    exit(EXIT_FAILURE);
}

static void print_epoch(struct workers *w, int epoch, double loss)
{
    int of, right = learner_test(&w->worker[0].learner, 0, TEST_STRIDE, &of);

    printf("%s\n {\"epoch\": %d, \"loss\": %.6f, \"accuracy\": %.6f}", epoch > 1 ? "," : "", epoch, loss,
           (double)right / of);
    fflush(stdout);
}

static void train(const struct run *r, struct workers *w)
{
    for (int epoch = 1; epoch <= r->epochs; epoch++) {
        double loss = 0;

        workers_shuffle(w);
        for (size_t step = 0; step < r->steps; step++) {
            loss += workers_gradients(w, step) / (double)r->steps;
            workers_sum(w);
            workers_descend(w, step);
        }
        if (r->synchronize)
            workers_synchronize(w);
        print_epoch(w, epoch, loss);
    }
}

static void write_gradients(const struct run *r, struct workers *w)
{
    FILE *f = fopen(r->gradients, "wb");
    bool written = f != NULL;

    workers_gradients(w, 0);
    for (unsigned i = 0; i < w->cfg.workers && written; i++) {
        const struct network *n = &w->worker[i].learner.network;

        written = fwrite(n->gradient + n->parameters - FLOATS, sizeof(float), FLOATS, f) == FLOATS;
    }
    if (!written || fclose(f) != 0)
        stop("cannot write the gradients");
}

static bool read_compression(const struct option_row *row, const char *text, void *field)
{
    static const char *const words[] = {"none", "thc", NULL};

    return option_one_of(row, text, words, field);
}

#define FIELD(member) offsetof(struct run, member)

static const struct option_row rows[] = {
    {"workers", 0, "N", option_int, FIELD(workers), 1, AGG_MAX_RANKS, "default 4"},
    {"batch", 0, "N", option_bytes, FIELD(cfg.batch), 1, 0, "of all workers; default 256"},
    {"epochs", 0, "N", option_int, FIELD(epochs), 0, INT32_MAX, "default 5"},
    {"steps", 0, "N", option_bytes, FIELD(steps), 0, 0, "of an epoch; default 30"},
    {"compression", 0, "KIND", read_compression, FIELD(cfg.options.compression), 0, 0, "none, thc"},
    {"bits", 0, "B", option_int, FIELD(cfg.options.thc_bits), 0, THC_MOST_BITS, "of THC"},
    {"one-in", 0, "N", option_int, FIELD(cfg.options.thc_clamped_one_in), 0, INT32_MAX, "of THC"},
    {"granularity", 0, "N", option_int, FIELD(cfg.options.thc_granularity), 0, INT32_MAX, "of THC"},
    {"loss", 0, "P", option_real, FIELD(cfg.loss), 0, 1, "of packets: what does not come is zeros"},
    {"late", 0, "N", option_int, FIELD(late), 0, INT32_MAX, "workers, in each step; sums are of the others"},
    {"synchronize", 0, NULL, option_flag, FIELD(synchronize), 0, 0, "models, after each epoch"},
    {"gradients", 0, "FILE", option_text, FIELD(gradients), 0, 0,
     "to be written: at the end, each worker's of one step, the last 131072 numbers of each"},
    {"switch", 0, "IP", option_text, FIELD(cfg.options.switch_ip), 0, 0,
     "one worker of them, over a network: with all that follow"},
    {"job", 0, "NAME", option_text, FIELD(cfg.options.job), 0, 0, "the same for all"},
    {"rank", 0, "R", option_int, FIELD(cfg.options.rank), 0, INT32_MAX, "of this one"},
    {"late-ms", 0, "N", option_int, FIELD(late_ms), 0, INT32_MAX, "so late are those that are; default 0"},
    {"quorum", 0, "N", option_int, FIELD(cfg.options.quorum), 0, INT32_MAX,
     "ranks are enough for a sum; default: all"},
    {"quorum-wait", 0, "MS", option_int, FIELD(cfg.options.quorum_wait_ms), 0, INT32_MAX, "for the others"},
};

static void read_options(struct run *r, int argc, char **argv)
{
    const struct option_group group = {rows, sizeof rows / sizeof rows[0], r};
    const struct command_line line = {
        .intro = "usage: bench-train [OPTION...] FILE...\nTrains a language model on these texts.\n",
        .operands = "texts",
        .groups = &group,
        .count = 1};
    int status = options_read(&line, argc, argv);

    if (status == OPTIONS_READ && r->cfg.batch < (size_t)r->workers)
        status = refuse_usage("--batch must be --workers or more");
    if (status == OPTIONS_READ && (r->late >= r->workers || (r->late > 0 && r->cfg.loss > 0)))
        status = refuse_usage("--late must be less than --workers, and does not go with --loss");
    if (status != OPTIONS_READ)
        exit(status);
    r->cfg.workers = (unsigned)r->workers;
    r->cfg.late = (unsigned)r->late;
    r->cfg.options.size = r->workers;
}

/* All workers, here. */
static int train_here(const struct run *r)
{
    struct workers workers;

    if (workers_open(&workers, &r->cfg) < 0)
        return -1;
    if (r->steps > learner_steps(&workers.worker[0].learner))
        stop("--steps is more than the text has");
    printf("{\"workers\": %u, \"parameters\": %zu, \"epochs\": [", r->cfg.workers,
           workers.worker[0].learner.network.parameters);
    train(r, &workers);
    printf("],\n \"agree\": %s, \"nmse\": %.6g, \"missed\": %llu}\n",
           workers_agree(&workers) ? "true" : "false", workers_nmse(&workers),
           (unsigned long long)workers.missed);
    if (r->gradients)
        write_gradients(r, &workers);
    workers_close(&workers);
    return 0;
}

/* One of them. */
static int train_rank(const struct run *r)
{
    return rank_train(&(struct rank_config){.options = r->cfg.options,
                                            .lessons = r->cfg.lessons,
                                            .hidden = hidden,
                                            .batch = r->cfg.batch,
                                            .steps = r->steps,
                                            .stride = TEST_STRIDE,
                                            .rate = r->cfg.rate,
                                            .epochs = r->epochs,
                                            .late = r->cfg.late,
                                            .late_ms = (unsigned)r->late_ms});
}

int main(int argc, char **argv)
{
    struct run r = {.cfg = {.hidden = hidden, .batch = 256, .rate = 0.2f, .options = SWAGG_OPTIONS_DEFAULT},
                    .workers = 4,
                    .epochs = 5,
                    .steps = 30};
    struct text text;
    char error[256];

    read_options(&r, argc, argv);
    if (text_read(&text, argv + optind, argc - optind, error, sizeof error) < 0)
        stop(error);
    const struct lessons lessons = text_lessons(&text);
    r.cfg.lessons = &lessons;
    const int rc = r.cfg.options.switch_ip ? train_rank(&r) : train_here(&r);
    text_free(&text);
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
