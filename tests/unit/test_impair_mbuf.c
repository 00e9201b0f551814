/* Impairments carried out on mbufs: the right bytes come out, nothing shared is touched, nothing leaks. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_mbuf.h>

#include "port/impair_mbuf.h"
#include "small_eal.h"
#include "unit.h"

enum { MBUFS = 511, DATA_ROOM = 64, PART_BYTES = 50, PARTS_MAX = 4 };

static struct rte_mempool *pool;
static struct rte_mbuf *in[IMPAIR_BURST_MAX], *out[IMPAIR_OUT_MAX];
static struct impair im;

static void set_up(const struct impair_config *cfg)
{
    impair_init(&im, cfg, 1, 0);
}

/* A frame of so many segments that says its number in every byte. */
static struct rte_mbuf *frame(uint8_t number, unsigned parts)
{
    struct rte_mbuf *head = NULL;

    for (unsigned p = 0; p < parts; p++) {
        struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

        CU_ASSERT_PTR_NOT_NULL_FATAL(m);
        memset(rte_pktmbuf_append(m, PART_BYTES), number, PART_BYTES);
        if (head == NULL)
            head = m;
        else
            rte_pktmbuf_chain(head, m);
    }
    return head;
}

static void fill(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        in[i] = frame((uint8_t)i, 1);
}

/* How many bits of a frame are not as frame() made it; *which: their places within bytes. */
static unsigned bits_unlike(const struct rte_mbuf *m, uint8_t number, unsigned parts, uint8_t *which)
{
    uint8_t copy[PARTS_MAX * PART_BYTES];
    const uint8_t *bytes = rte_pktmbuf_read(m, 0, parts * PART_BYTES, copy);
    unsigned bits = 0;

    CU_ASSERT_EQUAL_FATAL(rte_pktmbuf_pkt_len(m), parts * PART_BYTES);
    for (unsigned i = 0; i < parts * PART_BYTES; i++) {
        bits += (unsigned)__builtin_popcount(bytes[i] ^ number);
        *which |= bytes[i] ^ number;
    }
    return bits;
}

static bool is_whole(const struct rte_mbuf *m, uint8_t number, unsigned parts)
{
    uint8_t which = 0;

    return bits_unlike(m, number, parts, &which) == 0;
}

static uint8_t number_of(const struct rte_mbuf *m)
{
    return *rte_pktmbuf_mtod(m, const uint8_t *);
}

static void release(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        rte_pktmbuf_free(out[i]);
    CU_ASSERT_EQUAL(rte_mempool_avail_count(pool), MBUFS);
}

TEST(dropped_frames_are_freed)
{
    set_up(&(struct impair_config){.rate[IMPAIR_DROP] = {.every = 2}});
    fill(6);
    CU_ASSERT_EQUAL_FATAL(impair_mbufs(&im, in, 6, out, pool, 0), 3);
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(number_of(out[i]), 2 * i);
    release(3);
}

TEST(a_duplicate_is_a_copy_of_its_own)
{
    set_up(&(struct impair_config){.rate[IMPAIR_DUPLICATE] = {.every = 1}});
    fill(1);
    CU_ASSERT_EQUAL_FATAL(impair_mbufs(&im, in, 1, out, pool, 0), 2);
    memset(rte_pktmbuf_mtod(out[0], void *), 9, PART_BYTES);
    CU_ASSERT(is_whole(out[1], 0, 1));
    release(2);
}

/* With more parts than one mbuf holds, damage hits later segments too. */
TEST(one_bit_flips_and_shared_bytes_stay)
{
    for (unsigned parts = 1; parts <= PARTS_MAX; parts++) {
        struct rte_mbuf *shared = frame(7, parts);
        uint8_t which = 0;

        set_up(&(struct impair_config){.rate[IMPAIR_CORRUPT] = {.every = 1}});
        for (unsigned i = 0; i < IMPAIR_BURST_MAX; i++) {
            rte_pktmbuf_refcnt_update(shared, 1);
            in[i] = shared;
        }
        CU_ASSERT_EQUAL_FATAL(impair_mbufs(&im, in, IMPAIR_BURST_MAX, out, pool, 0), IMPAIR_BURST_MAX);
        for (unsigned i = 0; i < IMPAIR_BURST_MAX; i++)
            CU_ASSERT_EQUAL(bits_unlike(out[i], 7, parts, &which), 1);
        CU_ASSERT_EQUAL(which, 0xFF);
        CU_ASSERT(is_whole(shared, 7, parts));
        rte_pktmbuf_free(shared);
        release(IMPAIR_BURST_MAX);
    }
}

