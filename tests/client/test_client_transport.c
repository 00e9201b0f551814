/* The UDP transport: packets go to the port of their slot as they were given, in whatever runs the kernel
 * gets them; and only packets from the switch are received. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "options.h"
#include "switchml/protocol.h"
#include "transport_udp.h"
#include "unit.h"

enum { HEAD_BYTES = 12, PACKET_MAX = 2000, PATIENCE_S = 5 };

static int open_receiver(struct sockaddr_in *at)
{
    socklen_t bytes = sizeof *at;
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)at, sizeof *at), 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(fd, (struct sockaddr *)at, &bytes), 0);
    CU_ASSERT_EQUAL_FATAL(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    return fd;
}

/* Byte i of a packet: no two packets of a batch are alike. */
static uint8_t content(unsigned packet, size_t i)
{
    return (uint8_t)(packet * 89 + i * 7);
}

static void expect_packet(int fd, unsigned packet, size_t bytes)
{
    uint8_t got[PACKET_MAX];
    unsigned wrong = 0;
    ssize_t n = recv(fd, got, sizeof got, MSG_TRUNC);

    if (n != (ssize_t)bytes)
        printf("\n    packet %u of %zu bytes: got %zd\n", packet, bytes, n);
    CU_ASSERT_EQUAL_FATAL(n, (ssize_t)bytes);
    for (size_t i = 0; i < bytes; i++)
        wrong += got[i] != content(packet, i);
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Its packets go to this address. */
static struct transport *open_transport(const struct sockaddr_in *at)
{
    const struct transport_config config = {.switch_ip = at->sin_addr,
                                            .port = ntohs(at->sin_port),
                                            .key = sml_protocol.shard_key,
                                            .mtu = PACKET_MAX,
                                            .packet_max = PACKET_MAX};
    struct transport *t;

    CU_ASSERT_EQUAL_FATAL(transport_udp_open(&t, &config), 0);
    return t;
}

/* One batch of packets of these lengths, in order. Without checksums the kernel refuses runs (EINVAL). */
static void send_batch(const size_t lengths[], unsigned n, int without_checksums)
{
    static uint8_t bytes[TRANSPORT_BATCH][PACKET_MAX];
    struct xfer_send packets[TRANSPORT_BATCH];
    struct xfer_segment body[TRANSPORT_BATCH];
    struct transport *transport;
    struct sockaddr_in at;
    int fd = open_receiver(&at);

    transport = open_transport(&at);
    CU_ASSERT_EQUAL_FATAL(setsockopt(transport->socket.fd, SOL_SOCKET, SO_NO_CHECK, &without_checksums,
                                     sizeof without_checksums),
                          0);
    for (unsigned p = 0; p < n; p++) {
        for (size_t i = 0; i < lengths[p]; i++)
            bytes[p][i] = content(p, i);
        body[p] = (struct xfer_segment){.in = bytes[p] + HEAD_BYTES, .end = lengths[p] - HEAD_BYTES};
        packets[p] = (struct xfer_send){.head_bytes = HEAD_BYTES,
                                        .elements = {&body[p], 0, body[p].end, false},
                                        .convert = agg_kernels_scalar.convert[AGG_F32],
                                        .body_bytes = body[p].end,
                                        .elements_bytes = body[p].end};
        memcpy(packets[p].head, bytes[p], HEAD_BYTES);
    }
    CU_ASSERT_EQUAL(transport->ops->send(transport, packets, n), 0);
    for (unsigned p = 0; p < n; p++)
        expect_packet(fd, p, lengths[p]);
    transport->ops->close(transport);
    close(fd);
}

/* The whole batch of one length but for the packet `odd`. */
static void send_alike(size_t length, unsigned odd, size_t odd_length)
{
    size_t lengths[TRANSPORT_BATCH];

    for (unsigned p = 0; p < TRANSPORT_BATCH; p++)
        lengths[p] = p == odd ? odd_length : length;
    send_batch(lengths, TRANSPORT_BATCH, 0);
}

TEST(a_shorter_packet_ends_a_run_and_a_longer_one_begins_the_next)
{
    static const size_t shorter[] = {100, 100, 60, 100, 100}, longer[] = {60, 60, 100, 60, 60},
                        falling[] = {100, 60, 60, 20, 20, 20, 12}, alone[] = {1000};

    send_batch(shorter, sizeof shorter / sizeof *shorter, 0);
    send_batch(longer, sizeof longer / sizeof *longer, 0);
    send_batch(falling, sizeof falling / sizeof *falling, 0);
    send_batch(alone, 1, 0);
}

/* A run is one datagram to the kernel: its payload has room for 65507 bytes, those of the headers less. */
TEST(a_run_is_no_longer_than_a_datagram)
{
    enum { DATAGRAM_MAX = 65535 - AGG_IP_UDP_BYTES, LENGTH = 1560, FIT = DATAGRAM_MAX / LENGTH };

    CU_ASSERT((FIT + 1) * LENGTH > DATAGRAM_MAX && (FIT + 1) * LENGTH <= 65535);
    send_alike(LENGTH, TRANSPORT_BATCH, 0);
    send_alike(LENGTH, FIT, DATAGRAM_MAX - FIT * LENGTH);     /* just fits */
    send_alike(LENGTH, FIT, DATAGRAM_MAX - FIT * LENGTH + 1); /* just does not */
}

TEST(a_whole_batch_of_small_packets_is_sent)
{
    send_alike(HEAD_BYTES, TRANSPORT_BATCH, 0);
}

TEST(where_the_kernel_refuses_runs_packets_are_sent_one_by_one)
{
    static const size_t lengths[] = {60, 200, 100, 100, 100, 60, 100};

    send_batch(lengths, sizeof lengths / sizeof *lengths, 1);
}

/* The kernel, as a changed route or packet filter makes it. */
static struct {
    int error; /* of the next calls; 0: none */
    unsigned calls, messages;
} kernel;

int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
    kernel.calls++;
    if (kernel.error != 0) {
        errno = kernel.error;
        return -1;
    }
    kernel.messages += n;
    return (int)syscall(SYS_sendmmsg, fd, messages, n, flags);
}

