#include "operator/server.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/socket.h>

#include "monotonic.h"
#include "operator/reply.h"

enum {
    PIECES_MAX = 16, /* of a stream, before others are served */
    STREAM_MS = 10,  /* between two looks at what a stream has */
    DEAF_MS = 100,   /* to newcomers, where no descriptor was left for one */
};

struct client {
    int fd; /* -1: the place is free */
    struct ucred who;
    uint64_t active_at;
    char line[REQUEST_BYTES_MAX + 1]; /* what has come of the next request, and perhaps of later ones */
    size_t bytes;
    void *answer; /* or a piece of the feed; NULL: nothing waits to be taken */
    size_t length, sent;
    struct server_feed feed; /* read NULL: none */
    bool stopped;            /* the stream */
};

struct server {
    int listener, wake;
    server_answer *answer;
    void *context;
    uint64_t deaf_until; /* to newcomers */
    struct client client[SERVER_CLIENTS_MAX];
};

static void drop(struct client *c)
{
    if (c->feed.read != NULL)
        c->feed.close(c->feed.context);
    close(c->fd);
    free(c->answer);
    *c = (struct client){.fd = -1};
}

/* How many places the client's user and process have: those of the user count first. */
static unsigned share(const struct server *s, const struct client *c)
{
    unsigned user = 0, process = 0;

    for (const struct client *other = s->client; other < &s->client[SERVER_CLIENTS_MAX]; other++) {
        user += other->fd >= 0 && other->who.uid == c->who.uid;
        process += other->fd >= 0 && other->who.pid == c->who.pid;
    }
    return user * (SERVER_CLIENTS_MAX + 1) + process;
}

/* A free place, or one of who has most of them: that which has been silent for longest. So who connects again
 * and again takes places from himself. */
static struct client *place(struct server *s)
{
    struct client *from = s->client;

    for (struct client *c = s->client; c < &s->client[SERVER_CLIENTS_MAX]; c++) {
        if (c->fd < 0)
            return c;
        if (share(s, c) > share(s, from) || (share(s, c) == share(s, from) && c->active_at < from->active_at))
            from = c;
    }
    drop(from);
    return from;
}

/* One at a time: who connects again and again takes turns with those that are connected. */
static void take_newcomer(struct server *s, uint64_t now)
{
    const int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct ucred who = {0};
    socklen_t bytes = sizeof(who);
    struct client *c;

    if (fd < 0) {
        /* Who still waits would wake it at once again. */
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            s->deaf_until = now + DEAF_MS * NS_PER_MS;
        return;
    }
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes);
    c = place(s);
    *c = (struct client){.fd = fd, .who = who, .active_at = now};
}

static void send_answer(struct client *c, uint64_t now)
{
    const ssize_t n =
        send(c->fd, (const char *)c->answer + c->sent, c->length - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            drop(c);
        return;
    }
    c->active_at = now;
    c->sent += (size_t)n;
    if (c->sent < c->length)
        return;
    free(c->answer);
    c->answer = NULL;
}

static void set_answer(struct client *c, void *answer, size_t length, uint64_t now)
{
    c->answer = answer;
    c->length = length;
    c->sent = 0;
    send_answer(c, now);
}

/* Sends what the stream has, as much as is taken without waiting; some of it now, for others wait, too. */
static void pump(struct client *c, uint64_t now)
{
    for (unsigned piece = 0; piece < PIECES_MAX && c->fd >= 0 && c->answer == NULL; piece++) {
        uint8_t *bytes = malloc(SERVER_FEED_BYTES);
        const size_t n = bytes == NULL ? 0 : c->feed.read(c->feed.context, bytes, SERVER_FEED_BYTES);

        if (n > 0) {
            set_answer(c, bytes, n, now);
            continue;
        }
        free(bytes);
        c->active_at = now; /* nothing waits for this client */
        if (c->stopped)
            drop(c);
        return;
    }
}

/* Answers the requests that have come, until an answer has to wait for its reader. */
static void answer_lines(struct server *s, struct client *c, uint64_t now)
{
    char *end;

    while (c->fd >= 0 && c->answer == NULL && c->feed.read == NULL &&
           (end = memchr(c->line, '\n', c->bytes)) != NULL) {
        char *answer = s->answer(s->context, c->who.uid, c->line, (size_t)(end - c->line), &c->feed);

        c->bytes -= (size_t)(end + 1 - c->line);
        memmove(c->line, end + 1, c->bytes);
        if (answer == NULL)
            drop(c);
        else
            set_answer(c, answer, strlen(answer), now);
    }
    if (c->fd >= 0 && c->answer == NULL && c->bytes == sizeof(c->line))
        drop(c); /* a line that does not end */
}

