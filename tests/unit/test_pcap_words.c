/* swagg-pcap show: packets in words. */
#include <string.h>

#include "atp/protocol.h"
#include "by_the_book.h"
#include "capture/describe.h"
#include "elements.h"
#include "hostagg/protocol.h"
#include "pcap_rig.h"
#include "switchml/protocol.h"
#include "terms_of.h"
#include "unit.h"
#include "wire/atp.h"
#include "wire/control.h"
#include "wire/hostagg.h"
#include "wire/path.h"

TEST(packets_in_words)
{
    static struct agg_words how = {.elements = 2, .element = element_print};
    struct ctl_message m = {
        .head = {.type = CTL_JOIN, .version = CTL_VERSION, .rank = 1, .size = 4, .serial = 9},
        .join = {.name = "x",
                 .terms = terms_of((struct sml_terms){.slots = 64, .chunk_bytes = 1460}),
                 .data_port = 30001}};
    uint8_t frame[UDP_FRAME_MAX], message[CTL_MESSAGE_MAX];
    struct agg_line data = {0}, keyed = {0}, control = {0}, bad = {0};
    struct udp_datagram d;

    CU_ASSERT_FATAL(udp_parse(&d, frame, plan_frame(&usual, 1, 5, frame)));
    describe_packet(&data, &how, &sml_protocol, d.payload, d.bytes);
    CU_ASSERT_STRING_EQUAL(data.text, "DATA job 7 tag 5 slot 1.1 16 float32: -0.484375 0.53125 ...");
    frame[UDP_HEADERS_BYTES]++; /* the size code: 5 says that it is keyed, and its last eight bytes are no
                                   elements */
    describe_packet(&keyed, &how, &sml_protocol, d.payload, d.bytes);
    CU_ASSERT_STRING_EQUAL(keyed.text, "DATA job 7 tag 5 slot 1.1 keyed 14 float32: -0.484375 0.53125 ...");
    describe_control(&control, &how, message, ctl_build(message, &m));
    CU_ASSERT_STRING_EQUAL(
        control.text, "JOIN rank 1 of 4 epoch 0 serial 9 \"x\", data from port 30001, protocol 1 switchml, "
                      "format typed, mode on_arrival, checksum none, slots 64, chunk_bytes 1460, resumed 0");
    describe_packet(&bad, &how, &sml_protocol, d.payload, 9);
    CU_ASSERT_STRING_EQUAL(bad.text, "malformed gradient packet of 9 bytes");
}

/* A packet of a compressed call, in words. */
static void expect_words(const struct sml_packet *p, const uint8_t *body, const char *words)
{
    static const struct agg_words how = {.elements = 3, .element = element_print};
    uint8_t packet[SML_HEADER_BYTES + 256];
    struct agg_line line = {0};

    sml_build_header(packet, p);
    memcpy(packet + SML_HEADER_BYTES, body, p->body_bytes);
    describe_packet(&line, &how, &sml_protocol, packet, SML_HEADER_BYTES + p->body_bytes);
    CU_ASSERT_STRING_EQUAL(line.text, words);
}

static void expect_atp(const struct atp_packet *p, const uint8_t *body, size_t bytes, const char *words)
{
    static const struct agg_words how = {.elements = 2, .element = element_print};
    uint8_t packet[ATP_HEADER_BYTES + 64];
    struct agg_line line = {0};

    atp_build_header(packet, p);
    memcpy(packet + ATP_HEADER_BYTES, body, bytes);
    describe_packet(&line, &how, &atp_protocol, packet, ATP_HEADER_BYTES + bytes);
    CU_ASSERT_STRING_EQUAL(line.text, words);
}

TEST(packets_of_atp_in_words)
{
    static const struct agg_words how = {.elements = 2, .element = element_print};
    const uint8_t elements[12] = {0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff}, there[] = {5};
    struct atp_packet p = {.kind = ATP_GRADIENT,
                           .flags = ATP_RESEND | ATP_ECN,
                           .bitmap0 = 6,
                           .life = 0x1234,
                           .sequence = 9,
                           .job = 3,
                           .index = 17,
                           .root = ATP_ALL,
                           .code = agg_code(AGG_I32, AGG_SUM),
                           .fan_in0 = 3,
                           .fan_in1 = 1};
    uint8_t probe[PATH_BYTES_MIN];
    struct agg_line line = {0};

    expect_atp(&p, elements, sizeof(elements),
               "GRADIENT job 3 life 00001234 chunk 9 aggregator 17 resend congested has 1 2 of 3 in rack 0 3 "
               "int32: 7 -1 ...");
    p.kind = ATP_PARAMETER;
    p.flags = 0;
    expect_atp(&p, elements, 4, "PARAMETER job 3 life 00001234 chunk 9 aggregator 17 1 int32: 7");
    p.seal = XFER_CHECKSUM_CRC32C; /* the last four bytes */
    expect_atp(&p, elements, 8, "PARAMETER job 3 life 00001234 chunk 9 aggregator 17 CRC32C 1 int32: 7");
    p.seal = XFER_CHECKSUM_NONE;
    p.kind = ATP_ASK;
    expect_atp(&p, elements, 0, "ASK job 3 life 00001234 chunk 9 aggregator 17 has 1 2 of 3 in rack 0");
    p.kind = ATP_WAITING;
    expect_atp(&p, there, sizeof(there),
               "WAITING job 3 life 00001234 chunk 9 aggregator 17 contributed: 0 2");
    path_build_question(probe, sizeof(probe), 1, 0);
    describe_packet(&line, &how, &atp_protocol, probe, sizeof(probe));
    CU_ASSERT_STRING_EQUAL(line.text, "path probe of 14 bytes");
    line = (struct agg_line){0};
    describe_packet(&line, &how, &atp_protocol, elements, sizeof(elements));
    CU_ASSERT_STRING_EQUAL(line.text, "12 bytes that are no packet of ATP");
}

