/* Packets of every format, as the core builds them, in a capture; and what Wireshark's dissector must say of
 * each, a line for a field: NUMBER FIELD VALUE, where NUMBER is the frame's, from 1 on.
 *
 *     dissector_frames CAPTURE >EXPECTED
 *
 * Values differ from field to field, so that one that is taken for another shows. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <pcap/pcap.h>

#include "atp/terms.h"
#include "kernels/kernels.h"
#include "switchml/terms.h"
#include "udp.h"
#include "wire/atp.h"
#include "wire/bytes.h"
#include "wire/control.h"
#include "wire/hostagg.h"
#include "wire/path.h"
#include "wire/roce.h"
#include "wire/switchml.h"

enum { HOSTAGG_PORT = 5000, CLONE_TYPE = 0x88b5, ROOM = 2048 };

static pcap_dumper_t *out;
static unsigned number;

__attribute__((format(printf, 2, 3))) static void expect(const char *field, const char *value, ...)
{
    va_list arguments;

    printf("%u %s ", number, field);
    va_start(arguments, value);
    vprintf(value, arguments);
    va_end(arguments);
    putchar('\n');
}

/* Of fields of one group: "job=7; tag=9". */
static void expect_all(const char *group, const char *fields)
{
    char name[32], value[96];
    int used;

    for (; sscanf(fields, "%31[^=]=%95[^;]%n", name, value, &used) == 2; fields += strspn(fields, "; ")) {
        printf("%u %s.%s %s\n", number, group, name, value);
        fields += used;
    }
}

static void record(const uint8_t *frame, size_t bytes)
{
    const struct pcap_pkthdr header = {.caplen = (bpf_u_int32)bytes, .len = (bpf_u_int32)bytes};

    pcap_dump((u_char *)out, &header, frame);
    number++;
}

enum direction { TO_SWITCH, FROM_SWITCH };

static void record_udp(enum direction direction, uint16_t port, const uint8_t *payload, size_t bytes)
{
    const struct udp_end worker = {.mac = {2, 0, 0, 0, 1, 1}, .ip = 0x0A4D0001, .port = 30000},
                         sw = {.mac = {2, 0, 0, 0, 1, 0xFE}, .ip = 0x0A4D00FE, .port = port};
    uint8_t frame[UDP_HEADERS_BYTES + ROOM];

    record(frame, udp_build(frame, direction == TO_SWITCH ? &worker : &sw,
                            direction == TO_SWITCH ? &sw : &worker, payload, bytes));
}

/* --- SwitchML --- */

static void expect_head(const struct sml_packet *p)
{
    expect("swagg.kind", "%u", p->kind);
    expect("swagg.job", "%u", p->job);
    expect("swagg.tag", "%u", p->tag);
    expect("swagg.slot", "%u", p->slot);
    expect("swagg.version", "%u", p->ver);
    expect("swagg.size", "%u", p->size_code + (p->checksum == XFER_CHECKSUM_KEYED));
    expect("swagg.checksum", "%u", p->checksum == XFER_CHECKSUM_CRC32C);
}

static void switchml(enum direction direction, struct sml_packet p, const void *body, size_t bytes)
{
    uint8_t payload[ROOM];
    const size_t trailer = xfer_trailer_bytes((enum xfer_checksum)p.checksum);

    sml_build_header(payload, &p);
    memcpy(payload + SML_HEADER_BYTES, body, bytes);
    memset(payload + SML_HEADER_BYTES + bytes, 0xa5, trailer);
    record_udp(direction, SML_PORT_FIRST + 3, payload, SML_HEADER_BYTES + bytes + trailer);
    expect_head(&p);
    if (trailer == 4)
        expect("swagg.trailer", "a5:a5:a5:a5");
    if (trailer == 8)
        expect("swagg.trailer", "a5:a5:a5:a5:a5:a5:a5:a5");
}

static struct sml_packet packet(uint8_t kind, uint8_t code, uint8_t e1)
{
    return (struct sml_packet){.kind = kind,
                               .size_code = SML_SIZE_AGREED,
                               .job = 42,
                               .ver = 1,
                               .slot = 0x3234,
                               .tag = 0x01020304,
                               .e0 = code,
                               .e1 = e1};
}

