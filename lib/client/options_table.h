/* The library's options, each in one line: by it swagg_open checks it, libswagg-mpi.so reads it from the
 * environment, swagg-perf takes its words, and pages explain it (swagg-perf --options, mpi-perf --settings).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum option_form {
    OPTION_WORD,   /* an enum whose values are places in words */
    OPTION_NUMBER, /* an int; 0 stands for the default */
    OPTION_TEXT,
};

struct option_field {
    const char *name;     /* in struct swagg_options; NULL: the table ends */
    const char *variable; /* of the environment; NULL: it is for callers alone */
    size_t offset;        /* in it */
    enum option_form form;
    const char *const *words; /* up to NULL; the first is the default */
    /* Of a number; most 0: they depend on other options. */
    int64_t least, most;
    int64_t usual; /* what 0 stands for; 0: as `otherwise` has it */
    /* For pages. */
    const char *values;    /* NULL: as the rest says */
    const char *otherwise; /* the default in words; NULL: as the rest says */
    const char *meaning;
};

extern const struct option_field option_fields[];

/* There is one. */
const struct option_field *option_field_named(const char *name);
