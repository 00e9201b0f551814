#include "verbs/data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "monotonic.h"
#include "transfer/messages.h"
#include "transfer/worker.h"
#include "wire/roce.h"

enum {
    SENDS = 4 * TRANSPORT_BATCH, /* under way in the NIC */
    RECEIVES = 1024,             /* buffers that it may fill before anybody looks */
    ALIGNMENT = 4096,
    MTU_LEAST = 256, /* of a queue pair's packets: this, or twice, ... */
    MTU_MOST = 4096,
    PATIENCE_MS = 10, /* how long a full queue is waited for, ... */
    SETTLE_MS = 5000, /* ... and the end of what a NIC reads in tensors */
    SHOWN = 64,       /* pieces of memory, at most */
    PIECES = 2,       /* of a packet: its head, and its body where that is shown */
    LOOK_US = 20,
    HOPS = 64,
};

struct data {
    struct transport base;
    struct transport *udp;
    pid_t owner;
    struct ibv_context *nic;
    uint8_t nic_port, gid;
    enum ibv_mtu mtu;
    struct ibv_pd *domain;
    struct ibv_comp_channel *bell; /* base.socket: rings once something has come */
    struct ibv_cq *sent, *received;
    struct ibv_qp *pair;
    uint8_t *memory; /* SENDS and RECEIVES pieces of `room` bytes */
    struct ibv_mr *registered;
    size_t room;
    unsigned pieces; /* that the NIC gathers for a message */
    struct xfer_messages messages;
    uint64_t posted, done;          /* packets, counted on; piece: modulo SENDS */
    uint64_t referring;             /* ... as far as some refer to memory that is shown */
    struct ibv_mr *shown[SHOWN];    /* by the program; registered with the NIC */
    unsigned pieces_shown, latest;  /* the one that the last body was in */
    unsigned held[TRANSPORT_BATCH]; /* receive buffers whose payloads the caller has */
    unsigned held_buffers;
};

static uint8_t *receive_piece(const struct data *d, unsigned i)
{
    return d->memory + (SENDS + i) * d->room;
}

/* --- sending --- */

/* 0, or -errno: the queue pair is of no use any more. */
static int collect_sent(struct data *d)
{
    struct ibv_wc wc[TRANSPORT_BATCH];
    const int n = ibv_poll_cq(d->sent, TRANSPORT_BATCH, wc);
    for (int i = 0; i < n; i++)
        if (wc[i].status != IBV_WC_SUCCESS)
            return -EIO;
    if (n > 0)
        d->done = wc[n - 1].wr_id;
    return n < 0 ? -EIO : 0;
}

/* Until so many packets are sent; 1: they are; 0: not in so many naps. */
static int wait_until_done(struct data *d, uint64_t packets, unsigned naps)
{
    const struct timespec moment = {.tv_nsec = LOOK_US * 1000};
    int rc = collect_sent(d);
    for (unsigned n = 0; rc == 0 && (int64_t)(packets - d->done) > 0 && n < naps; n++) {
        nanosleep(&moment, NULL);
        rc = collect_sent(d);
    }
    return rc < 0 ? rc : (int64_t)(packets - d->done) <= 0;
}

/* The registration of memory that is shown and has all of a body; NULL: there is none. */
static const struct ibv_mr *shown_with(struct data *d, const void *body, size_t bytes)
{
    for (unsigned i = 0; i < d->pieces_shown; i++) {
        const unsigned at = (d->latest + i) % d->pieces_shown;
        const struct ibv_mr *mr = d->shown[at];
        const size_t offset = (uintptr_t)body - (uintptr_t)mr->addr;
        if (offset < mr->length && bytes <= mr->length - offset) {
            d->latest = at;
            return mr;
        }
    }
    return NULL;
}

/* What lies behind the last of a message's pieces is part of that. */
static unsigned add_piece(struct ibv_sge pieces[], unsigned n, const void *at, size_t bytes, uint32_t key)
{
    struct ibv_sge *last = n > 0 ? &pieces[n - 1] : NULL;
    if (last && last->lkey == key && last->addr + last->length == (uintptr_t)at) {
        last->length += (uint32_t)bytes;
        return n;
    }
    pieces[n] = (struct ibv_sge){.addr = (uintptr_t)at, .length = (uint32_t)bytes, .lkey = key};
    return n + 1;
}

/* Adds a packet to the n pieces of a message; returns how many these are then. Its body is made, or copied,
 * at its place behind the head, unless the NIC can read it where it lies. */
