/* Trains a small neural network to read handwritten digits, by data-parallel SGD (training.h). */
#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "learner.h"
#include "training.h"

/* The data set: images of handwritten digits, and which digit each shows. */

enum { PIXELS = 64, CLASSES = 10 };

struct digits {
    size_t count;
    float (*pixels)[PIXELS]; /* 0 to 1 */
    unsigned char *labels;   /* 0 to 9 */
};

enum { LINE = 512, INK = 16, TEST_EVERY = 5 };

/* Reads the numbers of a line. Returns -1 unless there are exactly PIXELS + 1, all within range. */
static int read_line(const char *line, float pixels[PIXELS], unsigned char *label)
{
    for (int i = 0; i <= PIXELS; i++) {
        char *end;
        long n = strtol(line, &end, 10);
        if (end == line || n < 0 || n > (i < PIXELS ? INK : CLASSES - 1))
            return -1;
        if (*end != (i < PIXELS ? ',' : '\n'))
            return -1;
        if (i < PIXELS)
            pixels[i] = (float)n / INK;
        else
            *label = (unsigned char)n;
        line = end + 1;
    }
    return 0;
}

static int make_room(struct digits *d, size_t capacity)
{
    void *pixels = realloc(d->pixels, capacity * sizeof *d->pixels);
    if (pixels)
        d->pixels = pixels;
    void *labels = realloc(d->labels, capacity);
    if (labels)
        d->labels = labels;
    return pixels && labels ? 0 : -1;
}

static void digits_free(struct digits *d)
{
    free(d->pixels);
    free(d->labels);
    *d = (struct digits){0};
}

/* Reads a gzipped CSV: 64 pixels from 0 to 16 and the digit in every line. Returns 0; or -1, with the reason
 * in `error`. */
static int digits_read(struct digits *d, const char *path, char *error, size_t size)
{
    char line[LINE];
    *d = (struct digits){0};
    gzFile f = gzopen(path, "r");
    if (!f) {
        snprintf(error, size, "cannot read %s: %s", path, strerror(errno));
        return -1;
    }
    for (size_t capacity = 0; gzgets(f, line, sizeof line); d->count++) {
        if (d->count == capacity && make_room(d, capacity += 1024) < 0) {
            snprintf(error, size, "no memory for %s", path);
            goto err;
        }
        if (read_line(line, d->pixels[d->count], &d->labels[d->count]) < 0) {
            snprintf(error, size, "%s:%zu: expected %d numbers from 0 to %d, then a digit", path,
                     d->count + 1, PIXELS, INK);
            goto err;
        }
    }
    if (!gzeof(f) || !d->count) {
        snprintf(error, size, "%s is damaged or empty", path);
        goto err;
    }
    gzclose(f);
    return 0;
err:
    gzclose(f);
    digits_free(d);
    return -1;
}

static int sample(const void *data, size_t i, float input[])
{
    const struct digits *d = data;
    memcpy(input, d->pixels[i], sizeof d->pixels[i]);
    return d->labels[i];
}

static int is_test(size_t i)
{
    return i % TEST_EVERY == 0;
}

/* Every fifth image is for tests. The digits must outlive it. */
static struct lessons digits_lessons(const struct digits *d)
{
    return (struct lessons){.count = d->count,
                            .inputs = PIXELS,
                            .classes = CLASSES,
                            .data = d,
                            .sample = sample,
                            .is_test = is_test};
}

/* Gradients of 150 KiB. */
static const int hidden[2] = {192, 128};

enum { BATCH = 64 };

static const char usage[] =
    "usage: train-digits --data FILE.csv.gz [--epochs N] [--model FILE, to be written]\n";

static const char *read_options(struct training *t, int argc, char **argv)
{
    static const struct option longs[] = {
        {"epochs", required_argument, NULL, 'e'},
        {"data", required_argument, NULL, 'd'},
        {"model", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *data = NULL;
    int c;
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (c == 'e')
            t->epochs = atoi(optarg);
        else if (c == 'd')
            data = optarg;
        else if (c == 'm')
            t->model = optarg;
        else
            training_usage(usage, c == 'h');
    }
    if (!data || t->epochs < 1 || optind < argc)
        training_usage(usage, false);
    return data;
}

int main(int argc, char **argv)
{
    struct learner learner;
    struct training t = {.learner = &learner, .epochs = 10, .what = "images"};
    struct digits digits;
    char error[256];
    const char *data = read_options(&t, argc, argv);
    MPI_Init(&argc, &argv);
    if (digits_read(&digits, data, error, sizeof error) < 0)
        training_stop(error);
    const struct lessons lessons = digits_lessons(&digits);
    if (learner_init(&learner, &lessons, hidden, BATCH, 0.05f) < 0)
        training_stop("no memory for the network");
    int status = training_run(&t);
    learner_free(&learner);
    digits_free(&digits);
    return status;
}
