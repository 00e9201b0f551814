/* ncclNetPlugin_v8: messages from rank to rank over TCP, which NCCL wants of a library whose CollNet it is to
 * use.
 *
 * A connection carries messages one way, in the order of isend and irecv: its length, 4 bytes, then its
 * bytes; tags order nothing that this does not, where a receive is one message. Nothing waits: what a socket
 * does not take or have yet, test goes on with. */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "devices.h"

/* Beginning of a connection: it is for this listener. */
struct hello {
    uint64_t cookie;
};

/* Of NCCL's handle: where to connect to; and, where it is connected from, how far that has come. */
struct handle {
    struct sockaddr_in at;
    uint64_t cookie;
    struct comm *connecting; /* NULL, as it was carried here: it has not begun */
};
_Static_assert(sizeof(struct handle) <= NCCL_HANDLE_MAX, "a handle's room");

/* Who has connected and not said hello yet has one of these places, until a later one needs it: nobody who is
 * silent keeps a rank out. */
enum { GREETING_MAX = 8 };

struct listening {
    int fd;
    uint64_t cookie;
    struct comm *greeting[GREETING_MAX]; /* NULL: the place is free */
    unsigned next;                       /* ... counted on: the next one's place */
};

struct request {
    struct comm *comm;
    bool used, done;
    uint8_t *data;
    uint32_t room;   /* for a message that is received */
    uint32_t length; /* of the message; received ahead of it */
    size_t moved;    /* of length and message */
};

struct comm {
    int fd;
    bool sends;
    struct hello hello;
    size_t greeted;                             /* bytes of it that were sent, or received */
    enum nccl_result failed;                    /* for all requests that were not done */
    struct request requests[NCCL_REQUESTS_MAX]; /* a ring: the first of `count` is next on the wire */
    unsigned first, count;
};

static struct comm *comm_new(int fd, bool sends)
{
    struct comm *c = calloc(1, sizeof *c);
    const int on = 1;
    if (!c)
        return NULL;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->fd = fd;
    c->sends = sends;
    return c;
}

static enum nccl_result comm_free(void *comm)
{
    struct comm *c = comm;
    if (c)
        close(c->fd);
    free(c);
    return NCCL_SUCCESS;
}

static enum nccl_result listen_at(int device, void *nccl_handle, void **listening)
{
    const struct device *d = device_of(device);
    struct handle *handle = nccl_handle;
    socklen_t length = sizeof handle->at;
    if (!d)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "there is no network device %d", device);
    struct listening *l = calloc(1, sizeof *l);
    if (!l)
        return nccl_fail(NCCL_SYSTEM_ERROR, "no memory to listen");
    memset(handle, 0, sizeof *handle);
    handle->at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = d->address};
    l->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->fd < 0 || bind(l->fd, (const struct sockaddr *)&handle->at, sizeof handle->at) < 0 ||
        listen(l->fd, SOMAXCONN) < 0 || getsockname(l->fd, (struct sockaddr *)&handle->at, &length) < 0 ||
        getrandom(&l->cookie, sizeof l->cookie, 0) < 0) {
        const int error = errno;
        if (l->fd >= 0)
            close(l->fd);
        free(l);
        return nccl_fail(NCCL_SYSTEM_ERROR, "cannot listen at %s: %s", d->name, strerror(error));
    }
    handle->cookie = l->cookie;
    *listening = l;
    return NCCL_SUCCESS;
}

static enum nccl_result close_listening(void *listening)
{
    struct listening *l = listening;
    if (!l)
        return NCCL_SUCCESS;
    for (unsigned i = 0; i < GREETING_MAX; i++)
        comm_free(l->greeting[i]);
    close(l->fd);
    free(l);
    return NCCL_SUCCESS;
}

/* 1: all has been moved; 0: not yet; negative: -errno. */
static int greet(struct comm *c)
{
    uint8_t *at = (uint8_t *)&c->hello + c->greeted;
    const size_t left = sizeof c->hello - c->greeted;
    const ssize_t n = c->sends ? send(c->fd, at, left, MSG_NOSIGNAL) : recv(c->fd, at, left, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (n == 0)
        return -ECONNRESET;
    c->greeted += (size_t)n;
    return c->greeted == sizeof c->hello;
}

static int begin_connecting(const struct device *d, struct handle *handle)
{
    const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = d->address};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (bind(fd, (const struct sockaddr *)&from, sizeof from) < 0 ||
        (connect(fd, (const struct sockaddr *)&handle->at, sizeof handle->at) < 0 && errno != EINPROGRESS) ||
        !(handle->connecting = comm_new(fd, true))) {
        const int error = errno;
        close(fd);
        return -error;
    }
    handle->connecting->hello.cookie = handle->cookie;
    return 0;
}

/* As greet. */
static int go_on_connecting(struct comm *c)
{
    struct pollfd ready = {.fd = c->fd, .events = POLLOUT};
    int error = 0;
    socklen_t length = sizeof error;
    if (poll(&ready, 1, 0) <= 0)
        return 0;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
        return -errno;
    return error ? -error : greet(c);
}

static enum nccl_result connect_to(int device, void *nccl_handle, void **sending, void **on_device)
{
    const struct device *d = device_of(device);
    struct handle *handle = nccl_handle;
    *sending = NULL;
    if (on_device)
        *on_device = NULL;
    if (!d)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "there is no network device %d", device);
    int rc = handle->connecting ? 0 : begin_connecting(d, handle);
    if (rc == 0)
        rc = go_on_connecting(handle->connecting);
    if (rc == 0)
        return NCCL_SUCCESS;
    struct comm *c = handle->connecting;
    handle->connecting = NULL;
    if (rc < 0) {
        comm_free(c);
        return nccl_fail(NCCL_REMOTE_ERROR, "cannot connect to a rank from %s: %s", d->name, strerror(-rc));
    }
    *sending = c;
    return NCCL_SUCCESS;
}

