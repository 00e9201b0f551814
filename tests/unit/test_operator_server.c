/* The server of operators' tools: clients that are slow, silent, greedy or too many. Time is the test's. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "operator/request.h"
#include "operator/server.h"
#include "unit.h"

enum { ROUNDS = 64, LONG_ANSWER = 4 << 20 };

static struct server *server;
static struct sockaddr_un address;
static uint64_t now;
static unsigned asked;
static char last[REQUEST_BYTES_MAX + 1]; /* what was asked last */

static uint64_t test_time(void)
{
    return now;
}

/* A stream: what it has, and what has become of it. */
static struct flow {
    size_t has;
    unsigned stops, closes;
} flow;

static size_t read_stream(void *context, uint8_t *to, size_t room)
{
    struct flow *f = context;
    const size_t n = f->has < room ? f->has : room;

    memset(to, 's', n);
    f->has -= n;
    return n;
}

static void stop_stream(void *context)
{
    struct flow *f = context;

    f->stops++;
    f->has += 3; /* what was still under way */
}

static void close_stream(void *context)
{
    ((struct flow *)context)->closes++;
}

/* "long" gets an answer that fits into no socket's buffer, "die" none. */
static char *answer(void *context, uid_t user, const char *line, size_t bytes, struct server_feed *feed)
{
    char *text = NULL;

    CU_ASSERT_PTR_EQUAL(context, &asked);
    CU_ASSERT_EQUAL(user, geteuid());
    asked++;
    snprintf(last, sizeof(last), "%.*s", (int)bytes, line);
    if (strcmp(last, "die") == 0)
        return NULL;
    if (strcmp(last, "stream") == 0)
        *feed = (struct server_feed){read_stream, stop_stream, close_stream, &flow};
    if (strcmp(last, "long") != 0)
        return asprintf(&text, "<%s>\n", last) < 0 ? NULL : text;
    text = malloc(LONG_ANSWER + 1);
    memset(text, 'x', LONG_ANSWER);
    text[LONG_ANSWER - 1] = '\n';
    text[LONG_ANSWER] = '\0';
    return text;
}

static void open_server(void)
{
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    address = (struct sockaddr_un){.sun_family = AF_UNIX}; /* an abstract one: no file is left */
    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "swagg/test_operator_server/%d", getpid());
    CU_ASSERT_EQUAL_FATAL(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    CU_ASSERT_EQUAL_FATAL(listen(listener, SERVER_CLIENTS_MAX), 0);
    now = 1;
    asked = 0;
    CU_ASSERT_EQUAL_FATAL(server_open(&server, listener, answer, &asked), 0);
}

static void close_server(void)
{
    server_close(server);
}

EACH_TEST(open_server, close_server)

static void rounds(void)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        server_round(server, 0, test_time);
}

static int client(void)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    rounds();
    return fd;
}

static void say(int fd, const char *text)
{
    CU_ASSERT_EQUAL(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    rounds();
}

static bool hears(int fd, const char *text)
{
    char heard[256];
    const ssize_t n = recv(fd, heard, sizeof(heard) - 1, MSG_DONTWAIT);

    heard[n < 0 ? 0 : n] = '\0';
    return strcmp(heard, text) == 0;
}

/* Reads what there is. */
static bool is_cut_off(int fd)
{
    static char rest[LONG_ANSWER];
    ssize_t n;

    while ((n = recv(fd, rest, sizeof(rest), MSG_DONTWAIT)) > 0)
        ;
    return n == 0 || (n < 0 && errno == ECONNRESET);
}

TEST(requests_are_answered_one_after_another)
{
    const int fd = client();

    say(fd, "a\n");
    CU_ASSERT(hears(fd, "<a>\n"));
    say(fd, "b\nc\nd");
    CU_ASSERT(hears(fd, "<b>\n<c>\n"));
    say(fd, "e\n\n");
    CU_ASSERT(hears(fd, "<de>\n<>\n"));
    CU_ASSERT_EQUAL(asked, 5);
    close(fd);
    rounds();
}

TEST(a_line_that_does_not_end_is_cut_off)
{
    char line[REQUEST_BYTES_MAX + 1];
    const int fd = client(), other = client();

    memset(line, 'x', sizeof(line));
    line[REQUEST_BYTES_MAX] = '\n'; /* the longest that is allowed */
    CU_ASSERT_EQUAL(send(fd, line, sizeof(line), 0), (ssize_t)sizeof(line));
    rounds();
    CU_ASSERT_EQUAL(asked, 1);
    CU_ASSERT_EQUAL(strlen(last), REQUEST_BYTES_MAX);
    line[REQUEST_BYTES_MAX] = 'x';
    CU_ASSERT_EQUAL(send(other, line, sizeof(line), 0), (ssize_t)sizeof(line));
    rounds();
    CU_ASSERT_EQUAL(asked, 1);
    CU_ASSERT(is_cut_off(other));
    CU_ASSERT(!is_cut_off(fd));
    close(fd);
    close(other);
}

TEST(who_does_not_read_holds_up_nobody_and_is_cut_off)
{
    const int deaf = client();
    int other;

    say(deaf, "long\nnever\n");
    CU_ASSERT_EQUAL(asked, 1); /* the next one waits for the answer to be taken */
    other = client();
    say(other, "a\n");
    CU_ASSERT(hears(other, "<a>\n"));
    now += SERVER_SILENT_NS;
    say(other, "b\n");
    CU_ASSERT(hears(other, "<b>\n"));
    CU_ASSERT(is_cut_off(deaf));
    CU_ASSERT_EQUAL(asked, 3);
    close(deaf);
    close(other);
}

TEST(who_reads_slowly_gets_all_of_it)
{
    static char piece[1 << 16];
    size_t heard = 0;
    ssize_t n;
    const int fd = client();

    say(fd, "long\na\n");
    for (unsigned i = 0; i < LONG_ANSWER && heard < LONG_ANSWER; i++) {
        n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);
        if (n > 0) {
            heard += (size_t)n;
            continue;
        }
        now += SERVER_SILENT_NS / 2; /* all that was sent has been read */
        server_round(server, 0, test_time);
    }
    rounds();
    CU_ASSERT(heard >= LONG_ANSWER);
    CU_ASSERT_EQUAL(asked, 2);
    close(fd);
}

