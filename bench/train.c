/* bench-train: a language model (mpi-shim/examples/text.h) trained by many workers in one process, without a
 * network: how well it learns if gradients are summed compressed, packets are lost, or workers come late and
 * are not waited for. One JSON object to stdout. Everything follows from seeds.
 *
 * With --switch it is one worker of the same training over a network: how long that takes. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/text.h"
#include "rank.h"
#include "workers.h"

/* 450,000 parameters. */
static const int hidden[2] = {384, 128};

enum { TEST_STRIDE = 4, FLOATS = 1 << 17 }; /* FLOATS: of the gradients that are written */

static const char usage[] = "usage: bench-train [OPTION...] FILE...\n"
                            "  --workers N      4          --epochs N       5\n"
                            "  --batch N        256        --steps N        30, of an epoch\n"
                            "  --compression none|thc      --bits B, --one-in N, --granularity N    of THC\n"
                            "  --loss P         0          of packets: what does not come is zeros\n"
                            "  --late N         0          workers, in each step; sums are of the others\n"
                            "  --synchronize               models, after each epoch\n"
                            "  --gradients FILE            to be written: at the end, each worker's of one "
                            "step, the last 131072 numbers of each\n"
                            "One worker of them, over a network:\n"
                            "  --switch IP      --job NAME --rank R\n"
                            "  --late-ms N      0          so late are those that are\n"
                            "  --quorum N       all        ranks are enough for a sum; --quorum-wait MS\n";

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

enum kind { A_NUMBER, A_SIZE, A_PROBABILITY, A_TEXT, THC_OR_NONE, YES };

static void set(enum kind kind, void *to)
{
    switch (kind) {
    case A_NUMBER:
        *(int *)to = atoi(optarg);
        break;
    case A_SIZE:
        *(size_t *)to = strtoul(optarg, NULL, 10);
        break;
    case A_PROBABILITY:
        *(double *)to = atof(optarg);
        break;
    case A_TEXT:
        *(const char **)to = optarg;
        break;
    case THC_OR_NONE:
        if (strcmp(optarg, "thc") != 0 && strcmp(optarg, "none") != 0)
            stop(usage);
        *(enum swagg_compression *)to = optarg[0] == 't' ? SWAGG_COMPRESSION_THC : SWAGG_COMPRESSION_NONE;
        break;
    case YES:
        *(bool *)to = true;
        break;
    }
}

static void read_options(struct run *r, int argc, char **argv)
{
    const struct {
        const char *name;
        enum kind kind;
        void *to;
    } known[] = {{"workers", A_NUMBER, &r->workers},
                 {"batch", A_SIZE, &r->cfg.batch},
                 {"epochs", A_NUMBER, &r->epochs},
                 {"steps", A_SIZE, &r->steps},
                 {"compression", THC_OR_NONE, &r->cfg.options.compression},
                 {"bits", A_NUMBER, &r->cfg.options.thc_bits},
                 {"one-in", A_NUMBER, &r->cfg.options.thc_clamped_one_in},
                 {"granularity", A_NUMBER, &r->cfg.options.thc_granularity},
                 {"loss", A_PROBABILITY, &r->cfg.loss},
                 {"late", A_NUMBER, &r->late},
                 {"synchronize", YES, &r->synchronize},
                 {"switch", A_TEXT, &r->cfg.options.switch_ip},
                 {"job", A_TEXT, &r->cfg.options.job},
                 {"rank", A_NUMBER, &r->cfg.options.rank},
                 {"late-ms", A_NUMBER, &r->late_ms},
                 {"quorum", A_NUMBER, &r->cfg.options.quorum},
                 {"quorum-wait", A_NUMBER, &r->cfg.options.quorum_wait_ms},
                 {"gradients", A_TEXT, &r->gradients}};
    enum { KNOWN = sizeof known / sizeof *known };
    struct option longs[KNOWN + 1] = {{0}};
    int c;

    for (int i = 0; i < KNOWN; i++)
        longs[i] = (struct option){known[i].name, known[i].kind != YES, NULL, i};
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (c == '?')
            stop(usage);
        set(known[c].kind, known[c].to);
    }
    if (optind == argc || r->workers < 1 || r->workers > AGG_MAX_RANKS || r->cfg.batch < (size_t)r->workers ||
        r->late < 0 || r->late >= r->workers || (r->late > 0 && r->cfg.loss > 0) || r->late_ms < 0)
        stop(usage);
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
