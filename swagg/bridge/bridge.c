#include "bridge/bridge.h"

#include <stdatomic.h>
#include <string.h>

#include "net/headers.h"
#include "random/splitmix.h"

enum {
    BUCKET_WORDS = 8,
    STATIC_MAX = BUCKET_WORDS / 2, /* in a bucket, so that there is room for others */
    STATIONS_MIN = 64,
    STATIONS_MAX = 1 << 20,
    STATIC = 1 << 15,
};

/* mac << 16 | static << 15 | port << 8 | stamp; 0: free (the zero MAC is never learned). */
typedef _Atomic uint64_t bridge_word;

struct bridge {
    uint64_t factor, addend; /* of the hash; never change */
    size_t buckets;          /* a power of two */
    unsigned shift;
    _Alignas(64) _Atomic uint8_t now; /* the stamp of this tick; written by bridge_age only */
    _Alignas(64) bridge_word word[];  /* [buckets * BUCKET_WORDS] */
};

static size_t bucket_count(unsigned stations)
{
    size_t n = STATIONS_MIN;

    while (n < stations && n < STATIONS_MAX)
        n *= 2;
    return n / BUCKET_WORDS;
}

size_t bridge_footprint(unsigned stations)
{
    return sizeof(struct bridge) + bucket_count(stations) * BUCKET_WORDS * sizeof(bridge_word);
}

struct bridge *bridge_init(void *mem, unsigned stations, uint64_t seed)
{
    struct bridge *b = mem;

    memset(mem, 0, bridge_footprint(stations));
    b->buckets = bucket_count(stations);
    b->factor = splitmix_hash(seed) | 1;
    b->addend = splitmix_hash(seed + 1);
    b->shift = 64;
    for (size_t n = b->buckets; n > 1; n /= 2)
        b->shift--;
    return b;
}

/* A table takes whole cache lines, so that the next begins one. */
size_t bridge_tables_footprint(unsigned stations, unsigned tables)
{
    return tables * bridge_footprint(stations);
}

struct bridge *bridge_tables_init(void *mem, unsigned stations, unsigned tables, uint64_t seed)
{
    for (unsigned i = 0; i < tables; i++)
        bridge_init((uint8_t *)mem + i * bridge_footprint(stations), stations, splitmix_hash(seed + i));
    return mem;
}

struct bridge *bridge_table(const struct bridge *tables, unsigned number)
{
    const size_t bytes = sizeof(struct bridge) + tables->buckets * BUCKET_WORDS * sizeof(bridge_word);

    return (struct bridge *)((uintptr_t)tables + number * bytes);
}

static uint64_t mac_to_word(const uint8_t mac[BRIDGE_MAC_BYTES])
{
    uint32_t first;
    uint16_t rest;

    memcpy(&first, mac, sizeof(first));
    memcpy(&rest, mac + sizeof(first), sizeof(rest));
    return (uint64_t)net32(first) << 16 | net16(rest);
}

/* Multiply-shift: for a random factor and addend no set of addresses collides more than by chance. */
static size_t bucket_start(const struct bridge *b, uint64_t mac)
{
    return ((mac * b->factor + b->addend) >> b->shift) * BUCKET_WORDS;
}

static uint64_t word_mac(uint64_t w)
{
    return w >> 16;
}

static uint8_t word_port(uint64_t w)
{
    return (uint8_t)(w >> 8 & BRIDGE_PORT_MAX);
}

static bool word_is_static(uint64_t w)
{
    return (w & STATIC) != 0;
}

/* Ticks since the stamp. Signed: another lcore may have read the next tick already. */
static int word_age(uint64_t w, uint8_t now)
{
    return (int8_t)(now - (uint8_t)w);
}

static uint64_t read_word(const bridge_word *w)
{
    return atomic_load_explicit(w, memory_order_relaxed);
}

static bool replace_word(bridge_word *w, uint64_t old, uint64_t new)
{
    return atomic_compare_exchange_strong_explicit(w, &old, new, memory_order_relaxed, memory_order_relaxed);
}

/* The word for a new station: a free one, else that of the station that has been silent longest. */
static bridge_word *choose_victim(bridge_word *bucket, uint8_t now, uint64_t *old)
{
    bridge_word *victim = NULL;
    int oldest = INT8_MIN - 1;

    for (unsigned i = 0; i < BUCKET_WORDS; i++) {
        uint64_t w = read_word(&bucket[i]);

        if (w == 0) {
            *old = 0;
            return &bucket[i];
        }
        if (!word_is_static(w) && word_age(w, now) > oldest) {
            oldest = word_age(w, now);
            victim = &bucket[i];
            *old = w;
        }
    }
    return victim;
}

/* One attempt; false: another lcore changed the word meanwhile, look again. */
static bool try_learn(bridge_word *bucket, uint64_t mac, uint8_t port, uint8_t now,
                      enum bridge_learned *learned)
{
    const uint64_t want = mac << 16 | (uint64_t)port << 8 | now;
    bridge_word *victim;
    uint64_t old;

    for (unsigned i = 0; i < BUCKET_WORDS; i++) {
        old = read_word(&bucket[i]);
        if (word_mac(old) != mac)
            continue;
        if (word_is_static(old)) { /* it stays where it is said to be */
            *learned = BRIDGE_KNOWN;
            return true;
        }
        *learned = word_port(old) == port ? BRIDGE_KNOWN : BRIDGE_MOVED;
        return old == want || replace_word(&bucket[i], old, want);
    }
    victim = choose_victim(bucket, now, &old);
    *learned = old == 0 ? BRIDGE_NEW : BRIDGE_EVICTED;
    return replace_word(victim, old, want);
}