TEST(a_path_that_is_closed_for_a_while_loses_packets_and_no_more)
{
    static const int errors[] = {EPERM,    EACCES,       EINVAL, ENETUNREACH, EHOSTUNREACH,
                                 EMSGSIZE, ECONNREFUSED, EPROTO, ENOBUFS,     ENETDOWN};
    enum { PACKETS = 10, LENGTH = 24 };
    struct xfer_send packets[PACKETS];
    struct transport *t;
    struct sockaddr_in at;
    int fd = open_receiver(&at);

    t = open_transport(&at);
    for (unsigned p = 0; p < PACKETS; p++) {
        packets[p] = (struct xfer_send){.head_bytes = LENGTH};
        for (unsigned i = 0; i < LENGTH; i++)
            packets[p].head[i] = content(p, i);
    }
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
        kernel.error = errors[e];
        CU_ASSERT_EQUAL(t->ops->send(t, packets, PACKETS), 0);
        CU_ASSERT_EQUAL(t->trouble, errors[e]);
        kernel.error = 0;
        kernel.messages = 0;
        CU_ASSERT_EQUAL(t->ops->send(t, packets, PACKETS), 0);
        CU_ASSERT_EQUAL(kernel.messages, 1); /* still as one run */
        for (unsigned p = 0; p < PACKETS; p++)
            expect_packet(fd, p, LENGTH);
    }
    kernel.error = EBADF;
    CU_ASSERT_EQUAL(t->ops->send(t, packets, PACKETS), -EBADF);
    kernel.error = 0;
    t->ops->close(t);
    close(fd);
}

enum { PORTS = 4 };

/* Neighbouring ports of one address. */
static void open_receivers(int fd[PORTS], struct sockaddr_in *first)
{
    unsigned opened = 0;

    while (opened < PORTS) {
        struct sockaddr_in at;

        for (fd[0] = open_receiver(first), at = *first, opened = 1; opened < PORTS; opened++) {
            at.sin_port = htons((uint16_t)(ntohs(first->sin_port) + opened));
            fd[opened] = socket(AF_INET, SOCK_DGRAM, 0);
            if (bind(fd[opened], (struct sockaddr *)&at, sizeof at) < 0) {
                for (unsigned i = 0; i <= opened; i++)
                    close(fd[i]);
                break;
            }
        }
    }
}

