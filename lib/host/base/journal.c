#include "base/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 };

/* JOURNAL_STREAM has the device and the inode of what the service was started with. */
static bool is_stderr(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    char is[64];
    struct stat st;

    if (stream == NULL || fstat(STDERR_FILENO, &st) < 0)
        return false;
    snprintf(is, sizeof(is), "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
    return strcmp(stream, is) == 0;
}

void journal_open(struct journal *j, const char *path)
{
    *j = (struct journal){.fd = -1, .to = {.sun_family = AF_UNIX}};
    snprintf(j->to.sun_path, sizeof(j->to.sun_path), "%s", path);
    if (is_stderr())
        j->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static size_t put(char *at, size_t room, const struct journal_field *field)
{
    const size_t n = (size_t)snprintf(at, room, "%s=%s\n", field->key, field->value);

    if (n >= room)
        return 0; /* it is left out */
    for (char *newline = at; (newline = memchr(newline, '\n', (size_t)(at + n - 1 - newline))) != NULL;)
        *newline = ' ';
    return n;
}

bool journal_send(const struct journal *j, const struct journal_field *field, unsigned fields)
{
    char line[LINE_BYTES];
    size_t n = 0;

    if (j->fd < 0)
        return false;
    for (unsigned i = 0; i < fields; i++)
        if (field[i].value != NULL)
            n += put(line + n, sizeof(line) - n, &field[i]);
    return sendto(j->fd, line, n, MSG_NOSIGNAL, (const struct sockaddr *)&j->to, sizeof(j->to)) == (ssize_t)n;
}
