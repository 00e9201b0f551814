/* A worker of published SwitchML's RDMA backend on a NIC that is not ours: unreliable connections of
 * libibverbs.
 *
 *     rxe_worker DEVICE RANK WORKERS OWN_IP SWITCH_IP PAIRS PACKETS ELEMENTS MESSAGES [TURNS]
 *
 * Says by which key and queue pairs it is to be written to, waits until there is a file /go0, and then sums
 * so many messages of PACKETS packets with ELEMENTS numbers each, one at a time by each queue pair. It
 * compares every sum. TURNS: each of them begins with a file, /go0, /go1, ..., and has MESSAGES, of which one
 * at a time is under way in the first, the third, ..., and one by each queue pair in the others; a queue
 * pair's messages have the same numbers, the last sums of a turn alone are compared, and it says how long a
 * message took. Written from the published layout alone (docs/protocol.md, "SwitchML by RDMA"): packets,
 * their numbers and ICRCs are the NIC's. */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PAIRS_MAX = 16,
    SWITCH_PAIR = 0x800000,
    RECEIVES = 8,
    AGAIN_MS = 1000,
    TURN_AGAIN_MS = 10000, /* where times are taken: what is late for want of a CPU is not lost */
    LOOK_MS = 100,
    PATIENCE_S = 600
};

struct pair {
    struct ibv_qp *qp;
    uint32_t *own, *sum; /* the contribution, and where the sum is written to */
    unsigned message;    /* under way */
    unsigned version;
    uint64_t sent_ms;
    bool waits;
};

static unsigned rank, workers, pairs, packets, elements, messages;
static unsigned window, end; /* of this turn: messages under way; the number of the next turn's first */
static struct pair pair[PAIRS_MAX];
static struct ibv_context *nic;
static struct ibv_pd *domain;
static struct ibv_mr *memory;
static struct ibv_cq *sent, *received;
static struct ibv_comp_channel *bell; /* rings when something has been received */
static unsigned again;
static bool same; /* numbers in all messages of a queue pair */

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t now_ms(void)
{
    return now_us() / 1000;
}

static unsigned numbers(void)
{
    return packets * elements;
}

/* What a rank contributes, and its exponent. */
static uint32_t number_of(unsigned of, unsigned message, unsigned i)
{
    uint64_t x = ((uint64_t)of << 48) + ((uint64_t)message << 24) + i + 1;

    x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
    x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
    return (uint32_t)(x >> 32);
}

static int8_t exponent_of(unsigned of, unsigned message)
{
    return (int8_t)(number_of(of, message, 1u << 23) % 200 - 100);
}

static void open_nic(const char *name)
{
    struct ibv_device **list = ibv_get_device_list(NULL);

    for (unsigned i = 0; list != NULL && list[i] != NULL; i++)
        if (strcmp(ibv_get_device_name(list[i]), name) == 0)
            nic = ibv_open_device(list[i]);
    if (nic == NULL)
        fail(name);
}

static void make_memory(void)
{
    const size_t bytes = (size_t)2 * pairs * numbers() * sizeof(uint32_t);
    uint32_t *at = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

    domain = ibv_alloc_pd(nic);
    if (at == NULL || domain == NULL)
        fail("memory");
    memory = ibv_reg_mr(domain, at, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    sent = ibv_create_cq(nic, 256, NULL, NULL, 0);
    bell = ibv_create_comp_channel(nic);
    received = bell == NULL ? NULL : ibv_create_cq(nic, 256, NULL, bell, 0);
    if (memory == NULL || sent == NULL || received == NULL)
        fail("completion queues");
    for (unsigned i = 0; i < pairs; i++) {
        pair[i].own = at + (size_t)2 * i * numbers();
        pair[i].sum = pair[i].own + numbers();
    }
}

static void make_pair(struct pair *p)
{
    struct ibv_qp_init_attr init = {.send_cq = sent,
                                    .recv_cq = received,
                                    .cap = {.max_send_wr = 16, .max_recv_wr = RECEIVES, .max_send_sge = 1},
                                    .qp_type = IBV_QPT_UC};
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

    p->qp = ibv_create_qp(domain, &init);
    if (p->qp == NULL ||
        ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) !=
            0)
        fail("a queue pair");
}