static unsigned add_packet(struct data *d, const struct xfer_send *p, bool ends, struct ibv_sge pieces[],
                           unsigned n)
{
    uint8_t *to = d->memory + d->posted++ % SENDS * d->room, *place = to + p->head_bytes;
    const size_t bytes = xfer_send_bytes(p), fill = ends ? 0 : d->room - bytes;
    const uint32_t own = d->registered->lkey;
    const void *body = xfer_send_body(p, place);
    const struct ibv_mr *shown = body == place || p->body_bytes == 0 || p->checksum != XFER_CHECKSUM_NONE
                                     ? NULL
                                     : shown_with(d, body, p->body_bytes);
    memcpy(to, p->head, p->head_bytes);
    if (fill > 0) /* before the next one's place */
        roce_fill(to + bytes, fill);
    if (shown) {
        d->referring = d->posted;
        n = add_piece(pieces, n, to, p->head_bytes, own);
        n = add_piece(pieces, n, body, p->body_bytes, shown->lkey);
        return fill > 0 ? add_piece(pieces, n, to + bytes, fill, own) : n;
    }
    if (body != place && p->body_bytes > 0)
        memcpy(place, body, p->body_bytes);
    if (p->checksum != XFER_CHECKSUM_NONE)
        xfer_send_trailer(p, place, place + p->body_bytes);
    return add_piece(pieces, n, to, bytes + fill, own);
}

/* The next message has so many of these packets, n > 0. It does not go around the end of our memory. */
static unsigned message_of(const struct data *d, const struct xfer_send packets[], unsigned n,
                           unsigned length)
{
    const unsigned places = SENDS - (unsigned)(d->posted % SENDS);
    return xfer_message_packets(packets, n, d->room, length < places ? length : places);
}

/* n > 0 */
static int post(struct data *d, const struct xfer_send packets[], unsigned n, unsigned length)
{
    struct ibv_send_wr wr[TRANSPORT_BATCH], *bad;
    struct ibv_sge pieces[TRANSPORT_BATCH * PIECES], *first = pieces;
    unsigned messages = 0;
    for (unsigned i = 0; i < n; messages++) {
        const unsigned end = i + message_of(d, &packets[i], n - i, length);
        unsigned count = 0;
        for (; i < end; i++)
            count = add_packet(d, &packets[i], i + 1 == end, first, count);
        wr[messages] = (struct ibv_send_wr){.wr_id = d->posted,
                                            .next = i < n ? &wr[messages + 1] : NULL,
                                            .sg_list = first,
                                            .num_sge = (int)count,
                                            .opcode = IBV_WR_SEND,
                                            .send_flags = IBV_SEND_SIGNALED};
        first += count;
    }
    return -ibv_post_send(d->pair, wr, &bad);
}

/* What a full queue does not take in time counts as lost. */
static int data_send(struct transport *t, const struct xfer_send packets[], unsigned n)
{
    struct data *d = (struct data *)t;
    struct xfer_messages *m = &d->messages;
    const bool tells = n > 0 && t->takes_messages &&
                       xfer_message_packets(packets, n, d->room, XFER_MESSAGE_MAX) == XFER_MESSAGE_MAX;
    const uint64_t began = tells && xfer_messages_measure(m) ? monotonic_ns() : 0;
    const int room = n == 0    ? 0
                     : d->pair ? wait_until_done(d, d->posted + n - SENDS, PATIENCE_MS * 1000 / LOOK_US)
                               : -EIO;
    if (room <= 0)
        return room;
    const int rc = post(d, packets, n, t->takes_messages ? m->length : 1);
    if (tells)
        xfer_messages_sent(m, n, began > 0 ? monotonic_ns() - began : 0);
    t->message_packets = t->takes_messages ? m->chosen : 1;
    return rc;
}

/* A queue pair that is destroyed reads nothing any more. */
static int data_settle(struct transport *t)
{
    struct data *d = (struct data *)t;
    if (!d->pair || wait_until_done(d, d->referring, SETTLE_MS * 1000 / LOOK_US) > 0)
        return 0;
    ibv_destroy_qp(d->pair);
    d->pair = NULL;
    return -EIO;
}

static struct ibv_mr **place_of(struct data *d, const void *memory)
{
    for (unsigned i = 0; i < d->pieces_shown; i++)
        if (d->shown[i]->addr == memory)
            return &d->shown[i];
    return NULL;
}

