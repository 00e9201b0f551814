#include "port/linux/tx.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "base/counters.h"
#include "port/linux/gso.h"
#include "port/linux/run.h"

enum {
    BURST = 64,
    FRAME_SEGMENTS_MAX = 2, /* see linux_tx_burst */
    OWN_PIECES = 2,         /* of a message: a virtio_net_hdr, and a run's headers */
};

struct linux_tx {
    int fd;
    /* the mbuf flag of frames that may be part of a run; 0: none, this kernel refuses them */
    uint64_t mergeable;
    bool single; /* this burst's frames go one by one */
    struct linux_tx_stats stats;
    struct mmsghdr message[BURST];
    unsigned first[BURST + 1]; /* the frame that each message begins with */
    struct run_prelude prelude[BURST];
    struct iovec piece[BURST * (FRAME_SEGMENTS_MAX + OWN_PIECES)];
};

uint64_t linux_tx_mergeable(void)
{
    static const struct rte_mbuf_dynflag flag = {.name = "swagg_mergeable"};
    int bit = rte_mbuf_dynflag_register(&flag); /* the same bit every time */

    return bit < 0 ? 0 : RTE_BIT64(bit);
}

struct linux_tx *linux_tx_open(int fd)
{
    struct linux_tx *tx = rte_zmalloc("linux_tx", sizeof(*tx), RTE_CACHE_LINE_SIZE);

    if (tx == NULL)
        return NULL;
    tx->fd = fd;
    tx->mergeable = linux_tx_mergeable();
    return tx;
}

/* A frame's bytes from an offset within its first segment on. */
static struct iovec *put_bytes(struct iovec *at, const struct rte_mbuf *m, uint16_t from)
{
    for (; m != NULL; m = m->next, from = 0)
        if (m->data_len > from)
            *at++ = (struct iovec){rte_pktmbuf_mtod_offset(m, void *, from), m->data_len - from};
    return at;
}

static struct iovec *put_message(struct iovec *at, struct run_prelude *p, const struct run *run,
                                 struct rte_mbuf *const frames[])
{
    if (linux_gso_is_merged(frames[0]))
        p->how = linux_gso_describe(frames[0]);
    else
        run_write_prelude(p, run, frames);
    *at++ = (struct iovec){&p->how, sizeof(p->how)};
    if (run->header_bytes > 0)
        *at++ = (struct iovec){&p->headers, run->header_bytes};
    for (unsigned i = 0; i < run->length; i++)
        at = put_bytes(at, frames[i], run->header_bytes);
    return at;
}

/* Returns how many messages the frames make. */
static unsigned gather(struct linux_tx *tx, struct rte_mbuf *const frames[], unsigned n)
{
    struct iovec *at = tx->piece;
    unsigned messages = 0;

    for (unsigned i = 0; i < n; messages++) {
        struct msghdr *m = &tx->message[messages].msg_hdr;
        const struct run run = run_find(frames + i, n - i, tx->single ? 0 : tx->mergeable);

        tx->first[messages] = i;
        *m = (struct msghdr){.msg_iov = at};
        at = put_message(at, &tx->prelude[messages], &run, frames + i);
        m->msg_iovlen = (size_t)(at - m->msg_iov);
        i += run.length;
    }
    tx->first[messages] = n;
    return messages;
}

static void count_sent(struct linux_tx *tx, struct rte_mbuf *const frames[], unsigned from, unsigned to)
{
    uint64_t bytes = 0, merged = 0;

    for (unsigned m = from; m < to; m++) {
        const unsigned first = tx->first[m],
                       count = linux_gso_count(frames + first, tx->first[m + 1] - first);

        merged += count > 1 ? count : 0;
    }
    for (unsigned i = tx->first[from]; i < tx->first[to]; i++)
        bytes += linux_gso_bytes(frames[i]);
    counter_add(&tx->stats.frames,
                linux_gso_count(frames + tx->first[from], tx->first[to] - tx->first[from]));
    counter_add(&tx->stats.bytes, bytes);
    counter_add(&tx->stats.merged, merged);
}

/* Whether the error means that the interface is down or gone. */
static bool says_down(int error)
{
    return error == ENETDOWN || error == ENXIO || error == ENODEV;
}

/* Where frames count that were refused so. */
static unsigned *place_of(struct port_refused *refused, int error)
{
    return says_down(error) ? &refused->down : error == EMSGSIZE ? &refused->too_long : &refused->full;
}

static void send_all(struct linux_tx *tx, struct rte_mbuf *const frames[], unsigned n,
                     struct port_refused *refused)
{
    unsigned messages = gather(tx, frames, n), done = 0;

    while (done < messages) {
        const unsigned first = tx->first[done], length = tx->first[done + 1] - first;
        int sent = sendmmsg(tx->fd, &tx->message[done], messages - done, MSG_DONTWAIT);

        if (sent > 0) {
            count_sent(tx, frames, done, done + (unsigned)sent);
            done += (unsigned)sent;
        } else if (errno == EINVAL && length > 1) {
            tx->mergeable = 0;
            send_all(tx, frames + first, n - first, refused);
            return;
        } else if (errno != EINTR) {
            done++;
            *place_of(refused, errno) += linux_gso_count(frames + first, length);
        }
    }
}

struct port_refused linux_tx_burst(struct linux_tx *tx, struct rte_mbuf **frames, unsigned n, bool single)
{
    struct port_refused refused = {0};

    tx->single = single;
    for (unsigned i = 0; i < n; i += BURST)
        send_all(tx, frames + i, RTE_MIN(n - i, (unsigned)BURST), &refused);
    rte_pktmbuf_free_bulk(frames, n);
    return refused;
}

uint64_t linux_tx_waiting(const struct linux_tx *tx)
{
    int bytes = 0;

    return ioctl(tx->fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (uint64_t)bytes : 0;
}

int linux_tx_socket(const struct linux_tx *tx)
{
    return tx->fd;
}

struct linux_tx_stats linux_tx_stats(const struct linux_tx *tx)
{
    return (struct linux_tx_stats){
        .frames = counter_read(&tx->stats.frames),
        .bytes = counter_read(&tx->stats.bytes),
        .merged = counter_read(&tx->stats.merged),
    };
}

void linux_tx_close(struct linux_tx *tx)
{
    if (tx != NULL)
        close(tx->fd);
    rte_free(tx);
}