TEST(compressed_packets_in_words)
{
    const struct xfer_call norms = {
        .seq = 5, .collective = XFER_NORMS, .type = AGG_F32, .op = AGG_MAX, .count = 1};
    struct xfer_call call = {.seq = 6, .collective = XFER_ALLREDUCE, .type = 4, .root = 28, .count = 2};
    struct sml_packet p = {.kind = SML_DATA,
                           .size_code = SML_SIZE_AGREED,
                           .tag = 9,
                           .slot = 1,
                           .e0 = 3,
                           .e1 = SML_FLAG_WANT,
                           .body_bytes = 24};
    uint8_t body[256] = {0};

    body[0] = 0x07; /* the low two bits of 0, 16, 32, 48 */
    body[2] = 0x01;
    body[16] = 0x05; /* the third of 0, 8, 16, ... */
    body[18] = 0x01;
    expect_words(&p, body, "DATA job 0 tag 9 slot 1.0 64 indices of 3 bits: 7 0 5 ...");
    p.e0 = 12;
    p.e1 = 0;
    p.body_bytes = 128;
    memcpy(body, (const uint8_t[]){0x01, 0x02, 0xff, 0xff, 0, 0}, 6);
    expect_words(&p, body, "DATA job 0 tag 9 slot 1.0 64 sums of 16 bits: 513 65535 0 ...");
    p.kind = SML_OPEN;
    p.e0 = 4;
    p.e1 = SML_FLAG_WANT;
    p.body_bytes = XFER_CALL_BYTES;
    xfer_build_call(body, &call);
    expect_words(
        &p, body,
        "OPEN job 0 tag 9 slot 1.0 (allreduce 6: 100 numbers, compressed to 4 bits) 0 indices of 4 bits");
    call.root += SML_MEANS;
    xfer_build_call(body, &call);
    expect_words(&p, body,
                 "OPEN job 0 tag 9 slot 1.0 (allreduce 6: 100 numbers (avg), compressed to 4 bits) 0 indices "
                 "of 4 bits");
    p.e0 = agg_code(AGG_F32, AGG_MAX);
    p.body_bytes = XFER_CALL_BYTES + 4;
    xfer_build_call(body, &norms);
    memset(body + XFER_CALL_BYTES, 0, 4);
    expect_words(&p, body,
                 "OPEN job 0 tag 9 slot 1.0 (norms 5: of 1 blocks to be compressed) 1 float32 (max): 0");
    p.kind = SML_RESTORE; /* cut off in the midst of the call */
    p.e1 = SML_FLAG_OPENING;
    p.body_bytes = 4;
    memset(body, 0, 4);
    expect_words(&p, body, "RESTORE job 0 tag 9 slot 1.0 1 float32 (max): 0");
}

static void expect_bytes_in_words(const uint8_t *payload, size_t bytes, const char *words)
{
    static const struct agg_words how = {.elements = 2, .element = element_print};
    struct agg_line line = {0};

    describe_packet(&line, &how, &sml_protocol, payload, bytes);
    CU_ASSERT_STRING_EQUAL(line.text, words);
}