static int data_show(struct transport *t, const void *memory, size_t bytes)
{
    struct data *d = (struct data *)t;
    if (place_of(d, memory))
        return -EEXIST;
    if (d->pieces_shown == SHOWN)
        return -ENOSPC;
    struct ibv_mr *mr = ibv_reg_mr(d->domain, (void *)memory, bytes, 0);
    if (!mr)
        return -errno;
    d->shown[d->pieces_shown++] = mr;
    return 0;
}

static int data_hide(struct transport *t, const void *memory)
{
    struct data *d = (struct data *)t;
    struct ibv_mr **place = place_of(d, memory);
    if (!place)
        return -ENOENT;
    const int rc = data_settle(t);
    ibv_dereg_mr(*place);
    *place = d->shown[--d->pieces_shown];
    return rc;
}

/* --- receiving --- */

static int show_buffers(struct data *d, const unsigned buffers[], unsigned n)
{
    struct ibv_recv_wr wr[TRANSPORT_BATCH], *bad;
    struct ibv_sge piece[TRANSPORT_BATCH];
    for (unsigned i = 0; i < n; i++) {
        piece[i] = (struct ibv_sge){.addr = (uintptr_t)receive_piece(d, buffers[i]),
                                    .length = (uint32_t)d->room,
                                    .lkey = d->registered->lkey};
        wr[i] = (struct ibv_recv_wr){
            .wr_id = buffers[i], .next = i + 1 < n ? &wr[i + 1] : NULL, .sg_list = &piece[i], .num_sge = 1};
    }
    return n == 0 || !d->pair ? 0 : -ibv_post_recv(d->pair, wr, &bad);
}

/* What has come. Where it is nothing, the bell is to ring for what comes from now on. */
static int poll_received(struct data *d, struct ibv_wc wc[TRANSPORT_BATCH])
{
    struct ibv_cq *cq;
    void *unused;
    int n = ibv_poll_cq(d->received, TRANSPORT_BATCH, wc);
    if (n != 0)
        return n;
    while (ibv_get_cq_event(d->bell, &cq, &unused) == 0)
        ibv_ack_cq_events(cq, 1);
    return ibv_req_notify_cq(d->received, 0) == 0 ? ibv_poll_cq(d->received, TRANSPORT_BATCH, wc) : -1;
}

static int data_receive(struct transport *t, struct transport_packet packets[TRANSPORT_BATCH])
{
    struct data *d = (struct data *)t;
    struct ibv_wc wc[TRANSPORT_BATCH];
    const int rc = show_buffers(d, d->held, d->held_buffers);
    d->held_buffers = 0;
    if (rc < 0)
        return rc;
    const int n = d->pair ? poll_received(d, wc) : -1;
    for (int i = 0; i < n; i++) {
        if (wc[i].status != IBV_WC_SUCCESS)
            return -EIO;
        d->held[d->held_buffers++] = (unsigned)wc[i].wr_id;
        packets[i] = (struct transport_packet){.payload = receive_piece(d, (unsigned)wc[i].wr_id),
                                               .bytes = wc[i].byte_len};
    }
    if (n > 0)
        t->trouble = 0;
    return n > 0 ? n : n < 0 ? -EIO : d->udp->ops->receive(d->udp, packets);
}

/* By UDP alone: the switch's end of the queue pair is one, whichever of its ports a packet is for. */
static int data_set_ports(struct transport *t, uint16_t first, unsigned n)
{
    struct data *d = (struct data *)t;
    return d->udp->ops->set_ports(d->udp, first, n);
}

/* --- life --- */

/* A child that has inherited it by fork leaves the NIC to its parent. */
static void data_close(struct transport *t)
{
    struct data *d = (struct data *)t;
    const bool ours = d->owner == getpid();
    if (ours && d->pair)
        ibv_destroy_qp(d->pair);
    if (ours && d->sent)
        ibv_destroy_cq(d->sent);
    if (ours && d->received)
        ibv_destroy_cq(d->received);
    while (ours && d->pieces_shown > 0)
        ibv_dereg_mr(d->shown[--d->pieces_shown]);
    if (ours && d->registered)
        ibv_dereg_mr(d->registered);
    if (ours && d->bell)
        ibv_destroy_comp_channel(d->bell);
    if (ours && d->domain)
        ibv_dealloc_pd(d->domain);
    if (ours && d->nic)
        ibv_close_device(d->nic);
    d->udp->ops->close(d->udp);
    free(d->memory);
    free(d);
}

static const struct transport_ops data_ops = {.send = data_send,
                                              .receive = data_receive,
                                              .set_ports = data_set_ports,
                                              .show = data_show,
                                              .hide = data_hide,
                                              .settle = data_settle,
                                              .close = data_close};

