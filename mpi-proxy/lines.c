#include "lines.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transparent.h"

/* What is read from one side goes to the other. */
static enum mtp_side other(enum mtp_side side)
{
    return side == MTP_UP ? MTP_DOWN : MTP_UP;
}

int lines_add(struct lines *l, unsigned sender, enum mtp_side accepted, int fd,
              const struct sockaddr_in *from, const struct sockaddr_in *to)
{
    struct line *line = l->n < LINES_MAX ? malloc(sizeof(*line)) : NULL;
    int rc = line == NULL ? -ENOMEM : transparent_connect(from, to);

    if (rc < 0) {
        free(line);
        close(fd);
        return rc;
    }
    mtp_flow_init(&line->flow, &l->group, sender);
    line->fd[accepted] = fd;
    line->fd[other(accepted)] = rc;
    line->connecting = true;
    line->second = other(accepted);
    for (unsigned side = 0; side < 2; side++) {
        line->over[side] = line->told[side] = false;
        line->in[side].begin = line->in[side].end = 0;
    }
    l->line[l->n++] = line;
    return 0;
}

static bool has_room(const struct line_in *in)
{
    return in->end - in->begin < LINE_IN_BYTES;
}

static bool has_pending(const struct line *line, enum mtp_side from)
{
    size_t n;

    mtp_pending(&line->flow, from, &n);
    return n > 0;
}

/* Until the second connection is there, nothing is read of the first. */
static short wanted(const struct line *line, enum mtp_side side)
{
    short events = 0;

    if (line->connecting)
        return side == line->second ? POLLOUT : 0;
    if (!line->over[side] && has_room(&line->in[side]))
        events |= POLLIN;
    if (has_pending(line, other(side)))
        events |= POLLOUT;
    return events;
}

void lines_expect(const struct lines *l, struct pollfd poll[2 * LINES_MAX])
{
    for (unsigned i = 0; i < l->n; i++)
        for (unsigned side = 0; side < 2; side++) {
            const short events = wanted(l->line[i], side);

            /* poll tells errors of what nothing is expected of, too: then nobody would be there to hear them.
             */
            poll[2 * i + side] =
                (struct pollfd){.fd = events == 0 ? -1 : l->line[i]->fd[side], .events = events};
        }
}

static bool fails(void)
{
    return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
}

static void read_some(struct line *line, enum mtp_side side)
{
    struct line_in *in = &line->in[side];
    ssize_t n;

    if (in->begin > 0) {
        memmove(in->bytes, in->bytes + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
    }
    n = recv(line->fd[side], in->bytes + in->end, LINE_IN_BYTES - in->end, MSG_DONTWAIT);
    if (n > 0)
        in->end += (size_t)n;
    else if (n == 0)
        line->over[side] = true;
    else if (fails())
        line->flow.dead = true;
}

/* True: something was sent. */
static bool write_some(struct line *line, enum mtp_side from)
{
    size_t n;
    const uint8_t *bytes = mtp_pending(&line->flow, from, &n);
    ssize_t sent = 0;

    if (n > 0)
        sent = send(line->fd[other(from)], bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0)
        mtp_sent(&line->flow, from, (size_t)sent);
    else if (sent < 0 && fails())
        line->flow.dead = true;
    return sent > 0;
}

static bool take(struct line *line, enum mtp_side side, uint64_t now)
{
    struct line_in *in = &line->in[side];
    const size_t taken = mtp_take(&line->flow, side, in->bytes + in->begin, in->end - in->begin, now);

    in->begin += taken;
    return taken > 0;
}

/* Takes, makes and sends until nothing moves any more. */
static void settle(struct lines *l, uint64_t now)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (unsigned i = 0; i < l->n; i++) {
            struct line *line = l->line[i];

            if (line->connecting || line->flow.dead)
                continue;
            for (unsigned side = 0; side < 2; side++)
                moved |= take(line, side, now);
            moved |= mtp_give(&line->flow);
            for (unsigned side = 0; side < 2; side++)
                moved |= write_some(line, side);
        }
    }
}

/* The end of one side is the other's when all that came before it is there. */
static void pass_end(struct line *line, enum mtp_side side)
{
    if (!line->over[side] || line->told[side])
        return;
    mtp_over(&line->flow, side);
    if (line->in[side].begin < line->in[side].end || has_pending(line, side))
        return;
    line->told[side] = true;
    shutdown(line->fd[other(side)], SHUT_WR);
}

static void finish_connecting(struct line *line)
{
    int error = 0;
    socklen_t length = sizeof(error);

    getsockopt(line->fd[line->second], SOL_SOCKET, SO_ERROR, &error, &length);
    line->connecting = false;
    line->flow.dead |= error != 0;
}

static void close_line(struct line *line, bool reset)
{
    const struct linger at_once = {.l_onoff = 1};

    for (unsigned side = 0; side < 2; side++) {
        if (reset)
            setsockopt(line->fd[side], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        close(line->fd[side]);
    }
    free(line);
}

static void move_line(struct line *line, const struct pollfd poll[2])
{
    if (line->connecting) {
        if (poll[line->second].revents != 0)
            finish_connecting(line);
        return;
    }
    for (unsigned side = 0; side < 2; side++)
        if ((poll[side].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !line->over[side] &&
            has_room(&line->in[side]))
            read_some(line, side);
}

void lines_move(struct lines *l, const struct pollfd poll[], unsigned polled, uint64_t now)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < polled; i++)
        move_line(l->line[i], poll + 2 * i);
    mtp_tick(&l->group, now);
    settle(l, now);
    for (unsigned i = 0; i < l->n; i++) {
        for (unsigned side = 0; side < 2; side++)
            pass_end(l->line[i], side);
        if (l->line[i]->flow.dead) /* a socket has failed: the others of the sum may not go on */
            mtp_end(&l->line[i]->flow);
    }
    settle(l, now);
    for (unsigned i = 0; i < l->n; i++) {
        struct line *line = l->line[i];
        const bool ended = line->told[MTP_UP] && line->told[MTP_DOWN];

        if (!line->flow.dead && !ended) {
            l->line[kept++] = line;
            continue;
        }
        mtp_end(&line->flow); /* it may have died just now */
        close_line(line, line->flow.dead);
    }
    l->n = kept;
}

void lines_close(struct lines *l)
{
    for (unsigned i = 0; i < l->n; i++)
        close_line(l->line[i], true);
    l->n = 0;
}
