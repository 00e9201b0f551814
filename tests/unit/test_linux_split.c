/* What the kernel merges is cut into the frames that came: flows of all kinds are made frame by frame, merged
 * by the kernel's rules (modelled here), and must come back as they were; all else must be refused. */
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include "by_the_book.h"
#include "port/linux/gso.h"
#include "port/linux/split.h"
#include "random.h"
#include "unit.h"

enum {
    ROUNDS = 20000,
    FRAMES_MAX = 40,
    PAYLOAD_MAX = 1500,
    HEADERS_MAX = 142, /* Ethernet, two tags, IPv4 and TCP with all options */
    ROOM = 2048,
    MERGED_ROOM = FRAMES_MAX * ROOM,
    TCP_FIN = 1,
    TCP_PSH = 8,
    TCP_ACK = 16,
    TCP_ECE = 64,
    TCP_CWR = 128, /* so 2 * TCP_ECE */
};

/* A flow: its frames, and what they become. */
static struct {
    bool ipv6, udp, answers_congestion;
    unsigned tags, ip, l4, headers, payload, frames;
    unsigned bytes[FRAMES_MAX];
    uint8_t frame[FRAMES_MAX][ROOM];
    uint8_t merged[MERGED_ROOM];
    unsigned merged_bytes;
    struct virtio_net_hdr how;
} flow;

static uint64_t rng;

static unsigned below(unsigned n)
{
    return (unsigned)rng_below(&rng, n);
}

static void fill(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        const uint64_t bits = rng_next(&rng);
        memcpy(p + i, &bits, n - i < sizeof bits ? n - i : sizeof bits);
    }
}

/* Of the part of a frame behind its IP header. */
static void seal(uint8_t *f, unsigned bytes)
{
    const uint8_t *addresses = f + flow.ip + (flow.ipv6 ? 8 : 12);
    uint8_t *field = f + flow.l4 + (flow.udp ? 6 : 16);
    uint32_t sum =
        sum_of(addresses, flow.ipv6 ? 32 : 8) + (flow.udp ? IPPROTO_UDP : IPPROTO_TCP) + (bytes - flow.l4);

    put16(field, 0);
    put16(field, checksum(sum + sum_of(f + flow.l4, bytes - flow.l4)));
    if (flow.udp && get16(field) == 0)
        put16(field, 0xFFFF);
}

/* Lengths in the headers of a frame, or of all that is merged. */
static void set_lengths(uint8_t *f, unsigned bytes)
{
    if (flow.ipv6)
        put16(f + flow.ip + 4, bytes - flow.l4);
    else
        put16(f + flow.ip + 2, bytes - flow.ip);
    if (flow.udp)
        put16(f + flow.l4 + 4, bytes - flow.l4);
}

static void seal_ipv4(uint8_t *f)
{
    if (flow.ipv6)
        return;
    put16(f + flow.ip + 10, 0);
    put16(f + flow.ip + 10, checksum(sum_of(f + flow.ip, flow.l4 - flow.ip)));
}

/* Headers that all frames of the flow have; lengths, numbers and checksums are to be set. */
static void make_headers(uint8_t *h)
{
    static const uint16_t tag_types[] = {0x8100, 0x88A8};
    const unsigned options = flow.ipv6 ? 0 : below(11) * 4, tcp_options = below(11) * 4;

    flow.tags = below(3);
    flow.ip = 14 + 4 * flow.tags;
    flow.l4 = flow.ip + (flow.ipv6 ? 40 : 20 + options);
    flow.headers = flow.l4 + (flow.udp ? 8 : 20 + tcp_options);
    fill(h, flow.headers);
    for (unsigned t = 0; t < flow.tags; t++)
        put16(h + 12 + 4 * t, tag_types[below(2)]);
    put16(h + flow.ip - 2, flow.ipv6 ? 0x86DD : 0x0800);
    if (flow.ipv6) {
        h[flow.ip] = 0x60;
        h[flow.ip + 6] = flow.udp ? IPPROTO_UDP : IPPROTO_TCP;
    } else {
        h[flow.ip] = (uint8_t)(0x45 + options / 4);
        put16(h + flow.ip + 6, below(2) == 0 ? 0x4000 : 0);
        h[flow.ip + 9] = flow.udp ? IPPROTO_UDP : IPPROTO_TCP;
    }
    if (!flow.udp) {
        h[flow.l4 + 12] = (uint8_t)((5 + tcp_options / 4) << 4);
        h[flow.l4 + 13] = (uint8_t)(TCP_ACK | below(4) * TCP_ECE); /* accurate ECN counts with these */
    }
}

