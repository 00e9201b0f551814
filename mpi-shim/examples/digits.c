#include "digits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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

int digits_read(struct digits *d, const char *path, char *error, size_t size)
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

void digits_free(struct digits *d)
{
    free(d->pixels);
    free(d->labels);
    *d = (struct digits){0};
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

struct lessons digits_lessons(const struct digits *d)
{
    return (struct lessons){.count = d->count,
                            .inputs = PIXELS,
                            .classes = CLASSES,
                            .data = d,
                            .sample = sample,
                            .is_test = is_test};
}