/* One who has connected, if there is one; 0, or -errno. */
static int take_newcomer(struct listening *l)
{
    const int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED ? 0 : -errno;
    struct comm *c = comm_new(fd, false), **place = &l->greeting[l->next++ % GREETING_MAX];
    if (!c) {
        close(fd);
        return -ENOMEM;
    }
    comm_free(*place);
    *place = c;
    return 0;
}

/* One who has said hello; NULL: nobody has. Who says it to another listener, or nothing, is no rank. */
static struct comm *find_rank(struct listening *l)
{
    for (unsigned i = 0; i < GREETING_MAX; i++) {
        struct comm *c = l->greeting[i];
        const int rc = c ? greet(c) : 0;
        if (rc == 0)
            continue;
        l->greeting[i] = NULL;
        if (rc > 0 && c->hello.cookie == l->cookie)
            return c;
        comm_free(c);
    }
    return NULL;
}

static enum nccl_result accept_at(void *listening, void **receiving, void **on_device)
{
    struct listening *l = listening;
    *receiving = NULL;
    if (on_device)
        *on_device = NULL;
    const int rc = take_newcomer(l);
    if (rc < 0)
        return nccl_fail(NCCL_SYSTEM_ERROR, "cannot accept a connection: %s", strerror(-rc));
    *receiving = find_rank(l);
    return NCCL_SUCCESS;
}

/* Moves what the socket takes, or has, of the message. */
static ssize_t move(const struct comm *c, struct request *r)
{
    const size_t head = sizeof r->length;
    const size_t of_head = r->moved < head ? r->moved : head, of_data = r->moved - of_head;
    uint8_t *length = (uint8_t *)&r->length;
    if (!c->sends)
        return of_head < head ? recv(c->fd, length + of_head, head - of_head, 0)
                              : recv(c->fd, r->data + of_data, r->length - of_data, 0);
    struct iovec parts[] = {{length + of_head, head - of_head}, {r->data + of_data, r->length - of_data}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    return sendmsg(c->fd, &message, MSG_NOSIGNAL);
}

static enum nccl_result fail(struct comm *c, const char *why)
{
    c->failed = NCCL_REMOTE_ERROR;
    return nccl_fail(c->failed, "a connection to a rank has failed: %s", why);
}

/* Goes on with the messages, in their order. */
static enum nccl_result progress(struct comm *c)
{
    while (c->count > 0 && !c->failed) {
        struct request *r = &c->requests[c->first];
        const ssize_t n = move(c, r);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR ? NCCL_SUCCESS : fail(c, strerror(errno));
        if (n == 0)
            return fail(c, "the other end is closed");
        r->moved += (size_t)n;
        if (r->moved < sizeof r->length)
            continue;
        if (!c->sends && r->length > r->room)
            return fail(c, "a message is longer than what is to receive it");
        if (r->moved < sizeof r->length + r->length)
            continue;
        r->done = true;
        c->first = (c->first + 1) % NCCL_REQUESTS_MAX;
        c->count--;
    }
    return c->failed;
}

static enum nccl_result begin(struct comm *c, void *data, int size, void **request)
{
    struct request *r = &c->requests[(c->first + c->count) % NCCL_REQUESTS_MAX];
    *request = NULL;
    if (size < 0)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "a message of %d bytes", size);
    if (c->failed || r->used)
        return c->failed;
    *r = (struct request){.comm = c,
                          .used = true,
                          .data = data,
                          .room = (uint32_t)size,
                          .length = c->sends ? (uint32_t)size : 0};
    c->count++;
    *request = r;
    return progress(c);
}

static enum nccl_result isend(void *sending, void *data, int size, int tag, void *mr, void **request)
{
    (void)tag, (void)mr;
    return begin(sending, data, size, request);
}

static enum nccl_result irecv(void *receiving, int n, void **data, int *sizes, int *tags, void **mrs,
                              void **request)
{
    (void)tags, (void)mrs;
    if (n != 1)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "%d receives at once, where there is one", n);
    return begin(receiving, data[0], sizes[0], request);
}

/* The host's memory has what was received. */
static enum nccl_result iflush(void *receiving, int n, void **data, int *sizes, void **mrs, void **request)
{
    (void)receiving, (void)n, (void)data, (void)sizes, (void)mrs;
    *request = NULL;
    return NCCL_SUCCESS;
}

static enum nccl_result test(void *request, int *done, int *sizes)
{
    struct request *r = request;
    const enum nccl_result result = progress(r->comm);
    *done = r->done;
    if (!r->done)
        return result;
    if (sizes)
        sizes[0] = (int)r->length;
    r->used = false;
    return NCCL_SUCCESS;
}

const struct nccl_net ncclNetPlugin_v8 = {
    .name = "swagg",
    .init = devices_init,
    .devices = devices_count,
    .get_properties = devices_properties,
    .listen = listen_at,
    .connect = connect_to,
    .accept = accept_at,
    .reg_mr = memory_register,
    .reg_mr_dmabuf = memory_register_dmabuf,
    .dereg_mr = memory_deregister,
    .isend = isend,
    .irecv = irecv,
    .iflush = iflush,
    .test = test,
    .close_send = comm_free,
    .close_recv = comm_free,
    .close_listen = close_listening,
};
