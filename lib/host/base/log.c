#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/journal.h"

enum { TEXT_MAX = 1024, LINE_MAX_BYTES = TEXT_MAX + 64 };

/* A pipe that is writable takes PIPE_BUF bytes without waiting. */
static_assert(2 * (int)LINE_MAX_BYTES + 1 <= PIPE_BUF, "a line, and the one that says how many were lost");

static enum log_level threshold = LOG_LEVEL_INFO; /* atomic */
static bool with_time;                            /* set before there are threads, as is: */
static const char *program = "swagg";
static struct journal journal = {.fd = -1};

static struct {
    pthread_mutex_t lock;
    uint64_t lost;   /* since the start */
    uint64_t untold; /* of them, those that no line has reported yet */
    int error;       /* of the last of them; 0: nobody read it */
    bool torn;       /* the last write stopped within a line, as where a disk is full */
} out = {.lock = PTHREAD_MUTEX_INITIALIZER};

void log_set_level(enum log_level level)
{
    __atomic_store_n(&threshold, level, __ATOMIC_RELAXED);
}

enum log_level log_get_level(void)
{
    return __atomic_load_n(&threshold, __ATOMIC_RELAXED);
}

const char *log_level_name(enum log_level level)
{
    static const char *const names[LOG_LEVELS] = {"error", "warning", "notice", "info", "debug"};

    return names[level];
}

void log_with_time(void)
{
    with_time = true;
    log_to_journal(JOURNAL_SOCKET);
}

void log_to_journal(const char *socket)
{
    if (journal.fd >= 0)
        close(journal.fd);
    journal_open(&journal, socket);
}

static size_t put_time(char *at, size_t room)
{
    struct timespec now;
    struct tm utc;
    size_t n;

    if (!with_time)
        return 0;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    n = strftime(at, room, "%Y-%m-%dT%H:%M:%S", &utc);
    return n + (size_t)snprintf(at + n, room - n, ".%03ldZ ", now.tv_nsec / 1000000);
}

static size_t put_line(char line[LINE_MAX_BYTES], const char *prefix, const char *text)
{
    const size_t n = put_time(line, LINE_MAX_BYTES);

    return n + (size_t)snprintf(line + n, LINE_MAX_BYTES - n, "%s: %s%s\n", program, prefix, text);
}

/* Whether stderr takes a line now. Its reader may be slow, or not read at all; nothing waits for it. */
static bool has_room(void)
{
    struct pollfd to = {.fd = STDERR_FILENO, .events = POLLOUT};

    return poll(&to, 1, 0) == 1 && to.revents & POLLOUT;
}

/* What stderr leads to, opened anew where writing may wait: a terminal that has some room, though not for the
 * whole line, or a pipe that somebody else fills. So O_NONBLOCK is ours alone; stderr itself is shared with
 * other programs. A file is not opened again: it would be written from its beginning. stderr itself where
 * nothing better can be had. */
static int open_target(void)
{
    const int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat target;
    int fd = -1;

    if (fstat(STDERR_FILENO, &target) == 0 && (S_ISFIFO(target.st_mode) || isatty(STDERR_FILENO)))
        fd = open("/proc/self/fd/2", flags);
    if (fd < 0 && tcgetsid(STDERR_FILENO) == getsid(0)) /* our terminal, though somebody else's device */
        fd = open("/dev/tty", flags);
    return fd < 0 ? STDERR_FILENO : fd;
}

static ssize_t put_some(int fd, const char *bytes, size_t n)
{
    const ssize_t sent = send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);

    return sent < 0 && errno == ENOTSOCK ? write(fd, bytes, n) : sent;
}

/* How many bytes stderr has taken; out.error says why not all. */
static size_t put_out(const char *bytes, size_t n)
{
    const int fd = open_target();
    size_t done = 0;
    ssize_t some = 1;

    out.error = 0;
    while (done < n && some > 0 && has_room()) {
        some = put_some(fd, bytes + done, n - done);
        out.error = some < 0 && errno != EAGAIN ? errno : 0;
        done += some > 0 ? (size_t)some : 0;
    }
    if (fd != STDERR_FILENO)
        close(fd);
    return done;
}