/* An identification that stays 0 is used with "don't fragment" only. */
static unsigned next_identification(const uint8_t *headers)
{
    const bool fixed = get16(headers + flow.ip + 6) == 0x4000 && below(3) == 0;

    return fixed ? 0 : 1 + below(0xFFFF);
}

static void make_flow(void)
{
    uint8_t headers[256];
    unsigned identification = 0;
    uint32_t sequence = (uint32_t)rng_next(&rng);
    uint8_t flags_of_first = 0;

    flow.ipv6 = below(2);
    flow.udp = below(2);
    make_headers(headers);
    flow.frames = 1 + below(FRAMES_MAX);
    flow.payload = 1 + below(PAYLOAD_MAX);
    if (!flow.ipv6)
        identification = next_identification(headers);
    flow.answers_congestion = !flow.udp && below(4) == 0;
    if (flow.answers_congestion) {
        headers[flow.l4 + 13] &= (uint8_t)~TCP_CWR;
        flags_of_first = TCP_CWR;
    }
    for (unsigned i = 0; i < flow.frames; i++) {
        uint8_t *f = flow.frame[i];
        const bool last = i + 1 == flow.frames;
        const unsigned payload = last ? 1 + below(flow.payload) : flow.payload;

        flow.bytes[i] = flow.headers + payload;
        memcpy(f, headers, flow.headers);
        fill(f + flow.headers, payload);
        set_lengths(f, flow.bytes[i]);
        if (!flow.ipv6)
            put16(f + flow.ip + 4, identification == 0 ? 0 : identification + i);
        if (!flow.udp) {
            put32(f + flow.l4 + 4, sequence + i * flow.payload);
            f[flow.l4 + 13] |= (uint8_t)((i == 0 ? flags_of_first : 0) |
                                         (last ? below(2) * TCP_PSH + below(2) * TCP_FIN : 0));
        }
        seal_ipv4(f);
        seal(f, flow.bytes[i]);
    }
}

/* The first frame's headers, with the last one's flags, and all payloads. */
static void merge(void)
{
    const uint8_t *last = flow.frame[flow.frames - 1];
    uint8_t *m = flow.merged;

    memcpy(m, flow.frame[0], flow.headers);
    flow.merged_bytes = flow.headers;
    for (unsigned i = 0; i < flow.frames; i++) {
        memcpy(m + flow.merged_bytes, flow.frame[i] + flow.headers, flow.bytes[i] - flow.headers);
        flow.merged_bytes += flow.bytes[i] - flow.headers;
    }
    set_lengths(m, flow.merged_bytes);
    if (!flow.udp)
        m[flow.l4 + 13] |= last[flow.l4 + 13] & (TCP_PSH | TCP_FIN);
    flow.how = (struct virtio_net_hdr){
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .gso_type = flow.udp    ? LINUX_GSO_UDP
                    : flow.ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6
                                : VIRTIO_NET_HDR_GSO_TCPV4,
        .gso_size = (uint16_t)flow.payload,
        .csum_start = (uint16_t)flow.l4,
        .csum_offset = flow.udp ? 6 : 16,
    };
    if (flow.answers_congestion)
        flow.how.gso_type |= VIRTIO_NET_HDR_GSO_ECN;
}

static void make_merged(void)
{
    do {
        make_flow();
        merge();
    } while (flow.merged_bytes > 0xFFFF);
}

/* In two pieces, as a message lies in buffers; rest: where the second begins. */
static struct split_message pieces(const uint8_t *merged, unsigned bytes)
{
    const unsigned first = RTE_MIN(bytes, HEADERS_MAX + below(2 * PAYLOAD_MAX));