static void take_bytes(struct server *s, struct client *c, uint64_t now)
{
    const ssize_t n = recv(c->fd, c->line + c->bytes, sizeof(c->line) - c->bytes, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        drop(c);
        return;
    }
    c->active_at = now;
    c->bytes += (size_t)n;
    answer_lines(s, c, now);
}

/* All that a client with a stream can say is that it wants no more. */
static void serve_stream(struct client *c, short events, uint64_t now)
{
    char more;

    if (!c->stopped && events & (POLLIN | POLLHUP) && recv(c->fd, &more, 1, MSG_DONTWAIT) == 0) {
        c->feed.stop(c->feed.context);
        c->stopped = true;
    }
    if (c->answer != NULL && events & POLLOUT)
        send_answer(c, now);
    if (c->fd >= 0)
        pump(c, now);
}

static void serve(struct server *s, struct client *c, short events, uint64_t now)
{
    if (events & (POLLERR | POLLNVAL)) {
        drop(c);
    } else if (c->feed.read != NULL) {
        serve_stream(c, events, now);
    } else if (c->answer != NULL && events & POLLOUT) {
        send_answer(c, now);
        if (c->fd >= 0 && c->answer == NULL)
            answer_lines(s, c, now);
    } else if (c->answer == NULL && events & (POLLIN | POLLHUP)) {
        take_bytes(s, c, now);
    }
    if (c->fd >= 0 && now - c->active_at >= SERVER_SILENT_NS)
        drop(c);
}

int server_open(struct server **out, int listener, server_answer *answer, void *context)
{
    struct server *s = calloc(1, sizeof(*s));
    int error;

    *out = NULL;
    if (s == NULL) {
        close(listener);
        return -ENOMEM;
    }
    s->listener = listener;
    s->answer = answer;
    s->context = context;
    for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++)
        s->client[i].fd = -1;
    s->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (s->wake < 0) {
        error = errno;
        server_close(s);
        return -error;
    }
    *out = s;
    return 0;
}

void server_close(struct server *s)
{
    if (s == NULL)
        return;
    for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++)
        if (s->client[i].fd >= 0)
            drop(&s->client[i]);
    if (s->wake >= 0)
        close(s->wake);
    close(s->listener);
    free(s);
}

void server_wake(const struct server *s)
{
    eventfd_write(s->wake, 1); /* if it cannot be, it is awake already */
}

/* While clients are connected, it must look at their silence now and then, and often at what streams have. */
static int patience(const struct server *s, int wait_ms, bool deaf)
{
    const int silence_ms = SERVER_SILENT_NS / 1000000 / 4;

    if (deaf && (wait_ms < 0 || wait_ms > DEAF_MS))
        wait_ms = DEAF_MS;
    for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++) {
        const int look_ms = s->client[i].feed.read != NULL ? STREAM_MS : silence_ms;

        if (s->client[i].fd >= 0 && (wait_ms < 0 || wait_ms > look_ms))
            wait_ms = look_ms;
    }
    return wait_ms;
}

static short events_of(const struct client *c)
{
    if (c->feed.read == NULL)
        return c->answer != NULL ? POLLOUT : POLLIN;
    return (short)((c->answer != NULL ? POLLOUT : 0) | (c->stopped ? 0 : POLLIN));
}

void server_round(struct server *s, int wait_ms, uint64_t (*now_of)(void))
{
    struct pollfd fds[SERVER_CLIENTS_MAX + 2];
    const bool deaf = s->deaf_until > now_of();
    eventfd_t woken;
    uint64_t now;

    for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++)
        fds[i] = (struct pollfd){.fd = s->client[i].fd, .events = events_of(&s->client[i])};
    fds[SERVER_CLIENTS_MAX] = (struct pollfd){.fd = deaf ? -1 : s->listener, .events = POLLIN};
    fds[SERVER_CLIENTS_MAX + 1] = (struct pollfd){.fd = s->wake, .events = POLLIN};
    if (poll(fds, SERVER_CLIENTS_MAX + 2, patience(s, wait_ms, deaf)) < 0)
        return;
    if (fds[SERVER_CLIENTS_MAX + 1].revents != 0 && eventfd_read(s->wake, &woken) < 0)
        return;
    now = now_of();
    for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++)
        if (s->client[i].fd >= 0)
            serve(s, &s->client[i], fds[i].revents, now);
    if (fds[SERVER_CLIENTS_MAX].revents != 0)
        take_newcomer(s, now);
}