static union ibv_gid gid_of(struct in_addr ip)
{
    union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};
    memcpy(gid.raw + 12, &ip, sizeof ip);
    return gid;
}

/* Whether one of the device's ports has this address for RoCE v2; which. */
static bool has_address(struct data *d, const union ibv_gid *own)
{
    struct ibv_device_attr device;
    struct ibv_port_attr port;
    struct ibv_gid_entry entry;
    if (ibv_query_device(d->nic, &device) != 0)
        return false;
    d->pieces =
        device.max_sge < PIECES * XFER_MESSAGE_MAX ? (unsigned)device.max_sge : PIECES * XFER_MESSAGE_MAX;
    for (d->nic_port = 1; d->nic_port <= device.phys_port_cnt; d->nic_port++) {
        if (ibv_query_port(d->nic, d->nic_port, &port) != 0 || port.state != IBV_PORT_ACTIVE)
            continue;
        d->mtu = port.active_mtu;
        for (int i = 0; i < port.gid_tbl_len; i++)
            if (ibv_query_gid_ex(d->nic, d->nic_port, (uint32_t)i, &entry, 0) == 0 &&
                entry.gid_type == IBV_GID_TYPE_ROCE_V2 && memcmp(&entry.gid, own, sizeof *own) == 0) {
                d->gid = (uint8_t)i;
                return true;
            }
    }
    return false;
}

static int find_nic(struct data *d, const char *name, struct in_addr own, char why[NETWORK_WORDS])
{
    const union ibv_gid gid = gid_of(own);
    const uint8_t *ip = (const uint8_t *)&own;
    struct ibv_device **list = ibv_get_device_list(NULL);
    for (unsigned i = 0; list && list[i] && !d->nic; i++) {
        if (name[0] && strcmp(ibv_get_device_name(list[i]), name) != 0)
            continue;
        d->nic = ibv_open_device(list[i]);
        if (d->nic && !has_address(d, &gid)) {
            ibv_close_device(d->nic);
            d->nic = NULL;
        }
    }
    if (!d->nic)
        snprintf(why, NETWORK_WORDS,
                 "no RDMA device%s%s that is up has the address %u.%u.%u.%u, by which this host reaches the "
                 "switch, for RoCE v2: see `rdma link` and `ibv_devinfo -v`, or use transport=kernel",
                 name[0] ? " " : "", name, ip[0], ip[1], ip[2], ip[3]);
    if (list)
        ibv_free_device_list(list);
    return d->nic ? 0 : -ENODEV;
}

/* The longest body of a packet: what the NIC's port and the path carry, a power of two. */
static int choose_mtu(struct data *d, unsigned path, char why[NETWORK_WORDS])
{
    enum { AROUND = ROCE_IP_UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES };
    unsigned body = (unsigned)MTU_LEAST << (d->mtu - IBV_MTU_256);
    while (body + AROUND > path && body >= MTU_LEAST)
        body /= 2;
    if (body < MTU_LEAST) {
        snprintf(why, NETWORK_WORDS, "RoCE takes IP packets of %d bytes at least, the path carries %u",
                 MTU_LEAST + AROUND, path);
        return -EMSGSIZE;
    }
    d->mtu = IBV_MTU_256;
    for (unsigned bytes = body; bytes > MTU_LEAST; bytes /= 2)
        d->mtu++;
    d->base.mtu = body + AGG_IP_UDP_BYTES;
    d->room = body;
    return 0;
}

static int make_memory(struct data *d)
{
    const size_t bytes = (SENDS + RECEIVES) * d->room;
    d->memory = aligned_alloc(ALIGNMENT, bytes);
    if (!d->memory)
        return -ENOMEM;
    memset(d->memory, 0, bytes);
    d->domain = ibv_alloc_pd(d->nic);
    if (d->domain)
        d->registered = ibv_reg_mr(d->domain, d->memory, bytes, IBV_ACCESS_LOCAL_WRITE);
    return d->registered ? 0 : -errno;
}

/* Some NICs gather fewer pieces for unreliable connections than they say. The bell is to ring from the first
 * packet on: whoever has sent may sleep before he has looked (poll_received). */