enum bridge_learned bridge_learn(struct bridge *b, const uint8_t mac[BRIDGE_MAC_BYTES], uint8_t port)
{
    const uint8_t now = atomic_load_explicit(&b->now, memory_order_relaxed);
    const uint64_t m = mac_to_word(mac);
    enum bridge_learned learned;

    if (m == 0 || mac[0] & 1)
        return BRIDGE_REFUSED;
    while (!try_learn(&b->word[bucket_start(b, m)], m, port, now, &learned))
        ;
    return learned;
}

int bridge_lookup(const struct bridge *b, const uint8_t mac[BRIDGE_MAC_BYTES])
{
    const uint64_t m = mac_to_word(mac);
    const bridge_word *bucket = &b->word[bucket_start(b, m)];

    for (unsigned i = 0; m != 0 && i < BUCKET_WORDS; i++) {
        uint64_t w = read_word(&bucket[i]);

        if (word_mac(w) == m)
            return word_port(w);
    }
    return -1;
}

unsigned bridge_age(struct bridge *b)
{
    const uint8_t now = (uint8_t)(atomic_load_explicit(&b->now, memory_order_relaxed) + 1);
    unsigned forgotten = 0;

    atomic_store_explicit(&b->now, now, memory_order_relaxed);
    for (size_t i = 0; i < b->buckets * BUCKET_WORDS; i++) {
        uint64_t w = read_word(&b->word[i]);

        if (w != 0 && !word_is_static(w) && word_age(w, now) >= BRIDGE_AGE_TICKS)
            forgotten += replace_word(&b->word[i], w, 0); /* fails if it was heard just now */
    }
    return forgotten;
}

unsigned bridge_forget(struct bridge *b, int port)
{
    unsigned forgotten = 0;

    for (size_t i = 0; i < b->buckets * BUCKET_WORDS; i++) {
        uint64_t w = read_word(&b->word[i]);

        if (w != 0 && !word_is_static(w) && (port < 0 || word_port(w) == port))
            forgotten += replace_word(&b->word[i], w, 0);
    }
    return forgotten;
}

unsigned bridge_tables_age(struct bridge *tables, unsigned n)
{
    unsigned forgotten = 0;

    for (unsigned i = 0; i < n; i++)
        forgotten += bridge_age(bridge_of(tables, i));
    return forgotten;
}

unsigned bridge_tables_forget(struct bridge *tables, unsigned n, int port)
{
    unsigned forgotten = 0;

    for (unsigned i = 0; i < n; i++)
        forgotten += bridge_forget(bridge_of(tables, i), port);
    return forgotten;
}

/* Every word of a bucket may change while this looks at it. */
static bool try_fix(bridge_word *bucket, uint64_t mac, uint8_t port, bool *full)
{
    const uint64_t want = mac << 16 | STATIC | (uint64_t)port << 8;
    bridge_word *place = NULL;
    uint64_t old = 0, w;
    unsigned fixed = 0;

    for (unsigned i = 0; i < BUCKET_WORDS; i++) {
        w = read_word(&bucket[i]);
        fixed += word_is_static(w) && word_mac(w) != mac;
        if (word_mac(w) == mac && place == NULL) {
            place = &bucket[i];
            old = w;
        }
    }
    *full = fixed >= STATIC_MAX;
    if (*full)
        return true;
    if (place == NULL)
        place = choose_victim(bucket, 0, &old);
    return replace_word(place, old, want);
}

bool bridge_fix(struct bridge *b, const uint8_t mac[BRIDGE_MAC_BYTES], uint8_t port)
{
    const uint64_t m = mac_to_word(mac);
    bool full = false;

    if (m == 0 || mac[0] & 1)
        return false;
    while (!try_fix(&b->word[bucket_start(b, m)], m, port, &full))
        ;
    return !full;
}

bool bridge_unfix(struct bridge *b, const uint8_t mac[BRIDGE_MAC_BYTES])
{
    const uint64_t m = mac_to_word(mac);
    bridge_word *bucket = &b->word[bucket_start(b, m)];
    bool any = false;

    for (unsigned i = 0; i < BUCKET_WORDS; i++) {
        uint64_t w = read_word(&bucket[i]);

        if (m != 0 && word_mac(w) == m && word_is_static(w))
            any |= replace_word(&bucket[i], w, 0);
    }
    return any;
}

bool bridge_next(const struct bridge *b, size_t *cursor, struct bridge_station *station)
{
    while (*cursor < b->buckets * BUCKET_WORDS) {
        uint64_t w = read_word(&b->word[(*cursor)++]);
        int age = word_age(w, atomic_load_explicit(&b->now, memory_order_relaxed));

        if (w == 0)
            continue;
        for (unsigned i = 0; i < BRIDGE_MAC_BYTES; i++)
            station->mac[i] = (uint8_t)(w >> (56 - 8 * i));
        station->port = word_port(w);
        station->fixed = word_is_static(w);
        station->silent_ticks = (uint8_t)(age > 0 ? age : 0);
        return true;
    }
    return false;
}
