/* An RDMA device for tests on machines without one: libibverbs as far as libswagg-verbs.so uses it, preloaded
 * in its place. "test0" has the address that SWAGG_TEST_RDMA says, and unreliable connections that send and
 * messages that it cuts at its MTU, and receive those of one packet: by a raw socket, with ICRCs by zlib,
 * written from InfiniBand's specification alone. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#undef ibv_query_port
#undef ibv_reg_mr

enum {
    PORT = 4791,
    QUEUE = 4096,
    IP_UDP = 28,
    BTH = 12,
    ICRC = 4,
    SEND_FIRST = 0x20,
    SEND_MIDDLE = 0x21,
    SEND_LAST = 0x22,
    SEND_ONLY = 0x24,
    FIRST_PAIR = 0x11,
    PACKET_MAX = 9216,
    MESSAGE_MAX = 64 << 10,
    SOCKET_BYTES = 8 << 20,
    PIECES = 32,
    MTU = 1024,
    MEMORIES = 256,
    SENDS = 1, /* what rings a pair's bell */
    STOP = 2,
};

struct queue {
    struct ibv_cq cq;
    struct ibv_wc wc[QUEUE];
    unsigned first, next; /* counted on */
    bool armed, asked;    /* to tell of what comes: now; ever */
};

struct channel {
    struct ibv_comp_channel channel;
    int bell;
    struct queue *rung;
};

struct pair {
    struct ibv_qp qp;
    uint32_t peer, number, peer_ip;
    struct {
        uint64_t id, at;
        uint32_t length;
    } receive[QUEUE];
    unsigned first, next;
    struct {
        uint64_t id;
        struct ibv_sge piece[PIECES];
        int pieces;
    } send[QUEUE]; /* is still to be read */
    unsigned first_send, next_send;
    unsigned long sent, messages, received, gathered;
    int raw, claimed;
    int bell[2]; /* for the NIC: SENDS are to be made, or STOP */
    pthread_t nic;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_mr *memory[MEMORIES]; /* that is registered, by key */
static struct ibv_device device = {
    .node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "test0"};
static const struct sockaddr_in any = {.sin_family = AF_INET};

static uint32_t own_ip(void)
{
    const char *text = getenv("SWAGG_TEST_RDMA");

    return text == NULL ? 0 : inet_addr(text);
}

static int pieces(void)
{
    const char *text = getenv("SWAGG_TEST_RDMA_PIECES");

    return text == NULL ? PIECES : atoi(text);
}

/* --- queues of completions --- */

/* Whoever has a channel sleeps at it, and would not be woken by a first packet of which he has not asked to
 * be told. */
static void complete(struct queue *q, const struct ibv_wc *wc)
{
    struct channel *c = (struct channel *)q->cq.channel;

    if (c != NULL && !q->asked) {
        fprintf(stderr, "rdma_device: something has come before anybody asked to be told\n");
        abort();
    }
    if (q->next - q->first == QUEUE)
        return;
    q->wc[q->next++ % QUEUE] = *wc;
    if (c != NULL && q->armed) {
        q->armed = false;
        c->rung = q;
        if (write(c->bell, "", 1) < 0)
            abort();
    }
}

static int poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
    struct queue *q = (struct queue *)cq;
    int n = 0;

    pthread_mutex_lock(&lock);
    while (n < most && q->first != q->next)
        wc[n++] = q->wc[q->first++ % QUEUE];
    pthread_mutex_unlock(&lock);
    return n;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
    (void)solicited;
    pthread_mutex_lock(&lock);
    ((struct queue *)cq)->armed = ((struct queue *)cq)->asked = true;
    pthread_mutex_unlock(&lock);
    return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
    char byte;

    if (read(channel->fd, &byte, 1) != 1)
        return -1;
    *cq = &((struct channel *)channel)->rung->cq;
    *context = NULL;
    return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int events)
{
    (void)cq;
    (void)events;
}

/* --- packets --- */

static void put_icrc(uint8_t *packet, size_t bytes)
{
    static const uint8_t at[] = {1, 8, 10, 11, 26, 27, 32};
    uint8_t masked[8 + PACKET_MAX];

    memset(masked, 0xff, 8);
    memcpy(masked + 8, packet, bytes);
    for (unsigned i = 0; i < sizeof(at); i++)
        masked[8 + at[i]] = 0xff;
    const uint32_t crc = (uint32_t)crc32(0, masked, (unsigned)(8 + bytes));
    memcpy(packet + bytes, &crc, ICRC);
}

