/* The learning table, from one thread; test_bridge_threads.c has the others. */
#include "bridge/bridge.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { STATIONS = 1024, BUCKET = 8 };

enum { PORTS = BRIDGE_PORT_MAX + 1 };

struct mac {
    uint8_t byte[BRIDGE_MAC_BYTES];
};

/* The i-th of many unicast addresses. */
static struct mac station(uint32_t i)
{
    return (struct mac){{0x02, 0x10, (uint8_t)(i >> 24), (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i}};
}

static struct bridge *b;

static void close_bridge(void)
{
    free(b);
    b = NULL;
}

/* With room for so many stations, instead of the one before. */
static void open_bridge(unsigned stations)
{
    close_bridge();
    b = bridge_init(aligned_alloc(64, (bridge_footprint(stations) + 63) / 64 * 64), stations, 7);
}

static void open_usual(void)
{
    open_bridge(STATIONS);
}

EACH_TEST(open_usual, close_bridge)

static enum bridge_learned learn(struct mac m, uint8_t port)
{
    return bridge_learn(b, m.byte, port);
}

static int lookup(struct mac m)
{
    return bridge_lookup(b, m.byte);
}

static unsigned count(void)
{
    struct bridge_station s;
    size_t cursor = 0;
    unsigned n = 0;

    while (bridge_next(b, &cursor, &s))
        n++;
    return n;
}

TEST(learn_and_lookup)
{
    CU_ASSERT_EQUAL(lookup(station(1)), -1);
    CU_ASSERT_EQUAL(learn(station(1), 3), BRIDGE_NEW);
    CU_ASSERT_EQUAL(learn(station(1), 3), BRIDGE_KNOWN);
    CU_ASSERT_EQUAL(lookup(station(1)), 3);
    CU_ASSERT_EQUAL(lookup(station(2)), -1);
    CU_ASSERT_EQUAL(learn(station(2), 0), BRIDGE_NEW);
    CU_ASSERT_EQUAL(lookup(station(2)), 0);
    CU_ASSERT_EQUAL(learn(station(3), 127), BRIDGE_NEW);
    CU_ASSERT_EQUAL(lookup(station(3)), 127);
    CU_ASSERT_EQUAL(count(), 3);
}

TEST(a_station_that_moves_is_relearned)
{
    learn(station(1), 3);
    CU_ASSERT_EQUAL(learn(station(1), 4), BRIDGE_MOVED);
    CU_ASSERT_EQUAL(lookup(station(1)), 4);
    CU_ASSERT_EQUAL(learn(station(1), 4), BRIDGE_KNOWN);
    CU_ASSERT_EQUAL(count(), 1);
}

TEST(group_addresses_and_zero_are_never_stations)
{
    static const struct mac odd[] = {{{0}},
                                     {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}},
                                     {{0x01, 0, 0x5E, 0, 0, 1}},
                                     {{0x33, 0x33, 0, 0, 0, 1}}};

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        CU_ASSERT_EQUAL(learn(odd[i], 1), BRIDGE_REFUSED);
        CU_ASSERT_EQUAL(lookup(odd[i]), -1);
    }
    CU_ASSERT_EQUAL(count(), 0);
}

TEST(silent_stations_age_away)
{
    learn(station(1), 1);
    learn(station(2), 2);
    for (unsigned tick = 1; tick < BRIDGE_AGE_TICKS; tick++) {
        CU_ASSERT_EQUAL(bridge_age(b), 0);
        CU_ASSERT_EQUAL(learn(station(2), 2), BRIDGE_KNOWN);
    }
    CU_ASSERT_EQUAL(lookup(station(1)), 1);
    CU_ASSERT_EQUAL(bridge_age(b), 1);
    CU_ASSERT_EQUAL(lookup(station(1)), -1);
    CU_ASSERT_EQUAL(lookup(station(2)), 2);
}

/* The stamp has eight bits; a station that talks must outlive any number of their turns. */
TEST(the_stamp_may_wrap)
{
    learn(station(1), 1);
    for (unsigned tick = 0; tick < 2000; tick++) {
        if (tick % (BRIDGE_AGE_TICKS - 1) == 0)
            CU_ASSERT_EQUAL(learn(station(1), 1), BRIDGE_KNOWN);
        CU_ASSERT_EQUAL(bridge_age(b), 0);
    }
    CU_ASSERT_EQUAL(lookup(station(1)), 1);
}

TEST(forget_a_port_or_all)
{
    for (uint32_t i = 0; i < 30; i++)
        learn(station(i), (uint8_t)(i % 3));
    CU_ASSERT_EQUAL(bridge_forget(b, 1), 10);
    CU_ASSERT_EQUAL(lookup(station(1)), -1);
    CU_ASSERT_EQUAL(lookup(station(2)), 2);
    CU_ASSERT_EQUAL(bridge_forget(b, -1), 20);
    CU_ASSERT_EQUAL(count(), 0);
}

TEST(reading_the_table_out)
{
    struct bridge_station s;
    size_t cursor = 0;

    learn(station(0xA1B2C3D4), 9);
    bridge_age(b);
    bridge_age(b);
    CU_ASSERT_FATAL(bridge_next(b, &cursor, &s));
    CU_ASSERT_EQUAL(memcmp(s.mac, station(0xA1B2C3D4).byte, sizeof(s.mac)), 0);
    CU_ASSERT_EQUAL(s.port, 9);
    CU_ASSERT_EQUAL(s.silent_ticks, 2);
    CU_ASSERT(!bridge_next(b, &cursor, &s));
}

