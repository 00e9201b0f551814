/* Tensor aggregation time: how long an allreduce of one large tensor takes over links of a given speed and
 * loss, by our workers or by the paper's with its fixed timer. The switch core and the worker cores are the
 * real ones; their own computing takes no time, so what is measured is the protocol. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { TAT_SHARDS_MAX = 64, TAT_THREADS_MAX = 8 };

enum tat_worker_kind { TAT_OURS, TAT_PAPER };

struct tat_config {
    enum tat_worker_kind kind;
    unsigned workers;
    unsigned
        threads; /* of each, that share its link and its calls: a job each, with a part of the slots. Ours */
    unsigned calls; /* one after the other. Ours */
    uint64_t tensor_bytes;
    uint16_t slots, chunk_bytes;
    uint64_t bits_per_s;
    uint64_t delay_ns;    /* one way, worker to switch; a round trip is twice that */
    uint32_t queue_bytes; /* before every link and direction; what finds it full is dropped */
    uint32_t loss_ppm;    /* on every link and direction */
    unsigned shards;      /* of the switch; slot i belongs to shard i % shards */
    uint64_t round_ns;    /* a shard handles packets in rounds of random length, up to this long */
    uint64_t paper_timeout_ns;
    uint64_t seed;
};

struct tat_result {
    double seconds;    /* until the last worker is done, of a call */
    double wire_share; /* goodput / what the framing allows */
    uint64_t packets;  /* sent by all workers */
    uint64_t retransmitted, probes;
    bool exact; /* the sums are right */
};

struct tat_result tat_run(const struct tat_config *cfg);