static const struct xfer_call call = {.seq = 70001,
                                      .collective = XFER_REDUCE,
                                      .type = AGG_F64,
                                      .op = AGG_MAX,
                                      .root = 70002,
                                      .count = UINT64_C(0x123456789abc),
                                      .label = 0xbeef};

static void expect_call(const char *protocol, const struct xfer_call *c)
{
    char name[64];

    snprintf(name, sizeof(name), "%s.number", protocol);
    expect(name, "%u", c->seq);
    snprintf(name, sizeof(name), "%s.collective", protocol);
    expect(name, "%u", c->collective);
    snprintf(name, sizeof(name), "%s.type", protocol);
    expect(name, "%u", c->type);
    snprintf(name, sizeof(name), "%s.op", protocol);
    expect(name, "%u", c->op);
    snprintf(name, sizeof(name), "%s.root", protocol);
    expect(name, "%u", c->root);
    snprintf(name, sizeof(name), "%s.part", protocol);
    expect(name, "0x%04x", c->label);
}

static void typed_packets(void)
{
    static const float floats[] = {1.5f, -2, 1024};
    static const uint8_t numbers[] = {0, 0, 0, 7, 255, 255, 255, 254}; /* 7 and -2 */
    uint8_t opening[XFER_CALL_BYTES + sizeof(floats)];
    struct sml_packet p = packet(SML_DATA, agg_code(AGG_F32, AGG_SUM), SML_FLAG_WANT | 9 << XFER_HELD_SHIFT);

    switchml(TO_SWITCH, p, floats, sizeof(floats));
    expect("swagg.op", "%u", AGG_SUM);
    expect("swagg.type", "%u", AGG_F32);
    expect_all("swagg", "want=1; opening=0; held=9; first=1.5 -2 1024 (3); "
                        "elements=00:00:c0:3f:00:00:00:c0:00:00:80:44");
    expect("swagg.code_in_words", "%s of %s", agg_op_name(AGG_SUM), agg_type_name(AGG_F32));
    p.checksum = XFER_CHECKSUM_CRC32C;
    p.e0 = agg_code(AGG_I32, AGG_MIN);
    switchml(FROM_SWITCH, p, numbers, sizeof(numbers));
    expect("swagg.first", "7 -2 (2)");
    p.checksum = XFER_CHECKSUM_KEYED;
    switchml(TO_SWITCH, p, numbers, sizeof(numbers));
    expect("swagg.first", "7 -2 (2)");
    xfer_build_call(opening, &call);
    memcpy(opening + XFER_CALL_BYTES, floats, sizeof(floats));
    switchml(TO_SWITCH, packet(SML_OPEN, agg_code(AGG_F32, AGG_MAX), 0), opening, sizeof(opening));
    expect_call("swagg.call", &call);
    expect("swagg.call.count", "%" PRIu64, call.count);
    expect("swagg.first", "1.5 -2 1024 (3)");
    switchml(TO_SWITCH, packet(SML_RESTORE, agg_code(AGG_F32, AGG_MAX), SML_FLAG_OPENING), opening,
             sizeof(opening));
    expect_call("swagg.call", &call);
    switchml(TO_SWITCH, packet(SML_RESTORE, agg_code(AGG_F32, AGG_MAX), 0), floats, sizeof(floats));
    expect("swagg.first", "1.5 -2 1024 (3)");
}

/* Every operation and type has the name that the core gives it. */
static void names(void)
{
    for (unsigned op = 1; op < 16; op++) {
        const unsigned type = op; /* as many */
        const uint8_t eight[16] = {0};

        switchml(TO_SWITCH, packet(SML_DATA, agg_code(type, op), 0), eight, sizeof(eight));
        expect("swagg.code_in_words", "%s of %s", agg_op_name(op), agg_type_name(type));
    }
    for (uint8_t collective = XFER_ALLREDUCE; collective <= XFER_SCATTER; collective++) {
        const struct xfer_call c = {.collective = collective, .type = AGG_I32, .op = AGG_SUM};
        uint8_t body[XFER_CALL_BYTES];

        xfer_build_call(body, &c);
        switchml(TO_SWITCH, packet(SML_OPEN, agg_code(AGG_I32, AGG_SUM), 0), body, sizeof(body));
        expect("SHOWN", "%s (%u)", xfer_collective_name(collective), collective);
    }
}

