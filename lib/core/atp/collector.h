/* The parameter server's side of ATP ("ATP: In-network Aggregation Protocol for Multi-tenant Learning",
 * section 5.4): one job's lanes. Chunk `sequence` goes through lane sequence % window, which knows exactly
 * which chunk it collects (`expected`) and which one it has completed last (`expected - window`), whose sum
 * is kept for ranks that lack it. A rank sends chunk s + window once it has the sum of chunk s; so when a
 * lane completes a chunk, all ranks have had the sum of the one before. Everything older is stale, everything
 * newer a mistake.
 *
 * What comes is a sum with the set of its ranks. The lane holds a sum of disjoint parts, and one more aside:
 *   - a part of which all is in already is dropped, one of which nothing is in is added;
 *   - one that contains all that is in replaces it (the paper: of all ranks);
 *   - one that overlaps otherwise is put aside, and the ranks whose contributions it would have brought are
 *     asked by name to send again, alone. If a part comes that together with it makes all ranks, both are
 *     used instead of what is in. (The published prototype drops such a part whole and waits for timeouts.)
 *
 * In a job that has outlived a restart of its server (`resumed`) ranks may hold sums of chunks that their
 * lanes have yet to complete: in the first chunk of each lane, for nobody is further. Who holds one hands it
 * back (RESTORE) instead of contributing, so contributions complete a chunk only if nobody holds its sum: the
 * first sum handed back is the chunk's, and what was added before is forgotten.
 *
 * Who misses a result asks (ASK), and is told who is in, or gets the result, if it is complete. Ranks that
 * are missing while others ask or send again are asked by name, too.
 *
 * In ordered mode, and for operations that add in float32 (kernels.h, wide), only single contributions come:
 * workers ask the switches to let them pass.
 *
 * Memory: the caller gives one block of atp_collector_footprint() bytes, 64-byte aligned. Threads: after
 * init, different lanes may be used by different threads at once, one lane by one thread only.
 * atp_collector_view may be called by any thread.
 */
#pragma once

#include "atp/terms.h"
#include "protocol/protocol.h"
#include "wire/auth.h"

struct atp_collector;
struct atp_lane;

struct atp_collector_config {
    struct atp_topology topology;
    uint16_t window;      /* a power of two, ATP_MIN_WINDOW..ATP_MAX_WINDOW */
    uint16_t chunk_bytes; /* ATP_MIN_CHUNK_BYTES..ATP_MAX_CHUNK_BYTES, a multiple of 4 */
    uint8_t job;
    enum xfer_mode mode;
    enum xfer_format format;
    enum atp_mapping mapping;
    enum xfer_checksum seal;          /* that all packets of the job end with */
    const struct keys_secret *shared; /* XFER_CHECKSUM_KEYED: the job's secret. Read by init only */
    uint32_t life, first_sequence;
    bool resumed;   /* ranks may have sums of the first window's chunks, and hand them back */
    bool has_group; /* that some ranks may hear: whoever says so has results by it */
    const struct agg_kernels *kernels;
};

/* Bytes for a collector; 0 if the configuration is out of range. */
size_t atp_collector_footprint(const struct atp_collector_config *cfg);
struct atp_collector *atp_collector_init(void *mem, const struct atp_collector_config *cfg);

/* The lane of a packet; NULL: it is of another life of the job. */
struct atp_lane *atp_collector_locate(struct atp_collector *c, const struct atp_packet *p);
void atp_lane_prefetch(const struct atp_lane *lane);

/* Applies a parsed packet that rank has sent, and perhaps a switch has changed; payload: all of it. One
 * without the job's trailer, or with a wrong one, changes nothing. verdict->reason is an enum atp_reason;
 * verdict->action, which follows from it, is the caller's to fill in. A sum stays where the verdict says
 * until the lane completes the next one. */
void atp_collector_apply(struct atp_collector *c, struct atp_lane *lane, uint16_t rank,
                         const struct atp_packet *p, const uint8_t *payload, size_t bytes,
                         struct agg_verdict *verdict);

uint16_t atp_collector_lanes(const struct atp_collector *c);

/* For telemetry: chunk is a sequence number. i < lanes */
void atp_collector_view(const struct atp_collector *c, uint16_t i, struct agg_slot_view *view);