static void put24(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 16);
    to[1] = (uint8_t)(value >> 8);
    to[2] = (uint8_t)value;
}

static uint32_t get24(const uint8_t *from)
{
    return (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];
}

/* With the lock. What is not in memory of that key is no NIC's to read. */
static void check_piece(const struct ibv_sge *piece)
{
    const struct ibv_mr *mr = piece->lkey < MEMORIES ? memory[piece->lkey] : NULL;

    if (mr == NULL || piece->addr < (uintptr_t)mr->addr ||
        piece->addr + piece->length > (uintptr_t)mr->addr + mr->length)
        abort();
}

static void send_packet(struct pair *p, uint8_t opcode, const uint8_t *body, size_t length)
{
    uint8_t packet[PACKET_MAX] = {0};
    const unsigned pad = (4 - length % 4) % 4;
    const size_t bytes = IP_UDP + BTH + length + pad;
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = p->peer_ip};
    const struct iphdr ip = {.version = 4,
                             .ihl = 5,
                             .tot_len = htons((uint16_t)(bytes + ICRC)),
                             .id = htons((uint16_t)(p->number | 1)),
                             .frag_off = htons(0x4000),
                             .ttl = 64,
                             .protocol = IPPROTO_UDP,
                             .saddr = own_ip(),
                             .daddr = p->peer_ip};
    const struct udphdr udp = {.source = htons((uint16_t)(0xc000 + p->qp.qp_num)),
                               .dest = htons(PORT),
                               .len = htons((uint16_t)(bytes + ICRC - sizeof(ip)))};
    uint8_t *bth = packet + IP_UDP;

    memcpy(packet, &ip, sizeof(ip));
    memcpy(packet + sizeof(ip), &udp, sizeof(udp));
    bth[0] = opcode;
    bth[1] = (uint8_t)(0x40 | pad << 4);
    bth[2] = bth[3] = 0xff;
    put24(bth + 5, p->peer);
    put24(bth + 9, p->number++);
    p->sent++;
    memcpy(bth + BTH, body, length);
    put_icrc(packet, bytes);
    sendto(p->raw, packet, bytes + ICRC, 0, (const struct sockaddr *)&to, sizeof(to));
}

static void send_message(struct pair *p, const struct ibv_sge piece[], int n)
{
    static uint8_t message[MESSAGE_MAX];
    size_t length = 0;

    for (int i = 0; i < n; i++) {
        check_piece(&piece[i]);
        if (piece[i].length > MESSAGE_MAX - length)
            abort();
        memcpy(message + length, (const void *)(uintptr_t)piece[i].addr, piece[i].length);
        length += piece[i].length;
    }
    p->messages++;
    p->gathered += n > 1;
    for (size_t at = 0; at < length; at += MTU) {
        const bool ends = length - at <= MTU;
        const uint8_t opcode = at == 0 ? (ends ? SEND_ONLY : SEND_FIRST) : ends ? SEND_LAST : SEND_MIDDLE;

        send_packet(p, opcode, message + at, ends ? length - at : MTU);
    }
}

static void ring(struct pair *p, uint8_t what)
{
    if (write(p->bell[1], &what, 1) < 0)
        abort();
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct pair *p = (struct pair *)qp;

    *bad = NULL;
    pthread_mutex_lock(&lock);
    for (; wr != NULL; wr = wr->next) {
        const unsigned i = p->next_send++ % QUEUE;

        if (qp->state != IBV_QPS_RTS || wr->opcode != IBV_WR_SEND || wr->num_sge < 1 ||
            wr->num_sge > PIECES || p->next_send - p->first_send > QUEUE)
            abort();
        p->send[i].id = wr->wr_id;
        p->send[i].pieces = wr->num_sge;
        memcpy(p->send[i].piece, wr->sg_list, (unsigned)wr->num_sge * sizeof(*wr->sg_list));
    }
    pthread_mutex_unlock(&lock);
    ring(p, SENDS);
    return 0;
}