/* Compressed calls: indices to the switch, sums back. */
static void compressed(void)
{
    uint8_t group[64];

    memset(group, 0x21, sizeof(group));
    switchml(TO_SWITCH, packet(SML_DATA, 4, SML_FLAG_WANT), group, 32);
    expect("swagg.code_in_words", "look up, indices of 4 bits, sums of 8");
    expect("swagg.op", "0");
    switchml(FROM_SWITCH, packet(SML_DATA, 10, 0), group, sizeof(group));
    expect("swagg.code_in_words", "look up, indices of 2 bits, sums of 16");
}

static void answers(void)
{
    static const uint8_t map[] = {0x0f, 0x80, 0x01}, boot_id[] = {1, 2, 3, 4, 5, 6, 7, 8},
                         late[] = {0, 0, 1, 2};
    const struct xfer_mismatch m = {
        .your_rank = 11,
        .peer_rank = 12,
        .your_tag = 70013,
        .peer_tag = 70014,
        .your_e0 = 0x15,
        .peer_e0 = 0x16,
        .opening = true,
        .your_bytes = 117,
        .peer_bytes = 118,
        .yours = call,
        .peers = {.seq = 5, .collective = XFER_BROADCAST, .type = 7, .op = 9, .root = 3}};
    uint8_t body[XFER_MISMATCH_BYTES];

    switchml(TO_SWITCH, packet(SML_PROBE, 0x13, SML_FLAG_WANT), "", 0);
    switchml(FROM_SWITCH, packet(SML_NACK, 0x13, 0), "", 0);
    switchml(FROM_SWITCH, packet(SML_WAIT, 0x13, 0), map, sizeof(map));
    expect("swagg.ranks", "0-3, 15-16");
    switchml(TO_SWITCH, packet(SML_ASK, 0x13, 0), map, sizeof(map));
    expect("swagg.ranks", "0-3, 15-16");
    switchml(FROM_SWITCH, packet(SML_REJECT, 0, 0), boot_id, sizeof(boot_id));
    expect("swagg.boot_id", "01:02:03:04:05:06:07:08");
    switchml(FROM_SWITCH, packet(SML_LATE, 0x13, SML_FLAG_IN), late, sizeof(late));
    expect("swagg.expected", "258");
    xfer_build_mismatch(body, &m);
    switchml(FROM_SWITCH, packet(SML_MISMATCH, 0, 0), body, sizeof(body));
    expect_all("swagg.mismatch", "your_rank=11; peer_rank=12; your_tag=70013; peer_tag=70014; "
                                 "your_code=0x15; peer_code=0x16; your_bytes=117; peer_bytes=118");
    expect_call("swagg.mismatch.yours", &m.yours);
    expect_call("swagg.mismatch.peers", &m.peers);
}

/* As published clients send: no READY was seen, and the size code says so. */
static void published(void)
{
    uint8_t body[128] = {0, 0, 0, 7, 255, 255, 255, 254};
    struct sml_packet p = packet(SML_DATA, (uint8_t)-5, 6);

    p.job = 9;
    p.size_code = SML_SIZE_32;
    switchml(TO_SWITCH, p, body, sizeof(body));
    expect_all("swagg", "e0=-5; e1=6; first=7 -2 0 0 0 0 0 0 ... (32)");
}

static void path_probes(void)
{
    uint8_t payload[200];

    path_build_question(payload, sizeof(payload), 0x11223344, 0x55);
    record_udp(TO_SWITCH, SML_PORT_FIRST, payload, sizeof(payload));
    expect("swagg.kind", "%u", PATH_QUESTION);
    expect("swagg.tag", "%u", 0x11223344);
    expect("swagg.slot", "%u", 0x55);
    path_answer(payload, 13);
    record_udp(FROM_SWITCH, SML_PORT_FIRST, payload, sizeof(payload));
    expect("swagg.kind", "%u", PATH_ANSWER);
    expect("swagg.ports", "13");
}

/* --- control messages --- */

