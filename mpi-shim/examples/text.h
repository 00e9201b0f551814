/* The other data set: a text, of which a network learns to tell the next character from those before it.
 * Characters are 64 symbols: letters, of which case is lost, digits, what stands between words, and one for
 * all others. */
#pragma once

#include "learner.h"

enum { TEXT_SYMBOLS = 64, TEXT_CONTEXT = 16, TEXT_INPUTS = TEXT_CONTEXT * TEXT_SYMBOLS };

struct text {
    size_t count; /* of symbols */
    unsigned char *symbols;
};

/* Reads files, one after the other. Returns 0; or -1, with the reason in `error`. */
int text_read(struct text *t, char *const paths[], int files, char *error, size_t size);
void text_free(struct text *t);

/* A sample is a symbol, and the input says which are the TEXT_CONTEXT before it. Every tenth stretch of 512
 * is for tests. The text must outlive it. */
struct lessons text_lessons(const struct text *t);
