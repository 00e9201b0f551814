/* The switch's side of ATP ("ATP: In-network Aggregation Protocol for Multi-tenant Learning", section 5.3 and
 * figure 4): a table of aggregators, for which the packets of all jobs compete. It knows no jobs; all it
 * needs is in the packets. What it cannot add goes on to the parameter server as it came.
 *
 * An aggregator belongs to one chunk of one job: (network, job, life, sequence, level, rack). Where it
 * departs from the paper:
 *   - a packet with RESEND that meets the aggregator of its chunk takes out all that is there. The paper
 * sends on the packet alone, at the second level always and at the first if its rank is in the sum, and
 * empties the aggregator: what others have given is lost then;
 *   - ASK, which the paper lacks, takes out all that is there, too, and is sent on where there is nothing;
 *   - a chunk that finds the aggregator of its index taken gets one of the next ATP_REACH - 1, and where none
 *     is empty, one whose sum is complete and was sent. The paper's chip can look at one only; and it keeps
 *     what was sent until the result passes, in case that it is lost, which costs more than it saves where
 *     aggregators are scarce;
 *   - of a chunk that found no aggregator at first, and then one, those that have passed meanwhile are
 *     remembered: the sum of the rest goes on once it is complete. Else it would keep its aggregator from
 *     others until some rank, which waits for the result, asks;
 *   - a rack's switch may be the server's, too, though the job does not say so: the sum of the rack joins
 * those of other racks that are here, or is remembered as passed, and they do not wait for it;
 *   - an aggregator that nobody has touched for max_age goes to whoever wants it next, or is emptied by the
 *     passing of time; its sum goes on to the server. The paper's is lost with its job;
 *   - an option: a job of higher priority may take the aggregator of a lower one in the same way;
 *   - an option, for comparison: aggregators are divided into parts, and a job has to do with one of them
 *     only, its number modulo that of parts (the paper's "static" allocation, section 6);
 *   - an option, for tests: of all chunks a share is passed on, as if each of its packets had met another's
 *     aggregator (the paper's "forwarding rate").
 *
 * Packets that end with a CRC32C are looked at before anything else, and sums get one of their own. What is
 * keyed passes: the switch has no key.
 *
 * Why no sum is wrong: whatever leaves an aggregator carries the bitmaps of exactly those ranks that are in
 * it. A rank's bit is looked at before its elements are added. What it means that some rank is in two sums is
 * the server's to resolve (atp/collector.h).
 *
 * Memory: the caller's, 64-byte aligned. Threads: aggregators are dealt to shards; one shard is one thread's
 * at a time. atp_table_view may be called by any thread.
 */
#pragma once

#include "protocol/protocol.h"
#include "wire/atp.h"

struct atp_table;
struct atp_aggregator;

enum {
    ATP_MAX_AGGREGATORS = 65536,
    ATP_MAX_PARTS = 64,
    ATP_ALL_CHUNKS = 1000000, /* ppm */
    ATP_REACH = 16, /* aggregators that a chunk may have: the one of its index and those behind it */
};

struct atp_table_config {
    uint32_t aggregators; /* 1..ATP_MAX_AGGREGATORS; at least one a shard is made */
    uint16_t chunk_bytes; /* of the longest body that is added; longer ones pass */
    uint16_t shards;      /* 0: 1 */
    uint64_t max_age_ns;  /* > 0 */
    bool preempt;         /* a higher priority may take an aggregator */
    uint16_t parts;       /* 0..ATP_MAX_PARTS, 0: 1; a shard has an aggregator a part at least */
    uint32_t forward_ppm; /* 0..ATP_ALL_CHUNKS: so many of all chunks are passed on */
    uint64_t seed;        /* which ones */
    const struct agg_kernels *kernels;
};

/* Bytes for a table; 0 if the configuration is out of range. */
size_t atp_table_footprint(const struct atp_table_config *cfg);
struct atp_table *atp_table_init(void *mem, const struct atp_table_config *cfg);

/* The aggregator that a packet's index names: its chunk's, as a rule. The caller prefetches it
 * (atp_aggregator_prefetch) while it locates the rest of its burst. */
struct atp_aggregator *atp_table_locate(struct atp_table *t, const struct atp_packet *p);
void atp_aggregator_prefetch(const struct atp_aggregator *a);

/* Applies a parsed packet to its aggregator, which is at home or nearby. raw: its payload, to which it may
 * write flags, and its addresses. verdict->reason is an enum atp_switch_reason (reasons.h); verdict->action,
 * which follows from it, is the caller's to fill in. */
void atp_table_apply(struct atp_table *t, struct atp_aggregator *home, const struct atp_packet *p,
                     const struct agg_packet *raw, uint64_t now, struct agg_verdict *verdict);

/* The next sum of this shard that is overdue by now, to be sent on (SEND_AS); false: there is none now. A
 * call looks at a part of the table only, the next one, later, goes on from there. */
bool atp_table_expire(struct atp_table *t, unsigned shard, uint64_t now, struct agg_verdict *verdict);

/* Whether there will be one in this shard though no packet comes. */
bool atp_table_awaits_time(const struct atp_table *t, unsigned shard);

/* Aggregators that there are. */
uint32_t atp_table_size(const struct atp_table *t);

/* How many of them are taken: by a walk through the table. */
uint32_t atp_table_taken(const struct atp_table *t);

/* As in struct agg_protocol. */
bool atp_table_heard(struct atp_table *t);

/* For telemetry; false: there is no aggregator i. ranks: bits of the level's bitmap. */
bool atp_table_view(const struct atp_table *t, uint32_t i, struct agg_slot_view *view);
