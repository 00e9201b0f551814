/* The caller's log function; may be called from either thread. */
#ifndef SWAGG_CLIENT_LOGGER_H
#define SWAGG_CLIENT_LOGGER_H

#include "swagg.h"

struct logger {
    void (*log)(void *ctx, enum swagg_log_level level, const char *line); /* may be NULL */
    void *ctx;
};

void logger_write(const struct logger *l, enum swagg_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
