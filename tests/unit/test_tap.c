/* Frames that a capture gets, and the file that they become: what the filter lets pass, in bounded room; a
 * file that libpcap reads again. */
#include "lcore_rig.h"

#include <stdlib.h>

#include <pcap/pcap.h>

#include "capture/pcapng.h"
#include "capture/tap.h"
#include "protocols.h"
#include "wire/control.h"

enum {
    SNAP = 128,
    LITTLE = 64,
    SENDER = 5,
    JUMBO = 9700,
    BURST = 2500, /* of frames of 342 bytes, into a mebibyte */
};

static struct tap *tap;

static struct rte_mbuf *frame_to(uint16_t udp_port)
{
    const struct frame_end from = rig_station(SENDER);
    const struct frame_end to = {.mac = rig_mac, .ip = rig_ip, .port = rte_cpu_to_be_16(udp_port)};
    static const uint8_t payload[300] = {7};

    return rig_frame(&from, &to, payload, sizeof(payload));
}

static unsigned taken(void)
{
    struct tap_frame *f;
    unsigned n = 0;

    for (; (f = tap_next(tap)) != NULL; n++)
        tap_give_back(tap, f);
    return n;
}

static void open_tap(const struct tap_filter *filter, uint32_t snap, size_t room)
{
    tap_free(tap);
    tap = tap_new(filter, snap, room);
    rig_port[0].tap = tap;
}

static void close_tap(void)
{
    rig_port[0].tap = NULL;
    tap_free(tap);
    tap = NULL;
    rig_close();
}

EACH_TEST(rig_open, close_tap)

/* What the lcore captures of a gradient packet, a control message and another frame. */
static unsigned captured(unsigned kinds)
{
    open_tap(&(struct tap_filter){.kinds = kinds}, SNAP, 1 << 20);
    rig_receive(0, frame_to(sml_protocol.udp_ports.first));
    rig_receive(0, frame_to(CTL_PORT));
    rig_receive(0, frame_to(7));
    return taken();
}

TEST(frames_are_captured_by_kind)
{
    CU_ASSERT_EQUAL(captured(TAP_DATA), 1);
    CU_ASSERT_EQUAL(captured(TAP_CONTROL), 1);
    CU_ASSERT_EQUAL(captured(TAP_OTHER), 1);
    CU_ASSERT_EQUAL(captured(TAP_CONTROL | TAP_OTHER), 2);
}

TEST(a_frame_is_cut_to_what_is_asked_for)
{
    const struct tap_filter filter = {.kinds = TAP_ALL};
    struct rte_mbuf *m = frame_to(7);
    struct tap_frame *f;

    open_tap(&filter, SNAP, 1 << 20);
    tap_take(tap, 1, PCAPNG_SENT, &m, 1, 1234);
    f = tap_next(tap);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT(f->bytes == m->pkt_len && f->kept == SNAP);
    CU_ASSERT(f->port == 1 && f->direction == PCAPNG_SENT && f->tsc == 1234);
    CU_ASSERT_EQUAL(memcmp(f->data, rte_pktmbuf_mtod(m, void *), SNAP), 0);
    tap_give_back(tap, f);
    rte_pktmbuf_free(m);
}

TEST(a_job_is_known_by_its_members)
{
    const struct tap_filter filter = {.kinds = TAP_ALL, .jobs = &rig_jobs, .job = rig_job.common.number};
    const struct frame_end stranger = rig_station(SENDER),
                           us = {.mac = rig_mac, .ip = rig_ip, .port = net16(0xBEE0)};
    const struct agg_seat *seat = NULL;
    const struct frame_end host = rig_station(SENDER + 1);
    struct rte_mbuf *m[3];
    struct frame_end member;

    for (unsigned i = 0; i < rig_job.common.seats && seat == NULL; i++)
        if (rig_job.common.seat[i].sender != 0)
            seat = &rig_job.common.seat[i];
    CU_ASSERT_PTR_NOT_NULL_FATAL(seat);
    member = stranger;
    member.ip = (uint32_t)(seat->sender >> 16);
    member.port = (uint16_t)seat->sender;
    m[0] = rig_frame(&stranger, &us, "x", 1);
    m[1] = rig_frame(&member, &us, "x", 1);
    m[2] = rig_frame(&member, &host, "x", 1); /* a protocol may have any UDP port */
    open_tap(&filter, SNAP, 1 << 20);
    tap_take(tap, 0, PCAPNG_RECEIVED, m, 3, 0);
    CU_ASSERT_EQUAL(tap->port[0].seen, 2);
    CU_ASSERT_EQUAL(taken(), 2);
    tap->filter.rank = seat->rank + 1u;
    tap_take(tap, 0, PCAPNG_RECEIVED, m, 3, 0);
    CU_ASSERT_EQUAL(taken(), 2);
    tap->filter.rank = seat->rank + 2u;
    tap_take(tap, 0, PCAPNG_RECEIVED, m, 3, 0);
    CU_ASSERT_EQUAL(taken(), 0);
    rte_pktmbuf_free_bulk(m, 3);
}

