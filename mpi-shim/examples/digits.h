/* The data set: images of handwritten digits, and which digit each shows. */
#ifndef DIGITS_H
#define DIGITS_H

#include "learner.h"

enum { PIXELS = 64, CLASSES = 10 };

struct digits {
    size_t count;
    float (*pixels)[PIXELS]; /* 0 to 1 */
    unsigned char *labels;   /* 0 to 9 */
};

/* Reads a gzipped CSV: 64 pixels from 0 to 16 and the digit in every line. Returns 0; or -1, with the reason
 * in `error`. */
int digits_read(struct digits *d, const char *path, char *error, size_t size);
void digits_free(struct digits *d);

/* Every fifth image is for tests. The digits must outlive it. */
struct lessons digits_lessons(const struct digits *d);

#endif
