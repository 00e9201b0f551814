/* Control messages: layout byte by byte, every parse error, strings, sets of ranks. */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "same.h"
#include "unit.h"
#include "wire/control.h"

static const uint8_t types[] = {CTL_JOIN,  CTL_HEARTBEAT, CTL_LEAVE, CTL_ABORT,   CTL_PENDING, CTL_READY,
                                CTL_ALIVE, CTL_REFUSED,   CTL_LEFT,  CTL_ABORTED, CTL_UNKNOWN};

/* Length of each type's message, from docs/protocol.md. */
static size_t message_bytes(uint8_t type)
{
    switch (type) {
    case CTL_JOIN:
        return 40 + 132;
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        return 40 + 36;
    case CTL_ALIVE:
        return 40 + 2;
    case CTL_READY:
        return 40 + 92;
    case CTL_PENDING:
        return 40 + 40;
    case CTL_ABORT:
    case CTL_REFUSED:
    case CTL_ABORTED:
        return 40 + 204;
    default:
        return 40;
    }
}

static const struct agg_terms terms = {
    .protocol = 6, .version = 3, .bytes = 5, .data = {0xf1, 0xf2, 0xf3, 0xf4, 0xf5}};

static struct ctl_message sample(uint8_t type)
{
    struct ctl_message m;
    memset(&m, 0, sizeof m);
    m.head = (struct ctl_head){.type = type,
                               .version = CTL_VERSION,
                               .boot_id = UINT64_C(0x0102030405060708),
                               .incarnation = UINT64_C(0x1112131415161718),
                               .epoch = 0x21222324,
                               .rank = 0x00a1,
                               .size = 0x0100,
                               .serial = 0x31323334};
    switch (type) {
    case CTL_JOIN:
        strcpy(m.join.name, "train-1");
        m.join.data_port = 0xc001;
        m.join.resume = true;
        m.join.job = 0x0d;
        m.join.root_here = true;
        m.join.waited = true;
        m.join.roster = UINT64_C(0x8182838485868788);
        m.join.terms = terms;
        break;
    case CTL_READY:
        m.ready = (struct ctl_ready){.job = 7,
                                     .data_port = 0xbee0,
                                     .data_ports = 4,
                                     .nic = CTL_NIC_MESSAGES,
                                     .lost_after_ms = 5000,
                                     .resumed = true,
                                     .roster = UINT64_C(0x9192939495969798),
                                     .terms = terms};
        break;
    case CTL_PENDING:
        m.pending.waited_ms = 2100;
        m.pending.occupied = m.pending.no_room = m.pending.preparing = true;
        ctl_ranks_add(&m.pending.missing, 0);
        ctl_ranks_add(&m.pending.missing, 65);
        ctl_ranks_add(&m.pending.missing, 255);
        break;
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        m.heartbeat = (struct ctl_heartbeat){.calls = 0x61626364,
                                             .waiting = true,
                                             .stalled_ms = 1500,
                                             .progress = 0x71727374,
                                             .window = 0x81828384,
                                             .resumed = 0x91929394,
                                             .retransmitted = UINT64_C(0xa1a2a3a4a5a6a7a8),
                                             .tells_finished = true,
                                             .finished = 0xb1b2b3b4};
        break;
    case CTL_ALIVE:
        m.alive.behind = 0x0102;
        break;
    case CTL_ABORT:
    case CTL_REFUSED:
    case CTL_ABORTED:
        m.failure.reason = CTL_RANK_LOST;
        m.failure.rank = 3;
        strcpy(m.failure.text, "rank 3 lost");
        break;
    }
    return m;
}

TEST(round_trip)
{
    for (size_t i = 0; i < sizeof types; i++) {
        struct ctl_message in = sample(types[i]), out;
        uint8_t bytes[CTL_MESSAGE_MAX];
        memset(bytes, 0xee, sizeof bytes);
        size_t length = ctl_build(bytes, &in);
        CU_ASSERT_EQUAL(length, message_bytes(types[i]));
        CU_ASSERT_EQUAL(bytes[length], 0xee);
        CU_ASSERT_EQUAL(ctl_parse(&out, bytes, length), CTL_PARSED);
        CU_ASSERT(same_message(&in, &out));
    }
}