/* Or a damaged frame would pass for one that the device has found whole. */
TEST(what_the_device_found_of_checksums_is_forgotten)
{
    const uint64_t found = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;

    set_up(&(struct impair_config){.rate[IMPAIR_CORRUPT] = {.every = 2}});
    for (unsigned i = 0; i < 2; i++) {
        in[i] = frame((uint8_t)i, 1);
        in[i]->ol_flags = found | RTE_MBUF_F_RX_RSS_HASH;
    }
    CU_ASSERT_EQUAL_FATAL(impair_mbufs(&im, in, 2, out, pool, 0), 2);
    CU_ASSERT_EQUAL(out[0]->ol_flags & found, found);
    CU_ASSERT_EQUAL(out[1]->ol_flags & found, 0);
    release(2);
}

TEST(held_frames_come_after_later_ones_or_in_time)
{
    static const uint8_t order[] = {0, 1, 3, 2, 4};

    set_up(&(struct impair_config){.rate[IMPAIR_REORDER] = {.every = 3}, .hold_frames = 1, .hold_for = 10});
    fill(6);
    CU_ASSERT_EQUAL_FATAL(impair_mbufs(&im, in, 6, out, pool, 0), 5);
    for (unsigned i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(number_of(out[i]), order[i]);
    CU_ASSERT_EQUAL(impair_mbufs(&im, NULL, 0, &out[5], pool, 9), 0);
    CU_ASSERT_EQUAL_FATAL(impair_mbufs(&im, NULL, 0, &out[5], pool, 10), 1);
    CU_ASSERT_EQUAL(number_of(out[5]), 5);
    release(6);
}

TEST(flush_frees_what_is_held)
{
    set_up(&(struct impair_config){.rate[IMPAIR_REORDER] = {.every = 1}, .hold_frames = 100});
    fill(10);
    CU_ASSERT_EQUAL(impair_mbufs(&im, in, 10, out, pool, 0), 0);
    impair_mbufs_flush(&im);
    release(0);
}

/* The most that can come out at once: a burst of doubled frames on top of all that were held. */
TEST(out_has_room_for_the_worst)
{
    set_up(&(struct impair_config){
        .rate[IMPAIR_REORDER] = {.probability = 1}, .hold_frames = 1000, .hold_for = 5});
    fill(IMPAIR_HELD_MAX);
    CU_ASSERT_EQUAL(impair_mbufs(&im, in, IMPAIR_HELD_MAX, out, pool, 0), 0);
    im.threshold[IMPAIR_REORDER] = 0;
    im.threshold[IMPAIR_DUPLICATE] = UINT64_MAX;
    fill(IMPAIR_BURST_MAX);
    CU_ASSERT_EQUAL_FATAL(impair_mbufs(&im, in, IMPAIR_BURST_MAX, out, pool, 5), IMPAIR_OUT_MAX);
    release(IMPAIR_OUT_MAX);
}

TEST(without_mbufs_frames_pass_untouched)
{
    struct rte_mbuf *hoard[MBUFS];
    unsigned hoarded = 0;

    set_up(&(struct impair_config){
        .rate = {[IMPAIR_DUPLICATE] = {.every = 1}, [IMPAIR_CORRUPT] = {.every = 1}}});
    fill(1);
    while ((hoard[hoarded] = rte_pktmbuf_alloc(pool)) != NULL)
        hoarded++;
    CU_ASSERT_EQUAL_FATAL(impair_mbufs(&im, in, 1, out, pool, 0), 1);
    CU_ASSERT(is_whole(out[0], 0, 1));
    rte_pktmbuf_free_bulk(hoard, hoarded);
    release(1);
}

/* As those that were on their way when the first impairment came: others are cut. */
TEST(merged_frames_pass_untouched)
{
    for (enum impair_kind kind = 0; kind < IMPAIR_KINDS; kind++) {
        struct impair_config cfg = {.hold_frames = 1};

        cfg.rate[kind].every = 1;
        set_up(&cfg);
        in[0] = frame(7, PARTS_MAX);
        in[0]->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
        CU_ASSERT_EQUAL_FATAL(impair_mbufs(&im, in, 1, out, pool, 0), 1);
        CU_ASSERT_PTR_EQUAL(out[0], in[0]);
        CU_ASSERT(is_whole(out[0], 7, PARTS_MAX));
        release(1);
    }
}

int main(void)
{
    if (small_eal_start(64) < 0)
        return 1;
    pool = rte_pktmbuf_pool_create("test", MBUFS, 0, 0, RTE_PKTMBUF_HEADROOM + DATA_ROOM, SOCKET_ID_ANY);
    return pool != NULL ? unit_main() : 1;
}