/* A snapshot of a table of 64 words: the station in each. */
enum { WORDS = 64 };

struct snapshot {
    struct bridge_station word[WORDS];
    bool used[WORDS];
};

static struct snapshot snapshot(void)
{
    struct snapshot all = {0};
    struct bridge_station s;
    size_t cursor = 0;

    while (bridge_next(b, &cursor, &s)) {
        all.word[cursor - 1] = s;
        all.used[cursor - 1] = true;
    }
    return all;
}

/* The word that a new station took from an older one: nobody in its bucket may have been silent longer. */
static void check_eviction(const struct snapshot *before, const struct snapshot *after)
{
    unsigned changed = 0;

    for (unsigned i = 0; i < WORDS; i++) {
        if (memcmp(before->word[i].mac, after->word[i].mac, BRIDGE_MAC_BYTES) == 0)
            continue;
        changed++;
        for (unsigned j = i / BUCKET * BUCKET; j < i / BUCKET * BUCKET + BUCKET; j++)
            CU_ASSERT(before->used[j] && before->word[j].silent_ticks <= before->word[i].silent_ticks);
    }
    CU_ASSERT_EQUAL(changed, 1);
}

TEST(a_full_bucket_gives_up_its_longest_silent_station)
{
    unsigned evicted = 0;

    open_bridge(1); /* rounded up to 64 */
    for (uint32_t i = 0; i < 200; i++) {
        struct snapshot before = snapshot(), after;

        if (learn(station(i), i % PORTS) == BRIDGE_EVICTED) {
            after = snapshot();
            check_eviction(&before, &after);
            evicted++;
        }
        CU_ASSERT_EQUAL(lookup(station(i)), (int)(i % PORTS));
        if (i % 5 == 0)
            bridge_age(b);
    }
    CU_ASSERT(evicted >= 200 - WORDS);
    CU_ASSERT(count() <= WORDS);
}

/* The header promises room: half full, hardly a bucket overflows, whatever the addresses look like. */
TEST(half_full_hardly_evicts)
{
    unsigned evicted = 0;

    open_bridge(2 * STATIONS);
    for (uint32_t i = 0; i < STATIONS; i++)
        evicted += learn(station(i << 8), 1) == BRIDGE_EVICTED;
    CU_ASSERT(evicted < STATIONS / 50);
}

TEST(the_seed_changes_the_hash)
{
    size_t where[2] = {0};

    for (unsigned seed = 0; seed < 2; seed++) {
        struct bridge_station s;

        b = bridge_init(b, STATIONS, seed);
        learn(station(1), 1);
        bridge_next(b, &where[seed], &s);
    }
    CU_ASSERT_NOT_EQUAL(where[0], where[1]);
}

TEST(a_static_station_stays)
{
    struct bridge_station s;
    size_t cursor = 0;

    open_bridge(64);
    CU_ASSERT(bridge_fix(b, station(1).byte, 3));
    CU_ASSERT_EQUAL(learn(station(1), 5), BRIDGE_KNOWN);
    CU_ASSERT_EQUAL(lookup(station(1)), 3);
    for (unsigned i = 0; i < 2 * BRIDGE_AGE_TICKS; i++)
        bridge_age(b);
    bridge_forget(b, -1);
    CU_ASSERT_EQUAL(lookup(station(1)), 3);
    CU_ASSERT(bridge_fix(b, station(1).byte, 4)); /* moved by hand */
    CU_ASSERT_EQUAL(lookup(station(1)), 4);
    CU_ASSERT(bridge_next(b, &cursor, &s) && s.fixed && s.port == 4);
    CU_ASSERT(!bridge_next(b, &cursor, &s));
    CU_ASSERT(bridge_unfix(b, station(1).byte));
    CU_ASSERT(!bridge_unfix(b, station(1).byte));
    CU_ASSERT_EQUAL(lookup(station(1)), -1);
    CU_ASSERT_EQUAL(learn(station(1), 5), BRIDGE_NEW);
    CU_ASSERT(bridge_fix(b, station(1).byte, 6)); /* one that was learned */
    CU_ASSERT_EQUAL(lookup(station(1)), 6);
}

TEST(static_stations_leave_room_for_others)
{
    unsigned fixed = 0, learned = 0, left = 0;

    open_bridge(64);
    for (unsigned i = 1; i <= 1000; i++)
        fixed += bridge_fix(b, station(i).byte, 1);
    CU_ASSERT_EQUAL(fixed, 32); /* half of the table */
    for (unsigned i = 0; i < BRIDGE_AGE_TICKS / 2; i++)
        bridge_age(b);
    for (unsigned i = 2000; i < 3000; i++) {
        learn(station(i), 2);
        learned += lookup(station(i)) == 2;
    }
    CU_ASSERT_EQUAL(learned, 1000);
    for (unsigned i = 1; i <= 1000; i++)
        left += lookup(station(i)) == 1;
    CU_ASSERT_EQUAL(left, fixed); /* nor do others take theirs, however long they are silent */
}