static void control(struct ctl_message *m)
{
    uint8_t message[CTL_MESSAGE_MAX];

    m->head.version = CTL_VERSION;
    m->head.boot_id = UINT64_C(0x0102030405060708);
    m->head.incarnation = UINT64_C(0x1112131415161718);
    m->head.epoch = 70021;
    m->head.rank = 22;
    m->head.size = 23;
    m->head.serial = 70024;
    size_t bytes = ctl_build(message, m);
    if (m->head.sealed) {
        put_be64(message + bytes, UINT64_C(0x2122232425262728));
        put_be64(message + bytes + 8, UINT64_C(0x3132333435363738));
        memset(message + bytes + 16, 0x5a, 16);
        bytes += CTL_SEAL_BYTES;
    }
    record_udp(ctl_type_from_worker(m->head.type) ? TO_SWITCH : FROM_SWITCH, CTL_PORT, message, bytes);
    expect("swagg_control.type", "%u", m->head.type);
    expect("SHOWN", "%s (%u)", ctl_type_name(m->head.type), m->head.type);
    expect("swagg_control.version", "%u", CTL_VERSION);
    expect("swagg_control.sealed", "%u", m->head.sealed);
    expect_all("swagg_control", "boot_id=0x0102030405060708; incarnation=0x1112131415161718; "
                                "epoch=70021; rank=22; size=23; serial=70024");
    if (m->head.sealed) {
        expect_all("swagg_control.seal", "key=0x2122232425262728; challenge=0x3132333435363738; "
                                         "tag=5a:5a:5a:5a:5a:5a:5a:5a:5a:5a:5a:5a:5a:5a:5a:5a");
    }
}

static const struct sml_terms some_terms = {.format = XFER_FORMAT_INT32,
                                            .mode = XFER_ORDERED,
                                            .checksum = XFER_CHECKSUM_CRC32C,
                                            .slots = 301,
                                            .chunk_bytes = 302,
                                            .resumed = true,
                                            .first_tag = 70303,
                                            .plain = true,
                                            .keyed = true,
                                            .table = {.code = 4, .values = {0, 3, 5}},
                                            .quorum = 304,
                                            .wait_ms = 305,
                                            .empties = true,
                                            .place = 6,
                                            .places = 7,
                                            .list = 308,
                                            .local = 3,
                                            .lanes = 5,
                                            .rated = true};

static void expect_terms(void)
{
    expect("swagg_control.terms.protocol", "%u", AGG_PROTOCOL_SWITCHML);
    expect("swagg_control.terms.version", "1");
    expect("swagg_control.terms.format", "0");
    expect("swagg_control.terms.mode", "%u", XFER_ORDERED);
    expect("swagg_control.terms.checksum", "%u", XFER_CHECKSUM_CRC32C);
    expect_all("swagg_control.terms", "resumed=1; slots=301; chunk_bytes=302; first_tag=70303; plain=1; "
                                      "keyed=1; table_code=4; "
                                      "table=00:03:05:00:00:00:00:00:00:00:00:00:00:00:00:00; "
                                      "quorum=304; quorum_wait_ms=305; empties=1; place=6; places=7; "
                                      "local=3; lanes=5; rated=2");
}

static void joins(void)
{
    struct ctl_message m = {.head = {.type = CTL_JOIN, .sealed = true},
                            .join = {.name = "train-7",
                                     .data_port = 401,
                                     .resume = true,
                                     .waited = true,
                                     .root_here = true,
                                     .job = 42,
                                     .roster = UINT64_C(0x4142434445464748),
                                     .ticket = UINT64_C(0x5152535455565758),
                                     .above = {.levels = 2, .number = {1, 2}},
                                     .hops = 3,
                                     .queue_pair = 402,
                                     .host = htonl(0x0A010203),
                                     .via = htonl(0x0A040506)}};

    sml_terms_build(&m.join.terms, &some_terms);
    control(&m);
    expect_all("swagg_control.join", "name=train-7; data_port=401; resume=1; waited=1; root_here=1; "
                                     "job=42; roster=0x4142434445464748; ticket=0x5152535455565758; "
                                     "levels=2; hops=3; queue_pair=402; host=10.1.2.3; via=10.4.5.6");
    expect_terms();
}

