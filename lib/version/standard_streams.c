#include "standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit_status.h"

/* Standard output for reading only, so that what is printed there counts as lost. */
static void fill(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR); /* the lowest number that is free */
}

static void check_output(void)
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

void standard_streams_begin(void)
{
    fill();
    atexit(check_output); /* the first to be registered has the last word */
}