/* As a NIC that is busy: what is to be sent is read some time after it was posted. */
static void send_posted(struct pair *p)
{
    const char *late_us = getenv("SWAGG_TEST_RDMA_LATE_US");

    if (late_us != NULL)
        usleep((unsigned)atoi(late_us));
    pthread_mutex_lock(&lock);
    for (; p->first_send != p->next_send; p->first_send++) {
        const unsigned i = p->first_send % QUEUE;
        const struct ibv_wc wc = {.wr_id = p->send[i].id, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_SEND};

        send_message(p, p->send[i].piece, p->send[i].pieces);
        complete((struct queue *)p->qp.send_cq, &wc);
    }
    pthread_mutex_unlock(&lock);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct pair *p = (struct pair *)qp;

    *bad = NULL;
    pthread_mutex_lock(&lock);
    for (; wr != NULL; wr = wr->next) {
        if (p->next - p->first == QUEUE)
            abort();
        p->receive[p->next % QUEUE].id = wr->wr_id;
        p->receive[p->next % QUEUE].at = wr->sg_list->addr;
        p->receive[p->next++ % QUEUE].length = wr->sg_list->length;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Whether it is a send of one packet to this pair, from the other end, and whole. */
static bool is_ours(const struct pair *p, uint8_t *packet, size_t bytes)
{
    const struct iphdr *ip = (const struct iphdr *)packet;
    const uint8_t *bth = packet + IP_UDP;
    uint8_t icrc[ICRC];

    if (bytes < IP_UDP + BTH + ICRC || bytes > PACKET_MAX - ICRC || ip->saddr != p->peer_ip ||
        packet[22] != PORT >> 8 || packet[23] != (PORT & 0xff) || get24(bth + 5) != p->qp.qp_num ||
        bth[0] != SEND_ONLY)
        return false;
    memcpy(icrc, packet + bytes - ICRC, ICRC);
    put_icrc(packet, bytes - ICRC);
    return memcmp(icrc, packet + bytes - ICRC, ICRC) == 0;
}

/* As a NIC: what finds no buffer is lost. */
static void take(struct pair *p, const uint8_t *packet, size_t bytes)
{
    const uint8_t *bth = packet + IP_UDP;
    const uint32_t length = (uint32_t)(bytes - IP_UDP - BTH - ICRC - (bth[1] >> 4 & 3));
    struct ibv_wc wc = {.status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV, .byte_len = length};

    pthread_mutex_lock(&lock);
    if (p->first != p->next) {
        const unsigned i = p->first++ % QUEUE;

        if (length > p->receive[i].length)
            abort();
        memcpy((void *)(uintptr_t)p->receive[i].at, bth + BTH, length);
        wc.wr_id = p->receive[i].id;
        p->received++;
        complete((struct queue *)p->qp.recv_cq, &wc);
    }
    pthread_mutex_unlock(&lock);
}

static void *nic(void *of)
{
    struct pair *p = of;
    struct pollfd fds[] = {{.fd = p->raw, .events = POLLIN}, {.fd = p->bell[0], .events = POLLIN}};
    _Alignas(8) uint8_t packet[PACKET_MAX];
    uint8_t what;

    while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
        ssize_t bytes;

        if (fds[1].revents != 0 && (read(p->bell[0], &what, 1) != 1 || what == STOP))
            break;
        send_posted(p);
        while ((bytes = recv(p->raw, packet, sizeof(packet), MSG_DONTWAIT)) > 0)
            if (is_ours(p, packet, (size_t)bytes))
                take(p, packet, (size_t)bytes);
    }
    return NULL;
}

/* --- objects --- */

struct ibv_device **ibv_get_device_list(int *n)
{
    struct ibv_device **list = calloc(2, sizeof(*list));

    if (own_ip() != 0)
        list[0] = &device;
    if (n != NULL)
        *n = own_ip() != 0;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *d)
{
    return d->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
    struct ibv_context *c = calloc(1, sizeof(*c));

    c->device = d;
    c->ops = (struct ibv_context_ops){
        .poll_cq = poll_cq, .req_notify_cq = req_notify_cq, .post_send = post_send, .post_recv = post_recv};
    return c;
}

int ibv_close_device(struct ibv_context *c)
{
    free(c);
    return 0;
}

int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a)
{
    (void)c;
    *a = (struct ibv_device_attr){.phys_port_cnt = 1, .max_sge = pieces()};
    return 0;
}

int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *compat)
{
    struct ibv_port_attr *a = (struct ibv_port_attr *)compat;

    (void)c;
    (void)port;
    a->state = IBV_PORT_ACTIVE;
    a->active_mtu = IBV_MTU_1024;
    a->gid_tbl_len = 2;
    return 0;
}