/* Two jobs: what their packets mean follows from what READY told. */
static void readies(void)
{
    struct ctl_message m = {.head = {.type = CTL_READY, .sealed = true},
                            .ready = {.job = 44,
                                      .data_port = 501,
                                      .data_ports = 12,
                                      .nic = CTL_NIC_MESSAGES,
                                      .lost_after_ms = 70502,
                                      .resumed = true,
                                      .roster = UINT64_C(0x6162636465666768),
                                      .bundle = {.word = {0x0e, 0x01}}}};
    struct sml_packet p = packet(SML_DATA, (uint8_t)-7, 8);
    const uint8_t body[8] = {0, 0, 0, 9};

    sml_terms_build(&m.ready.terms, &some_terms);
    control(&m);
    expect_all("swagg_control.ready", "job=44; data_port=501; data_ports=12; nic=1; nic_messages=1; "
                                      "lost_after_ms=70502; resumed=1; roster=0x6162636465666768; "
                                      "ranks=1-3, 64");
    expect_terms();
    p.job = 44;
    switchml(TO_SWITCH, p, body, sizeof(body));
    expect_all("swagg", "e0=-7; e1=8; first=9 0 (2)");
}

static void atp_ready(void)
{
    struct ctl_message m = {.head = {.type = CTL_READY}, .ready = {.job = 45}};
    const struct atp_terms t = {.mode = XFER_ORDERED,
                                .format = XFER_FORMAT_FP16,
                                .window = 601,
                                .chunk_bytes = 602,
                                .per_rack = 61,
                                .server = 5,
                                .servers = 6,
                                .priority = 7,
                                .life = 0x71727374,
                                .first_sequence = 70603,
                                .group = htonl(0xE0000105),
                                .group_port = 604};

    atp_terms_build(&m.ready.terms, &t);
    control(&m);
    expect("swagg_control.terms.protocol", "%u", AGG_PROTOCOL_ATP);
    expect("swagg_control.atp_terms.mode", "%u", t.mode);
    expect("swagg_control.atp_terms.format", "%u", t.format);
    expect_all("swagg_control.atp_terms", "window=601; chunk_bytes=602; per_rack=61; server=5; "
                                          "servers=6; priority=7; life=0x71727374; first_sequence=70603; "
                                          "group=224.0.1.5; group_port=604");
}

static void other_messages(void)
{
    static const uint8_t bare[] = {CTL_ALIVE, CTL_LEFT, CTL_UNKNOWN},
                         failures[] = {CTL_REFUSED, CTL_ABORT, CTL_ABORTED};
    struct ctl_message beat = {.head = {.type = CTL_HEARTBEAT},
                               .heartbeat = {.calls = 70701,
                                             .waiting = true,
                                             .stalled_ms = 70702,
                                             .progress = 70703,
                                             .window = 70704,
                                             .resumed = 70705,
                                             .retransmitted = 70706,
                                             .tells_finished = true,
                                             .finished = 70707}};
    struct ctl_message pending = {.head = {.type = CTL_PENDING},
                                  .pending = {.waited_ms = 70801,
                                              .occupied = true,
                                              .missing = {.word = {0x81, 0, 0, 0, 0x02}},
                                              .turned_away = {CTL_TERMS_DIFFER, 31, "other slots"}}};

    control(&beat);
    expect_all("swagg_control.heartbeat", "calls=70701; waiting=1; stalled_ms=70702; progress=70703; "
                                          "window=70704; resumed=70705; retransmitted=70706; "
                                          "finished=70707");
    beat.head.type = CTL_LEAVE;
    control(&beat);
    expect("swagg_control.heartbeat.calls", "70701");
    control(&pending);
    expect_all("swagg_control.pending", "waited_ms=70801; occupied=1; no_room=0; preparing=0; "
                                        "missing=0, 7, 257");
    expect("swagg_control.failure.reason", "%u", CTL_TERMS_DIFFER);
    expect("swagg_control.failure.rank", "31");
    expect("swagg_control.failure.text", "other slots");
    control(&(struct ctl_message){.head = {.type = CTL_ALIVE}, .alive = {.behind = 70}});
    expect("swagg_control.alive.behind", "70");
    for (unsigned i = 0; i < sizeof(bare); i++)
        control(&(struct ctl_message){.head = {.type = bare[i]}});
    for (uint16_t reason = CTL_OK; reason <= CTL_LEFT_RESUMING; reason++) {
        struct ctl_message m = {.head = {.type = failures[reason % 3]}, .failure = {reason, 32, "because"}};

        control(&m);
        expect("swagg_control.failure.reason", "%u", reason);
        expect("SHOWN", "%s (%u)", ctl_reason_name(reason), reason);
        expect("swagg_control.failure.text", "because");
    }
}

/* --- the others --- */