static struct xfer_send packet_of_slot(uint16_t slot)
{
    struct sml_packet p = {.kind = SML_PROBE, .slot = slot};
    struct xfer_send s = {.head_bytes = SML_HEADER_BYTES};

    sml_build_header(s.head, &p);
    return s;
}

/* Reads so many packets, which must be those of slots of this port in the order of the slots. */
static void expect_slots(int fd, unsigned port, unsigned ports, unsigned packets, struct sockaddr_in *worker)
{
    for (unsigned i = 0; i < packets; i++) {
        uint8_t got[PACKET_MAX] = {0};
        socklen_t bytes = sizeof *worker;
        ssize_t n = recvfrom(fd, got, sizeof got, 0, (struct sockaddr *)worker, &bytes);

        CU_ASSERT_EQUAL_FATAL(n, SML_HEADER_BYTES);
        CU_ASSERT_EQUAL(sml_peek_slot(got), i * ports + port);
    }
    CU_ASSERT(recv(fd, &(char){0}, 1, MSG_DONTWAIT) < 0);
}

static void send_slots(struct transport *t)
{
    struct xfer_send packets[TRANSPORT_BATCH];

    for (uint16_t slot = 0; slot < TRANSPORT_BATCH; slot++)
        packets[slot] = packet_of_slot(slot);
    CU_ASSERT_EQUAL(t->ops->send(t, packets, TRANSPORT_BATCH), 0);
}

static void say(int fd, char word, const struct sockaddr_in *to)
{
    CU_ASSERT_EQUAL(sendto(fd, &word, 1, 0, (const struct sockaddr *)to, sizeof *to), 1);
}

/* What has been sent over loopback has arrived. */
static void expect_words(struct transport *t, const char *words)
{
    struct transport_packet packets[TRANSPORT_BATCH];
    int n = t->ops->receive(t, packets);

    CU_ASSERT_EQUAL_FATAL(n, (int)strlen(words));
    for (int i = 0; i < n; i++)
        CU_ASSERT(packets[i].bytes == 1 && packets[i].payload[0] == words[i]);
}

TEST(slots_are_dealt_to_the_switchs_ports_and_only_those_are_heard)
{
    struct sockaddr_in first, worker = {0}, elsewhere = {.sin_family = AF_INET};
    int fd[PORTS], forger = socket(AF_INET, SOCK_DGRAM, 0), stranger;
    struct transport *t;

    open_receivers(fd, &first);
    stranger = open_receiver(&elsewhere);
    elsewhere = first; /* the right port of another address */
    elsewhere.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    CU_ASSERT_EQUAL_FATAL(bind(forger, (struct sockaddr *)&elsewhere, sizeof elsewhere), 0);
    t = open_transport(&first);
    /* There and back again, as switches come and go. */
    for (unsigned i = 0; i < 6; i++) {
        static const unsigned ports_of[] = {1, PORTS, 2, 1, PORTS, PORTS};
        const unsigned ports = ports_of[i];

        CU_ASSERT_EQUAL_FATAL(t->ops->set_ports(t, ntohs(first.sin_port), ports), 0);
        send_slots(t);
        for (unsigned p = 0; p < ports; p++) {
            expect_slots(fd[p], p, ports, TRANSPORT_BATCH / ports, &worker);
            CU_ASSERT_EQUAL(ntohs(worker.sin_port), t->local_port);
        }
        say(stranger, 'x', &worker);
        say(forger, 'y', &worker);
        say(fd[ports - 1], 'a', &worker);
        if (ports < PORTS)
            say(fd[ports], 'z', &worker); /* not one that slots are dealt to */
        say(fd[0], 'b', &worker);
        expect_words(t, "ab");
    }
    t->ops->close(t);
    for (unsigned p = 0; p < PORTS; p++)
        close(fd[p]);
    close(forger);
    close(stranger);
}