/* How many of two frames are captured that are dropped for this reason: no gradient packet, to the port of
 * such, and a datagram to a port that nobody has. */
static unsigned captured_as(unsigned reason)
{
    open_tap(&(struct tap_filter){.kinds = TAP_ALL, .dropped = true, .reason = reason}, SNAP, 1 << 20);
    rig_receive(0, frame_to(sml_protocol.udp_ports.first));
    rig_receive(0, frame_to(7));
    return taken();
}

TEST(frames_that_are_dropped_are_captured_by_reason)
{
    unsigned found = 0;

    for (unsigned kind = 0; kind < DROP_KINDS; kind++) {
        const unsigned n = captured_as(kind);

        if (n > 0)
            CU_ASSERT(strcmp(drop_name(kind), "sml_bad_kind") == 0 ||
                      strcmp(drop_name(kind), "udp_port") == 0);
        found += n;
    }
    CU_ASSERT_EQUAL(found, 2);
}

TEST(what_finds_no_room_is_lost_and_counted)
{
    const struct tap_filter filter = {.kinds = TAP_ALL};
    struct rte_mbuf *m = frame_to(7);

    open_tap(&filter, SNAP, 0); /* the least */
    for (unsigned i = 0; i < 3 * LITTLE; i++)
        tap_take(tap, 2, PCAPNG_RECEIVED, &m, 1, 0);
    CU_ASSERT_EQUAL(tap->port[2].seen, 3 * LITTLE);
    CU_ASSERT_EQUAL(taken() + tap->port[2].lost, 3 * LITTLE);
    CU_ASSERT(tap->port[2].lost > 0);
    tap_take(tap, 2, PCAPNG_RECEIVED, &m, 1, 0);
    CU_ASSERT_EQUAL(taken(), 1); /* there is room again */
    rte_pktmbuf_free(m);
}

TEST(a_burst_waits_for_a_late_reader)
{
    const struct tap_filter filter = {.kinds = TAP_ALL};
    struct rte_mbuf *m = frame_to(7);

    open_tap(&filter, JUMBO, 1 << 20);
    for (unsigned i = 0; i < BURST; i++)
        tap_take(tap, 0, PCAPNG_RECEIVED, &m, 1, i);
    CU_ASSERT_EQUAL(tap->port[0].lost, 0);
    CU_ASSERT_EQUAL(taken(), BURST);
    rte_pktmbuf_free(m);
}

static void write_file(FILE *to)
{
    uint8_t block[PCAPNG_BLOCK_MAX + 64];
    const struct pcapng_frame frame = {
        .interface = 1,
        .direction = PCAPNG_SENT,
        .time = UINT64_C(1700000000123456789),
        .bytes = 1000,
        .kept = 61,
        .data = (const uint8_t *)"sixty-one bytes of a frame, which is no multiple of four: fin."};

    fwrite(block, 1, pcapng_section(block), to);
    fwrite(block, 1, pcapng_interface(block, "h0", SNAP), to);
    fwrite(block, 1, pcapng_interface(block, "a longer name", SNAP), to);
    fwrite(block, 1, pcapng_frame(block, &frame), to);
    fwrite(block, 1, pcapng_statistics(block, 1, frame.time, 5, 4), to);
    rewind(to);
}

TEST(libpcap_reads_the_file)
{
    char error[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *head;
    const u_char *data;
    FILE *file = tmpfile();
    pcap_t *pcap;

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    write_file(file);
    pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pcap);
    CU_ASSERT_EQUAL(pcap_datalink(pcap), DLT_EN10MB);
    CU_ASSERT_EQUAL_FATAL(pcap_next_ex(pcap, &head, &data), 1);
    CU_ASSERT(head->len == 1000 && head->caplen == 61);
    CU_ASSERT(head->ts.tv_sec == 1700000000 && head->ts.tv_usec == 123456789);
    CU_ASSERT_EQUAL(memcmp(data, "sixty-one bytes", 15), 0);
    CU_ASSERT_EQUAL(pcap_next_ex(pcap, &head, &data), PCAP_ERROR_BREAK);
    pcap_close(pcap);
}
