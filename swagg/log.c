#include "log.h"

#include <stdarg.h>
#include <stdio.h>

static enum log_level threshold = LOG_LEVEL_INFO; /* set before there are threads */

void log_set_level(enum log_level level)
{
    threshold = level;
}

void log_line(enum log_level level, const char *format, ...)
{
    static const char *const prefix[] = {"error: ", "warning: ", "", "", "debug: "};
    char line[1024];
    va_list args;

    if (level > threshold)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    fprintf(stderr, "swagg: %s%s\n", prefix[level], line); /* one call: lines of several threads don't mix */
}