/* What only trees of switches need is not there otherwise. */
TEST(a_join_passed_up_by_switches)
{
    static const uint8_t expected[] = {2, 7, 9, 0, 0,  0, 0, 0, /* levels above, the job's numbers there */
                                       3, 0, 0, 0, 10, 0, 0, 7, 10, 0, 1, 9}; /* hops, host, its switch */
    struct ctl_message in = sample(CTL_JOIN), out;
    uint8_t bytes[CTL_MESSAGE_MAX];
    const size_t usual = ctl_build(bytes, &in);
    in.join.above = (struct ctl_above){.levels = 2, .number = {7, 9}};
    in.join.hops = 3;
    memcpy(&in.join.host, expected + 12, 4);
    memcpy(&in.join.via, expected + 16, 4);
    CU_ASSERT_EQUAL(ctl_build(bytes, &in), usual + sizeof expected);
    CU_ASSERT_EQUAL(memcmp(bytes + usual, expected, sizeof expected), 0);
    CU_ASSERT_EQUAL(ctl_parse(&out, bytes, usual + sizeof expected), CTL_PARSED);
    CU_ASSERT(same_message(&in, &out));
    CU_ASSERT_EQUAL(ctl_parse(&out, bytes, usual + sizeof expected - 1), CTL_PARSED);
    CU_ASSERT_EQUAL(out.join.hops, 0);
}

TEST(a_ready_for_a_switch)
{
    struct ctl_message in = sample(CTL_READY), out;
    uint8_t bytes[CTL_MESSAGE_MAX];
    const size_t usual = ctl_build(bytes, &in);
    in.ready.above = (struct ctl_above){.levels = CTL_LEVELS_MAX - 1, .number = {1, 2, 3, 4, 5, 6, 7}};
    ctl_ranks_add(&in.ready.bundle, 0);
    ctl_ranks_add(&in.ready.bundle, CTL_RANKS_MAX - 1);
    const size_t length = ctl_build(bytes, &in);
    CU_ASSERT_EQUAL(length, usual + 16 + CTL_RANKS_MAX / 8);
    CU_ASSERT_EQUAL(ctl_parse(&out, bytes, length), CTL_PARSED);
    CU_ASSERT(same_message(&in, &out));
    bytes[usual + 0] = CTL_LEVELS_MAX; /* more than there can be */
    CU_ASSERT_EQUAL(ctl_parse(&out, bytes, length - 1), CTL_PARSED);
    CU_ASSERT_EQUAL(out.ready.above.levels, 0);
    CU_ASSERT_EQUAL(ctl_ranks_count(&out.ready.bundle), 1);
}

/* It is behind what only trees have, and there is nothing of that. */
TEST(tickets)
{
    static const uint8_t ticket[] = {0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8}, nothing[20];
    static const struct {
        uint8_t type;
        size_t before;
    } with[] = {{CTL_JOIN, 20}, {CTL_READY, 16}};
    for (size_t i = 0; i < 2; i++) {
        struct ctl_message in = sample(with[i].type), out;
        uint8_t bytes[CTL_MESSAGE_MAX];
        const size_t usual = ctl_build(bytes, &in), length = usual + with[i].before + sizeof ticket;
        *(i == 0 ? &in.join.ticket : &in.ready.ticket) = UINT64_C(0xb1b2b3b4b5b6b7b8);
        CU_ASSERT_EQUAL(ctl_build(bytes, &in), length);
        CU_ASSERT_EQUAL(memcmp(bytes + usual, nothing, with[i].before), 0);
        CU_ASSERT_EQUAL(memcmp(bytes + length - sizeof ticket, ticket, sizeof ticket), 0);
        CU_ASSERT_EQUAL(ctl_parse(&out, bytes, length), CTL_PARSED);
        CU_ASSERT(same_message(&in, &out));
        CU_ASSERT_EQUAL(ctl_parse(&out, bytes, length - 1), CTL_PARSED);
        CU_ASSERT_EQUAL(i == 0 ? out.join.ticket : out.ready.ticket, 0);
    }
}

/* A seal is not taken for it. */
TEST(a_seal_is_no_part_for_trees)
{
    const uint8_t types_[] = {CTL_JOIN, CTL_READY};
    for (size_t i = 0; i < sizeof types_; i++) {
        struct ctl_message in = sample(types_[i]), out;
        uint8_t bytes[CTL_MESSAGE_MAX];
        in.head.sealed = true;
        const size_t length = ctl_build(bytes, &in);
        memset(bytes + length, 0x03, CTL_SEAL_BYTES);
        CU_ASSERT_EQUAL(ctl_parse(&out, bytes, length + CTL_SEAL_BYTES), CTL_PARSED);
        CU_ASSERT(same_message(&in, &out));
    }
}

