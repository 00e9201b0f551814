#include "operator/log_level.h"

#include <string.h>

#include "base/log.h"

bool log_level_set(const struct request *request, struct reply *reply)
{
    const char *wanted = request_text(request, "level");

    for (enum log_level level = 0; level < LOG_LEVELS; level++)
        if (wanted != NULL && strcmp(wanted, log_level_name(level)) == 0) {
            log_set_level(level);
            log_line(level, "log level set to %s by the operator", log_level_name(level));
            return true;
        }
    reply_fail(reply, REPLY_BAD_REQUEST, "%s is no log level; there are: error, warning, notice, info, debug",
               wanted == NULL ? "nothing" : wanted);
    return false;
}
