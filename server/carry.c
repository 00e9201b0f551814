#include "carry.h"

#include <errno.h>
#include <sys/socket.h>

enum { AT_ONCE = 64 };

/* Packets that leave with one system call. */
struct batch {
    const struct carry_out *out;
    struct carried carried;
    unsigned n;
    struct mmsghdr message[AT_ONCE];
    struct iovec iov[AT_ONCE];
};

static void flush(struct batch *b)
{
    unsigned done = 0;

    while (done < b->n) {
        const int sent = sendmmsg(b->out->fd, b->message + done, b->n - done, MSG_DONTWAIT);

        if (sent > 0) {
            b->carried.sent += (unsigned)sent;
            done += (unsigned)sent;
        } else if (errno != EINTR) { /* the first of them: ICMP about another, or no room */
            b->carried.lost++;
            done++;
        }
    }
    b->n = 0;
}

static void put(struct batch *b, const struct sockaddr_in *to, const void *payload, size_t bytes)
{
    const unsigned i = b->n++;

    b->iov[i] = (struct iovec){(void *)payload, bytes};
    b->message[i] = (struct mmsghdr){.msg_hdr = {.msg_name = (void *)to,
                                                 .msg_namelen = sizeof(struct sockaddr_in),
                                                 .msg_iov = &b->iov[i],
                                                 .msg_iovlen = 1}};
    if (b->n == AT_ONCE)
        flush(b);
}

static void put_all(struct batch *b, const struct agg_verdict *v)
{
    const struct server_job *job = jobs_of(b->out->job);
    const bool has_group = job->footprint.group != 0;
    bool group = false;

    for (unsigned rank = 0; rank < job->common.size; rank++)
        if (has_group && agg_grouped(v, rank))
            group = true;
        else if (agg_wants(v, rank))
            put(b, &job->member[rank], v->payload, v->bytes);
        else if (v->brief_bytes > 0)
            put(b, &job->member[rank], v->brief, v->brief_bytes);
    if (group)
        put(b, &job->group, v->payload, v->bytes);
}

/* A protocol whose packets come to the server's own address asks for no more than these two, for there is no
 * switch above, and nothing passes by. */
struct carried carry(const struct carry_out *out, const struct agg_verdict *v)
{
    struct batch b;

    b.out = out; /* not all of it: most of the room is not used */
    b.carried = (struct carried){0};
    b.n = 0;
    if (v->action == AGG_TO_ALL)
        put_all(&b, v);
    else if (v->action == AGG_REPLY)
        put(&b, &jobs_of(out->job)->member[out->answered->rank], v->payload, v->bytes);
    flush(&b);
    return b.carried;
}