TEST(who_is_silent_is_cut_off)
{
    const int fd = client();

    now += SERVER_SILENT_NS - 1;
    rounds();
    CU_ASSERT(!is_cut_off(fd));
    now++;
    rounds();
    CU_ASSERT(is_cut_off(fd));
    close(fd);
}

TEST(a_newcomer_gets_the_place_of_the_most_silent)
{
    int fd[SERVER_CLIENTS_MAX + 1];

    for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++, now++)
        fd[i] = client();
    say(fd[0], "a\n"); /* so that the second is the most silent */
    now++;
    fd[SERVER_CLIENTS_MAX] = client();
    say(fd[SERVER_CLIENTS_MAX], "b\n");
    CU_ASSERT(hears(fd[SERVER_CLIENTS_MAX], "<b>\n"));
    for (unsigned i = 0; i <= SERVER_CLIENTS_MAX; i++) {
        CU_ASSERT_EQUAL(is_cut_off(fd[i]), i == 1);
        close(fd[i]);
    }
}

/* In a process of its own: connects as often as there are places, and once more; then waits for its end. */
_Noreturn static void connect_often(int ready, int end)
{
    char nothing;

    for (unsigned i = 0; i <= SERVER_CLIENTS_MAX; i++)
        if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof(address)) < 0)
            _exit(1);
    _exit(write(ready, "", 1) != 1 || read(end, &nothing, 1) != 0);
}

TEST(who_connects_often_takes_no_place_of_others)
{
    int fd, ready[2], end[2], status;
    struct pollfd told;
    pid_t pid;

    fd = client();
    now++; /* it is the most silent from here on */
    CU_ASSERT_FATAL(pipe(ready) == 0 && pipe(end) == 0);
    pid = fork();
    if (pid == 0) {
        close(end[1]);
        connect_often(ready[1], end[0]);
    }
    close(ready[1]);
    told = (struct pollfd){.fd = ready[0], .events = POLLIN};
    while (poll(&told, 1, 0) == 0)
        server_round(server, 0, test_time);
    rounds();
    say(fd, "a\n");
    CU_ASSERT(hears(fd, "<a>\n"));
    close(end[1]);
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_EQUAL(status, 0);
    close(end[0]);
    close(ready[0]);
    close(fd);
}

TEST(no_answer_ends_the_connection)
{
    const int fd = client();

    say(fd, "die\na\n");
    CU_ASSERT_EQUAL(asked, 1);
    CU_ASSERT(is_cut_off(fd));
    close(fd);
}

TEST(a_stream_follows_its_answer)
{
    const int fd = client();

    flow = (struct flow){0};
    say(fd, "stream\na\n");
    CU_ASSERT(hears(fd, "<stream>\n"));
    flow.has = 5;
    rounds();
    CU_ASSERT(hears(fd, "sssss"));
    now += SERVER_SILENT_NS; /* nothing to send is no silence of the client's */
    rounds();
    CU_ASSERT_EQUAL(flow.stops, 0);
    CU_ASSERT_EQUAL(shutdown(fd, SHUT_WR), 0);
    rounds();
    CU_ASSERT_EQUAL(flow.stops, 1);
    CU_ASSERT_EQUAL(flow.closes, 1);
    CU_ASSERT(hears(fd, "sss"));
    CU_ASSERT(is_cut_off(fd));
    CU_ASSERT_EQUAL(asked, 1);
    close(fd);
}

TEST(a_stream_that_nobody_takes_is_ended)
{
    int fd, other;

    flow = (struct flow){.has = LONG_ANSWER};
    fd = client();
    say(fd, "stream\n");
    other = client();
    say(other, "a\n");
    CU_ASSERT(hears(other, "<a>\n"));
    now += SERVER_SILENT_NS;
    rounds();
    CU_ASSERT(flow.stops == 0 && flow.closes == 1);
    CU_ASSERT(is_cut_off(fd));
    close(fd);
    close(other);
}

enum { FILES = 64 /* more than are polled at once, which takes as many to be allowed */ };

static void allow_files(rlim_t n)
{
    struct rlimit limit;

    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = n;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Until then who waits would wake it again and again. */
TEST(a_newcomer_waits_where_no_descriptor_is_left)
{
    int newcomer, file[FILES], files = 0;

    newcomer = socket(AF_UNIX, SOCK_STREAM, 0);
    CU_ASSERT_EQUAL_FATAL(connect(newcomer, (struct sockaddr *)&address, sizeof(address)), 0);
    allow_files(FILES);
    while (files < FILES && (file[files] = dup(newcomer)) >= 0)
        files++;
    rounds();
    while (files > 0)
        close(file[--files]);
    say(newcomer, "hello\n");
    CU_ASSERT_EQUAL(asked, 0);
    now += 100000000;
    rounds();
    CU_ASSERT_EQUAL(asked, 1);
    close(newcomer);
}

TEST(a_wait_is_ended_from_outside)
{
    server_wake(server);
    server_round(server, -1, test_time); /* returns */
}
