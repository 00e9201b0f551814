/* Runs of frames: whatever is merged, a kernel's segmentation (modelled here, from its rules, byte by byte)
 * gives back as it was; what it would not give back so is not merged. */
#include <string.h>

#include <netinet/in.h>

#include "by_the_book.h"
#include "kernel_run.h"
#include "rng.h"
#include "unit.h"

enum { FRAMES = 80, ROOM = 9100, ROUNDS = 20000, AT_IP = 14, AT_TCP = 34, AT_OPTIONS = 54, MERGEABLE = 1 };

static struct rte_mbuf mbuf[FRAMES], *frame[FRAMES];
static _Alignas(2) uint8_t bytes[FRAMES][ROOM];
static const struct run_allowed both = {.udp = MERGEABLE, .tcp = true};
static uint64_t rng;

static void seal_ip(uint8_t *f)
{
    put16(f + AT_IP + 10, 0);
    put16(f + AT_IP + 10, checksum(sum_of(f + AT_IP, (f[AT_IP] & 15u) * 4)));
}

/* at: of the checksum's field in the TCP or UDP header. */
static void seal_l4(uint8_t *f, size_t at, size_t frame_bytes)
{
    put16(f + AT_TCP + at, 0);
    put16(f + AT_TCP + at,
          checksum(sum_of(f + AT_IP + 12, 8) + f[AT_IP + 9] + (uint32_t)(frame_bytes - AT_TCP) +
                   sum_of(f + AT_TCP, frame_bytes - AT_TCP)));
}

static void seal(unsigned i)
{
    put16(bytes[i] + AT_IP + 2, mbuf[i].data_len - AT_IP);
    seal_ip(bytes[i]);
    seal_l4(bytes[i], 16, mbuf[i].data_len);
}

/* --- a flow, cut into segments as a sender's kernel does --- */

struct flow {
    uint32_t seq;
    uint16_t id, mss;
    uint8_t option_bytes;
};

static void hold(unsigned i, size_t length)
{
    mbuf[i] = (struct rte_mbuf){.buf_addr = bytes[i],
                                .data_len = (uint16_t)length,
                                .pkt_len = (uint32_t)length,
                                .nb_segs = 1,
                                .refcnt = 1};
    frame[i] = &mbuf[i];
}

/* The i-th of a flow, of so many bytes of payload. */
static void make(unsigned i, const struct flow *flow, uint16_t payload)
{
    static const uint8_t head[] = {
        2,    0,    0,    0,    1, 2, 2,    0, 0,  0, 1, 1, 8,  0, /* Ethernet */
        0x45, 2,    0,    0,    0, 0, 0x40, 0, 64, 6, 0, 0, 10, 77,
        0,    1,    10,   77,   0, 2, /* IPv4, may not be fragmented */
        0x14, 0x51, 0x9c, 0x40, 0, 0, 0,    0, 1,  2, 3, 4, 0,  0x10,
        1,    0xf6, 0,    0,    0, 0, /* TCP */
    };
    uint8_t *f = bytes[i];
    size_t header = sizeof(head) + flow->option_bytes;

    memcpy(f, head, sizeof(head));
    put16(f + AT_IP + 4, flow->id + i);
    put32(f + AT_TCP + 4, flow->seq + i * flow->mss);
    f[AT_TCP + 12] = (uint8_t)((20 + flow->option_bytes) / 4 << 4);
    memset(f + sizeof(head), 1, flow->option_bytes);
    for (unsigned b = 0; b < payload; b++)
        f[header + b] = (uint8_t)rng_next(&rng);
    hold(i, header + payload);
    seal(i);
}

static void push(unsigned i)
{
    bytes[i][AT_TCP + 13] |= 8;
    seal(i);
}

static void make_flow(const struct flow *flow, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        make(i, flow, flow->mss);
}

/* --- what the kernel does (inet_gso_segment, tcp_gso_segment, __udp_gso_segment) --- */

static size_t message(uint8_t *out, const struct run_prelude *p, const struct run *run,
                      struct rte_mbuf *const f[])
{
    size_t n = run->header_bytes;

