/* Settings of the shim, from the environment.
 *
 * Rank 0's environment counts: the roll call (rollcall.h) hands its settings to all ranks, so that whatever
 * follows from them is decided alike everywhere. */
#ifndef SHIM_ENV_H
#define SHIM_ENV_H

#include <stddef.h>
#include <stdint.h>

enum fallback {
    FALLBACK_ERROR = 0,  /* an error in the switch is an MPI error */
    FALLBACK_NATIVE = 1, /* all ranks redo that collective with Open MPI, and stay there */
};

struct settings {
    char switch_ip[16];      /* dotted; empty: nothing is offloaded */
    int64_t min_bytes;       /* tensors below stay with Open MPI */
    int64_t mode;            /* enum swagg_mode */
    int64_t checksum;        /* enum swagg_checksum */
    int64_t log;             /* enum swagg_log_level */
    int64_t join_timeout_ms; /* 0 = libswagg's default, as in all that follow */
    int64_t call_timeout_ms;
    int64_t window;
    int64_t slots;
    int64_t fallback; /* enum fallback */
    int64_t disable;  /* 1: nothing is offloaded, and no word about it */
};

/* Reads the SWAGG_ variables of `environment` (NULL-terminated, as in environ). Returns 0, with a warning or
 * an empty string in `text`; or -EINVAL, with what is wrong and how to mend it in `text`, and *s in a state
 * of no meaning. */
int settings_read(struct settings *s, char *const environment[], char *text, size_t size);

#endif