static union ibv_gid gid_of(const char *ip)
{
    union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};

    if (inet_pton(AF_INET, ip, gid.raw + 12) != 1)
        fail(ip);
    return gid;
}

static uint8_t gid_index(const char *own_ip)
{
    const union ibv_gid own = gid_of(own_ip);
    union ibv_gid gid;

    for (uint8_t i = 0; ibv_query_gid(nic, 1, i, &gid) == 0; i++)
        if (memcmp(&gid, &own, sizeof(gid)) == 0)
            return i;
    fail("no such GID");
    return 0;
}

static enum ibv_mtu path_mtu(void)
{
    enum ibv_mtu mtu = IBV_MTU_256;

    for (unsigned bytes = 256; bytes < elements * sizeof(uint32_t); bytes *= 2)
        mtu++;
    return mtu;
}

/* The switch's numbers begin with 0. */
static void connect_pair(struct pair *p, const char *own_ip, const char *switch_ip)
{
    const unsigned index = (unsigned)(p - pair);
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = path_mtu(),
        .dest_qp_num = SWITCH_PAIR | rank << 16 | index,
        .rq_psn = 0,
        .ah_attr = {.is_global = 1,
                    .port_num = 1,
                    .grh = {.dgid = gid_of(switch_ip), .sgid_index = gid_index(own_ip), .hop_limit = 64}}};

    if (ibv_modify_qp(p->qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) != 0)
        fail("ready to receive");
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = number_of(rank, index, 0) & 0xffffff};
    if (ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) != 0)
        fail("ready to send");
}

static void expect(struct pair *p)
{
    struct ibv_recv_wr wr = {.wr_id = (uint64_t)(p - pair)}, *bad;

    if (ibv_post_recv(p->qp, &wr, &bad) != 0)
        fail("post_recv");
}

static void write_message(struct pair *p)
{
    const unsigned index = (unsigned)(p - pair);
    const int8_t exponents[2] = {exponent_of(rank, p->message), 0};
    struct ibv_sge sge = {
        .addr = (uintptr_t)p->own, .length = numbers() * (uint32_t)sizeof(uint32_t), .lkey = memory->lkey};
    struct ibv_send_wr wr = {
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = (uintptr_t)p->sum, .rkey = 2 * packets * index | p->version}};
    const uint16_t number = htole16((uint16_t)p->message);
    struct ibv_send_wr *bad;

    memcpy(&wr.imm_data, &number, sizeof(number));
    memcpy((uint8_t *)&wr.imm_data + sizeof(number), exponents, sizeof(exponents));
    if (ibv_post_send(p->qp, &wr, &bad) != 0)
        fail("post_send");
    p->sent_ms = now_ms();
}

/* The message that has the numbers of this one. */
static unsigned numbers_of(unsigned message)
{
    return same ? message % pairs : message;
}

static void begin(unsigned message)
{
    struct pair *p = &pair[message % pairs];
    const bool is_there = same && message >= pairs;

    p->message = message;
    p->version = message / pairs % 2;
    p->waits = true;
    for (unsigned i = 0; i < numbers() && !is_there; i++)
        p->own[i] = htobe32(number_of(rank, numbers_of(message), i));
    write_message(p);
}

static void compare(const struct pair *p, const uint8_t immediate[4])
{
    const bool is_compared = !same || p->message + pairs >= end;
    int8_t greatest = INT8_MIN;

    for (unsigned i = 0; i < numbers() && is_compared; i++) {
        uint32_t sum = 0;

        for (unsigned of = 0; of < workers; of++)
            sum += number_of(of, numbers_of(p->message), i);
        if (be32toh(p->sum[i]) != sum) {
            printf("message %u, number %u: %08x, not %08x\n", p->message, i, be32toh(p->sum[i]), sum);
            exit(1);
        }
    }
    for (unsigned of = 0; of < workers; of++)
        if (exponent_of(of, p->message) > greatest)
            greatest = exponent_of(of, p->message);
    if ((int8_t)immediate[2] != greatest) {
        printf("message %u: exponent %d, not %d\n", p->message, (int8_t)immediate[2], greatest);
        exit(1);
    }
}