    memcpy(out, p->headers.bytes, n);
    for (unsigned i = 0; i < run->length; i++) {
        memcpy(out + n, rte_pktmbuf_mtod_offset(f[i], uint8_t *, run->header_bytes),
               f[i]->data_len - run->header_bytes);
        n += f[i]->data_len - run->header_bytes;
    }
    return n;
}

/* The i-th of the frames that a message becomes; returns its length, 0: there is none. */
static size_t cut(uint8_t *out, const uint8_t *whole, size_t n, const struct virtio_net_hdr *how, unsigned i)
{
    const size_t header = how->hdr_len, from = header + (size_t)i * how->gso_size;
    const size_t length = header + (from < n ? RTE_MIN(n - from, how->gso_size) : 0);
    const bool last = from + how->gso_size >= n, tcp = how->gso_type == VIRTIO_NET_HDR_GSO_TCPV4;

    if (from >= n)
        return 0;
    memcpy(out, whole, header);
    memcpy(out + header, whole + from, length - header);
    put16(out + AT_IP + 2, (uint32_t)(length - AT_IP));
    put16(out + AT_IP + 4, get16(whole + AT_IP + 4) + i);
    seal_ip(out);
    if (tcp) {
        put32(out + AT_TCP + 4, get32(whole + AT_TCP + 4) + i * how->gso_size);
        out[AT_TCP + 13] &= (uint8_t)((last ? 0xFF : 0xF6) & (i > 0 ? 0x7F : 0xFF)); /* no FIN, PSH; no CWR */
    } else {
        put16(out + AT_TCP + 4, (uint32_t)(length - AT_TCP));
    }
    seal_l4(out, how->csum_offset, length);
    return length;
}

static bool is_well_formed(const struct run_prelude *p, const uint8_t *whole, size_t n)
{
    const uint32_t pseudo = sum_of(whole + AT_IP + 12, 8) + whole[AT_IP + 9] + (uint32_t)(n - AT_TCP);

    return p->how.flags == VIRTIO_NET_HDR_F_NEEDS_CSUM && p->how.csum_start == AT_TCP &&
           get16(whole + AT_IP + 2) == n - AT_IP && checksum(sum_of(whole + AT_IP, 20)) == 0 &&
           get16(whole + AT_TCP + p->how.csum_offset) == UINT16_MAX - checksum(pseudo);
}

/* Frames of the switch's own have no number yet when they are merged. */
static bool same(uint8_t *out, const struct rte_mbuf *m, enum run_kind kind)
{
    if (kind == RUN_UDP) {
        put16(out + AT_IP + 4, 0);
        seal_ip(out);
    }
    return memcmp(out, rte_pktmbuf_mtod(m, void *), m->data_len) == 0;
}

static bool gives_back(const struct run *run, struct rte_mbuf *const f[])
{
    static uint8_t whole[UINT16_MAX + 100], out[ROOM];
    struct run_prelude p;
    size_t n;

    run_write_prelude(&p, run, f);
    n = message(whole, &p, run, f);
    if (!is_well_formed(&p, whole, n) || cut(out, whole, n, &p.how, run->length) != 0)
        return false;
    for (unsigned i = 0; i < run->length; i++)
        if (cut(out, whole, n, &p.how, i) != f[i]->data_len || !same(out, f[i], run->kind))
            return false;
    return true;
}

/* How long the first run of n frames is. What it merges must come back. */
static unsigned first_run(unsigned n)
{
    const struct run run = run_find(frame, n, &both);

    CU_ASSERT(run.length == 1 ? run.kind == RUN_OF_ONE && run.header_bytes == 0 : gives_back(&run, frame));
    return run.length;
}

static void test_a_flow_is_one_run(void)
{
    for (unsigned options = 0; options <= 40; options += 4) {
        const struct flow flow = {
            .seq = UINT32_MAX - 5000, .id = UINT16_MAX - 3, .mss = 1448, .option_bytes = (uint8_t)options};

        make_flow(&flow, 40);
        push(39);
        CU_ASSERT_EQUAL(first_run(40), 40);
        make(39, &flow, 1);
        CU_ASSERT_EQUAL(first_run(40), 40);
    }
}

