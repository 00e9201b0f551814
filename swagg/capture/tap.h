/* Copies of the frames that pass a port, for a capture. A port that nobody captures on has no tap, which
 * costs the data path one predictable branch a burst. A tap's room is bounded, and a frame takes
 * as much of it as it has bytes that are kept: what finds none is lost, and counted.
 *
 * Threads: a tap is made, emptied and freed by one thread. While a port has it, any polling lcore puts frames
 * into it.
 */
#pragma once

#include <stdbool.h>

#include <rte_mbuf.h>

#include "base/limits.h"
#include "capture/pcapng.h"
#include "capture/records.h"
#include "protocol/jobs.h"

/* What a frame is to the switch. */
enum tap_kind {
    TAP_DATA = 1 /* at a UDP port that is a protocol's, probes included */,
    TAP_CONTROL = 2,
    TAP_OTHER = 4,
    TAP_ALL = 7
};

struct tap_filter {
    unsigned kinds;              /* a sum of tap_kind */
    const struct agg_jobs *jobs; /* NULL: of any job or none; else data packets, at whatever UDP port ... */
    unsigned job;                /* ... from and to members of the job with this number ... */
    uint8_t network;             /* ... in this network (struct agg_sender); ... */
    unsigned rank;               /* ... but for 0, of the rank that is one less */
    bool dropped;                /* only what tap_dropped tells of, ... */
    unsigned reason;             /* ... for this reason (kinds of drops, base/counters.h) */
};

struct tap_frame {
    uint64_t tsc;
    uint32_t bytes, kept;
    uint8_t port, direction; /* as in capture/pcapng.h */
    uint8_t data[];          /* kept */
};

struct tap {
    struct tap_filter filter;
    uint32_t snap;
    struct records taken; /* of struct tap_frame */
    struct {
        uint64_t seen, lost; /* atomic */
    } port[SWAGG_MAX_PORTS];
};

/* Room for so many bytes of frames, and for some frames in any case. snap: bytes that are kept of a frame, at
 * most. NULL: no memory. */
struct tap *tap_new(const struct tap_filter *filter, uint32_t snap, size_t bytes);
void tap_free(struct tap *tap);

/* For the polling lcores: copies those of the frames that the filter lets pass. now: TSC. */
void tap_take(struct tap *tap, unsigned port, unsigned direction, struct rte_mbuf *const frames[], unsigned n,
              uint64_t now);

/* For the polling lcores: copies a frame that one of them is about to drop for this reason, if the filter
 * asks for such. tap: NULL, nearly always. */
void tap_take_dropped(struct tap *tap, unsigned port, unsigned reason, const struct rte_mbuf *frame,
                      uint64_t now);
static inline void tap_dropped(struct tap *tap, unsigned port, unsigned reason, const struct rte_mbuf *frame,
                               uint64_t now)
{
    if (unlikely(tap != NULL))
        tap_take_dropped(tap, port, reason, frame, now);
}

/* The next frame that was taken, to be given back before the one behind it; NULL: there is none. */
struct tap_frame *tap_next(struct tap *tap);
void tap_give_back(struct tap *tap, struct tap_frame *frame);

/* Whether this is the name of a kind: "data", "control", "other"; sets *kind. */
bool tap_kind_of(const char *name, unsigned *kind);