/* Returns how many messages have their sums now. */
static unsigned take(const struct ibv_wc *wc)
{
    struct pair *p = &pair[wc->wr_id];
    const uint8_t *immediate = (const uint8_t *)&wc->imm_data;

    if (wc->status != IBV_WC_SUCCESS || wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
        printf("a completion says %s, %d\n", ibv_wc_status_str(wc->status), wc->opcode);
        exit(1);
    }
    expect(p);
    if (!p->waits || (unsigned)(immediate[0] | immediate[1] << 8) != (p->message & 0xffff))
        return 0; /* an earlier one once more */
    compare(p, immediate);
    p->waits = false;
    if (p->message + window < end)
        begin(p->message + window);
    return 1;
}

static void write_again(void)
{
    struct ibv_wc wc;

    while (ibv_poll_cq(sent, 1, &wc) > 0)
        if (wc.status != IBV_WC_SUCCESS) {
            printf("sending: %s\n", ibv_wc_status_str(wc.status));
            exit(1);
        }
    for (unsigned i = 0; i < pairs; i++)
        if (pair[i].waits && now_ms() - pair[i].sent_ms > (same ? TURN_AGAIN_MS : AGAIN_MS)) {
            again++;
            write_message(&pair[i]);
        }
}

/* What has come; sleeps for a while if that is nothing. */
static bool has_come(struct ibv_wc *wc)
{
    struct pollfd fd = {.fd = bell->fd, .events = POLLIN};
    struct ibv_cq *cq;
    void *unused;

    if (ibv_poll_cq(received, 1, wc) > 0)
        return true;
    if (ibv_req_notify_cq(received, 0) != 0)
        fail("req_notify");
    if (ibv_poll_cq(received, 1, wc) > 0)
        return true;
    if (poll(&fd, 1, LOOK_MS) > 0 && ibv_get_cq_event(bell, &cq, &unused) == 0)
        ibv_ack_cq_events(cq, 1);
    return false;
}

/* The messages of a turn, so many of them under way. */
static void sum_all(unsigned turn, unsigned under_way)
{
    const uint64_t began = now_us(), over = now_ms() + PATIENCE_S * 1000;
    const unsigned first = turn * messages, again_before = again;
    struct ibv_wc wc;

    window = under_way;
    end = first + messages;
    for (unsigned i = 0; i < window && i < messages; i++)
        begin(first + i);
    for (unsigned done = 0; done < messages;) {
        if (now_ms() > over) {
            printf("worker %u: %u of %u messages after %d s\n", rank, done, messages, PATIENCE_S);
            exit(1);
        }
        if (has_come(&wc))
            done += take(&wc);
        write_again();
    }
    if (same)
        printf("turn %u: %.1f us a message, %u sent again\n", turn, (double)(now_us() - began) / messages,
               again - again_before);
    fflush(stdout);
}

static void wait_for_turn(unsigned turn)
{
    char name[32];

    snprintf(name, sizeof(name), "/go%u", turn);
    while (access(name, F_OK) != 0)
        usleep(10000);
}

int main(int argc, char *argv[])
{
    if (argc != 10 && argc != 11)
        return 2;
    rank = (unsigned)atoi(argv[2]);
    workers = (unsigned)atoi(argv[3]);
    pairs = (unsigned)atoi(argv[6]);
    packets = (unsigned)atoi(argv[7]);
    elements = (unsigned)atoi(argv[8]);
    messages = (unsigned)atoi(argv[9]);
    same = argc == 11;
    const unsigned turns = same ? (unsigned)atoi(argv[10]) : 1;
    if (pairs == 0 || pairs > PAIRS_MAX || (same && messages % (2 * pairs) != 0))
        return 2;
    open_nic(argv[1]);
    make_memory();
    for (unsigned i = 0; i < pairs; i++)
        make_pair(&pair[i]);
    printf("key %u pairs", memory->rkey);
    for (unsigned i = 0; i < pairs; i++)
        printf(" %u", pair[i].qp->qp_num);
    printf(" end\n");
    fflush(stdout);
    wait_for_turn(0);
    for (unsigned i = 0; i < pairs; i++) {
        connect_pair(&pair[i], argv[4], argv[5]);
        for (unsigned n = 0; n < RECEIVES; n++)
            expect(&pair[i]);
    }
    for (unsigned turn = 0; turn < turns; turn++) {
        wait_for_turn(turn);
        sum_all(turn, same && turn % 2 == 0 ? 1 : pairs);
    }
    printf("worker %u: %u messages are right; %u sent again\n", rank, turns * messages, again);
    return 0;
}
