#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRETCH = 512, TEST_EVERY = 10 };

static unsigned char symbol_of(int c)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyz0123456789 \n.,;:()'\"-/<>@*_=#&+%[]`!?";
    const char *at = strchr(known, tolower(c));
    return at && *at ? (unsigned char)(at - known) : TEXT_SYMBOLS - 1;
}

static int append(struct text *t, FILE *f)
{
    unsigned char piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0; t->count += n) {
        unsigned char *grown = realloc(t->symbols, t->count + n);
        if (!grown)
            return -1;
        t->symbols = grown;
        for (size_t i = 0; i < n; i++)
            t->symbols[t->count + i] = symbol_of(piece[i]);
    }
    return ferror(f) ? -1 : 0;
}

int text_read(struct text *t, char *const paths[], int files, char *error, size_t size)
{
    *t = (struct text){0};
    for (int i = 0; i < files; i++) {
        FILE *f = fopen(paths[i], "r");
        int rc = f ? append(t, f) : -1;
        if (rc < 0)
            snprintf(error, size, "cannot read %s: %s", paths[i], strerror(errno));
        if (f)
            fclose(f);
        if (rc < 0) {
            text_free(t);
            return -1;
        }
    }
    if (t->count > TEXT_CONTEXT + STRETCH * TEST_EVERY)
        return 0;
    snprintf(error, size, "%zu characters are too few to learn from", t->count);
    text_free(t);
    return -1;
}

void text_free(struct text *t)
{
    free(t->symbols);
    *t = (struct text){0};
}

static int sample(const void *data, size_t i, float input[])
{
    const unsigned char *symbols = ((const struct text *)data)->symbols;
    memset(input, 0, TEXT_INPUTS * sizeof *input);
    for (int k = 0; k < TEXT_CONTEXT; k++)
        input[k * TEXT_SYMBOLS + symbols[i + (size_t)k]] = 1;
    return symbols[i + TEXT_CONTEXT];
}

static int is_test(size_t i)
{
    return i / STRETCH % TEST_EVERY == TEST_EVERY - 1;
}

struct lessons text_lessons(const struct text *t)
{
    return (struct lessons){.count = t->count - TEXT_CONTEXT,
                            .inputs = TEXT_INPUTS,
                            .classes = TEXT_SYMBOLS,
                            .data = t,
                            .sample = sample,
                            .is_test = is_test};
}