/* One write, so that lines of several threads don't mix. */
static void write_line(const char *prefix, const char *text)
{
    char lines[2 * LINE_MAX_BYTES + 1], lost[128];
    size_t n = 0, done;

    pthread_mutex_lock(&out.lock);
    if (out.torn)
        lines[n++] = '\n';
    if (out.untold > 0) {
        snprintf(lost, sizeof(lost), "%llu lines were lost here: %s", (unsigned long long)out.untold,
                 out.error == 0 ? "nobody read them" : strerror(out.error));
        n += put_line(lines + n, "warning: ", lost);
    }
    n += put_line(lines + n, prefix, text);
    done = put_out(lines, n);
    if (done > 0)
        out.torn = lines[done - 1] != '\n';
    if (done == n) {
        out.untold = 0;
    } else {
        out.untold++;
        out.lost++;
    }
    pthread_mutex_unlock(&out.lock);
}

static _Thread_local const struct log_listener *listens;

void log_program(const char *name)
{
    program = name;
}

void log_listen(const struct log_listener *listener)
{
    listens = listener;
}

/* The journal has times and levels of its own. */
static bool tell_journal(enum log_level level, const struct log_subject *about, const char *text)
{
    static const char *const priority[LOG_LEVELS] = {"3", "4", "5", "6", "7"}; /* as syslog's */
    const struct journal_field field[] = {
        {"MESSAGE", text},        {"PRIORITY", priority[level]}, {"SYSLOG_IDENTIFIER", program},
        {"JOB", about->job},      {"RANK", about->rank},         {"HOST", about->host},
        {"REASON", about->reason}};

    return journal_send(&journal, field, sizeof(field) / sizeof(field[0]));
}

static void put_text(enum log_level level, const struct log_subject *about, const char *text)
{
    static const char *const prefix[] = {"error: ", "warning: ", "", "", "debug: "};

    if (!tell_journal(level, about, text))
        write_line(prefix[level], text);
}

static const struct log_subject nothing;

static void write_text(enum log_level level, const struct log_subject *about, const char *format,
                       va_list args)
{
    char text[TEXT_MAX];

    if (level > log_get_level())
        return;
    vsnprintf(text, sizeof(text), format, args);
    put_text(level, about, text);
    if (level == LOG_LEVEL_ERROR && listens != NULL)
        listens->hear(listens->context, text);
}

void log_line(enum log_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_text(level, &nothing, format, args);
    va_end(args);
}

void log_about(enum log_level level, const struct log_subject *about, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_text(level, about, format, args);
    va_end(args);
}

int log_fail(int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_text(LOG_LEVEL_ERROR, &nothing, format, args);
    va_end(args);
    return rc;
}

void log_report(void *unused, const char *message)
{
    (void)unused;
    log_error("%s", message);
}

/* stdio gives whole lines, one or more: log_stream's buffer ends with them. */
static ssize_t write_stream(void *cookie, const char *bytes, size_t n)
{
    const char *const end = bytes + n;
    char text[TEXT_MAX];

    (void)cookie;
    while (bytes < end) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *stop = newline != NULL ? newline : end;

        snprintf(text, sizeof(text), "%.*s", (int)(stop - bytes), bytes);
        if (stop > bytes)
            put_text(LOG_LEVEL_NOTICE, &nothing, text);
        bytes = stop + 1;
    }
    return (ssize_t)n;
}

FILE *log_stream(void)
{
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_stream});

    if (stream != NULL)
        setvbuf(stream, NULL, _IOLBF, BUFSIZ);
    return stream;
}

uint64_t log_lost(void)
{
    uint64_t lost;

    pthread_mutex_lock(&out.lock);
    lost = out.lost;
    pthread_mutex_unlock(&out.lock);
    return lost;
}
