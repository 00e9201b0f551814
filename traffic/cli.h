/* What the traffic tools share on their command lines. */
#ifndef SWAGG_TRAFFIC_CLI_H
#define SWAGG_TRAFFIC_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "udp.h"

enum { EXIT_GOOD = 0, EXIT_BAD = 1, EXIT_USAGE = 2 };

/* An option's number, 0..max. False: it is none, which has been said. */
bool parse_number(const char *option, const char *text, uint64_t max, uint64_t *value);
bool parse_unsigned(const char *option, const char *text, unsigned max, unsigned *value);

/* MAC/IP[:PORT]; the port stays what it is if it is not given. */
bool parse_end(const char *option, const char *text, struct udp_end *e);

/* "PROGRAM: ..." to standard error. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

#endif
