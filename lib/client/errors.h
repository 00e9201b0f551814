/* What the library says: the text of the last error, one for each thread (swagg_last_error), and lines of the
 * log. */
#ifndef SWAGG_CLIENT_ERRORS_H
#define SWAGG_CLIENT_ERRORS_H

#include "swagg.h"

enum { CLIENT_TEXT_MAX = 1024 };

/* Keeps the text for swagg_last_error and returns status, so that `return client_fail(...)` reads well. */
int client_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The caller's log function; may be called from either thread. */
struct logger {
    void (*log)(void *ctx, enum swagg_log_level level, const char *line); /* may be NULL */
    void *ctx;
};

void logger_write(const struct logger *l, enum swagg_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
