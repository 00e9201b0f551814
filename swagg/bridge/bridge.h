/* The table of an L2 learning bridge: which station was last heard on which port.
 *
 * Fixed buckets of eight 64-bit words (48 bits MAC, a bit for static entries, 7 bits port, 8 bits age stamp),
 * one cache line each. Pure C: no DPDK, no allocation, no clock.
 *
 * Threads: any number of polling lcores may learn and look up at once, while the main lcore ages and reads
 * the table out: every access is one relaxed atomic word, and a word is a whole entry, so no reader sees half
 * of one. A frame of a known station stores nothing, but for one refresh a tick. Two lcores that learn the
 * same new station at the same moment may leave it in the table twice; lookups see the first, which alone is
 * refreshed; the other ages away.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BRIDGE_MAC_BYTES = 6,
    BRIDGE_PORT_MAX = 127,
    BRIDGE_AGE_TICKS = 60, /* a station not heard for this many calls of bridge_age is forgotten */
};

struct bridge;

/* See bridge_of. */
struct bridge *bridge_table(const struct bridge *tables, unsigned number);

/* Bytes for a table with room for at least this many stations (rounded up to a power of two, at least 64, at
 * most 2^20). If it gets more than half full, some buckets overflow: ask for twice as many stations as
 * expected. */
size_t bridge_footprint(unsigned stations);

/* mem: bridge_footprint(stations) bytes, 64-byte aligned, the caller's. seed makes the hash unpredictable
 * from outside. */
struct bridge *bridge_init(void *mem, unsigned stations, uint64_t seed);

/* A switch that keeps networks apart has a table for each, of the same size, in one piece of memory: ... */
size_t bridge_tables_footprint(unsigned stations, unsigned tables);
struct bridge *bridge_tables_init(void *mem, unsigned stations, unsigned tables, uint64_t seed);

/* ... and this is the table of one of them, by its number from 0 on. Of a table alone it is that. */
static inline struct bridge *bridge_of(const struct bridge *tables, unsigned number)
{
    return number == 0 ? (struct bridge *)tables : bridge_table(tables, number);
}

/* bridge_age and bridge_forget of each of them. */
unsigned bridge_tables_age(struct bridge *tables, unsigned n);
unsigned bridge_tables_forget(struct bridge *tables, unsigned n, int port);

enum bridge_learned {
    BRIDGE_KNOWN = 0, /* nothing new; the usual case */
    BRIDGE_NEW,
    BRIDGE_MOVED,   /* the station was on another port before */
    BRIDGE_EVICTED, /* new, in the place of the bucket's longest silent station */
    BRIDGE_REFUSED, /* a group address or zero cannot be a station */
    BRIDGE_LEARNED, /* number of the above */
};

/* A frame with this source came in on port (0 .. BRIDGE_PORT_MAX). */
enum bridge_learned bridge_learn(struct bridge *b, const uint8_t mac[BRIDGE_MAC_BYTES], uint8_t port);

/* The port where mac was last heard; -1: unknown (flood it). Group addresses are never known. */
int bridge_lookup(const struct bridge *b, const uint8_t mac[BRIDGE_MAC_BYTES]);

/* One tick has passed: call it every mac_age / BRIDGE_AGE_TICKS, from one thread. Returns how many stations
 * were forgotten. */
unsigned bridge_age(struct bridge *b);

/* Forgets every station on a port (its link went down), or all of them with port < 0; not static entries.
 * Returns how many. */
unsigned bridge_forget(struct bridge *b, int port);

/* Static entries: from now on the station is on this port, wherever it is heard, until bridge_unfix; it
 * neither ages nor is it forgotten. One thread fixes and unfixes. False: the address can be no station's, or
 * there is no room among others like it; there was no such entry. */
bool bridge_fix(struct bridge *b, const uint8_t mac[BRIDGE_MAC_BYTES], uint8_t port);
bool bridge_unfix(struct bridge *b, const uint8_t mac[BRIDGE_MAC_BYTES]);

/* Reads the table out, for telemetry: start with *cursor = 0; false: no more. Entries that come and go
 * meanwhile may be missed. */
struct bridge_station {
    uint8_t mac[BRIDGE_MAC_BYTES];
    uint8_t port;
    uint8_t silent_ticks; /* since it was last heard */
    bool fixed;           /* a static entry */
};
bool bridge_next(const struct bridge *b, size_t *cursor, struct bridge_station *station);
