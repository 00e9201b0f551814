/* What the commands share on their command lines. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

void complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
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

bool parse_end(const char *option, const char *text, struct udp_end *e)
{
    unsigned b[6], port = e->port;
    struct in_addr ip;
    char address[16];
    int n = 0;

    if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x/%15[0-9.]%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], address,
               &n) != 7 ||
        inet_pton(AF_INET, address, &ip) != 1 || (text[n] != '\0' && text[n] != ':')) {
        complain("%s: \"%s\" is not of the form 02:00:00:00:00:01/10.0.0.1:30000", option, text);
        return false;
    }
    if (text[n] == ':' && !parse_unsigned(option, text + n + 1, UINT16_MAX, &port))
        return false;
    for (unsigned i = 0; i < 6; i++)
        e->mac[i] = (uint8_t)b[i];
    e->ip = ntohl(ip.s_addr);
    e->port = (uint16_t)port;
    return true;
}
