/* Several lcores learn, look up and age one table at once; built with the thread sanitizer, which notices
 * races. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bridge/bridge.h"
#include "unit.h"

enum { LEARNERS = 3, ROUNDS = 20000, STATIONS = 300, TABLE = 256 };

struct shared {
    struct bridge *bridge;
    atomic_uint running;
    atomic_uint wrong;
};

struct learner {
    struct shared *shared;
    unsigned number;
    pthread_t thread;
};

/* Station i is only ever heard on ports i % 8 and i % 8 + 8. */
static void station(uint8_t mac[BRIDGE_MAC_BYTES], uint32_t i)
{
    mac[0] = 0x02;
    mac[1] = mac[2] = mac[3] = 0;
    mac[4] = (uint8_t)(i >> 8);
    mac[5] = (uint8_t)i;
}

static void *learn_and_look_up(void *arg)
{
    struct learner *l = arg;
    struct shared *s = l->shared;
    uint8_t mac[BRIDGE_MAC_BYTES];
    uint32_t random = l->number + 1;

    for (unsigned r = 0; r < ROUNDS; r++) {
        uint32_t i;
        int port;

        random = random * 1664525 + 1013904223;
        i = (random >> 16) % STATIONS;
        station(mac, i);
        bridge_learn(s->bridge, mac, (uint8_t)(i % 8 + (random >> 12 & 8)));
        i = (random >> 8) % STATIONS;
        station(mac, i);
        port = bridge_lookup(s->bridge, mac);
        if (port >= 0 && (unsigned)port % 8 != i % 8)
            atomic_fetch_add(&s->wrong, 1);
    }
    atomic_fetch_sub(&s->running, 1);
    return NULL;
}

/* What the main lcore does meanwhile. */
static void age_and_read_out(struct shared *s)
{
    struct bridge_station found;

    while (atomic_load(&s->running) > 0) {
        size_t cursor = 0;

        bridge_age(s->bridge);
        while (bridge_next(s->bridge, &cursor, &found)) {
            if (found.port % 8 != (found.mac[4] << 8 | found.mac[5]) % 8)
                atomic_fetch_add(&s->wrong, 1);
        }
    }
}

static void start(struct shared *s, struct learner learners[LEARNERS], unsigned table)
{
    s->bridge = bridge_init(aligned_alloc(64, (bridge_footprint(table) + 63) / 64 * 64), table, 1);
    atomic_init(&s->running, LEARNERS);
    atomic_init(&s->wrong, 0);
    for (unsigned l = 0; l < LEARNERS; l++) {
        learners[l] = (struct learner){.shared = s, .number = l};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&learners[l].thread, NULL, learn_and_look_up, &learners[l]), 0);
    }
}

static void join(struct shared *s, struct learner learners[LEARNERS])
{
    for (unsigned l = 0; l < LEARNERS; l++)
        pthread_join(learners[l].thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&s->wrong), 0);
}

/* The table is too small for all stations, so that they evict each other while they age away. */
TEST(no_reader_sees_half_an_entry)
{
    struct learner learners[LEARNERS];
    struct shared s;

    start(&s, learners, TABLE);
    age_and_read_out(&s);
    join(&s, learners);
    free(s.bridge);
}

/* With room for all, nobody is lost to another lcore's store. */
TEST(everybody_is_learned)
{
    struct learner learners[LEARNERS];
    uint8_t mac[BRIDGE_MAC_BYTES];
    struct shared s;

    start(&s, learners, 16 * STATIONS);
    join(&s, learners);
    for (uint32_t i = 0; i < STATIONS; i++) {
        station(mac, i);
        CU_ASSERT(bridge_lookup(s.bridge, mac) >= 0);
    }
    free(s.bridge);
}
