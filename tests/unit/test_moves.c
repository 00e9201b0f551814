/* How loops are recognized: stations that move too often, and probes that come back. */
#include "net/loop_probe.h"
#include "net/moves.h"

#include "unit.h"

enum { WINDOW = 1000, STATION = 77 };

static struct net_moves m;

/* Moves a station so often at this time; returns how often it was suspicious. */
static unsigned suspicious(uint64_t station, unsigned moves, uint64_t now)
{
    unsigned n = 0;

    while (moves-- > 0)
        n += net_moves_note(&m, station, now, WINDOW);
    return n;
}

TEST(a_station_that_moves_often_is_named_once_a_window)
{
    m = (struct net_moves){0};
    CU_ASSERT_EQUAL(suspicious(STATION, NET_MOVES_SUSPICIOUS - 1, 5000), 0);
    CU_ASSERT_EQUAL(suspicious(STATION, 1, 5000 + WINDOW - 1), 1);
    CU_ASSERT_EQUAL(suspicious(STATION, 1000, 5000 + WINDOW - 1), 0);
    CU_ASSERT_EQUAL(suspicious(STATION, 1000, 5000 + WINDOW), 1);
}

TEST(a_station_that_moves_now_and_then_is_not)
{
    m = (struct net_moves){0};
    for (unsigned i = 0; i < 10000; i++)
        CU_ASSERT_EQUAL(suspicious(STATION, 1, (uint64_t)i * (WINDOW / (NET_MOVES_SUSPICIOUS - 1) + 1)), 0);
}

TEST(many_that_move_once_are_not)
{
    m = (struct net_moves){0};
    for (uint64_t station = 1; station < 100000; station++)
        CU_ASSERT_EQUAL(suspicious(station, 1, 5000), 0);
}

/* Others cannot take the place of one that is being watched. */
TEST(one_among_many_is_found)
{
    unsigned found = 0;

    m = (struct net_moves){0};
    for (uint64_t i = 0; i < NET_MOVES_SUSPICIOUS; i++) {
        found += suspicious(STATION, 1, 5000 + i);
        for (uint64_t other = 1000; other < 2000; other++)
            suspicious(other, 1, 5000 + i);
    }
    CU_ASSERT_EQUAL(found, 1);
}

static const struct net_mac switch_mac = {{2, 0, 0, 0, 0, 0xfe}};

TEST(a_probe_is_read_as_it_was_written)
{
    uint8_t frame[NET_LOOP_PROBE_BYTES + 4];
    const struct net_ethernet *eth = (const struct net_ethernet *)(const void *)frame;
    uint64_t number = 0;

    loop_probe_write(frame, &switch_mac, UINT64_C(0x123456789ABCDEF0));
    CU_ASSERT(net_is_broadcast(&eth->dst_addr) && net_same_mac(&eth->src_addr, &switch_mac));
    CU_ASSERT(loop_probe_read(eth, NET_LOOP_PROBE_BYTES, &number));
    CU_ASSERT_EQUAL(number, UINT64_C(0x123456789ABCDEF0));
    CU_ASSERT(loop_probe_read(eth, sizeof(frame), &number)); /* padded on its way */
}

TEST(what_is_no_probe_is_not_read_as_one)
{
    uint8_t frame[NET_LOOP_PROBE_BYTES];
    const struct net_ethernet *eth = (const struct net_ethernet *)(const void *)frame;
    uint64_t number;

    loop_probe_write(frame, &switch_mac, 5);
    for (size_t bytes = sizeof(*eth); bytes < NET_LOOP_PROBE_BYTES; bytes++)
        CU_ASSERT(!loop_probe_read(eth, bytes, &number));
    for (unsigned i = 12; i < 12 + 2 + sizeof("swagg looks for loops"); i++) {
        frame[i] ^= 1;
        CU_ASSERT(!loop_probe_read(eth, NET_LOOP_PROBE_BYTES, &number));
        frame[i] ^= 1;
    }
}