static void test_runs_have_a_longest(void)
{
    const struct flow small = {.mss = 1}, large = {.mss = 8948, .option_bytes = 12};

    make_flow(&small, FRAMES);
    CU_ASSERT_EQUAL(first_run(FRAMES), 64);
    make_flow(&large, FRAMES);
    CU_ASSERT_EQUAL(first_run(FRAMES), 7);
}

enum { K = 3 }; /* the frame that is not as it should be */

static void flip_payload(uint8_t *f)
{
    f[200] ^= 0x10;
}
static void flip_tcp_checksum(uint8_t *f)
{
    f[AT_TCP + 17] ^= 1;
}
static void flip_ip_checksum(uint8_t *f)
{
    f[AT_IP + 11] ^= 1;
}

/* Damage: checksums stay as they were. */
static void test_a_damaged_frame_is_sent_as_it_is(void)
{
    static void (*const damage[])(uint8_t *) = {flip_payload, flip_tcp_checksum, flip_ip_checksum};
    const struct flow flow = {.mss = 1448, .option_bytes = 12};

    for (unsigned d = 0; d < RTE_DIM(damage); d++)
        for (unsigned k = 0; k <= K; k++) {
            make_flow(&flow, 8);
            damage[d](bytes[k]);
            CU_ASSERT_EQUAL(first_run(8), k == 0 ? 1 : k);
        }
}

/* A checksum of 0 may also be written as all ones, but no kernel does. */
static void test_the_other_zero_is_kept(void)
{
    const struct flow flow = {.mss = 1448, .option_bytes = 12};
    uint8_t *f = bytes[K];

    make_flow(&flow, 8);
    put16(f + 100, 0);
    seal(K);
    put16(f + 100, get16(f + AT_TCP + 16));
    seal(K);
    CU_ASSERT_EQUAL(get16(f + AT_TCP + 16), 0);
    CU_ASSERT_EQUAL(first_run(8), 8);
    put16(f + AT_TCP + 16, 0xFFFF);
    CU_ASSERT_EQUAL(first_run(8), K);
}

/* Bits of a header that differ in one frame, its checksums being right. */
static const struct difference {
    const char *what;
    uint8_t at, bits;
    bool in_all; /* a frame with it cannot be in a run at all, even if all have it */
} difference[] = {
    {"destination", 5, 1, false},
    {"source", 11, 1, false},
    {"other protocol than IP", 12, 0x80, true},
    {"VLAN", 12, 0x89, true},
    {"IP options", AT_IP, 3, true},
    {"class of service", AT_IP + 1, 1, false},
    {"identification", AT_IP + 5, 1, false},
    {"may be fragmented", AT_IP + 6, 0x40, false},
    {"more fragments", AT_IP + 6, 0x20, true},
    {"reserved bit", AT_IP + 6, 0x80, true},
    {"fragment", AT_IP + 7, 1, true},
    {"time to live", AT_IP + 8, 1, false},
    {"other protocol than TCP", AT_IP + 9, 1, true},
    {"source address", AT_IP + 15, 1, false},
    {"destination address", AT_IP + 19, 1, false},
    {"source port", AT_TCP + 1, 1, false},
    {"destination port", AT_TCP + 3, 1, false},
    {"sequence", AT_TCP + 7, 1, false},
    {"acknowledgement", AT_TCP + 11, 1, false},
    {"header length", AT_TCP + 12, 0x10, false},
    {"header too short", AT_TCP + 12, 0xC0, true},
    {"reserved bits", AT_TCP + 12, 1, false},
    {"FIN", AT_TCP + 13, 0x01, true},
    {"SYN", AT_TCP + 13, 0x02, true},
    {"RST", AT_TCP + 13, 0x04, true},
    {"no ACK", AT_TCP + 13, 0x10, true},
    {"URG", AT_TCP + 13, 0x20, true},
    {"ECE", AT_TCP + 13, 0x40, true},
    {"CWR", AT_TCP + 13, 0x80, true},
    {"window", AT_TCP + 15, 1, false},
    {"urgent pointer", AT_TCP + 19, 1, false},
    {"timestamp", AT_OPTIONS + 7, 1, false},
};