static bool is_zero(const void *p, size_t bytes)
{
    const uint8_t *b = p;
    while (bytes > 0 && b[bytes - 1] == 0)
        bytes--;
    return bytes == 0;
}

TEST(layout_head_and_join)
{
    static const uint8_t expected[] = {
        'S',  'W',  'A',  'G',  2,    1,    0,    0,                            /* magic, version, type */
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,                         /* boot id */
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,                         /* incarnation */
        0x21, 0x22, 0x23, 0x24, 0x00, 0xa1, 0x01, 0x00,                         /* epoch, rank, size */
        0x31, 0x32, 0x33, 0x34, 0,    0,    0,    0,                            /* serial */
        't',  'r',  'a',  'i',  'n',  '-',  '1',  0,    0, 0, 0, 0, 0, 0, 0, 0, /* name */
        0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, /* */
        0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, /* */
        0xc0, 0x01, 1,    1,    0x0d, 1,    0,    0,    /* data port, resume, waited, job, root here */
        0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, /* roster */
        6,    3,    5,    0,    0xf1, 0xf2, 0xf3, 0xf4, /* terms: protocol, version, length, bytes */
        0xf5,                                           /* and 59 zeros */
    };
    struct ctl_message m = sample(CTL_JOIN);
    uint8_t bytes[CTL_MESSAGE_MAX];
    CU_ASSERT_EQUAL(ctl_build(bytes, &m), sizeof expected + 59);
    CU_ASSERT_EQUAL(memcmp(bytes, expected, sizeof expected), 0);
    CU_ASSERT(is_zero(bytes + sizeof expected, 59));
}

static void check_body(uint8_t type, const uint8_t *expected, size_t n)
{
    struct ctl_message m = sample(type);
    uint8_t bytes[CTL_MESSAGE_MAX];
    ctl_build(bytes, &m);
    CU_ASSERT_EQUAL(memcmp(bytes + CTL_HEAD_BYTES, expected, n), 0);
}

