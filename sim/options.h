/* Options on the command line. */
#ifndef SWAGG_SIM_OPTIONS_H
#define SWAGG_SIM_OPTIONS_H

#include <stdint.h>

/* The number that an option has; ends the program with a message if it is none from least to most. */
uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most);

/* Of seconds, by a clock that only goes on. */
double seconds_now(void);

#endif
