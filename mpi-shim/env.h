/* Settings of the shim, from the environment.
 *
 * Rank 0's environment counts: the roll call (rollcall.h) hands its settings to all ranks, so that all decide
 * alike. Only SWAGG_DISABLE, SWAGG_SUMMARY_JSON and SWAGG_CHOICES count for the rank that has them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options_table.h"
#include "swagg.h"

enum fallback {
    FALLBACK_ERROR = 0,  /* an error in the switch is an MPI error */
    FALLBACK_NATIVE = 1, /* all ranks redo that collective with the MPI library, and stay there */
};

enum { MIN_BYTES_MEASURED = -1 };

enum { ADDRESS_MAX = 16, ADDRESSES_MAX = SWAGG_SERVERS_MAX * ADDRESS_MAX };

struct settings {
    struct swagg_options options;  /* the library's, as far as the environment has them; no texts */
    char switch_ip[ADDRESSES_MAX]; /* dotted, with commas between them; empty: nothing goes to the switch.
                                      With ATP alone: the first parameter server, if only these are named */
    char server_ip[ADDRESSES_MAX]; /* dotted, with commas between them; empty: the switch is ATP's parameter
                                      server, too */
    char key_file[256];            /* a path; empty: there is none */
    int64_t min_bytes; /* tensors below stay with the MPI library; MIN_BYTES_MEASURED: as is measured */
    int64_t compression_min_bytes; /* 0 = libswagg's default */
    int64_t log;                   /* enum swagg_log_level */
    int64_t fallback;              /* enum fallback */
    int64_t disable;               /* 1: this rank's shim does nothing and says nothing */
    const char *summary_json;      /* the pattern of a file's name, in the environment; NULL: none */
    const char *choices;           /* a file's name, in the environment; NULL: none */
};

/* Reads the SWAGG_ variables of `environment` (NULL-terminated, as in environ). Returns 0, with a warning or
 * an empty string in `text`; or -EINVAL, with what is wrong and how to mend it in `text`, and *s without a
 * switch, but with a valid `disable` and `summary_json`. */
int settings_read(struct settings *s, char *const environment[], char *text, size_t size);

/* The settings in the form that ranks exchange: " NAME=VALUE" for each that counts for all of them and is set
 * or has a default here, in the environment's own words, which settings_read() takes back. If this form
 * changes, or the meaning of a variable, ROLLCALL_FORMAT (rollcall.h) must change. Returns 0, -ENOSPC or
 * -ENOMEM. */
int settings_write(const struct settings *s, char *text, size_t size);

/* For pages: the i-th variable, and its default here, if it is not the library's (else NULL). False: there
 * are no more. */
bool settings_row(size_t i, const char **name, const struct option_field **field, const char **otherwise);
