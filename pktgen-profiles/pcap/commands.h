/* The commands of swagg-pcap. Each gets its own arguments, argv[0] being its name, and returns the exit code:
 * 0, 1 (check: something is wrong with the sums; or a file cannot be read or written), 2 (bad arguments). */
#ifndef SWAGG_PCAP_COMMANDS_H
#define SWAGG_PCAP_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "udp.h"

enum { EXIT_GOOD = 0, EXIT_BAD = 1, EXIT_USAGE = 2 };

int command_gen(int argc, char *argv[]);
int command_check(int argc, char *argv[]);
int command_show(int argc, char *argv[]);

/* An option's number, 0..max. False: it is none, which has been said. */
bool parse_number(const char *option, const char *text, uint64_t max, uint64_t *value);
bool parse_unsigned(const char *option, const char *text, unsigned max, unsigned *value);

/* MAC/IP[:PORT]; the port stays what it is if it is not given. */
bool parse_end(const char *option, const char *text, struct udp_end *e);

/* "PROGRAM: ..." to standard error. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

#endif