static void atp(void)
{
    static const char *const kinds[] = {"GRADIENT", "PARAMETER", "WAITING", "MISMATCH",
                                        "REJECT",   "GROUP",     "RESTORE", "ASK"};
    struct atp_packet p = {.bitmap0 = 0x0d,
                           .bitmap1 = UINT64_C(0x8182838485868788),
                           .life = 0x91929394,
                           .sequence = 70901,
                           .job = 902,
                           .index = 903,
                           .root = 904,
                           .flags = ATP_OPENING | ATP_SCALED | ATP_EDGE,
                           .code = agg_code(AGG_I32, AGG_SUM),
                           .exponent = -9,
                           .fan_in0 = 61,
                           .fan_in1 = 62,
                           .rack = 33,
                           .child = 34,
                           .priority = 35,
                           .seal = XFER_CHECKSUM_CRC32C,
                           .held = 36};
    uint8_t payload[ATP_HEADER_BYTES + XFER_MISMATCH_BYTES + XFER_TRAILER_BYTES] = {0};

    for (p.kind = ATP_GRADIENT; p.kind < ATP_KINDS; p.kind++) {
        const bool sums = p.kind == ATP_GRADIENT || p.kind == ATP_PARAMETER || p.kind == ATP_RESTORE;
        const size_t body = p.kind == ATP_MISMATCH  ? XFER_MISMATCH_BYTES
                            : p.kind == ATP_WAITING ? 1
                            : p.kind == ATP_REJECT  ? ATP_BOOT_ID_BYTES
                            : sums                  ? XFER_CALL_BYTES + 4
                                                    : 0;

        atp_build_header(payload, &p);
        memset(payload + ATP_HEADER_BYTES, 0x06, sizeof(payload) - ATP_HEADER_BYTES);
        if (sums)
            xfer_build_call(payload + ATP_HEADER_BYTES, &call);
        record_udp(TO_SWITCH, ATP_PORT_FIRST, payload, ATP_HEADER_BYTES + body + XFER_TRAILER_BYTES);
        expect("SHOWN", "%s (%u)", kinds[p.kind - 1], p.kind);
        expect("swagg_atp.kind", "%u", p.kind);
        expect_all("swagg_atp", "opening=1; scaled=1; edge=1; direct=0; resend=0; collision=0; ecn=0; "
                                "job=902; life=0x91929394; sequence=70901; index=903; root_or_next=904; "
                                "code_in_words=sum of int32; exponent=-9; fan_in0=61; fan_in1=62; "
                                "rack=33; child=34; priority=35; held=36; trailer_kind=1; ranks0=0, 2-3; "
                                "bitmap1=0x8182838485868788; trailer=06:06:06:06");
        if (sums) {
            expect_call("swagg_atp.call", &call);
            expect("swagg_atp.first", "%d (1)", 0x06060606);
        }
        if (p.kind == ATP_WAITING)
            expect("swagg_atp.ranks", "1-2");
        if (p.kind == ATP_REJECT)
            expect("swagg_atp.boot_id", "06:06:06:06:06:06:06:06");
        if (p.kind == ATP_MISMATCH)
            expect("swagg_atp.mismatch.peer_rank", "%u", 0x0606);
    }
}

static void hostagg(void)
{
    static const char *const kinds[] = {"GRADIENT", "ASK", "SUM", "DONE", "WAITING", "DIFFERS"};
    static const float two[] = {0.5f, -8};

    for (unsigned kind = HAG_GRADIENT; kind < HAG_KINDS; kind++) {
        const struct hag_packet p = {
            .kind = kind, .job = 7, .worker = 0x0102, .run = 1234, .sequence = 0x0a0b0c0d};
        uint8_t payload[HAG_HEADER_BYTES + sizeof(two)];
        size_t body = 0;

        hag_build_header(payload, &p);
        if (kind == HAG_GRADIENT || kind == HAG_SUM)
            memcpy(payload + HAG_HEADER_BYTES, two, body = sizeof(two));
        if (kind == HAG_WAITING)
            payload[HAG_HEADER_BYTES] = 5, body = 1;
        if (kind == HAG_DIFFERS) {
            put_be16(payload + HAG_HEADER_BYTES, 77);
            put_be16(payload + HAG_HEADER_BYTES + 2, 1464);
            body = HAG_DIFFERS_BYTES;
        }
        record_udp(TO_SWITCH, HOSTAGG_PORT, payload, HAG_HEADER_BYTES + body);
        expect("SHOWN", "%s (%u)", kinds[kind - 1], kind);
        expect_all("swagg_hostagg", "job=7; worker=258; run=1234; sequence=168496141");
        if (kind == HAG_GRADIENT || kind == HAG_SUM)
            expect("swagg_hostagg.first", "0.5 -8 (2)");
        if (kind == HAG_WAITING)
            expect("swagg_hostagg.workers", "0, 2");
        if (kind == HAG_DIFFERS) {
            expect("swagg_hostagg.other_worker", "77");
            expect("swagg_hostagg.other_bytes", "1464");
        }
    }
}

