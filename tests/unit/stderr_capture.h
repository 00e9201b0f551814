/* What is written to stderr while a test runs. */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

static int captured_reader, captured_stderr;
static char captured_text[1 << 20];

/* What has been written since the last call; stays in captured_text. */
static inline const char *capture_take(void)
{
    ssize_t n, all = 0;

    while ((n = read(captured_reader, captured_text + all, sizeof(captured_text) - 1 - (size_t)all)) > 0)
        all += n;
    captured_text[all] = '\0';
    return captured_text;
}

static inline bool capture_begin(void)
{
    int ends[2];

    if (pipe(ends) < 0)
        return false;
    captured_reader = ends[0];
    fcntl(captured_reader, F_SETFL, O_NONBLOCK);
    captured_stderr = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    return true;
}

static inline void capture_end(void)
{
    dup2(captured_stderr, STDERR_FILENO);
    close(captured_stderr);
    close(captured_reader);
}
