#include "errors.h"

#include <stdarg.h>
#include <stdio.h>

#include "swagg.h"
#include "version.h"

static _Thread_local char last_error[CLIENT_TEXT_MAX];

int client_fail(int status, const char *format, ...)
{
    /* The arguments may point into last_error itself. */
    char text[CLIENT_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(last_error, sizeof last_error, "%s", text);
    return status;
}

const char *swagg_last_error(void)
{
    return last_error;
}

const char *swagg_strerror(int status)
{
    switch (status) {
    case SWAGG_OK:
        return "success";
    case SWAGG_ERR_ARGUMENT:
        return "bad argument";
    case SWAGG_ERR_NO_SWITCH:
        return "no switch";
    case SWAGG_ERR_REFUSED:
        return "refused by the switch";
    case SWAGG_ERR_DEADLINE:
        return "deadline passed";
    case SWAGG_ERR_MISMATCH:
        return "ranks called different collectives";
    case SWAGG_ERR_LOST:
        return "a peer is gone";
    case SWAGG_ERR_ABORTED:
        return "a peer gave up";
    case SWAGG_ERR_SYSTEM:
        return "system call failed";
    default:
        return "unknown status";
    }
}

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

const char *swagg_version(void)
{
    return build_version;
}