    return (struct split_message){
        .first = merged, .rest = merged + first, .first_bytes = first, .bytes = bytes};
}

TEST(frames_come_back)
{
    for (unsigned round = 0; round < unit_cases(ROUNDS); round++) {
        uint8_t out[ROOM];
        struct split s;

        make_merged();
        const struct split_message merged = pieces(flow.merged, flow.merged_bytes);

        CU_ASSERT_FATAL(split_init(&s, &flow.how, &merged, agg_kernels_scalar.ones_sum));
        CU_ASSERT_EQUAL_FATAL(s.frames, flow.frames);
        CU_ASSERT_EQUAL(split_frame_bytes(&s), flow.bytes[0]);
        for (unsigned i = 0; i < flow.frames; i++) {
            CU_ASSERT_EQUAL_FATAL(split_frame(&s, i, out), flow.bytes[i]);
            CU_ASSERT_FATAL(memcmp(out, flow.frame[i], flow.bytes[i]) == 0);
        }
    }
}

/* From memory of just that size, so that a sanitizer sees what is read beyond. */
static bool is_refused(void)
{
    struct split_message pieces = {.first_bytes = flow.merged_bytes, .bytes = flow.merged_bytes};
    struct split s;
    uint8_t *merged = malloc(flow.merged_bytes);
    bool refused;

    memcpy(merged, flow.merged, flow.merged_bytes);
    pieces.first = merged;
    refused = !split_init(&s, &flow.how, &pieces, agg_kernels_scalar.ones_sum);
    free(merged);
    return refused;
}

TEST(what_the_kernel_says_is_strange)
{
    for (unsigned round = 0; round < unit_cases(ROUNDS / 10); round++) {
        make_merged();
        flow.how.gso_size = 0;
        CU_ASSERT(is_refused());
        make_merged();
        flow.how.gso_type = VIRTIO_NET_HDR_GSO_UDP; /* fragments */
        CU_ASSERT(is_refused());
        make_merged();
        flow.how.gso_type = flow.udp ? VIRTIO_NET_HDR_GSO_TCPV4 : LINUX_GSO_UDP;
        CU_ASSERT(is_refused());
        make_merged();
        flow.how.flags = 0; /* a device's merging, which does not say what it has done */
        CU_ASSERT(is_refused());
    }
}

/* The checksum to be completed lies deeper. */
TEST(tunnels)
{
    for (unsigned round = 0; round < unit_cases(ROUNDS / 10); round++) {
        make_merged();
        flow.how.csum_start += (uint16_t)(1 + below(100));
        CU_ASSERT(is_refused());
        make_merged();
        flow.merged[flow.ip + (flow.ipv6 ? 6 : 9)] = IPPROTO_IPIP;
        CU_ASSERT(is_refused());
    }
}

TEST(headers_that_lie)
{
    for (unsigned round = 0; round < unit_cases(ROUNDS / 10); round++) {
        make_merged();
        put16(flow.merged + flow.ip - 2, 0x0806);
        CU_ASSERT(is_refused());
        make_merged();
        flow.merged[flow.ip + (flow.ipv6 ? 5 : 3)] ^= (uint8_t)(1 + below(255)); /* a length */
        CU_ASSERT(is_refused());
        make_merged();
        if (!flow.ipv6) {
            const unsigned words = below(5);

            flow.merged[flow.ip] = (uint8_t)(0x40 + words);
            flow.how.csum_start = (uint16_t)(flow.ip + words * 4);
            CU_ASSERT(is_refused());
        }
        make_merged();
        if (!flow.udp) {
            flow.merged[flow.l4 + 12] = (uint8_t)(below(5) << 4);
            CU_ASSERT(is_refused());
        }
        make_merged();
        flow.merged_bytes = below(flow.headers + 1);
        if (flow.merged_bytes >= flow.l4)
            set_lengths(flow.merged, flow.merged_bytes);
        CU_ASSERT(is_refused());
    }
}