/* A frame as conf/clone.yaml has them: the chunk's number at 14, int32 elements at 18. */
static void passing(void)
{
    uint8_t frame[64] = {2, 0, 0, 0, 2, 1, 2, 0, 0, 0, 2, 2};

    put_be16(frame + 12, CLONE_TYPE);
    put_be32(frame + 14, 71001);
    put_be32(frame + 18, 3);
    put_be32(frame + 22, (uint32_t)-4);
    record(frame, 26);
    expect("swagg_clone.sequence", "71001");
    expect("swagg_clone.first", "3 -4 (2)");
}

static void rdma(void)
{
    const struct roce_packet p = {.opcode = ROCE_WRITE_ONLY_IMMEDIATE,
                                  .address = 0x1000,
                                  .key = 0x15,
                                  .length = 8,
                                  .queue_pair = 0x800000 | 5 << 16 | 6,
                                  .number = 77,
                                  .immediate = {0x34, 0x12, (uint8_t)-3, 4}};
    uint8_t payload[ROCE_HEADERS_MAX + 8 + ROCE_ICRC_BYTES] = {0};
    const size_t headers = roce_build_headers(payload, &p);

    put_be32(payload + headers, 17);
    put_be32(payload + headers + 4, (uint32_t)-18);
    record_udp(TO_SWITCH, ROCE_PORT, payload, headers + 8 + ROCE_ICRC_BYTES);
    expect("infiniband.bth.opcode", "%u", p.opcode);
    expect_all("swagg_roce", "rank=5; queue_pair=6; version=1");
    expect("swagg_roce.message", "%u", 0x1234);
    expect_all("swagg_roce", "e0=-3; e1=4; first=17 -18 (2)");
}

/* What a rank's NIC carries. */
static void rdma_carried(void)
{
    enum { FILL = 6 };
    static const uint8_t headers[ROCE_IP_UDP_BYTES];
    const struct sml_packet p = packet(SML_PROBE, SML_SIZE_AGREED, 0);
    uint8_t payload[ROCE_BTH_BYTES + SML_HEADER_BYTES + FILL + ROCE_TAIL_MAX];

    for (unsigned i = 0; i < 2; i++) { /* the first of a message, which is filled up; and one by itself */
        const size_t bytes = SML_HEADER_BYTES + (i == 0 ? FILL : 0);

        sml_build_header(payload + ROCE_BTH_BYTES, &p);
        if (i == 0)
            roce_fill(payload + ROCE_BTH_BYTES + SML_HEADER_BYTES, FILL);
        roce_cover(headers, payload, bytes, i == 0 ? ROCE_SEND_FIRST : ROCE_SEND_ONLY, ROCE_CARRIES | 40001,
                   9);
        record_udp(TO_SWITCH, ROCE_PORT, payload, ROCE_BTH_BYTES + bytes + roce_tail_bytes(bytes));
        expect("infiniband.bth.destqp", "0x%06x", ROCE_CARRIES | 40001);
        expect_head(&p);
    }
}

int main(int argc, char *argv[])
{
    pcap_t *pcap = pcap_open_dead(DLT_EN10MB, 65535);

    if (argc != 2 || pcap == NULL || (out = pcap_dump_open(pcap, argv[1])) == NULL)
        return EXIT_FAILURE;
    typed_packets();
    names();
    compressed();
    answers();
    published();
    path_probes();
    joins();
    readies();
    atp_ready();
    other_messages();
    atp();
    hostagg();
    passing();
    rdma();
    rdma_carried();
    rdma_carried();
    pcap_dump_close(out);
    pcap_close(pcap);
    return EXIT_SUCCESS;
}
