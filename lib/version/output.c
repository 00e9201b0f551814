#include "output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit_status.h"

static void check(void)
{
    const bool failed = fflush(stdout) != 0;

    if (!failed && !ferror(stdout))
        return;
    if (!failed) { /* but earlier: stdio has dropped what it was, and why; one byte more tells */
        errno = 0;
        putchar('\n');
        fflush(stdout);
    }
    fprintf(stderr, "%s: cannot write standard output: %s\n", program_invocation_short_name,
            errno != 0 ? strerror(errno) : "a part of it is lost");
    _exit(EXIT_BAD);
}

void output_check_at_exit(void)
{
    atexit(check);
}
