/* Packets leave the UDP transport one by one as they were given, whatever runs the kernel gets them in. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../unit/unit.h"
#include "options.h"
#include "transport_udp.h"

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

/* One batch of packets of these lengths, in order. Without checksums the kernel refuses runs (EINVAL). */
static void send_batch(const size_t lengths[], unsigned n, int without_checksums)
{
    static uint8_t bytes[TRANSPORT_BATCH][PACKET_MAX];
    struct sml_send packets[TRANSPORT_BATCH];
    struct transport *transport;
    struct sockaddr_in at;
    int fd = open_receiver(&at);

    CU_ASSERT_EQUAL_FATAL(
        transport_udp_open(&transport, at.sin_addr, ntohs(at.sin_port), 0, agg_kernels_best()), 0);
    CU_ASSERT_EQUAL_FATAL(
        setsockopt(transport->fd, SOL_SOCKET, SO_NO_CHECK, &without_checksums, sizeof without_checksums), 0);
    for (unsigned p = 0; p < n; p++) {
        for (size_t i = 0; i < lengths[p]; i++)
            bytes[p][i] = content(p, i);
        packets[p] = (struct sml_send){
            .head_bytes = HEAD_BYTES, .body = bytes[p] + HEAD_BYTES, .body_bytes = lengths[p] - HEAD_BYTES};
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

static void a_shorter_packet_ends_a_run_and_a_longer_one_begins_the_next(void)
{
    static const size_t shorter[] = {100, 100, 60, 100, 100}, longer[] = {60, 60, 100, 60, 60},
                        falling[] = {100, 60, 60, 20, 20, 20, 12}, alone[] = {1000};

    send_batch(shorter, sizeof shorter / sizeof *shorter, 0);
    send_batch(longer, sizeof longer / sizeof *longer, 0);
    send_batch(falling, sizeof falling / sizeof *falling, 0);
    send_batch(alone, 1, 0);
}

/* A run is one datagram to the kernel: its payload has room for 65507 bytes, those of the headers less. */
static void a_run_is_no_longer_than_a_datagram(void)
{
    enum { DATAGRAM_MAX = 65535 - CLIENT_IP_UDP_BYTES, LENGTH = 1560, FIT = DATAGRAM_MAX / LENGTH };

    CU_ASSERT((FIT + 1) * LENGTH > DATAGRAM_MAX && (FIT + 1) * LENGTH <= 65535);
    send_alike(LENGTH, TRANSPORT_BATCH, 0);
    send_alike(LENGTH, FIT, DATAGRAM_MAX - FIT * LENGTH);     /* just fits */
    send_alike(LENGTH, FIT, DATAGRAM_MAX - FIT * LENGTH + 1); /* just does not */
}

static void a_whole_batch_of_small_packets_is_sent(void)
{
    send_alike(HEAD_BYTES, TRANSPORT_BATCH, 0);
}

static void where_the_kernel_refuses_runs_packets_are_sent_one_by_one(void)
{
    static const size_t lengths[] = {60, 200, 100, 100, 100, 60, 100};

    send_batch(lengths, sizeof lengths / sizeof *lengths, 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(a_shorter_packet_ends_a_run_and_a_longer_one_begins_the_next),
        UNIT_TEST(a_run_is_no_longer_than_a_datagram),
        UNIT_TEST(a_whole_batch_of_small_packets_is_sent),
        UNIT_TEST(where_the_kernel_refuses_runs_packets_are_sent_one_by_one),
        CU_TEST_INFO_NULL,
    };

    return unit_main("client transport", tests);
}