/* What only switches say, to those above and below them. */
TEST(switches_of_a_tree_in_words)
{
    const struct sml_packet ask = {
        .kind = SML_ASK, .size_code = SML_SIZE_AGREED, .job = 7, .tag = 5, .slot = 1};
    struct ctl_message join = {
        .head = {.type = CTL_JOIN, .version = CTL_VERSION, .rank = 1, .size = 4, .serial = 9},
        .join = {.name = "x", .terms = terms_of((struct sml_terms){0}), .data_port = 48880, .hops = 2}};
    struct ctl_message ready = {
        .head = {.type = CTL_READY, .version = CTL_VERSION, .boot_id = 1, .size = 4, .serial = 9},
        .ready = {.terms = join.join.terms, .data_port = SML_PORT_FIRST, .data_ports = 1}};
    static struct agg_words how;
    uint8_t packet[100] = {0}, message[CTL_MESSAGE_MAX];
    struct agg_line joins = {0}, is_ready = {0};

    sml_build_header(packet, &ask);
    packet[SML_HEADER_BYTES] = 0x6;
    expect_bytes_in_words(packet, SML_HEADER_BYTES + 1, "ASK job 7 tag 5 slot 1.0 contributed: 1 2");
    packet[0] = SML_LATE << 4 | SML_SIZE_AGREED;
    memcpy(packet + SML_HEADER_BYTES, (const uint8_t[]){0, 0, 0, 13}, SML_LATE_BYTES);
    expect_bytes_in_words(packet, SML_HEADER_BYTES + SML_LATE_BYTES,
                          "LATE job 7 tag 5 slot 1.0 slot collects tag 13");
    path_build_question(packet, sizeof(packet), 7, 0);
    expect_bytes_in_words(packet, sizeof(packet), "path probe of 100 bytes");
    path_answer(packet, 2);
    expect_bytes_in_words(packet, sizeof(packet), "answer to a path probe of 100 bytes, data ports 2");
    memcpy(&join.join.host, (const uint8_t[]){10, 77, 0, 3}, 4);
    memcpy(&join.join.via, (const uint8_t[]){10, 77, 0, 251}, 4);
    describe_control(&joins, &how, message, ctl_build(message, &join));
    CU_ASSERT_PTR_NOT_NULL(strstr(joins.text, ", of 10.77.0.3 at switch 10.77.0.251, passed up 2 times"));
    ready.ready.above = (struct ctl_above){.levels = 2, .number = {9, 4}};
    ctl_ranks_add(&ready.ready.bundle, 2);
    ctl_ranks_add(&ready.ready.bundle, 3);
    describe_control(&is_ready, &how, message, ctl_build(message, &ready));
    CU_ASSERT_PTR_NOT_NULL(strstr(is_ready.text, ", at the switches above 9 4, one sum for ranks 2 and 3"));
}

TEST(host_addressed_packets_in_words)
{
    static const struct agg_words how = {.elements = 2, .element = element_print};
    static const float floats[3] = {1.5F, -2, 9};
    const struct hag_packet sum = {
        .kind = HAG_SUM, .job = 3, .worker = HAG_EVERYBODY, .sequence = 70000, .run = 2};
    const struct hag_packet waiting = {.kind = HAG_WAITING, .job = 3, .worker = 1, .sequence = 5, .run = 2};
    uint8_t packet[HAG_HEADER_BYTES + sizeof(floats)];
    struct agg_line line = {0};

    hag_build_header(packet, &sum);
    memcpy(packet + HAG_HEADER_BYTES, floats, sizeof(floats));
    describe_packet(&line, &how, &hag_protocol, packet, sizeof(packet));
    CU_ASSERT_STRING_EQUAL(line.text, "SUM job 3 run 2 chunk 70000 3 float32: 1.5 -2 ...");
    line = (struct agg_line){0};
    hag_build_header(packet, &waiting);
    packet[HAG_HEADER_BYTES] = 0x5;
    describe_packet(&line, &how, &hag_protocol, packet, HAG_HEADER_BYTES + 1);
    CU_ASSERT_STRING_EQUAL(line.text, "WAITING job 3 worker 1 run 2 chunk 5 contributed: 0 2");
    line = (struct agg_line){0};
    describe_packet(&line, &how, &hag_protocol, packet, 3);
    CU_ASSERT_STRING_EQUAL(line.text, "3 bytes that are no packet of host-addressed aggregation");
}

/* Once the switch was heard to grant a format, it needs not be told. */
TEST(the_format_is_learnt_from_ready)
{
    const struct ctl_message m = {
        .head = {.type = CTL_READY, .version = CTL_VERSION, .boot_id = 1, .size = 4, .serial = 9},
        .ready = {
            .job = 7,
            .terms = terms_of((struct sml_terms){.format = XFER_FORMAT_INT32, .slots = 4, .chunk_bytes = 64}),
            .data_port = SML_PORT_FIRST,
            .data_ports = 1,
            .lost_after_ms = 5000}};
    struct agg_words how = {.elements = 1, .element = element_print};
    struct plan p = usual;
    uint8_t frame[UDP_FRAME_MAX], message[CTL_MESSAGE_MAX];
    struct agg_line before = {0}, control = {0}, after = {0};
    struct udp_datagram d;

    p.format = XFER_FORMAT_INT32;
    p.type = AGG_I32;
    CU_ASSERT_FATAL(udp_parse(&d, frame, plan_frame(&p, 1, 5, frame)));
    describe_packet(&before, &how, &sml_protocol, d.payload, d.bytes);
    CU_ASSERT_PTR_NULL(strstr(before.text, "exponents"));
    describe_control(&control, &how, message, ctl_build(message, &m));
    describe_packet(&after, &how, &sml_protocol, d.payload, d.bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(after.text, "slot 1.1 exponents 3 0 16 int32: "));
}
