#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "exit_status.h"

uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || n < least || n > most) {
        fprintf(stderr, "swagg-sim: %s: '%s' is not a number from %" PRIu64 " to %" PRIu64 "\n", option, text,
                least, most);
        exit(EXIT_USAGE);
    }
    return n;
}

double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
