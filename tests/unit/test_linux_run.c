/* Runs of results: whatever is merged, a kernel's segmentation (modelled here, from its rules, byte by byte)
 * gives back as it was. */
#include <string.h>

#include "by_the_book.h"
#include "port/linux/gso.h"
#include "port/linux/run.h"
#include "random.h"
#include "unit.h"

enum { FRAMES = 80, ROOM = 9100, ROUNDS = 5000, AT_IP = 14, AT_UDP = 34, MERGEABLE = 1 };

static struct rte_mbuf mbuf[FRAMES], *frame[FRAMES];
static _Alignas(2) uint8_t bytes[FRAMES][ROOM];
static uint64_t rng;

static void make(unsigned i, unsigned payload, uint16_t to_port)
{
    const struct frame_end from = {.ip = RTE_BE32(1), .port = 2}, to = {.ip = RTE_BE32(3), .port = to_port};
    static uint8_t body[ROOM];
    struct frame_header h;

    for (unsigned b = 0; b < payload; b++)
        body[b] = (uint8_t)rng_next(&rng);
    const struct frame_payload p = frame_payload(body, payload, agg_kernels_scalar.ones_sum);

    frame_header_init(&h, &from, &to);
    frame_write(bytes[i], &h, from.port, &p);
    mbuf[i] = (struct rte_mbuf){.buf_addr = bytes[i],
                                .data_len = (uint16_t)(FRAME_HEADER_BYTES + payload),
                                .pkt_len = FRAME_HEADER_BYTES + payload,
                                .ol_flags = MERGEABLE,
                                .nb_segs = 1,
                                .refcnt = 1};
    frame[i] = &mbuf[i];
}

static void make_all(unsigned n, unsigned payload)
{
    for (unsigned i = 0; i < n; i++)
        make(i, payload, 4);
}

/* --- what the kernel does (inet_gso_segment, __udp_gso_segment) --- */

static size_t message(uint8_t *out, const struct run_prelude *p, const struct run *run,
                      struct rte_mbuf *const f[])
{
    size_t n = run->header_bytes;

    memcpy(out, &p->headers, n);
    for (unsigned i = 0; i < run->length; i++) {
        memcpy(out + n, rte_pktmbuf_mtod_offset(f[i], uint8_t *, run->header_bytes),
               f[i]->data_len - run->header_bytes);
        n += f[i]->data_len - run->header_bytes;
    }
    return n;
}

static void seal(uint8_t *f, size_t frame_bytes)
{
    put16(f + AT_IP + 10, 0);
    put16(f + AT_IP + 10, checksum(sum_of(f + AT_IP, 20)));
    put16(f + AT_UDP + 6, 0);
    put16(f + AT_UDP + 6,
          checksum(sum_of(f + AT_IP + 12, 8) + f[AT_IP + 9] + (uint32_t)(frame_bytes - AT_UDP) +
                   sum_of(f + AT_UDP, frame_bytes - AT_UDP)));
}

/* The i-th of the frames that a message becomes; returns its length, 0: there is none. */
static size_t cut(uint8_t *out, const uint8_t *whole, size_t n, const struct virtio_net_hdr *how, unsigned i)
{
    const size_t header = how->hdr_len, from = header + (size_t)i * how->gso_size;
    const size_t length = header + (from < n ? RTE_MIN(n - from, how->gso_size) : 0);

    if (from >= n)
        return 0;
    memcpy(out, whole, header);
    memcpy(out + header, whole + from, length - header);
    put16(out + AT_IP + 2, (uint32_t)(length - AT_IP));
    put16(out + AT_UDP + 4, (uint32_t)(length - AT_UDP));
    seal(out, length);
    return length;
}

static bool is_well_formed(const struct run_prelude *p, const uint8_t *whole, size_t n)
{
    const uint32_t pseudo = sum_of(whole + AT_IP + 12, 8) + whole[AT_IP + 9] + (uint32_t)(n - AT_UDP);

    return p->how.flags == VIRTIO_NET_HDR_F_NEEDS_CSUM && p->how.gso_type == LINUX_GSO_UDP &&
           p->how.csum_start == AT_UDP && get16(whole + AT_IP + 2) == n - AT_IP &&
           checksum(sum_of(whole + AT_IP, 20)) == 0 &&
           get16(whole + AT_UDP + p->how.csum_offset) == UINT16_MAX - checksum(pseudo);
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
        if (cut(out, whole, n, &p.how, i) != f[i]->data_len ||
            memcmp(out, rte_pktmbuf_mtod(f[i], void *), f[i]->data_len) != 0)
            return false;
    return true;
}

/* How long the first run of n frames is. What it merges must come back. */
static unsigned first_run(unsigned n)
{
    const struct run run = run_find(frame, n, MERGEABLE);

    CU_ASSERT(run.length == 1 ? run.header_bytes == 0 : gives_back(&run, frame));
    return run.length;
}

TEST(results_to_one_worker_are_one_run)
{
    make_all(8, 1000);
    CU_ASSERT_EQUAL(first_run(8), 8);
    CU_ASSERT_EQUAL(first_run(1), 1);
}

TEST(a_frame_that_differs_begins_anew)
{
    make_all(8, 1000);
    make(6, 999, 4); /* shorter */
    CU_ASSERT_EQUAL(first_run(8), 6);
    make(3, 1000, 5); /* to another worker */
    CU_ASSERT_EQUAL(first_run(8), 3);
    mbuf[2].ol_flags = 0; /* may not */
    CU_ASSERT_EQUAL(first_run(8), 2);
    mbuf[0].ol_flags = 0;
    CU_ASSERT_EQUAL(first_run(8), 1);
}

TEST(nothing_is_merged_where_the_kernel_refuses)
{
    make_all(8, 1000);
    CU_ASSERT_EQUAL(run_find(frame, 8, 0).length, 1);
}

TEST(runs_have_a_longest)
{
    make_all(FRAMES, 100);
    CU_ASSERT_EQUAL(first_run(FRAMES), 64); /* every kernel takes so many */
    make_all(FRAMES, 8970);
    CU_ASSERT_EQUAL(first_run(FRAMES), 65000 / (FRAME_HEADER_BYTES + 8970));
}

TEST(a_single_frame_needs_nothing)
{
    const struct run one = {.length = 1};
    struct run_prelude p;

    make_all(1, 100);
    run_write_prelude(&p, &one, frame);
    CU_ASSERT_EQUAL(p.how.gso_type, VIRTIO_NET_HDR_GSO_NONE);
    CU_ASSERT_EQUAL(p.how.flags, 0);
}

TEST(any_results_come_back_as_they_were)
{
    unsigned merged = 0, frames = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned n = 2 + rng_below(&rng, 20), payload = 1 + rng_below(&rng, 400);

        make_all(n, payload);
        if (rng_below(&rng, 2) == 0)
            make(rng_below(&rng, n), 1 + rng_below(&rng, payload), 4 + rng_below(&rng, 2));
        for (unsigned i = 0; i < n;) {
            const struct run run = run_find(frame + i, n - i, MERGEABLE);

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
    rng = rng_seed(14);
    return unit_main();
}
