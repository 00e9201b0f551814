#include "logger.h"

#include <stdarg.h>
#include <stdio.h>

#include "errors.h"

void logger_write(const struct logger *l, enum swagg_log_level level, const char *format, ...)
{
    if (!l->log)
        return;
    char line[CLIENT_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    l->log(l->ctx, level, line);
}