static void differ(const struct difference *d, unsigned i)
{
    bytes[i][d->at] ^= d->bits;
    seal(i);
}

static void test_a_frame_that_differs_begins_anew(void)
{
    const struct flow flow = {.seq = 1000, .id = 7000, .mss = 1448, .option_bytes = 12};

    for (const struct difference *d = difference; d < difference + RTE_DIM(difference); d++) {
        unsigned length;

        make_flow(&flow, 8);
        differ(d, K);
        length = first_run(8);
        CU_ASSERT_EQUAL(length, K);
        if (length != K)
            printf("%s: a run of %u ", d->what, length);
        make_flow(&flow, 8);
        for (unsigned i = 0; i < 8; i++)
            differ(d, i);
        CU_ASSERT(first_run(8) == 1 || !d->in_all);
    }
}

static void test_a_run_ends_with_a_push_and_with_a_short_segment(void)
{
    const struct flow flow = {.mss = 1448, .option_bytes = 12};

    make_flow(&flow, 8);
    push(K);
    CU_ASSERT_EQUAL(first_run(8), K + 1);
    make_flow(&flow, 8);
    make(K, &flow, 1447);
    CU_ASSERT_EQUAL(first_run(8), K + 1);
    make(K, &flow, 1449);
    CU_ASSERT_EQUAL(first_run(8), K);
    make(K, &flow, 0);
    CU_ASSERT_EQUAL(first_run(8), K);
    make_flow(&flow, 8);
    push(0);
    CU_ASSERT_EQUAL(first_run(8), 1);
}

static void test_frames_without_payload_are_never_merged(void)
{
    const struct flow flow = {.option_bytes = 12};

    make_flow(&flow, 8);
    CU_ASSERT_EQUAL(first_run(8), 1);
}

static void test_what_is_behind_the_payload_is_kept(void)
{
    const struct flow flow = {.mss = 100};

    make_flow(&flow, 8);
    mbuf[K].data_len = (uint16_t)(mbuf[K].pkt_len += 4);
    CU_ASSERT_EQUAL(first_run(8), K);
    make(K, &flow, 10);
    mbuf[K].data_len = (uint16_t)(mbuf[K].pkt_len += 4);
    CU_ASSERT_EQUAL(first_run(8), K);
    mbuf[0].data_len = (uint16_t)(mbuf[0].pkt_len += 4);
    CU_ASSERT_EQUAL(first_run(8), 1);
}

static void test_frames_of_several_segments_are_sent_as_they_are(void)
{
    const struct flow flow = {.mss = 1000};

    make_flow(&flow, 8);
    mbuf[K].nb_segs = 2;
    CU_ASSERT_EQUAL(first_run(8), K);
    mbuf[0].nb_segs = 2;
    CU_ASSERT_EQUAL(first_run(8), 1);
}

static void test_frames_too_short_for_their_headers_are_sent_as_they_are(void)
{
    const struct flow flow = {.mss = 100, .option_bytes = 12};

    for (unsigned length = AT_IP; length <= AT_TCP + 32; length++) {
        make_flow(&flow, 2);
        hold(0, length);
        CU_ASSERT_EQUAL(first_run(2), 1);
        make_flow(&flow, 2);
        hold(1, length);
        CU_ASSERT_EQUAL(first_run(2), 1);
    }
}

static void make_result(unsigned i, uint16_t payload)
{
    const struct frame_end from = {.ip = RTE_BE32(1), .port = 2}, to = {.ip = RTE_BE32(3), .port = 4};
    const struct frame_payload p = frame_payload(bytes[FRAMES - 1], payload);
    struct frame_header h;

    frame_header_init(&h, &from, &to);
    frame_write(bytes[i], &h, from.port, &p);
    hold(i, FRAME_HEADER_BYTES + payload);
    mbuf[i].ol_flags = MERGEABLE;
}

static void test_results_make_runs_of_their_own(void)
{
    for (unsigned i = 0; i < 8; i++)
        make_result(i, i == 6 ? 999 : 1000);
    CU_ASSERT_EQUAL(run_find(frame, 8, &both).kind, RUN_UDP);
    CU_ASSERT_EQUAL(first_run(8), 6);
    mbuf[K].ol_flags = 0;
    CU_ASSERT_EQUAL(first_run(8), K);
}