TEST(any_bytes)
{
    for (unsigned round = 0; round < unit_cases(ROUNDS); round++) {
        struct split s;
        uint8_t *merged, *out;

        make_merged();
        for (unsigned changes = below(4); changes > 0; changes--)
            flow.merged[below(flow.headers)] = (uint8_t)rng_next(&rng);
        if (below(2) == 0)
            fill((uint8_t *)&flow.how, sizeof(flow.how));
        merged = malloc(flow.merged_bytes);
        memcpy(merged, flow.merged, flow.merged_bytes);
        const struct split_message message = pieces(merged, flow.merged_bytes);

        if (split_init(&s, &flow.how, &message, agg_kernels_scalar.ones_sum)) {
            out = malloc(split_frame_bytes(&s));
            for (unsigned i = 0; i < s.frames; i++)
                CU_ASSERT(split_frame(&s, i, out) <= split_frame_bytes(&s));
            free(out);
        }
        free(merged);
    }
}

/* --- what is passed on as it is: cut by the kernel (inet_gso_segment, ipv6_gso_segment, tcp_gso_segment) ---
 */

/* Writes the i-th frame; returns its bytes, 0: there is none. */
static unsigned cut_by_kernel(uint8_t *out, const struct virtio_net_hdr *how, unsigned i)
{
    const unsigned from = how->hdr_len + i * how->gso_size;
    const bool last = from + how->gso_size >= flow.merged_bytes;
    unsigned bytes;

    if (from >= flow.merged_bytes)
        return 0;
    bytes = how->hdr_len + RTE_MIN(flow.merged_bytes - from, (unsigned)how->gso_size);
    memcpy(out, flow.merged, how->hdr_len);
    memcpy(out + how->hdr_len, flow.merged + from, bytes - how->hdr_len);
    set_lengths(out, bytes);
    if (!flow.ipv6)
        put16(out + flow.ip + 4, get16(flow.merged + flow.ip + 4) + i);
    put32(out + how->csum_start + 4, get32(flow.merged + how->csum_start + 4) + i * how->gso_size);
    out[how->csum_start + 13] &= (uint8_t) ~((last ? 0 : TCP_FIN | TCP_PSH) | (i > 0 ? TCP_CWR : 0));
    seal_ipv4(out);
    seal(out, bytes);
    return bytes;
}

/* Told from the mbuf alone. */
static bool kernel_gives_back(const struct rte_mbuf *m)
{
    const struct virtio_net_hdr how = linux_gso_describe(m);
    uint8_t out[ROOM];
    uint64_t bytes = 0;

    if (how.csum_start != flow.l4 || how.hdr_len != flow.headers || linux_gso_frames(m) != flow.frames)
        return false;
    for (unsigned i = 0; i < flow.frames; i++) {
        if (cut_by_kernel(out, &how, i) != flow.bytes[i] || memcmp(out, flow.frame[i], flow.bytes[i]) != 0)
            return false;
        bytes += flow.bytes[i];
    }
    return cut_by_kernel(out, &how, flow.frames) == 0 && bytes == linux_gso_bytes(m);
}

TEST(what_passes_whole_comes_back)
{
    unsigned passed = 0;

    for (unsigned round = 0; round < unit_cases(ROUNDS); round++) {
        struct split s;
        struct rte_mbuf m = {.refcnt = 1};

        make_merged();
        const struct split_message merged = pieces(flow.merged, flow.merged_bytes);

        CU_ASSERT_FATAL(split_init(&s, &flow.how, &merged, agg_kernels_scalar.ones_sum));
        if (!linux_gso_may_pass(&s, &flow.how))
            continue;
        passed++;
        m.pkt_len = flow.merged_bytes;
        linux_gso_mark(&m, &s, &flow.how);
        CU_ASSERT(linux_gso_is_merged(&m));
        CU_ASSERT_FATAL(kernel_gives_back(&m));
    }
    CU_ASSERT(passed > unit_cases(ROUNDS) / 20);
}

int main(void)
{
    rng = rng_seed(1);
    return unit_main();
}