TEST(layout_bodies)
{
    static const uint8_t ready[] = {7, 1, 0xbe, 0xe0, 4,    3,    0,    0,    0,    0,    0x13, 0x88,
                                    0, 0, 0,    0,    0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98,
                                    6, 3, 5,    0,    0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0};
    static const uint8_t pending[] = {0, 0, 0x08, 0x34, 1, 1, 1, 4, 0, 0, 0, 0, 0,    0, 0, 1, 0, 0, 0, 0,
                                      0, 0, 0,    2,    0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t heartbeat[] = {0x61, 0x62, 0x63, 0x64, 1,    0,    0,    0,    0,
                                        0,    0x05, 0xdc, 0x71, 0x72, 0x73, 0x74, 0x81, 0x82,
                                        0x83, 0x84, 0x91, 0x92, 0x93, 0x94, 0xa1, 0xa2, 0xa3,
                                        0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xb1, 0xb2, 0xb3, 0xb4};
    static const uint8_t alive[] = {1, 2};
    static const uint8_t failure[] = {0,   CTL_RANK_LOST, 0,   3,   'r', 'a', 'n', 'k',
                                      ' ', '3',           ' ', 'l', 'o', 's', 't', 0};
    check_body(CTL_READY, ready, sizeof ready);
    check_body(CTL_PENDING, pending, sizeof pending);
    check_body(CTL_HEARTBEAT, heartbeat, sizeof heartbeat);
    check_body(CTL_LEAVE, heartbeat, sizeof heartbeat);
    check_body(CTL_ALIVE, alive, sizeof alive);
    check_body(CTL_ABORT, failure, sizeof failure);
    check_body(CTL_REFUSED, failure, sizeof failure);
    check_body(CTL_ABORTED, failure, sizeof failure);
}

/* The sanitizers see every byte that is read behind the end. */
static enum ctl_parse_error parse_exactly(struct ctl_message *m, const uint8_t *bytes, size_t length)
{
    uint8_t *copy = malloc(length ? length : 1);
    if (length)
        memcpy(copy, bytes, length);
    enum ctl_parse_error error = ctl_parse(m, copy, length);
    free(copy);
    return error;
}

/* Of workers that tell no more; what follows a sealed one is its seal. */
TEST(a_short_heartbeat_tells_less)
{
    const struct ctl_message in = sample(CTL_HEARTBEAT);
    struct ctl_message out;
    uint8_t bytes[CTL_MESSAGE_MAX];
    const size_t length = ctl_build(bytes, &in), before = length - 20;
    for (unsigned sealed = 0; sealed < 2; sealed++) {
        bytes[6] = (uint8_t)sealed;
        CU_ASSERT_EQUAL(parse_exactly(&out, bytes, before + sealed * CTL_SEAL_BYTES), CTL_PARSED);
        CU_ASSERT_EQUAL(out.heartbeat.progress, in.heartbeat.progress);
        CU_ASSERT(out.heartbeat.window == 0 && out.heartbeat.resumed == 0 &&
                  out.heartbeat.retransmitted == 0 && !out.heartbeat.tells_finished);
        CU_ASSERT_EQUAL(parse_exactly(&out, bytes, before + sealed * CTL_SEAL_BYTES - 1), CTL_TOO_SHORT);
    }
}

TEST(too_short)
{
    for (size_t i = 0; i < sizeof types; i++) {
        struct ctl_message in = sample(types[i]), out;
        uint8_t bytes[CTL_MESSAGE_MAX];
        bool tells_more = types[i] == CTL_HEARTBEAT || types[i] == CTL_LEAVE;
        size_t length = ctl_build(bytes, &in) - (tells_more ? 20 : types[i] == CTL_ALIVE ? 2 : 0);
        for (size_t n = 0; n < length; n++) {
            CU_ASSERT_EQUAL(parse_exactly(&out, bytes, n), CTL_TOO_SHORT);
            struct ctl_head head = n < CTL_HEAD_BYTES ? (struct ctl_head){0} : in.head;
            CU_ASSERT(same_head(&out.head, &head));
        }
    }
}

/* A length that a message has no room for; and bytes behind the terms, which are none of them. */
TEST(terms_fit_the_message)
{
    static const struct {
        uint8_t type;
        size_t length_at;
    } with_terms[] = {{CTL_JOIN, 40 + 66}, {CTL_READY, 40 + 26}};
    for (size_t i = 0; i < 2; i++) {
        struct ctl_message in = sample(with_terms[i].type), out;
        uint8_t bytes[CTL_MESSAGE_MAX];
        size_t length = ctl_build(bytes, &in);
        bytes[length - 1] = 0xee;
        CU_ASSERT_EQUAL(parse_exactly(&out, bytes, length), CTL_PARSED);
        CU_ASSERT(same_message(&in, &out));
        bytes[with_terms[i].length_at] = AGG_TERMS_MAX;
        CU_ASSERT_EQUAL(parse_exactly(&out, bytes, length), CTL_PARSED);
        bytes[with_terms[i].length_at] = AGG_TERMS_MAX + 1;
        CU_ASSERT_EQUAL(parse_exactly(&out, bytes, length), CTL_TOO_SHORT);
    }
}

TEST(a_data_port_is_one_at_least)
{
    struct ctl_message in = sample(CTL_READY), out;
    uint8_t bytes[CTL_MESSAGE_MAX];
    in.ready.data_ports = 0;
    CU_ASSERT_EQUAL(parse_exactly(&out, bytes, ctl_build(bytes, &in)), CTL_PARSED);
    CU_ASSERT_EQUAL(out.ready.data_ports, 1);
}

/* As many words as hold the ranks, and four at least: the form that every reader has known. */
TEST(ranks_take_as_many_words_as_they_need)
{
    static const struct {
        unsigned rank;
        size_t words;
    } cases[] = {{0, 4}, {255, 4}, {256, 5}, {1022, 16}, {1023, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ctl_message in = sample(CTL_PENDING), out;
        uint8_t bytes[CTL_MESSAGE_MAX];
        ctl_ranks_add(&in.pending.missing, cases[i].rank);
        size_t length = ctl_build(bytes, &in);
        CU_ASSERT_EQUAL(length, 40 + 8 + 8 * cases[i].words);
        CU_ASSERT_EQUAL(parse_exactly(&out, bytes, length), CTL_PARSED);
        CU_ASSERT(same_message(&in, &out));
        for (size_t n = 40; n < length; n++)
            CU_ASSERT_EQUAL(parse_exactly(&out, bytes, n), CTL_TOO_SHORT);
    }
}

/* Behind the ranks, as in REFUSED; who has never heard of it reads the ranks all the same. */
TEST(who_was_turned_away)
{
    struct ctl_message in = sample(CTL_PENDING), out;
    uint8_t bytes[CTL_MESSAGE_MAX];
    const size_t without = ctl_build(bytes, &in);
    in.pending.turned_away = sample(CTL_REFUSED).failure;
    const size_t length = ctl_build(bytes, &in);
    CU_ASSERT_EQUAL(length, without + 204);
    CU_ASSERT_EQUAL(memcmp(bytes + without, (const uint8_t[]){0, CTL_RANK_LOST, 0, 3, 'r'}, 5), 0);
    CU_ASSERT_EQUAL(parse_exactly(&out, bytes, length), CTL_PARSED);
    CU_ASSERT_EQUAL(out.pending.turned_away.rank, 3);
    CU_ASSERT_STRING_EQUAL(out.pending.turned_away.text, in.pending.turned_away.text);
    CU_ASSERT_EQUAL(parse_exactly(&out, bytes, length - 1), CTL_PARSED);
    CU_ASSERT_EQUAL(out.pending.turned_away.reason, CTL_OK);
    CU_ASSERT(ctl_ranks_has(&out.pending.missing, 65));
    ctl_ranks_add(&in.pending.missing, CTL_RANKS_MAX - 1);
    CU_ASSERT(ctl_build(bytes, &in) + CTL_SEAL_BYTES <= CTL_MESSAGE_MAX);
}

/* A switch that tells no number of words; and one whose jobs have more ranks than any here. */
TEST(ranks_from_other_builds)
{
    struct ctl_message in = sample(CTL_PENDING), out;
    uint8_t bytes[40 + 8 + 8 * 255] = {0};
    ctl_build(bytes, &in);
    bytes[40 + 7] = 0;
    CU_ASSERT_EQUAL(parse_exactly(&out, bytes, 40 + 8 + 8 * 4), CTL_PARSED);
    CU_ASSERT(same_message(&in, &out));
    bytes[40 + 7] = 255;
    memset(bytes + 40 + 8 + 8 * CTL_RANK_WORDS, 0xff, 8 * (255 - CTL_RANK_WORDS));
    CU_ASSERT_EQUAL(parse_exactly(&out, bytes, sizeof bytes), CTL_PARSED);
    CU_ASSERT(same_message(&in, &out));
    CU_ASSERT_EQUAL(parse_exactly(&out, bytes, sizeof bytes - 1), CTL_TOO_SHORT);
}

TEST(appended_fields_are_ignored)
{
    for (size_t i = 0; i < sizeof types; i++) {
        struct ctl_message in = sample(types[i]), out;
        uint8_t bytes[2 * CTL_MESSAGE_MAX];
        memset(bytes, 0xff, sizeof bytes);
        if (types[i] == CTL_JOIN) /* with the parts that are not always there */
            in.join.ticket = in.join.hops = 1;
        if (types[i] == CTL_READY) {
            ctl_ranks_add(&in.ready.bundle, 3);
            in.ready.ticket = 1;
        }
        if (types[i] == CTL_PENDING)
            in.pending.turned_away = sample(CTL_REFUSED).failure;
        ctl_build(bytes, &in);
        CU_ASSERT_EQUAL(ctl_parse(&out, bytes, sizeof bytes), CTL_PARSED);
        CU_ASSERT(same_message(&in, &out));
    }
}

TEST(not_control)
{
    struct ctl_message in = sample(CTL_ALIVE), out;
    uint8_t bytes[CTL_MESSAGE_MAX];
    size_t length = ctl_build(bytes, &in);
    for (unsigned i = 0; i < 4; i++) {
        bytes[i] ^= 1;
        CU_ASSERT_EQUAL(ctl_parse(&out, bytes, length), CTL_NOT_CONTROL);
        CU_ASSERT(same_head(&out.head, &(struct ctl_head){0}));
        bytes[i] ^= 1;
    }
}

TEST(other_version)
{
    struct ctl_message in = sample(CTL_JOIN), out;
    uint8_t bytes[CTL_MESSAGE_MAX];
    in.head.version = CTL_VERSION + 1;
    ctl_build(bytes, &in);
    CU_ASSERT_EQUAL(parse_exactly(&out, bytes, CTL_HEAD_BYTES), CTL_OTHER_VERSION);
    CU_ASSERT(same_head(&out.head, &in.head));
}

TEST(bad_type)
{
    struct ctl_message in = sample(CTL_ALIVE), out;
    uint8_t bytes[CTL_MESSAGE_MAX] = {0};
    ctl_build(bytes, &in);
    for (unsigned type = 0; type < 256; type++) {
        bool known = memchr(types, (int)type, sizeof types) != NULL;
        bytes[5] = (uint8_t)type;
        enum ctl_parse_error error = ctl_parse(&out, bytes, sizeof bytes);
        CU_ASSERT_EQUAL(error == CTL_BAD_TYPE, !known);
        CU_ASSERT_EQUAL(strcmp(ctl_type_name(type), "?") != 0, known);
        CU_ASSERT_EQUAL(out.head.type, type);
    }
}

static enum ctl_parse_error parse_with(uint8_t type, size_t at, const void *string, size_t length)
{
    struct ctl_message in = sample(type), out;
    uint8_t bytes[CTL_MESSAGE_MAX];
    size_t total = ctl_build(bytes, &in);
    memcpy(bytes + CTL_HEAD_BYTES + at, string, length);
    return ctl_parse(&out, bytes, total);
}

TEST(bad_strings)
{
    char long_one[CTL_TEXT_MAX];
    memset(long_one, 'x', sizeof long_one);
    CU_ASSERT_EQUAL(parse_with(CTL_JOIN, 0, "", 1), CTL_BAD_STRING);
    CU_ASSERT_EQUAL(parse_with(CTL_JOIN, 0, long_one, CTL_NAME_MAX), CTL_BAD_STRING);
    CU_ASSERT_EQUAL(parse_with(CTL_JOIN, 0, long_one, CTL_NAME_MAX - 1), CTL_PARSED);
    CU_ASSERT_EQUAL(parse_with(CTL_JOIN, 0, "a\nb", 4), CTL_BAD_STRING);
    CU_ASSERT_EQUAL(parse_with(CTL_JOIN, 0, "a\x7f", 3), CTL_BAD_STRING);
    CU_ASSERT_EQUAL(parse_with(CTL_JOIN, 0, "\xc3\xa9", 3), CTL_BAD_STRING);
    CU_ASSERT_EQUAL(parse_with(CTL_JOIN, 0, "a\0\xff", 3), CTL_PARSED);
    static const uint8_t with_text[] = {CTL_ABORT, CTL_REFUSED, CTL_ABORTED};
    for (size_t i = 0; i < sizeof with_text; i++) {
        CU_ASSERT_EQUAL(parse_with(with_text[i], 4, "", 1), CTL_PARSED);
        CU_ASSERT_EQUAL(parse_with(with_text[i], 4, long_one, CTL_TEXT_MAX), CTL_BAD_STRING);
        CU_ASSERT_EQUAL(parse_with(with_text[i], 4, long_one, CTL_TEXT_MAX - 1), CTL_PARSED);
        CU_ASSERT_EQUAL(parse_with(with_text[i], 4, "a\tb", 4), CTL_BAD_STRING);
    }
}

TEST(build_mends_strings)
{
    struct ctl_message m = sample(CTL_ABORT), out;
    uint8_t bytes[CTL_MESSAGE_MAX];
    memset(m.failure.text, '\xe9', sizeof m.failure.text);
    m.failure.text[0] = 'a';
    size_t length = ctl_build(bytes, &m);
    CU_ASSERT_EQUAL(ctl_parse(&out, bytes, length), CTL_PARSED);
    CU_ASSERT_EQUAL(strlen(out.failure.text), CTL_TEXT_MAX - 1);
    CU_ASSERT_EQUAL(strncmp(out.failure.text, "a??", 3), 0);
}

TEST(names)
{
    CU_ASSERT_STRING_EQUAL(ctl_type_name(CTL_READY), "READY");
    CU_ASSERT_STRING_EQUAL(ctl_reason_name(CTL_RANK_LOST), "rank lost");
    CU_ASSERT_STRING_EQUAL(ctl_reason_name(CTL_LEFT_RESUMING + 1), "?");
    for (unsigned reason = 0; reason <= CTL_LEFT_RESUMING; reason++)
        CU_ASSERT_STRING_NOT_EQUAL(ctl_reason_name(reason), "?");
    for (unsigned type = 0; type < 256; type++)
        CU_ASSERT_EQUAL(ctl_type_from_worker(type), type < 16);
}

static void check_text(const char *expected, unsigned n, const unsigned ranks[])
{
    struct ctl_ranks set = {0};
    char text[CTL_RANKS_TEXT_MAX];
    for (unsigned i = 0; i < n; i++)
        ctl_ranks_add(&set, ranks[i]);
    CU_ASSERT_EQUAL(ctl_ranks_count(&set), n);
    CU_ASSERT_STRING_EQUAL(ctl_ranks_text(&set, text), expected);
}

TEST(ranks_text)
{
    check_text("no rank", 0, NULL);
    check_text("rank 0", 1, (unsigned[]){0});
    check_text("rank 255", 1, (unsigned[]){255});
    check_text("ranks 0 and 1", 2, (unsigned[]){0, 1});
    check_text("ranks 0-2", 3, (unsigned[]){0, 1, 2});
    check_text("ranks 253-255", 3, (unsigned[]){253, 254, 255});
    check_text("ranks 0, 3-5 and 9", 5, (unsigned[]){0, 3, 4, 5, 9});
    check_text("ranks 0, 1 and 63-65", 5, (unsigned[]){0, 1, 63, 64, 65});
    unsigned all[CTL_RANKS_MAX];
    for (unsigned i = 0; i < CTL_RANKS_MAX; i++)
        all[i] = i;
    check_text("ranks 0-1023", CTL_RANKS_MAX, all);
    for (unsigned i = 0; i < CTL_RANKS_MAX / 2; i++)
        all[i] = 2 * i;
    check_text("ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34 and 494 more",
               CTL_RANKS_MAX / 2, all);
}

/* Any set is told completely or says how many more there are, and fits. */
TEST(ranks_text_always_fits)
{
    uint64_t rng = rng_seed(1);
    for (unsigned round = 0; round < 2000; round++) {
        struct ctl_ranks set = {0};
        char text[CTL_RANKS_TEXT_MAX];
        unsigned density = 1 + (unsigned)rng_below(&rng, 100), told = 0, more = 0;
        for (unsigned rank = 0; rank < CTL_RANKS_MAX; rank++)
            if (rng_below(&rng, 100) < density)
                ctl_ranks_add(&set, rank);
        if (ctl_ranks_count(&set) == 0)
            continue;
        ctl_ranks_text(&set, text);
        char *next = strchr(text, ' ');
        while (next) {
            next += strspn(next, " ,adn"); /* separators and "and" */
            unsigned first = (unsigned)strtoul(next, &next, 10), last = first;
            if (*next == '-')
                last = (unsigned)strtoul(next + 1, &next, 10);
            if (strcmp(next, " more") == 0) {
                more = first;
                break;
            }
            for (unsigned rank = first; rank <= last; rank++, told++)
                CU_ASSERT(ctl_ranks_has(&set, rank));
            next = *next ? next : NULL;
        }
        CU_ASSERT_EQUAL(told + more, ctl_ranks_count(&set));
    }
}

/* It lies between what trees have, where who does not know it reads nothing. */
TEST(a_join_names_its_nic)
{
    struct ctl_message in = sample(CTL_JOIN), out;
    uint8_t bytes[CTL_MESSAGE_MAX];
    const size_t without = ctl_build(bytes, &in);

    in.join.queue_pair = 0xa1b2c3;
    const size_t length = ctl_build(bytes, &in);
    CU_ASSERT_EQUAL(length, without + 20);
    CU_ASSERT_EQUAL(ctl_parse(&out, bytes, length), CTL_PARSED);
    CU_ASSERT(same_message(&in, &out));
    CU_ASSERT_EQUAL(bytes[CTL_HEAD_BYTES + 141], 0xa1);
    CU_ASSERT_EQUAL(bytes[CTL_HEAD_BYTES + 143], 0xc3);
    in.join.hops = 2; /* with which it can be */
    in.join.ticket = 5;
    CU_ASSERT_EQUAL(ctl_parse(&out, bytes, ctl_build(bytes, &in)), CTL_PARSED);
    CU_ASSERT(same_message(&in, &out));
}