static int make_pair(struct data *d)
{
    d->bell = ibv_create_comp_channel(d->nic);
    if (!d->bell || fcntl(d->bell->fd, F_SETFL, fcntl(d->bell->fd, F_GETFL) | O_NONBLOCK) < 0)
        return -errno;
    d->sent = ibv_create_cq(d->nic, SENDS, NULL, NULL, 0);
    d->received = ibv_create_cq(d->nic, RECEIVES, NULL, d->bell, 0);
    if (!d->sent || !d->received)
        return -errno;
    struct ibv_qp_init_attr attr = {.send_cq = d->sent,
                                    .recv_cq = d->received,
                                    .cap = {.max_send_wr = SENDS, .max_recv_wr = RECEIVES, .max_recv_sge = 1},
                                    .qp_type = IBV_QPT_UC};
    do {
        attr.cap.max_send_sge = d->pieces;
        d->pair = ibv_create_qp(d->domain, &attr);
    } while (!d->pair && (d->pieces /= 2) >= PIECES);
    return d->pair ? -ibv_req_notify_cq(d->received, 0) : -errno;
}

/* Numbers of packets begin with 0 on both sides; as each is a message of its own, none need follow another.
 */
static int connect_pair(struct data *d, struct in_addr to)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = d->nic_port};
    int rc =
        ibv_modify_qp(d->pair, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    if (rc != 0)
        return -rc;
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = d->mtu,
        .dest_qp_num = ROCE_CARRIES | d->base.local_port,
        .ah_attr = {.is_global = 1,
                    .port_num = d->nic_port,
                    .grh = {.dgid = gid_of(to), .sgid_index = d->gid, .hop_limit = HOPS}}};
    rc = ibv_modify_qp(d->pair, &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN);
    if (rc != 0)
        return -rc;
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS};
    return -ibv_modify_qp(d->pair, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static int show_all_buffers(struct data *d)
{
    unsigned buffers[TRANSPORT_BATCH];
    int rc = 0;
    for (unsigned first = 0; rc == 0 && first < RECEIVES; first += TRANSPORT_BATCH) {
        for (unsigned i = 0; i < TRANSPORT_BATCH; i++)
            buffers[i] = first + i;
        rc = show_buffers(d, buffers, TRANSPORT_BATCH);
    }
    return rc;
}

/* wish: packets of a message; 0: as measured. */
static int choose_messages(struct data *d, unsigned wish, char why[NETWORK_WORDS])
{
    const unsigned limit = d->pieces / PIECES;
    xfer_messages_init(&d->messages, limit, wish);
    if (wish <= limit)
        return 0;
    snprintf(why, NETWORK_WORDS,
             "%s gathers %u pieces of memory for a message: enough for %u packets, not %u",
             ibv_get_device_name(d->nic->device), d->pieces, limit, wish);
    return -EINVAL;
}

static int set_up(struct data *d, struct in_addr to, char why[NETWORK_WORDS])
{
    int rc = make_memory(d);
    if (rc < 0) {
        snprintf(why, NETWORK_WORDS, "%zu KB of memory cannot be shown to %s: %s (ulimit -l)",
                 (SENDS + RECEIVES) * d->room >> 10, ibv_get_device_name(d->nic->device), strerror(-rc));
        return rc;
    }
    rc = make_pair(d);
    if (rc == 0)
        rc = connect_pair(d, to);
    if (rc == 0)
        rc = show_all_buffers(d);
    if (rc < 0)
        snprintf(why, NETWORK_WORDS, "%s makes no queue pair of an unreliable connection: %s",
                 ibv_get_device_name(d->nic->device), strerror(-rc));
    return rc;
}

int data_open(struct transport **out, struct transport *udp, const struct transport_config *config,
              const struct client_port *wish, char why[NETWORK_WORDS])
{
    struct sockaddr_in own = {0};
    socklen_t bytes = sizeof own;
    struct data *d = calloc(1, sizeof *d);
    if (!d) {
        snprintf(why, NETWORK_WORDS, "no memory");
        udp->ops->close(udp);
        return -ENOMEM;
    }
    d->base = (struct transport){
        .ops = &data_ops, .socket = OWN_FD_NONE, .group = udp->socket, .local_port = udp->local_port};
    d->udp = udp;
    d->owner = getpid();
    int rc = getsockname(udp->socket.fd, (struct sockaddr *)&own, &bytes) < 0 ? -errno : 0;
    if (rc == 0)
        rc = find_nic(d, wish->device, own.sin_addr, why);
    if (rc == 0)
        rc = choose_mtu(d, config->mtu, why);
    if (rc == 0)
        rc = set_up(d, config->switch_ip, why);
    if (rc == 0)
        rc = choose_messages(d, wish->message_packets, why);
    if (rc < 0) {
        data_close(&d->base);
        return rc;
    }
    d->base.queue_pair = d->pair->qp_num;
    d->base.socket = own_fd_of(d->bell->fd);
    *out = &d->base;
    return 0;
}