int _ibv_query_gid_ex(struct ibv_context *c, uint32_t port, uint32_t index, struct ibv_gid_entry *e,
                      uint32_t flags, size_t bytes)
{
    const uint32_t ip = own_ip();

    (void)c;
    (void)flags;
    (void)bytes;
    *e = (struct ibv_gid_entry){
        .gid_index = index, .port_num = port, .gid_type = IBV_GID_TYPE_ROCE_V1 + index};
    e->gid.raw[10] = e->gid.raw[11] = 0xff;
    memcpy(e->gid.raw + 12, &ip, sizeof(ip));
    return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
    struct ibv_pd *pd = calloc(1, sizeof(*pd));

    pd->context = c;
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    free(pd);
    return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *at, size_t bytes, int access)
{
    struct ibv_mr *mr = calloc(1, sizeof(*mr));

    (void)access;
    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = at;
    mr->length = bytes;
    pthread_mutex_lock(&lock);
    while (mr->lkey < MEMORIES && memory[mr->lkey] != NULL)
        mr->lkey++;
    if (mr->lkey == MEMORIES)
        abort();
    memory[mr->lkey] = mr;
    pthread_mutex_unlock(&lock);
    return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    pthread_mutex_lock(&lock);
    memory[mr->lkey] = NULL;
    pthread_mutex_unlock(&lock);
    free(mr);
    return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct channel *c = calloc(1, sizeof(*c));
    int fds[2];

    if (pipe(fds) < 0)
        return NULL;
    c->channel = (struct ibv_comp_channel){.context = context, .fd = fds[0]};
    c->bell = fds[1];
    return &c->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    close(((struct channel *)channel)->bell);
    free(channel);
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *c, int entries, void *context,
                             struct ibv_comp_channel *channel, int vector)
{
    struct queue *q = calloc(1, sizeof(*q));

    (void)vector;
    q->cq = (struct ibv_cq){.context = c, .channel = channel, .cq_context = context, .cqe = entries};
    return &q->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    free(cq);
    return 0;
}

/* The kernel would say that the port is closed, so a socket has it; it takes nothing. */
static bool open_sockets(struct pair *p)
{
    const struct sockaddr_in claimed = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    const int on = 1, least = 0, most = SOCKET_BYTES;

    p->raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_UDP);
    p->claimed = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return p->raw >= 0 && p->claimed >= 0 &&
           setsockopt(p->raw, IPPROTO_IP, IP_HDRINCL, &on, sizeof(on)) == 0 &&
           setsockopt(p->raw, SOL_SOCKET, SO_RCVBUFFORCE, &most, sizeof(most)) == 0 &&
           bind(p->raw, (const struct sockaddr *)&any, sizeof(any)) == 0 &&
           setsockopt(p->claimed, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)) == 0 &&
           setsockopt(p->claimed, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
           bind(p->claimed, (const struct sockaddr *)&claimed, sizeof(claimed)) == 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    static uint32_t pairs;
    struct pair *p = calloc(1, sizeof(*p));

    p->qp = (struct ibv_qp){.context = pd->context,
                            .pd = pd,
                            .send_cq = attr->send_cq,
                            .recv_cq = attr->recv_cq,
                            .qp_num = FIRST_PAIR + ((uint32_t)getpid() & 0xffff) * 16 + pairs++,
                            .qp_type = attr->qp_type};
    if (attr->qp_type != IBV_QPT_UC || attr->cap.max_send_sge > (unsigned)pieces() || pipe(p->bell) < 0 ||
        !open_sockets(p)) {
        free(p);
        errno = EINVAL;
        return NULL;
    }
    return &p->qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    struct pair *p = (struct pair *)qp;

    if (!(mask & IBV_QP_STATE) || attr->qp_state != (enum ibv_qp_state)(qp->state + 1))
        return EINVAL;
    qp->state = attr->qp_state;
    if (mask & IBV_QP_SQ_PSN)
        p->number = attr->sq_psn;
    if (qp->state != IBV_QPS_RTR)
        return 0;
    p->peer = attr->dest_qp_num;
    memcpy(&p->peer_ip, attr->ah_attr.grh.dgid.raw + 12, sizeof(p->peer_ip));
    return pthread_create(&p->nic, NULL, nic, p);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    struct pair *p = (struct pair *)qp;

    if (qp->state >= IBV_QPS_RTR) {
        ring(p, STOP);
        pthread_join(p->nic, NULL);
    }
    fprintf(stderr, "test0: %lu packets sent, %lu received; %lu messages, %lu of them from several places\n",
            p->sent, p->received, p->messages, p->gathered);
    close(p->bell[0]);
    close(p->bell[1]);
    close(p->raw);
    close(p->claimed);
    free(p);
    return 0;
}
