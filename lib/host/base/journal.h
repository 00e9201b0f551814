/* systemd's journal, by its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): a datagram a line, of
 * fields KEY=value. Its library waits for the journal; here nothing does. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/un.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

struct journal {
    int fd; /* below 0: stderr is not the journal's */
    struct sockaddr_un to;
};

struct journal_field {
    const char *key, *value; /* value NULL: it is left out. A newline in it becomes a blank */
};

/* If what is written to stderr goes to the journal, as JOURNAL_STREAM says, lines can go to it by this
 * socket; else none is taken. */
void journal_open(struct journal *j, const char *socket);

/* False: it has not taken the line now. */
bool journal_send(const struct journal *j, const struct journal_field *field, unsigned fields);
