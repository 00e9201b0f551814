/* A polling thread of a server: its shard of every job, at a UDP port of its own for each protocol. Workers
 * deal their packets to the ports by the same key by which pools deal slots to shards, so a slot is one
 * thread's.
 *
 * Threads: start and stop are the main thread's, the counters anybody's to read.
 */
#pragma once

#include <pthread.h>

#include "base/counter.h"
#include "base/strangers.h"
#include "jobs.h"

/* X(identifier, name, what it means) */
#define SHARD_COUNTS(X)                                                                                      \
    X(RECEIVED, "received", "packets that came to the data ports")                                           \
    X(SENT, "sent", "results and answers sent")                                                              \
    X(LOST_SENDING, "lost_sending", "results and answers that the kernel did not take")                      \
    X(WRONG_PORT, "wrong_port", "packets of another port's shard: their sender ignores what READY said")     \
    X(PATH_ANSWERS, "path_answers", "path probes answered")                                                  \
    X(REJECTS, "rejects", "packets of no job here that were told so")                                        \
    X(STRANGERS_RATE, "strangers_rate",                                                                      \
      "path probes and packets of no job that were more than are answered in a second, to one address or "   \
      "to all")

enum shard_count {
#define IDENTIFIER(identifier, name, meaning) SHARD_##identifier,
    SHARD_COUNTS(IDENTIFIER)
#undef IDENTIFIER
        SHARD_COUNT_KINDS
};

const char *shard_count_name(enum shard_count count);

/* A server has no jobs but those that somebody joins, at its own address. */
static inline bool shard_carries(const struct agg_protocol *protocol)
{
    return protocol->udp_ports.first != 0 && protocol->worker != NULL;
}

enum { SHARD_SOURCES_MAX = 4, SHARD_BURST = 64 };

/* Packets of a protocol. */
struct shard_source {
    const struct agg_protocol *table;
    const struct agg_jobs *jobs;
    int fd;
};

struct shard {
    /* Set before the start, then only read. */
    struct jobs *jobs;
    unsigned number;
    uint64_t boot_id;
    int stop_fd; /* readable: it is to end */
    unsigned sources;
    struct shard_source source[SHARD_SOURCES_MAX];
    pthread_t thread;
    bool runs;

    struct strangers strangers;
    uint64_t ticked_at;
    struct shard_buffers *buffers;
    /* Atomic, one writer. */
    uint64_t count[SHARD_COUNT_KINDS];
    uint64_t verdict[AGG_PROTOCOL_IDS][AGG_MAX_REASONS];
};

/* A UDP socket at this address and port; or -errno after logging. */
int shard_bind(uint32_t ip, uint16_t port);

/* Opens its ports at the configuration's address and starts the thread. s: all zero, but for jobs, number,
 * boot_id, stop_fd. 0, or -errno after logging; shard_close follows in any case. */
int shard_start(struct shard *s, const struct config *cfg);

/* Waits for the thread to end, which stop_fd has told to. */
void shard_join(struct shard *s);
void shard_close(struct shard *s);
