/* The log: lines on stderr, one for each call. Any thread. Logging never waits for the reader: a line for
 * which there is no room, in a terminal, a pipe, a socket or on a disk, is lost, and the next line that is
 * written tells how many were lost. A half of a line ends before it. SIGXFSZ and SIGPIPE should be ignored.
 * Lines are written at once, by the thread that logs them, so that the last one before a crash is there.
 *
 * Where stderr is systemd's journal lines go to that with fields (log_about); if it does not take one, to
 * stderr, as elsewhere.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_NOTICE,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
    LOG_LEVELS
};

/* Lines above this level are not written; LOG_LEVEL_INFO until set. Any thread, at any time. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* "warning". */
const char *log_level_name(enum log_level level);

/* Lines name this program, of at most 12 letters: "swagg" until then. To be called while there is only one
 * thread. */
void log_program(const char *name);

/* From here on lines begin with the time (UTC); before that, as answers to a command line, they do not. To be
 * called while there is only one thread. */
void log_with_time(void);

/* A part of that: with stderr the journal's, lines go to it by this socket. */
void log_to_journal(const char *socket);

/* Who else hears of errors. */
struct log_listener {
    void (*hear)(void *context, const char *text);
    void *context;
};

/* From here on errors that the calling thread logs go to the listener, too. NULL: to nobody any more. */
void log_listen(const struct log_listener *listener);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a line is about, as fields of a journal: JOB, RANK, HOST, REASON. */
struct log_subject {
    const char *job, *rank, *host, *reason; /* NULL: it has none */
};
void log_about(enum log_level level, const struct log_subject *about, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An error; returns rc, so that `return log_fail(...)` reads well. */
int log_fail(int rc, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An error, as settings are reported (settings.h). */
void log_report(void *unused, const char *message);

/* A stream for libraries that write their own lines to the log, whatever the level. NULL: no memory. */
FILE *log_stream(void);

/* Lines that found no room since the start. */
uint64_t log_lost(void);

#define log_error(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...)  log_line(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