static void test_nothing_is_merged_that_is_not_allowed(void)
{
    const struct run_allowed neither = {0}, udp = {.udp = MERGEABLE}, tcp = {.tcp = true};
    const struct flow flow = {.mss = 1448};

    make_flow(&flow, 8);
    CU_ASSERT_EQUAL(run_find(frame, 8, &neither).length, 1);
    CU_ASSERT_EQUAL(run_find(frame, 8, &udp).length, 1);
    CU_ASSERT_EQUAL(run_find(frame, 8, &tcp).length, 8);
    for (unsigned i = 0; i < 8; i++)
        make_result(i, 100);
    CU_ASSERT_EQUAL(run_find(frame, 8, &neither).length, 1);
    CU_ASSERT_EQUAL(run_find(frame, 8, &tcp).length, 1);
}

/* --- any frames --- */

static void swap_with_next(unsigned i)
{
    struct rte_mbuf *m = frame[i];

    frame[i] = frame[i + 1];
    frame[i + 1] = m;
}

static void disturb(const struct flow *flow, unsigned n)
{
    const unsigned i = rng_below(&rng, n);

    switch (rng_below(&rng, 6)) {
    case 0: /* damage, most often in the headers */
        bytes[i][rng_below(&rng, rng_below(&rng, 2) ? mbuf[i].data_len : 66)] ^=
            (uint8_t)(1 << rng_below(&rng, 8));
        break;
    case 1:
        differ(&difference[rng_below(&rng, RTE_DIM(difference))], i);
        break;
    case 2:
        push(i);
        break;
    case 3:
        make(i, flow, (uint16_t)rng_below(&rng, flow->mss + 1u));
        break;
    case 4:
        swap_with_next(rng_below(&rng, n - 1));
        break;
    default: /* out of one flow, two */
        for (unsigned k = i; k < n; k++)
            differ(&difference[RTE_DIM(difference) - 3], k);
    }
}

static void test_any_frames_come_back_as_they_were(void)
{
    uint64_t merged = 0, frames = 0;

    rng = rng_seed(14);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct flow flow = {.seq = (uint32_t)rng_next(&rng),
                                  .id = (uint16_t)rng_next(&rng),
                                  .mss = (uint16_t)(1 + rng_below(&rng, 400)),
                                  .option_bytes = (uint8_t)(4 * rng_below(&rng, 11))};
        const unsigned n = 2 + rng_below(&rng, 20);

        make_flow(&flow, n);
        for (unsigned disturbances = rng_below(&rng, 4); disturbances > 0; disturbances--)
            disturb(&flow, n);
        for (unsigned i = 0; i < n;) {
            const struct run run = run_find(frame + i, n - i, &both);

            CU_ASSERT(run.length == 1 || gives_back(&run, frame + i));
            merged += run.length > 1 ? run.length : 0;
            i += run.length;
        }
        frames += n;
    }
    CU_ASSERT(merged > frames / 2 && merged < frames);
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_a_flow_is_one_run),
        UNIT_TEST(test_runs_have_a_longest),
        UNIT_TEST(test_a_damaged_frame_is_sent_as_it_is),
        UNIT_TEST(test_the_other_zero_is_kept),
        UNIT_TEST(test_a_frame_that_differs_begins_anew),
        UNIT_TEST(test_a_run_ends_with_a_push_and_with_a_short_segment),
        UNIT_TEST(test_frames_without_payload_are_never_merged),
        UNIT_TEST(test_what_is_behind_the_payload_is_kept),
        UNIT_TEST(test_frames_of_several_segments_are_sent_as_they_are),
        UNIT_TEST(test_frames_too_short_for_their_headers_are_sent_as_they_are),
        UNIT_TEST(test_results_make_runs_of_their_own),
        UNIT_TEST(test_nothing_is_merged_that_is_not_allowed),
        UNIT_TEST(test_any_frames_come_back_as_they_were),
        CU_TEST_INFO_NULL,
    };

    return unit_main("kernel_run", tests);
}
