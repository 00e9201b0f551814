/* What the commands share on their command lines. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"

void complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("swagg-pcap: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

bool parse_number(const char *option, const char *text, uint64_t max, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && *value <= max)
        return true;
    complain("%s: \"%s\" is not a number from 0 to %" PRIu64, option, text, max);
    return false;
}

bool parse_unsigned(const char *option, const char *text, unsigned max, unsigned *value)
{
    uint64_t v;

    if (!parse_number(option, text, max, &v))
        return false;
    *value = (unsigned)v;
    return true;
}
